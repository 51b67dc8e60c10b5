import { constants } from "node:buffer";
import type { ImportProblem } from "@bough/session-core";
import { isObject, type JsonObject, parseJson } from "@bough/session-core/wire";
import { isSqliteStart, SourceFileReader } from "./source-file.js";
import type { SourceFolders } from "./source-folders.js";
import type { FileHead } from "./source-format.js";

/** A line with a JSON value of any kind. */
export interface JsonValueLine {
  readonly kind: "value";
  readonly line: SourceLine;
  readonly value: unknown;
}

/** A line with a JSON object. */
export interface JsonLine {
  readonly kind: "object";
  readonly line: SourceLine;
  readonly object: JsonObject;
}

/** A line without a JSON value, or without a JSON object where one is expected. */
interface BadLine {
  readonly kind: "problem";
  readonly line: SourceLine;
  readonly problem: ImportProblem;
}

/**
 * Reads a JSONL file: each line is an object or a problem with its line number. A last line without a line break that is not
 * JSON is torn: its writer was stopped in the middle.
 */
export function* readJsonLines(path: string, options: LineOptions = {}): Generator<JsonLine | BadLine, void, void> {
  for (const read of readJsonValues(path, options)) {
    if (read.kind === "problem") yield read;
    else if (isObject(read.value)) yield { kind: "object", line: read.line, object: read.value };
    else yield { kind: "problem", line: read.line, problem: badLineProblem(path, read.line, false) };
  }
}

/** Reads a JSONL file whose lines are values of any kind, such as arrays; otherwise as `readJsonLines`. */
export function* readJsonValues(path: string, options: LineOptions = {}): Generator<JsonValueLine | BadLine, void, void> {
  for (const line of readLines(path, options)) {
    const value = line.isTooLong ? undefined : parseJson(line.text);
    if (value !== undefined) yield { kind: "value", line, value };
    else yield { kind: "problem", line, problem: line.isTooLong ? tooLongProblem(path, line) : badLineProblem(path, line, true) };
  }
}

function tooLongProblem(path: string, { number, bytes }: SourceLine): ImportProblem {
  const message = `the line has ${bytes} bytes, more than can be read at once; it was left out`;
  return { code: "malformed-line", path, line: number, message };
}

function badLineProblem(path: string, line: SourceLine, isNotJson: boolean): ImportProblem {
  const isTorn = isNotJson && !line.hasLineBreak;
  return {
    code: isTorn ? "torn-line" : "malformed-line",
    path,
    line: line.number,
    message: isTorn
      ? "the last line is torn (its writer was stopped); it was left out"
      : `${isNotJson ? "no JSON" : "no JSON object"}; the line was left out`,
  };
}

const LF = 0x0a;

/** The size of one read, in bytes. */
const CHUNK_BYTES = 1 << 20;

/** The longest line that is read, in bytes: the longest string. */
const MOST_LINE_BYTES = constants.MAX_STRING_LENGTH;

/** One line of a file. */
export interface SourceLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Empty if the line is too long. */
  readonly text: string;
  readonly isTooLong: boolean;
  /** The start of the line in the file, in bytes. */
  readonly offset: number;
  /** The length without the line break, in bytes. */
  readonly bytes: number;
  /** True if a line break follows. A last line without one may be torn. */
  readonly hasLineBreak: boolean;
}

/**
 * Reads the lines of a file without blank ones, split at LF only: JSON texts may contain U+2028 and U+2029.
 *
 * Reads 1 MiB at a time, so memory is bounded by 1 MiB and one line for any size of file. A byte order mark at the start is
 * skipped. For a line that is longer than the longest string only the length is returned.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export function* readLines(path: string, { mostLineBytes = MOST_LINE_BYTES, from }: LineOptions = {}): Generator<SourceLine, void, void> {
  const file = new SourceFileReader(path);
  try {
    yield* splitLines(readChunks(file, from?.offset ?? 0), mostLineBytes, from);
  } finally {
    file.close();
  }
}

/** The bytes that are read at once of what was appended while the file is read. */
const GROWN_BYTES = 64 * 1024;

function* readChunks(file: SourceFileReader, offset: number): Generator<Buffer, void, void> {
  for (let position = offset; ; ) {
    // Of a small file no more is allocated than it has: most session files are small, and the collection of garbage took a quarter of a sync.
    const rest = file.bytes - position;
    const bytes = Math.min(CHUNK_BYTES, rest < 0 ? GROWN_BYTES : rest + 1);
    const chunk = file.chunkAt(position, bytes);
    position += chunk.length;
    if (chunk.length > 0) yield chunk;
    if (chunk.length < bytes) return;
  }
}

