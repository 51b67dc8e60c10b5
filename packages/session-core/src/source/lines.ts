import { closeSync, openSync, readSync } from "node:fs";
import { SourceNotFoundError } from "../errors/import-errors.js";

const LF = 0x0a;

/** How much is read from a file at once, in bytes. */
const CHUNK_BYTES = 1 << 20;

/** One line of a file. */
export interface SourceLine {
  /** From 1; blank lines count. */
  readonly number: number;
  readonly text: string;
  /** Where the line starts in the file, in bytes. */
  readonly offset: number;
  /** Length without the line break, in bytes. */
  readonly bytes: number;
  /** Whether a line break follows; a last line without one may be torn. */
  readonly ended: boolean;
}

/**
 * The lines of a file, blank ones left out, split at LF only: U+2028 and its like are part of a text (regression R28).
 *
 * The file is opened for reading and read in pieces of 1 MiB, so memory holds one piece and one line, whatever the
 * size of the file. A byte order mark at the start is skipped.
 *
 * @throws {SourceNotFoundError} the file cannot be opened or read.
 */
export function* linesOf(path: string): Generator<SourceLine, void, void> {
  const file = opened(path);
  try {
    yield* split(chunksOf(file, path));
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    throw new SourceNotFoundError(path, { cause });
  }
}

function* chunksOf(file: number, path: string): Generator<Buffer, void, void> {
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readInto(file, chunk, path);
    if (length === 0) return;
    yield chunk.subarray(0, length);
  }
}

function readInto(file: number, chunk: Buffer, path: string): number {
  try {
    return readSync(file, chunk, 0, chunk.length, null);
  } catch (cause) {
    throw new SourceNotFoundError(path, { cause });
  }
}

function* split(chunks: Iterable<Buffer>): Generator<SourceLine, void, void> {
  // The pieces of a line that spans chunks are joined once, at its end, so that a very long line costs linear time.
  let pieces: Buffer[] = [];
  let number = 0;
  let offset = 0;
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      pieces.push(chunk.subarray(start, end));
      const line = lineOf(pieces, ++number, offset, true);
      if (line.text.trim() !== "") yield line;
      offset += line.bytes + 1;
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  const last = lineOf(pieces, ++number, offset, false);
  if (last.text.trim() !== "") yield last;
}

function lineOf(pieces: readonly Buffer[], number: number, offset: number, ended: boolean): SourceLine {
  const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  const text = bytes.toString("utf8");
  return { number, text: number === 1 ? text.replace(/^\uFEFF/, "") : text, offset, bytes: bytes.length, ended };
}
