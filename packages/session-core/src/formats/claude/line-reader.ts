import { closeSync, openSync, readSync } from "node:fs";
import { SourceNotFoundError } from "../../errors/import-errors.js";
import { parsedObject } from "../../source/json-text.js";
import type { JsonObject } from "../../source/narrow.js";

/** Where one line stands in a file, in bytes. */
export interface LinePlace {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Reads single lines of a file by their place. Memory holds one line at a time, which is what lets a reply be put
 * together from lines that are far apart. Close it when done.
 *
 * @throws {SourceNotFoundError} the file cannot be opened or read.
 */
export class LineReader {
  readonly #path: string;
  readonly #file: number;

  constructor(path: string) {
    this.#path = path;
    this.#file = this.#orNotFound(() => openSync(path, "r"));
  }

  /** The text of the line; shorter than expected when the file was cut meanwhile. */
  textAt({ offset, bytes }: LinePlace): string {
    const buffer = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      const got = this.#orNotFound(() => readSync(this.#file, buffer, filled, bytes - filled, offset + filled));
      if (got === 0) break;
      filled += got;
    }
    return buffer.toString("utf8", 0, filled).replace(/^\uFEFF/, "");
  }

  /** The object on the line; undefined when the file was rewritten since the line was found. */
  objectAt(place: LinePlace): JsonObject | undefined {
    return parsedObject(this.textAt(place));
  }

  close(): void {
    closeSync(this.#file);
  }

  #orNotFound(act: () => number): number {
    try {
      return act();
    } catch (cause) {
      throw new SourceNotFoundError(this.#path, { cause });
    }
  }
}
