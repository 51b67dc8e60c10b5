// The characters after `<` that could start a tag, a comment or a declaration.
const MARKUP_START = /[A-Za-z/!?]/;
const AUTOLINK = /<(?:(?:https?:\/\/|mailto:)[^\s<>`\\[\]]+|[\w.+-]+@[\w.-]+)>/iy;
// Other entities may encode invisible characters or change the writing direction.
const OTHER_ENTITY = /^&(?!(?:amp|lt|gt|quot|apos|nbsp|mdash|ndash|hellip|copy|times);)(?:#|[a-z][a-z0-9]*;)/i;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

// An allow-list, because browsers drop tabs, renderers decode entities, and both decode percent signs: a path is safe if its
// first step has none of those and no colon.
const SAFE_DESTINATION = /^(?:https?:\/\/|mailto:|[#?/]|\.{1,2}\/|[^\s:&\\%<>()`"'|]+(?:[\s/?#)]|$)|\))/i;

/**
 * Sanitizes one line of foreign Markdown: HTML is shown as text, links other than web, mail and relative paths are shown as
 * text, images become links, and only common entities are decoded. Code spans are unchanged.
 *
 * A code span ends on its line: a run of backticks without a partner on the same line is escaped, so that it cannot pair with
 * one on a later line. `inTable`: a code span also ends in its table cell.
 *
 * @example
 * sanitizeInline("a <b> `<c>` [x](javascript:y)", false); // "a &lt;b> `<c>` [x]\\(javascript:y)"
 */
export function sanitizeInline(line: string, inTable: boolean): string {
  const facts: LineFacts = { lastRuns: lastRuns(line), addressed: addressedIn(line), lastBracket: lastBracket(line), inTable };
  let out = "";
  let at = 0;
  while (at < line.length) {
    const piece = nextPiece(line, at, facts);
    out += piece.written;
    at += piece.read;
  }
  return out;
}

/** Facts about the line that are computed once, so that the function is linear. */
interface LineFacts {
  /** The start of the last run of backticks of each length: a run after it has no partner. */
  readonly lastRuns: ReadonlyMap<number, number>;
  /** The places of the backticks in addresses: some renderers read them as part of the address. */
  readonly addressed: ReadonlySet<number>;
  /** The position of the last closing bracket; -1: there is none. */
  readonly lastBracket: number;
  readonly inTable: boolean;
}

interface Piece {
  /** The number of characters of the line that it covers. */
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
      // A bracket that closes on a later line could start a link across a code block in some renderers.
      return at < facts.lastBracket ? kept("[") : { read: 1, written: "\\[" };
    case "]":
      return bracket(line, at);
    case "&":
      return { read: 1, written: OTHER_ENTITY.test(line.slice(at, at + 40)) ? "&amp;" : "&" };
    case "!":
      // A viewer would load an image; without the exclamation mark it is a link.
      return { read: 1, written: line[at + 1] === "[" ? "&#33;" : "!" };
    default:
      MARKS.lastIndex = at;
      return kept(line.slice(at, MARKS.exec(line)?.index ?? line.length));
  }
}

function kept(text: string): Piece {
  return { read: text.length, written: text };
}

// Some renderers read a backslash in an address as part of it, which undoes the escape.
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

// `](` starts a link destination, `]:` a definition. A destination on the next line is not handled.
function bracket(line: string, at: number): Piece {
  const next = line[at + 1];
  if (next !== "(" && next !== ":") return kept("]");
  const safe = SAFE_DESTINATION.test(line.slice(at + 2, at + 300).trimStart());
  return safe ? kept(`]${next}`) : { read: 2, written: `]\\${next}` };
}

function code(line: string, at: number, facts: LineFacts): Piece {
  const length = runLength(line, at);
  if (facts.addressed.has(at)) return { read: length, written: "&#96;".repeat(length) };
  const hasPartner = (facts.lastRuns.get(length) ?? -1) > at;
  const span = hasPartner ? line.slice(at, closing(line, at + length, length)) : "";
  if (span === "" || (facts.inTable && crossesCells(span))) return { read: length, written: "\\`".repeat(length) };
  return kept(span);
}

// A table is split into cells before code spans are parsed; only a pipe after a single backslash does not split.
function crossesCells(span: string): boolean {
  return /(^|[^\\])\||\\\\\|/.test(span);
}

/** The end of the next run of this length, which must exist. */
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

function addressedIn(line: string): LineFacts["addressed"] {
  const addressed = new Set<number>();
  if (!line.includes("`")) return addressed;
  for (const { 0: address, index } of line.matchAll(/(?::\/\/|www\.)\S*/gi))
    for (let at = address.indexOf("`"); at !== -1; at = address.indexOf("`", at + 1)) addressed.add(index + at);
  return addressed;
}
