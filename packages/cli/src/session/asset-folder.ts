import { randomUUID } from "node:crypto";
import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { MarkdownImage } from "@bough/formats";
import { errorCode } from "@bough/session-core/engine";
import { OutputFailedError } from "../errors.js";
import { moveToNewPath, PRIVATE } from "./write-file.js";

/**
 * The folder for the images of a document. Only the user may read them, as the document. The name of a file is a hash of its content, so a
 * file that exists has this content already and stays.
 *
 * Images are written to a hidden folder in it while the document is written, and get their names when both are complete, before the document
 * gets its own. A killed process leaves that hidden folder, or images without a document, never a document without its images.
 */
export class AssetFolder {
  readonly folder: string;
  readonly #documentFolder: string;
  readonly #isDry: boolean;
  readonly #draft: string;
  /** Each resolves with its error. */
  readonly #writes: Promise<unknown>[] = [];
  readonly #names = new Set<string>();
  /** The paths that this document's images have, not those of files that were there. */
  readonly #placed: string[] = [];
  /** The first folder that did not exist; undefined: nothing was written. */
  #made: string | undefined;

  /** `isDry`: images are only counted. */
  constructor(folder: string, documentFolder: string, isDry: boolean) {
    this.folder = folder;
    this.#documentFolder = documentFolder;
    this.#isDry = isDry;
    this.#draft = join(folder, `.${randomUUID()}.tmp`);
  }

  /** The number of different images. */
  get count(): number {
    return this.#names.size;
  }

  /** Starts to write an image. Returns its path relative to the document. */
  add({ bytes, name }: MarkdownImage): string {
    if (!this.#isDry && !this.#names.has(name)) this.#writes.push(this.#write(name, bytes).catch((error: unknown) => error));
    this.#names.add(name);
    return relative(this.#documentFolder, join(this.folder, name));
  }

  /**
   * The pieces of the document. After the last one the images get their names.
   *
   * @throws {OutputFailedError} one of them could not be written.
   */
  async *placedAfter(pieces: AsyncIterable<string>): AsyncIterable<string> {
    yield* pieces;
    const failed = (await Promise.all(this.#writes)).find((error) => error !== undefined) ?? (await this.#place().catch((error) => error));
    if (failed === undefined) return;
    const reason = failed instanceof Error ? failed.message : String(failed);
    throw new OutputFailedError(`The images could not be written to ${this.folder}: ${reason}`, { cause: failed });
  }

  /** Waits until nothing is written any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** Removes what was written: the document will not be there. Folders stay if they were there or have other files. */
  discard(): void {
    if (this.#made === undefined) return;
    for (const path of [this.#draft, ...this.#placed]) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    for (let folder = this.folder; folder.length >= this.#made.length; folder = dirname(folder)) {
      try {
        rmdirSync(folder);
      } catch (error) {
        if (errorCode(error) === undefined) throw error;
        return;
      }
    }
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    // Not awaited, so that an interruption between both lines cannot leave the folder.
    this.#made ??= mkdirSync(this.#draft, { recursive: true });
    await writeFile(join(this.#draft, name), bytes, { flush: true, mode: PRIVATE });
  }

  async #place(): Promise<void> {
    for (const name of this.#writes.length === 0 ? [] : this.#names) {
      const path = join(this.folder, name);
      try {
        await moveToNewPath(join(this.#draft, name), path);
        this.#placed.push(path);
      } catch (error) {
        if (errorCode(error) !== "EEXIST") throw error;
      }
    }
    await rm(this.#draft, { recursive: true, force: true });
  }
}
