/** A block of foreign Markdown, as far as its structure affects the document around it. */
export type MarkdownBlock =
  /** Any other line; "" between blocks. */
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "heading"; readonly lead: string; readonly level: number; readonly text: string }
  /** `lead` precedes the fence, `indent` the other lines; both have the same width. */
  | { readonly kind: "code"; readonly lead: string; readonly indent: string; readonly language: string; readonly lines: readonly string[] }
  | { readonly kind: "quote"; readonly indent: string; readonly blocks: readonly MarkdownBlock[] };

/** The deepest nesting of quotes that is parsed; deeper quotes are lines. */
const MAX_QUOTE_DEPTH = 12;

const LIST_MARKER = /^( *)([-*+]|\d{1,9}[.)])( +|$)/;
const FENCE = /^(?:(`{3,})([^`]*)|(~{3,})(?!~)(.*))$/;
const HEADING = /^((?:\s*(?:>|(?:[-*+]|\d{1,9}[.)])(?=\s)))*\s*)(#{1,6})(?=\s|$)(.*)$/;
const UNDERLINE = /^\s*(=+|-+)\s*$/;

/**
 * Parses Markdown into blocks. Renderers differ about lists, so the result need not match one: code is written so that every
 * renderer reads it as code, and everything else is sanitized line by line.
 */
export function parseBlocks(lines: readonly string[], depth = 0): readonly MarkdownBlock[] {
  return new BlockReader(lines, depth).read();
}

class BlockReader {
  readonly #blocks: MarkdownBlock[] = [];
  /** Column at which the content of each open list item starts, outermost first. */
  readonly #items: number[] = [];
  #at = 0;

  readonly #lines: readonly string[];
  readonly #depth: number;

  constructor(lines: readonly string[], depth: number) {
    this.#lines = lines;
    this.#depth = depth;
  }

  read(): readonly MarkdownBlock[] {
    while (this.#at < this.#lines.length) {
      const line = withoutLeadingTabs(this.#lines[this.#at] ?? "");
      if (line.trim() === "") this.#put({ kind: "line", text: "" });
      else if (UNDERLINE.test(line) && this.#isAfterText()) this.#readUnderline(line);
      else this.#readBlock(line);
    }
    return this.#blocks;
  }

  #readBlock(line: string): void {
    const indent = indentWidth(line);
    while ((this.#items.at(-1) ?? 0) > indent) this.#items.pop();
    if (indent < 4 || this.#items.length > 0) this.#readAt(line, indent);
    else if (this.#isAfterText()) this.#put(headingOrLine(line));
    else this.#readIndentedCode();
  }

  #readAt(line: string, indent: number): void {
    const base = this.#items.at(-1) ?? 0;
    const { lead, content } = this.#readMarkers(line);
    const fence = FENCE.exec(content);
    if (fence !== null) this.#readFence(fence, lead === "" ? " ".repeat(base) : lead, lead === "" ? indent : lead.length);
    else if (lead === "" && content.startsWith(">") && this.#depth < MAX_QUOTE_DEPTH) this.#readQuote(base);
    else this.#put(headingOrLine(line));
  }

  #put(block: MarkdownBlock): void {
    this.#blocks.push(block);
    this.#at++;
  }

  #isAfterText(): boolean {
    const last = this.#blocks.at(-1);
    return (last?.kind === "line" && last.text !== "") || (last?.kind === "heading" && last.lead !== "");
  }

  // A line of = or - turns the paragraph above it into a heading. A paragraph of one line becomes a heading block; for a
  // longer one the underline is escaped.
  #readUnderline(line: string): void {
    const title = this.#blocks.at(-1);
    const before = this.#blocks.at(-2);
    const isSingleLine = before?.kind !== "line" || before.text === "";
    const level = line.includes("=") ? 1 : 2;
    if (title?.kind === "line" && isSingleLine && indentWidth(line) < 4 && isPlain(title.text)) {
      this.#blocks.pop();
      this.#put({ kind: "heading", lead: "", level, text: ` ${title.text.trim()}` });
    } else if (level === 1 || indentWidth(line) > 3) {
      this.#put({ kind: "line", text: line.replace(/(?=\S)/, "\\") });
    } else {
      this.#blocks.push({ kind: "line", text: "" });
      this.#put({ kind: "line", text: line });
    }
  }

  /** The list markers at the start of the line, each followed by one space, and the rest. Opens their items. */
  #readMarkers(line: string): { readonly lead: string; readonly content: string } {
    let lead = "";
    let rest = line;
    for (let marker = LIST_MARKER.exec(rest); marker !== null; marker = LIST_MARKER.exec(rest)) {
      lead += `${marker[1] ?? ""}${marker[2] ?? ""} `;
      rest = rest.slice(marker[0].length);
      this.#items.push(lead.length);
    }
    return { lead, content: rest.trimStart() };
  }

  #readFence(fence: RegExpExecArray, lead: string, indent: number): void {
    const mark = fence[1] ?? fence[3] ?? "";
    const lines: string[] = [];
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      if (closesFence(line, mark, indent)) break;
      lines.push(dedented(line, indent));
    }
    this.#put({ kind: "code", lead, indent: " ".repeat(lead.length), language: fence[2] ?? fence[4] ?? "", lines });
  }

  #readIndentedCode(): void {
    const lines: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      if (line.trim() !== "" && indentWidth(withoutLeadingTabs(line)) < 4) break;
      lines.push(dedented(line, 4));
    }
    while (lines.at(-1)?.trim() === "") lines.pop();
    this.#blocks.push({ kind: "code", lead: "", indent: "", language: "", lines }, { kind: "line", text: "" });
  }

  #readQuote(base: number): void {
    const inner: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = withoutLeadingTabs(this.#lines[this.#at] ?? "");
      if (!line.trimStart().startsWith(">") || indentWidth(line) < base) break;
      inner.push(line.trimStart().replace(/^> ?/, ""));
    }
    this.#blocks.push({ kind: "quote", indent: " ".repeat(base), blocks: parseBlocks(inner, this.#depth + 1) });
  }
}

