import { parsedObject } from "../../source/json-text.js";
import type { JsonObject } from "../../source/narrow.js";
import { OpenSource } from "../../source/open-source.js";

/** Where one line stands in a file, in bytes. */
export interface LinePlace {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Reads single lines of a file by their place. Memory holds one line at a time, which is what lets a reply be put
 * together from lines that are far apart. Close it when done.
 *
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export class LineReader {
  readonly #file: OpenSource;

  constructor(path: string) {
    this.#file = new OpenSource(path);
  }

  /** The text of the line; shorter than expected when the file was cut meanwhile. */
  textAt({ offset, bytes }: LinePlace): string {
    return this.#file
      .bytesAt(offset, bytes)
      .toString("utf8")
      .replace(/^\uFEFF/, "");
  }

  /** The object on the line; undefined when the file was rewritten since the line was found. */
  objectAt(place: LinePlace): JsonObject | undefined {
    return parsedObject(this.textAt(place));
  }

  close(): void {
    this.#file.close();
  }
}
