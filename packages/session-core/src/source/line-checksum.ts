import { crc32 } from "node:zlib";
import { SourceFileReader } from "./source-file.js";

const LF = 0x0a;
const CHUNK_BYTES = 1 << 20;

/** A place after a line of a file, and the CRC-32 of the bytes before it. */
export interface CheckedOffset {
  readonly offset: number;
  readonly checksum: number;
}

/** The start of a file. */
export const FILE_START: CheckedOffset = { offset: 0, checksum: 0 };

/**
 * The place after the last complete line before `end`, from an earlier one: only the bytes between are read. Cost: about 1 ms a megabyte.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be read.
 */
export function checkLines(path: string, from: CheckedOffset, end: number): CheckedOffset {
  const file = new SourceFileReader(path);
  try {
    let place = from;
    let checksum = from.checksum;
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, end - from.offset)));
    for (let offset = from.offset; offset < end; ) {
      const bytes = buffer.subarray(0, Math.min(buffer.length, end - offset));
      const chunk = bytes.subarray(0, file.read(bytes, offset));
      if (chunk.length === 0) break;
      const lines = chunk.lastIndexOf(LF) + 1;
      checksum = crc32(chunk.subarray(0, lines), checksum);
      if (lines > 0) place = { offset: offset + lines, checksum };
      checksum = crc32(chunk.subarray(lines), checksum);
      offset += chunk.length;
    }
    return place;
  } finally {
    file.close();
  }
}
