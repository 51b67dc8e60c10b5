import { constants } from "node:buffer";
import type { ImportProblem } from "@bough/session-core";
import { isObject, type JsonObject, parseJson, parseJsonObject } from "@bough/session-core/wire";
import { SourceFileReader } from "./source-file.js";
import type { FileHead } from "./source-format.js";

/** A part of a JSON document. `line`: where it starts, from 1. */
export type DocumentPart =
  /** A member of the object that is the document. */
  | { readonly kind: "member"; readonly name: string; readonly value: unknown; readonly line: number }
  /** An element of a list: of the member `list`, or of the document itself if `list` is empty. `index`: from 0. */
  | { readonly kind: "element"; readonly list: string; readonly index: number; readonly value: unknown; readonly line: number }
  | { readonly kind: "problem"; readonly problem: ImportProblem };

const CHUNK_BYTES = 1 << 20;

/**
 * Reads a JSON document whose records are elements of a list: the document itself, or the members of it that `lists` names. Reads
 * 1 MiB at a time, so memory is bounded by one element or one other member for any size of document. An invalid part is a problem
 * with its line; a document that ends early gives its complete parts and a problem.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export function* readJsonDocument(path: string, lists: readonly string[]): Generator<DocumentPart, void, void> {
  const scanner = new DocumentScanner(path, lists);
  const file = new SourceFileReader(path);
  try {
    for (let position = 0; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const length = file.read(chunk, position);
      if (length === 0) break;
      position += length;
      yield* scanner.scan(chunk.subarray(0, length));
    }
    yield* scanner.end();
  } finally {
    file.close();
  }
}

const MOST_ELEMENTS = 1000;

/** The members and the first elements of the lists in the start of a document, also of a large or a damaged one. */
export function readDocumentHead(head: FileHead, lists: readonly string[]): { readonly members: JsonObject; readonly elements: unknown[] } {
  const members: Record<string, unknown> = Object.create(null);
  const elements: unknown[] = [];
  const { document } = head;
  if (Array.isArray(document)) return { members, elements: document };
  if (isObject(document)) {
    for (const [name, value] of Object.entries(document)) {
      if (lists.includes(name) && Array.isArray(value)) elements.push(...value.slice(0, MOST_ELEMENTS));
      else members[name] = value;
    }
    return { members, elements };
  }
  for (const part of new DocumentScanner(head.path, lists).scan(Buffer.from(head.text))) {
    if (part.kind === "member") members[part.name] = part.value;
    if (part.kind === "element") elements.push(part.value);
  }
  return { members, elements };
}

/**
 * True if a file is a JSON document and not JSON Lines, also if it is large or damaged: it is one value, or its first line ends where
 * a document may have a line break, which is never inside of a text. Only one line of such a document may look like a whole value: the
 * last element of its list. Damaged values count too, because a log whose first line is torn may have other damaged lines. The first line of
 * a log may be longer than the head: then values follow behind it.
 */
