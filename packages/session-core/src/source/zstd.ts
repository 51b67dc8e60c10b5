import zlib from "node:zlib";
import { SourceUnreadableError } from "../errors/import-errors.js";

/** The largest file that is read from a compressed one, in bytes: it is held in memory. */
const MOST_BYTES = 1 << 30;

/** Whether a file is compressed, by its name: Codex compresses old rollouts. Other compressed files are no sessions. */
export function isZstdName(path: string): boolean {
  return path.endsWith(".jsonl.zst");
}

/**
 * The content of a file that is compressed with zstd, in memory.
 *
 * @throws {SourceUnreadableError} this version of Node.js has no zstd, the file is damaged, or its content is larger than 1 GiB.
 */
export function decompressZstd(path: string, compressed: Buffer): Buffer {
  // Since Node.js 22.15 and 23.8.
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  if (typeof decompress !== "function")
    throw new SourceUnreadableError(
      path,
      `it is compressed with zstd, which Node.js reads from version 22.15 on (this is ${process.version})`,
    );
  try {
    const content: unknown = Reflect.apply(decompress, zlib, [compressed, { maxOutputLength: MOST_BYTES }]);
    if (content instanceof Buffer) return content;
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    const reason =
      error.code === "ERR_BUFFER_TOO_LARGE" ? "its content is larger than 1 GiB" : `its zstd data are damaged (${error.message})`;
    throw new SourceUnreadableError(path, reason, { cause: error });
  }
  throw new SourceUnreadableError(path, "its zstd data are damaged");
}
