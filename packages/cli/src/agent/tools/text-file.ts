import type { FileHandle } from "node:fs/promises";
import { ToolFailure } from "./tool.js";

/** A larger file is not read whole, in bytes. */
const MAX_BYTES = 20_000_000;

/**
 * The text of a regular file of UTF-8, byte order mark included.
 *
 * @throws {ToolFailure} it is no such file, or larger than 20 MB. Its bytes would not come back as they were.
 */
export async function readText(file: FileHandle, named: string): Promise<string> {
  const about = await file.stat();
  // A pipe or a device could be read for ever.
  if (!about.isFile()) throw new ToolFailure(`${named} is not a regular file.`);
  if (about.size > MAX_BYTES) throw new ToolFailure(`${named} has ${about.size} bytes; at most ${MAX_BYTES} are read.`);
  const bytes = await file.readFile();
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    // What the decoder throws for bytes that are no UTF-8.
    if (!(error instanceof TypeError)) throw error;
  }
  throw new ToolFailure(`${named} is not a text of UTF-8 (${bytes.length} bytes).`);
}
