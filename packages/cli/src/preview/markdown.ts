import type { MarkdownIt, StateCore, StateInline, Token } from "markdown-it";
import { newMarkdownParser } from "../format/markdown-parser.js";
import { breakText, forceWidth, prefixLines, wrapLine, wrapText } from "../format/wrap.js";
import { type Glyphs, UNICODE_GLYPHS } from "../terminal/glyphs.js";
import { type Line, lineWidth, type Span, type Style, styled } from "../terminal/line.js";
import { patchLines, patchParts } from "./diff.js";

/** Longer texts are wrapped as plain text: parsing them would block the screen. */
const MAX_LENGTH = 60_000;

/**
 * Renders Markdown for a terminal: headings, emphasis, code, lists, quotes, tables, links with their addresses, HTML as text,
 * diffs (fenced or not) in colors. Keeps line breaks, the indentation behind them, and the definitions of links. Each line fits
 * `width` columns (at least 2). Text that is longer than 60,000 characters is wrapped as plain text. Never throws. Linear in the
 * length of the text. Call `loadExactWidths` first.
 */
export function markdownLines(text: string, width: number, glyphs: Glyphs = UNICODE_GLYPHS): readonly Line[] {
  if (text.trim() === "") return [];
  const lines: Line[] = [];
  for (const part of patchParts(text)) {
    const drawn = part.kind === "patch" ? patchLines(part.text, width) : documentLines(part.text, width, glyphs);
    if (lines.length > 0 && drawn.length > 0) lines.push([]);
    for (const line of drawn) for (const one of forceWidth(line, width)) lines.push(one);
  }
  return lines;
}

let parser: MarkdownIt | undefined;

function documentLines(text: string, width: number, glyphs: Glyphs): readonly Line[] {
  if (text.length > MAX_LENGTH) return wrapText(text, width);
  parser ??= newTerminalParser();
  return blockLines(withDefinitions(nest(parser.parse(text, {})), text.split(/\r\n|\n|\r/)), width, glyphs);
}

/** Text that is pasted without a fence keeps its indentation, which decides how its lines are below each other. */
function newTerminalParser(): MarkdownIt {
  const made = newMarkdownParser();
  made.core.ruler.after("block", "indented_paragraph", indentParagraphs);
  made.inline.ruler.before("newline", "indented_line", readIndentedLine);
  return made;
}

/** Puts the spaces before a paragraph back, which the parser trims. */
function indentParagraphs({ src, tokens }: StateCore): void {
  const lines = src.split("\n");
  for (const [at, token] of tokens.entries()) {
    if (token.type !== "inline" || token.level !== 1 || tokens[at - 1]?.type !== "paragraph_open") continue;
    const [spaces = ""] = /^[ \t]*/.exec(lines[token.map?.[0] ?? -1] ?? "") ?? [];
    token.content = spaces + token.content;
  }
}

/** A line break before spaces, which `newline` of markdown-it would skip. */
function readIndentedLine(state: StateInline, silent: boolean): boolean {
  if (!/[ \t]/.test(state.src[state.pos + 1] ?? "") || state.src[state.pos] !== "\n") return false;
  if (!silent) {
    state.pending = state.pending.trimEnd();
    state.push("softbreak", "br", 0);
  }
  state.pos += 1;
  return true;
}

/** A block with the blocks in it; inline content has none. */
interface Block {
  readonly token: Token;
  readonly children: Block[];
}

/** The blocks of tokens, which open and close them. */
function nest(tokens: readonly Token[]): Block[] {
  const root: Block[] = [];
  const open: Block[] = [];
  for (const token of tokens) {
    if (token.nesting < 0) {
      open.pop();
      continue;
    }
    const block = { token, children: [] };
    (open.at(-1)?.children ?? root).push(block);
    if (token.nesting > 0) open.push(block);
  }
  return root;
}

/** The blocks and, as lines between them, the definitions of links, of which the parser makes no block. */
function withDefinitions(blocks: readonly Block[], lines: readonly string[]): readonly (Block | string)[] {
  let next = 0;
  const between = (end: number) => {
    const skipped = lines.slice(next, end).join("\n").trim();
    return skipped === "" ? [] : [skipped];
  };
  const all: (Block | string)[] = [];
  for (const block of blocks) {
    const [start, end] = block.token.map ?? [next, next];
    all.push(...between(start), block);
    next = Math.max(next, end);
  }
  return [...all, ...between(lines.length)];
}

/** Draws blocks with an empty line between two, unless `close`. The parser limits their depth. */
function blockLines(blocks: readonly (Block | string)[], width: number, glyphs: Glyphs, close = false): readonly Line[] {
  const lines: Line[] = [];
  for (const block of blocks) {
    const drawn = typeof block === "string" ? breakText(block, width, "dim") : drawBlock(block, width, glyphs);
    if (drawn.length > 0 && lines.length > 0 && !close) lines.push([]);
    for (const line of drawn) lines.push(line);
  }
  return lines;
}