// Headings are recognized at any indentation, because renderers disagree about lists.
function headingOrLine(line: string): MarkdownBlock {
  const [, lead = "", marks, text = ""] = HEADING.exec(line) ?? [];
  return marks === undefined ? { kind: "line", text: line } : { kind: "heading", lead, level: marks.length, text };
}

/** True if a paragraph starts at this line, outside lists, quotes and code. */
function isPlain(line: string): boolean {
  return indentWidth(line) < 4 && !LIST_MARKER.test(line) && !line.trimStart().startsWith(">");
}

function closesFence(line: string, mark: string, indent: number): boolean {
  const trimmed = line.trim();
  if (trimmed.length < mark.length || trimmed !== mark.charAt(0).repeat(trimmed.length)) return false;
  return indentWidth(withoutLeadingTabs(line)) - indent <= 3;
}

function indentWidth(line: string): number {
  return line.length - line.trimStart().length;
}

// Tab stops are every four columns. Tabs in the indentation and in markers become spaces.
function withoutLeadingTabs(line: string): string {
  const lead = /^[\s>*+\-\d.)]*/.exec(line)?.[0] ?? "";
  if (!lead.includes("\t")) return line;
  let spaced = "";
  for (const character of lead) spaced += character === "\t" ? " ".repeat(4 - (spaced.length % 4)) : character;
  return spaced + line.slice(lead.length);
}

/** The line without its first `width` columns of white space. */
function dedented(line: string, width: number): string {
  const space = /^[ \t]*/.exec(line)?.[0] ?? "";
  if (!space.includes("\t")) return line.slice(Math.min(space.length, width));
  const spaced = withoutLeadingTabs(space);
  return spaced.length <= width ? line.slice(space.length) : spaced.slice(width) + line.slice(space.length);
}
