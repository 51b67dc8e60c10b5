// What may stand after `<` and still be text; anything that could begin a tag, a comment or a declaration may not.
const MARKUP_START = /[A-Za-z/!?]/;
const AUTOLINK = /<(?:(?:https?:\/\/|mailto:)[^\s<>`\\[\]]+|[\w.+-]+@[\w.-]+)>/iy;
// Any other may stand for a character that nobody sees, or that turns the writing direction.
const OTHER_ENTITY = /^&(?!(?:amp|lt|gt|quot|apos|nbsp|mdash|ndash|hellip|copy|times);)(?:#|[a-z][a-z0-9]*;)/i;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

// An allow-list, because a browser drops tabs, a renderer decodes entities, and both undo percent signs: a path is
// one whose first step has none of those and no colon.
const SAFE_DESTINATION = /^(?:https?:\/\/|mailto:|[#?/]|\.{1,2}\/|[^\s:&\\%<>()`"'|]+(?:[\s/?#)]|$)|\))/i;

/**
 * One line of Markdown that an author wrote, made harmless: what would be HTML is shown as it is written, links to
 * anything but the web, mail and relative paths are shown as text, images are links, and of entities only common ones are
 * read. Code within the line stays as it is.
 *
 * No code reaches across the end of a line here: a run of backticks without its partner on the same line is shown,
 * so that no later line can turn into code, or out of it. `inTable`: nor does it reach across the cells of a table.
 *
 * @example
 * authoredInline("a <b> `<c>` [x](javascript:y)", false); // "a &lt;b> `<c>` [x]\\(javascript:y)"
 */
export function sanitizeInline(line: string, inTable: boolean): string {
  const facts: LineFacts = { lastRuns: lastRuns(line), addresses: addressesIn(line), lastBracket: lastBracket(line), inTable };
  let out = "";
  let at = 0;
  while (at < line.length) {
    const piece = nextPiece(line, at, facts);
    out += piece.written;
    at += piece.read;
  }
  return out;
}

/** What is asked of the line again and again, so that reading it stays linear. */
interface LineFacts {
  /** Where the last run of each length starts: a run behind it has no partner, and none needs to be looked for. */
  readonly lastRuns: ReadonlyMap<number, number>;
  /** From where to where words are addresses: some renderers take a backtick inside as part of the address. */
  readonly addresses: readonly { readonly from: number; readonly to: number }[];
  /** Where the last bracket closes; -1: nowhere. */
  readonly lastBracket: number;
  readonly inTable: boolean;
}

interface Piece {
  /** How many characters of the line it covers. */
  readonly read: number;
  readonly written: string;
}

const MARKS = /[\\`<[\]&!]/g;

function nextPiece(line: string, at: number, facts: LineFacts): Piece {
  switch (line[at]) {
    case "\\":
      return escaped(line, at);
    case "`":
      return code(line, at, facts);
    case "<":
      return angle(line, at);
    case "[":
      // One that closes on a later line could name a link across a block of code, and marked would let it.
      return at < facts.lastBracket ? kept("[") : { read: 1, written: "\\[" };
    case "]":
      return bracket(line, at);
    case "&":
      return { read: 1, written: OTHER_ENTITY.test(line.slice(at, at + 40)) ? "&amp;" : "&" };
    case "!":
      // An image would be loaded by whoever looks at the document; without its mark it is a link.
      return { read: 1, written: line[at + 1] === "[" ? "&#33;" : "!" };
    default:
      MARKS.lastIndex = at;
      return kept(line.slice(at, MARKS.exec(line)?.index ?? line.length));
  }
}

function kept(text: string): Piece {
  return { read: text.length, written: text };
}

// In an address, some renderers take the backslash as part of it, and what it was to disarm is armed again.
function escaped(line: string, at: number): Piece {
  const next = line[at + 1] ?? "";
  const after = line[at + 2] ?? "";
  if (next === "<" && MARKUP_START.test(after)) return { read: 2, written: "&lt;" };
  if (next === "`") return { read: 2, written: "&#96;" };
  if (next === "&") return { read: 2, written: "&amp;" };
  if (next === "!" && after === "[") return { read: 2, written: "&#33;" };
  if (next === "]" && (after === "(" || after === ":")) return { read: 3, written: `\\]\\${after}` };
  return kept(line.slice(at, at + (PUNCTUATION.test(next) ? 2 : 1)));
}

function angle(line: string, at: number): Piece {
  AUTOLINK.lastIndex = at;
  const link = AUTOLINK.exec(line);
  if (link !== null) return kept(link[0]);
  return { read: 1, written: MARKUP_START.test(line[at + 1] ?? "") ? "&lt;" : "<" };
}

// `](` opens a destination, `]:` defines one; where it stands on the next line it is not looked for.
function bracket(line: string, at: number): Piece {
  const next = line[at + 1];
  if (next !== "(" && next !== ":") return kept("]");
  const safe = SAFE_DESTINATION.test(line.slice(at + 2, at + 300).trimStart());
  return safe ? kept(`]${next}`) : { read: 2, written: `]\\${next}` };
}

function code(line: string, at: number, facts: LineFacts): Piece {
  const length = runLength(line, at);
  if (facts.addresses.some(({ from, to }) => from <= at && at < to)) return { read: length, written: "&#96;".repeat(length) };
  const hasPartner = (facts.lastRuns.get(length) ?? -1) > at;
  const span = hasPartner ? line.slice(at, closing(line, at + length, length)) : "";
  if (span === "" || (facts.inTable && crossesCells(span))) return { read: length, written: "\\`".repeat(length) };
  return kept(span);
}

// A table is cut into cells before code is looked for; only a pipe behind a single backslash does not cut.
function crossesCells(span: string): boolean {
  return /(^|[^\\])\||\\\\\|/.test(span);
}

/** Where the next run of this length ends; there is one. */
function closing(line: string, from: number, length: number): number {
  let at = line.indexOf("`", from);
  while (runLength(line, at) !== length) at = line.indexOf("`", at + runLength(line, at));
  return at + length;
}

function runLength(line: string, at: number): number {
  let end = at;
  while (line[end] === "`") end++;
  return end - at;
}

function lastRuns(line: string): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  for (const run of line.matchAll(/`+/g)) last.set(run[0].length, run.index);
  return last;
}

function lastBracket(line: string): number {
  let at = line.lastIndexOf("]");
  while (at > 0 && line[at - 1] === "\\") at = line.lastIndexOf("]", at - 1);
  return at;
}

function addressesIn(line: string): LineFacts["addresses"] {
  if (!line.includes("`")) return [];
  return [...line.matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
    const start = word.search(/:\/\/|www\./i);
    return start < 0 ? [] : [{ from: index + start, to: index + word.length }];
  });
}