function* splitLines(chunks: Iterable<Buffer>, mostLineBytes: number, from?: LinePosition): Generator<SourceLine, void, void> {
  let line = new LineBuilder(mostLineBytes);
  let number = from?.line ?? 0;
  let offset = from?.offset ?? 0;
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      line.add(chunk.subarray(start, end));
      const whole = line.finish(++number, offset, true);
      if (!isBlank(whole)) yield whole;
      offset += whole.bytes + 1;
      line = new LineBuilder(mostLineBytes);
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  const last = line.finish(++number, offset, false);
  if (!isBlank(last)) yield last;
}

function isBlank({ text, isTooLong }: SourceLine): boolean {
  return !isTooLong && text.trim() === "";
}

/** Collects the pieces of a line and joins them once, so that a very long line costs linear time. */
class LineBuilder {
  readonly #most: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#most) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  finish(number: number, offset: number, hasLineBreak: boolean): SourceLine {
    const isTooLong = this.#bytes > this.#most;
    const [first, ...more] = this.#pieces;
    const text = first === undefined ? "" : (more.length === 0 ? first : Buffer.concat(this.#pieces)).toString("utf8");
    return { number, text: number === 1 ? text.replace(/^\uFEFF/, "") : text, isTooLong, offset, bytes: this.#bytes, hasLineBreak };
  }
}

/** A place between two lines. */
interface LinePosition {
  /** In bytes. */
  readonly offset: number;
  /** The number of lines before it. */
  readonly line: number;
}

/** Options of the reading of lines: the part of the file and the limits. */
export interface LineOptions {
  /** The longest line that is read, in bytes. Default: the longest string. */
  readonly mostLineBytes?: number | undefined;
  /** The position at which reading begins. Default: the start of the file. */
  readonly from?: LinePosition | undefined;
}

const HEAD_BYTES = 1 << 20;
const MOST_RECORDS = 50;
const SNIFF_BYTES = 64;

/** With fewer records, a line is so long that the head has too little of the file: one with an image may have several MB. */
const FEW_RECORDS = 5;

/** The place up to which the end of such a line is looked for, in bytes. */
const MOST_HEAD_BYTES = 1 << 26;

/**
 * Reads the start of a file, to detect its format. Of a file that does not start like JSON only a few bytes are read, so that an
 * import of a folder with many other files is cheap.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be read.
 */
export function readHead(path: string): FileHead {
  const file = new SourceFileReader(path);
  try {
    const first = file.bytesAt(0, SNIFF_BYTES);
    const [start, isSqlite] = [first.toString("utf8"), isSqliteStart(first)];
    if (!/^\uFEFF?\s*[{[]/.test(start)) return { path, records: [], lines: [], document: undefined, text: "", isSqlite };
    const text = file
      .bytesAt(0, Math.min(file.bytes, HEAD_BYTES))
      .toString("utf8")
      .replace(/^\uFEFF/, "");
    const found = parseLines(text);
    const lines = found.length < FEW_RECORDS && file.bytes > HEAD_BYTES ? [...found, ...parseLines(textBehindHead(file))] : found;
    const document = file.bytes <= HEAD_BYTES ? parseJson(text) : undefined;
    return { path, records: lines.filter(isObject), lines, document, text, isSqlite };
  } finally {
    file.close();
  }
}

/** The lines behind the one that goes on at the end of the head; empty if there are none, or if that line ends like one of a document. */
function textBehindHead(file: SourceFileReader): string {
  for (let at = HEAD_BYTES; at < Math.min(file.bytes, MOST_HEAD_BYTES); at += HEAD_BYTES) {
    const end = file.bytesAt(at, HEAD_BYTES).indexOf(LF);
    if (end === -1) continue;
    const last = file
      .bytesAt(at + end - ENDING_BYTES, ENDING_BYTES)
      .toString("latin1")
      .trimEnd();
    return /[}\]]$/.test(last) ? file.bytesAt(at + end + 1, HEAD_BYTES).toString("utf8") : "";
  }
  return "";
}

/** The end of a line in which its last character is looked for, in bytes: white space may follow. */
const ENDING_BYTES = 16;

/** By import: the start of the file that was read last. */
const heads = new WeakMap<SourceFolders, FileHead>();

/** `readHead`, once for a file of an import: detection and the reader of its format both need it. */
export function readHeadOnce(path: string, folders: SourceFolders): FileHead {
  const known = heads.get(folders);
  const head = known?.path === path ? known : readHead(path);
  heads.set(folders, head);
  return head;
}

function parseLines(text: string): readonly unknown[] {
  const values: unknown[] = [];
  for (let start = 0; start < text.length && values.length < MOST_RECORDS; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end === -1 ? text.length : end).trim();
    const value = isWhole(line) ? parseJson(line) : undefined;
    if (value !== undefined) values.push(value);
    start = end === -1 ? text.length : end + 1;
  }
  return values;
}

// A line of an indented document is no JSON, and to find that out by parsing it costs 70 times as much as the document itself.
function isWhole(line: string): boolean {
  return (line.startsWith("{") && line.endsWith("}")) || (line.startsWith("[") && line.endsWith("]"));
}
