import MarkdownIt, { type MarkdownIt as Parser, type StateBlock } from "markdown-it";

/** Maximum nesting of blocks; deeper blocks become paragraphs. A list and its item are two levels. */
const MAX_LEVEL = 24;

const CJK = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;

/**
 * CommonMark requires a space or Latin punctuation next to emphasis that starts or ends with punctuation; CJK text has none. Rule of
 * markdown-it-cjk-friendly, for asterisks.
 */
class CjkState extends MarkdownIt.StateInline {
  override scanDelims(start: number, canSplitWord: boolean) {
    const scanned = super.scanDelims(start, canSplitWord);
    const [before = "", after = ""] = [this.src[start - 1], this.src[start + scanned.length]];
    if (this.src[start] !== "*" || !(CJK.test(before) || CJK.test(after))) return scanned;
    return { ...scanned, can_open: /\S/.test(after), can_close: /\S/.test(before) };
  }
}

/**
 * The Markdown of the terminal and the page: CommonMark with tables, strikethrough, bare addresses and line breaks. HTML is text. Links
 * keep any address, so that the writer decides about it. What is nested too deeply is a paragraph; markdown-it would drop it.
 */
export function newMarkdownParser(): Parser {
  const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  parser.validateLink = () => true;
  parser.inline.State = CjkState;
  parser.block.ruler.before("table", "too_deep", readTooDeep);
  return parser;
}

function readTooDeep(state: StateBlock, start: number, end: number): boolean {
  if (state.level < MAX_LEVEL) return false;
  let next = start;
  while (next < end && (state.isEmpty(next) || (state.sCount[next] ?? 0) >= state.blkIndent)) next += 1;
  state.line = next;
  state.push("paragraph_open", "p", 1).map = [start, next];
  const text = state.push("inline", "", 0);
  text.content = state.getLines(start, next, state.blkIndent, false).trim();
  text.map = [start, next];
  text.children = [];
  state.push("paragraph_close", "p", -1);
  return true;
}