function drawBlock(block: Block, width: number, glyphs: Glyphs): readonly Line[] {
  const { token, children } = block;
  switch (token.type) {
    case "heading_open": {
      const depth = Number(token.tag.slice(1));
      return prefixLines(width, [styled("heading", `${"#".repeat(depth)} `)], [" ".repeat(depth + 1)], (room) =>
        contentLines(block, "heading").flatMap((line) => wrapLine(line, room)),
      );
    }
    case "paragraph_open":
      return contentLines(block).flatMap((line) => wrapLine(line, width));
    case "fence":
    case "code_block":
      return codeLines(token, width);
    case "blockquote_open": {
      const bar: Line = [styled("dim", `${glyphs.bar} `)];
      return prefixLines(width, bar, bar, (room) => blockLines(children, room, glyphs));
    }
    case "bullet_list_open":
    case "ordered_list_open":
      return listLines(block, width, glyphs);
    case "table_open":
      return tableLines(block, width, glyphs);
    case "hr":
      return [[styled("dim", glyphs.rule.repeat(Math.min(width, 40)))]];
    default:
      return breakText(token.content, width);
  }
}

/** The lines of a block of text: a paragraph, a heading, a cell. */
function contentLines({ children }: Block, style?: Style): readonly Line[] {
  return children.flatMap(({ token }) => inlineLines(token.children ?? [], style));
}

/** Code is indented by two columns and never rewrapped, so that its spaces stay. */
function codeLines({ content, info }: Token, width: number): readonly Line[] {
  const text = content.replace(/\n$/, "");
  const isPatch = /^\s*(?:diff|patch)\b/i.test(info);
  return prefixLines(width, ["  "], ["  "], (room) => (isPatch ? patchLines(text, room) : breakText(text, room, "code")));
}

/** Numbers are drawn as they were written, not as Markdown renumbers them: the conversation refers to "point 10". */
function listLines({ token, children: items }: Block, width: number, glyphs: Glyphs): readonly Line[] {
  const isOrdered = token.type === "ordered_list_open";
  const isLoose = items.some(({ children }) => children.some((child) => child.token.type === "paragraph_open" && !child.token.hidden));
  const numbers = items.map((item) => (isOrdered ? `${item.token.info}${item.token.markup}` : ""));
  const widest = numbers.reduce((most, { length }) => Math.max(most, length), 0);
  const lines: Line[] = [];
  for (const [at, item] of items.entries()) {
    const mark = isOrdered ? `${(numbers[at] ?? "").padStart(widest)} ` : `${glyphs.bullet} `;
    const drawn = prefixLines(width, [mark], [" ".repeat(mark.length)], (room) => itemLines(item, isLoose, room, glyphs));
    if (isLoose && at > 0) lines.push([]);
    for (const line of drawn) lines.push(line);
  }
  return lines;
}

/** The content of an item; an empty item is one empty line, so that its bullet is drawn. */
function itemLines({ children }: Block, isLoose: boolean, width: number, glyphs: Glyphs): readonly Line[] {
  const lines = blockLines(children, width, glyphs, !isLoose);
  return lines.length === 0 ? [[]] : lines;
}

const MIN_CELL_COLUMNS = 4;

type Align = "center" | "left" | "right";

function alignOf(cell: Token): Align {
  const style = String(cell.attrGet("style") ?? "");
  return style.endsWith("right") ? "right" : style.endsWith("center") ? "center" : "left";
}

/** Draws a table: shrinks the widest columns and wraps their cells until it fits; if that is not enough, draws each row as a list. */
function tableLines({ children }: Block, width: number, glyphs: Glyphs): readonly Line[] {
  const [head, ...body] = children.flatMap((part) => part.children);
  const columns = head?.children.length ?? 0;
  const between = (columns - 1) * 3;
  const align = (head?.children ?? []).map(({ token }) => alignOf(token));
  const header = (head?.children ?? []).map((cell) => contentLines(cell, "bold"));
  const rows = body.map((row) => row.children.map((cell) => contentLines(cell)));
  if (columns === 0) return [];
  if (width - between < columns * MIN_CELL_COLUMNS) return rows.flatMap((row) => rowAsList(header, row, width, glyphs));
  const widths = fitColumns([header, ...rows], columns, width - between);
  const rule = widths.map((one) => glyphs.rule.repeat(one)).join(`${glyphs.rule}${glyphs.cross}${glyphs.rule}`);
  const drawn = (row: readonly (readonly Line[])[]) => rowLines(row, widths, align, glyphs);
  return [...drawn(header), [styled("dim", rule)], ...rows.flatMap(drawn)];
}