export function isDocument({ document, text, lines }: FileHead): boolean {
  if (document !== undefined) return true;
  const [first = "", ...others] = text.trimStart().split("\n", MOST_LINES);
  if (parseJson(first) !== undefined) return false;
  if (others.length === 0) return lines.length === 0;
  const values = others.filter((line) => /^[[{].*[\]}]\s*$/.test(line));
  return values.length < 2 && /[[{,:]\s*$/.test(first) && !endsInText(first);
}

function endsInText(line: string): boolean {
  return line.replace(/\\./g, "").split('"').length % 2 === 0;
}

const MOST_LINES = 50;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The longest start of a member that may open a list, in bytes: its name in quotes and a colon. */
const MOST_NAME_BYTES = 200;

/** Cuts a document at the commas and brackets of its outermost value, and of the lists that are read by element. */
class DocumentScanner {
  readonly #path: string;
  readonly #lists: readonly string[];
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** The list that is read: "" is the document itself; undefined: the document is an object, and none of its lists is open. */
  #list: string | undefined;
  #index = 0;
  /** The bytes of the part so far; none if it is too long. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #line = 1;
  #isClosed = false;
  /** True if a list of the document ended and no comma followed yet. */
  #isAfterList = false;
  #isAfterComma = false;

  constructor(path: string, lists: readonly string[]) {
    this.#path = path;
    this.#lists = lists;
  }

  *scan(chunk: Buffer): Generator<DocumentPart, void, void> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#isInText) this.#readText(byte);
      else if (byte === QUOTE) this.#isInText = true;
      else if (byte === COMMA ? this.#depth === this.#partDepth && !this.#isClosed : this.#isBracket(byte)) {
        if (byte !== COMMA && this.#isInPart(byte, chunk.subarray(start, at))) continue;
        this.#keep(chunk.subarray(start, at));
        start = at + 1;
        yield* this.#cut(byte);
      }
    }
    this.#keep(chunk.subarray(start));
  }

  *end(): Generator<DocumentPart, void, void> {
    const line = this.#line;
    const text = this.#takeText();
    if (this.#isClosed && text?.trim() === "") return;
    const message = this.#isClosed
      ? "text after the end of the document was left out"
      : "the document ends early; its last value was left out";
    yield this.#problem(line, this.#isClosed ? "malformed-line" : "torn-line", message);
  }

  /** The depth at which a comma ends a part. */
  get #partDepth(): number {
    return this.#list === undefined || this.#list === "" ? 1 : 2;
  }

  #isBracket(byte: number | undefined): boolean {
    return byte === OPEN_LIST || byte === OPEN_OBJECT || byte === CLOSE_LIST || byte === CLOSE_OBJECT;
  }

  #readText(byte: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInText = false;
  }

  /** Counts a bracket. Returns true if the bracket is inside a part, which then continues after it. */
  #isInPart(byte: number | undefined, before: Buffer): boolean {
    if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      this.#depth -= 1;
      return this.#depth >= this.#partDepth || this.#isClosed;
    }
    this.#depth += 1;
    if (this.#depth === 1) return this.#isClosed;
    if (this.#depth !== 2 || byte !== OPEN_LIST || this.#list !== undefined) return true;
    return !this.#opensList(before);
  }

  #opensList(before: Buffer): boolean {
    if (this.#bytes + before.length > MOST_NAME_BYTES) return false;
    const name = parseJson(`${Buffer.concat([...this.#pieces, before]).toString("utf8")}`.trim().replace(/\s*:$/, ""));
    return typeof name === "string" && this.#lists.includes(name);
  }

  *#cut(byte: number | undefined): Generator<DocumentPart, void, void> {
    const line = this.#line;
    const text = this.#takeText();
    const start = line + linesIn(/^\s*/.exec(text ?? "")?.[0] ?? "");
    if (byte === OPEN_OBJECT && this.#depth === 1) return yield* this.#unless(isBlank(text), start);
    if (byte === OPEN_LIST) return yield* this.#open(text ?? "", start);
    // A blank part is valid in an empty list or object, and after a list that is read by element.
    const isLast = byte !== COMMA;
    if (!(isBlank(text) && (this.#isAfterList || (isLast && !this.#isAfterComma)))) yield this.#toPart(text, start);
    this.#isAfterList = false;
    this.#isAfterComma = !isLast;
    if (isLast) this.#close();
  }

  *#open(text: string, line: number): Generator<DocumentPart, void, void> {
    if (this.#depth === 1) {
      this.#list = "";
      return yield* this.#unless(isBlank(text), line);
    }
    const name = parseJson(text.trim().replace(/\s*:$/, ""));
    this.#list = String(name);
    this.#index = 0;
    this.#isAfterComma = false;
  }

  #close(): void {
    this.#isAfterList = this.#depth === 1;
    if (this.#depth === 1) this.#list = undefined;
    else this.#isClosed = true;
  }

  #toPart(text: string | undefined, line: number): DocumentPart {
    if (text === undefined) return this.#problem(line, "malformed-line", "a value is longer than can be read at once; it was left out");
    if (this.#list !== undefined) {
      const value = parseJson(text);
      const index = this.#index;
      this.#index += 1;
      return value === undefined ? this.#invalid(line) : { kind: "element", list: this.#list, index, value, line };
    }
    const [member] = Object.entries(parseJsonObject(`{${text}}`) ?? {});
    return member === undefined ? this.#invalid(line) : { kind: "member", name: member[0], value: member[1], line };
  }

  *#unless(isFine: boolean, line: number): Generator<DocumentPart, void, void> {
    if (!isFine) yield this.#invalid(line);
  }

  #invalid(line: number): DocumentPart {
    return this.#problem(line, "malformed-line", "no JSON; the value was left out");
  }

  #problem(line: number, code: ImportProblem["code"], message: string): DocumentPart {
    return { kind: "problem", problem: { code, path: this.#path, line, message } };
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > constants.MAX_STRING_LENGTH) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The text of the part so far; undefined if it is too long. */
  #takeText(): string | undefined {
    const isTooLong = this.#bytes > constants.MAX_STRING_LENGTH;
    const text = isTooLong ? undefined : Buffer.concat(this.#pieces).toString("utf8");
    this.#line += linesIn(text ?? "");
    this.#pieces = [];
    this.#bytes = 0;
    return text;
  }
}

function isBlank(text: string | undefined): boolean {
  return text !== undefined && text.trim() === "";
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
