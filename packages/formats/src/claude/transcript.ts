import { ReadFromStartError, type ReadingPosition } from "@bough/session-core/engine";
import { Titles } from "./chains.js";
import { agentIdOfFile } from "./ids.js";
import { type IndexedFile, indexFile, indexRest } from "./index-file.js";
import { type SavedTranscript, savedIn } from "./saved-transcript.js";
import type { ChainFacts, SessionFile } from "./session-file.js";

/** A transcript in a file, of which an earlier reading may have saved what a later one needs. It is read only when that is not enough. */
export class Transcript {
  readonly path: string;
  /** The number of the session that the file is of: 0 is the conversation, 1 that of an agent's file. */
  readonly home: number;
  /** Where an earlier reading ended; undefined: there was none, or it saved nothing. */
  readonly earlier: ReadingPosition | undefined;
  readonly #agent: string | undefined;
  readonly #saved: SavedTranscript | undefined;
  #whole: IndexedFile | undefined;

  constructor(path: string, earlier: ReadingPosition | undefined) {
    this.path = path;
    this.#agent = agentIdOfFile(path);
    this.home = this.#agent === undefined ? 0 : 1;
    this.#saved = savedIn(earlier);
    this.earlier = this.#saved && earlier;
  }

  /** True if all of the file was indexed, or has to be. */
  get isWhole(): boolean {
    return this.#saved === undefined || this.#whole !== undefined;
  }

  /** The index of all of the file. Reads it at the first call. */
  get whole(): IndexedFile {
    this.#whole ??= indexFile(this.path, this.#agent);
    return this.#whole;
  }

  /** The index of the part after the earlier reading. @throws {ReadFromStartError} a record refers to one that was not saved. */
  rest(): IndexedFile {
    if (this.earlier === undefined || this.#saved === undefined) throw new ReadFromStartError();
    return indexRest(this.path, this.#agent, this.earlier, this.#saved);
  }

  /** The facts of the sessions: of an earlier reading as long as they are enough. */
  get chains(): readonly ChainFacts[] {
    return this.isWhole ? this.whole.chains : (this.#saved?.chains ?? []);
  }

  get titles(): SessionFile["titles"] {
    return this.isWhole ? this.whole.titles : new Titles(this.#saved?.titles).choose(() => false);
  }
}