function fitColumns(rows: readonly (readonly (readonly Line[])[])[], columns: number, room: number): readonly number[] {
  const widths = Array.from({ length: columns }, () => 1);
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 1, cellWidth(cell, room));
  for (let excess = widths.reduce((sum, one) => sum + one, 0) - room; excess > 0; excess -= 1) {
    const at = widths.indexOf(Math.max(...widths.slice(0, columns)));
    widths[at] = (widths[at] ?? 1) - 1;
  }
  return widths;
}

function cellWidth(cell: readonly Line[], room: number): number {
  return cell.reduce((most, line) => Math.max(most, Math.min(lineWidth(line), room)), 0);
}

function rowLines(row: readonly (readonly Line[])[], widths: readonly number[], align: readonly Align[], { bar }: Glyphs): readonly Line[] {
  const cells = widths.map((width, at) => (row[at] ?? []).flatMap((line) => wrapLine(line, width)));
  const height = cells.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, at) => {
    const line: (string | Span)[] = [];
    for (const [column, width] of widths.entries()) {
      if (column > 0) line.push(styled("dim", ` ${bar} `));
      const text = cells[column]?.[at] ?? [];
      const [before, after] = alignmentSpaces(width - lineWidth(text), align[column] ?? "left");
      line.push(before, ...text, column === widths.length - 1 ? "" : after);
    }
    return line.filter((piece) => piece !== "");
  });
}

function alignmentSpaces(free: number, align: Align): readonly [before: string, after: string] {
  const room = Math.max(0, free);
  const before = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return [" ".repeat(before), " ".repeat(room - before)];
}

function rowAsList(
  header: readonly (readonly Line[])[],
  row: readonly (readonly Line[])[],
  width: number,
  { bullet }: Glyphs,
): readonly Line[] {
  return row.flatMap((cell, at) => {
    const [name = [], ...more] = [...(header[at] ?? [])];
    const first: Line = [...name, ...(name.length > 0 ? [": "] : []), ...(cell[0] ?? [])];
    const mark = at === 0 ? `${bullet} ` : "  ";
    return prefixLines(width, [mark], ["  "], (room) => [...more, first, ...cell.slice(1)].flatMap((line) => wrapLine(line, room)));
  });
}

/** Inline content as lines, split at the written line breaks and not wrapped. `style` applies to all of it. */
function inlineLines(tokens: readonly Token[], style?: Style): readonly Line[] {
  const writer = new InlineWriter(style);
  for (const token of tokens) writer.write(token);
  return writer.lines;
}

/** Writes the tokens of inline content, which open and close its styles. */
class InlineWriter {
  readonly lines: (string | Span)[][] = [[]];
  readonly #style: Style | undefined;
  #emphasized = 0;
  #struck = 0;
  /** The links that are open: where their text begins. */
  readonly #links: { readonly token: Token; text: string }[] = [];

  constructor(style: Style | undefined) {
    this.#style = style;
  }

  write(token: Token): void {
    switch (token.type) {
      case "strong_open":
      case "em_open":
        this.#emphasized += 1;
        return;
      case "strong_close":
      case "em_close":
        this.#emphasized -= 1;
        return;
      case "s_open":
        this.#struck += 1;
        this.#add("~~", this.#current);
        return;
      case "s_close":
        this.#add("~~", this.#current);
        this.#struck -= 1;
        return;
      case "code_inline":
        this.#add(token.content, this.#current ?? "code");
        return;
      case "softbreak":
      case "hardbreak":
        this.#add("\n", undefined);
        return;
      case "link_open":
        this.#links.push({ token, text: "" });
        return;
      case "link_close":
        this.#closeLink();
        return;
      case "image":
        this.#add(`[image${token.content === "" ? "" : `: ${token.content}`}] (${addressOf(token, "src")})`, "dim");
        return;
      default:
        this.#add(token.content.replace(/<br\s{0,9}\/?>/gi, "\n"), this.#current);
    }
  }

  get #current(): Style | undefined {
    if (this.#struck > 0) return "dim";
    return this.#style ?? (this.#emphasized > 0 ? "bold" : undefined);
  }

  #add(text: string, style: Style | undefined): void {
    const link = this.#links.at(-1);
    if (link !== undefined) link.text += text;
    for (const [at, line] of text.split("\n").entries()) {
      if (at > 0) this.lines.push([]);
      if (line !== "") this.lines.at(-1)?.push(style === undefined ? line : styled(style, line));
    }
  }

  /** Adds the address of a link, unless it equals the text. */
  #closeLink(): void {
    const link = this.#links.pop();
    if (link === undefined || link.token.info === "auto") return;
    const address = addressOf(link.token, "href");
    if (address !== "" && address !== link.text && address !== `mailto:${link.text}`) this.#add(` (${address})`, "dim");
  }
}

function addressOf(token: Token, attribute: "href" | "src"): string {
  return String(token.attrGet(attribute) ?? "");
}
