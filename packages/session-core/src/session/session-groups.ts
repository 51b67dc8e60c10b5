import { checkArgument, list, optional, TEXT } from "../arguments/rules.js";
import { COUNTS, ID } from "../arguments/shapes.js";
import type { EntryId } from "../ids/ids.js";
import type { Label, SessionRow } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import type { LeafWriter } from "./leaf-writer.js";

// Two groups of methods of a session handle: `session.labels`, `session.tokenCounts`. The others have files of their own.

/** The labels of a session: one for each entry at most. */
export class SessionLabels {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #writer: LeafWriter;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow, writer: LeafWriter) {
    this.#storage = storage;
    this.#row = row;
    this.#writer = writer;
  }

  /** Lists the labels that contain `text` (default: all), ignoring case, by order of arrival of their entries. */
  async list(text?: string): Promise<readonly Label[]> {
    checkArgument("text", text, optional(TEXT));
    return this.#storage.labels(this.#row, text);
  }

  /** Sets the label of an entry, replacing the one it has. Does not move the leaf. @throws {EntryNotFoundError} */
  async set(entryId: EntryId, label: string): Promise<void> {
    checkArgument("entryId", entryId, ID);
    checkArgument("label", label, TEXT);
    await this.#writer.commit([{ kind: "label", entryId, label }]);
  }

  /** Removes the label of an entry. @throws {EntryNotFoundError} */
  async remove(entryId: EntryId): Promise<void> {
    checkArgument("entryId", entryId, ID);
    await this.#writer.commit([{ kind: "label", entryId, label: null }]);
  }
}

/** A cache of how many tokens entries take. Saving counts changes neither the leaf nor the times of the session. */
export class SessionTokenCounts {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #writer: LeafWriter;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow, writer: LeafWriter) {
    this.#storage = storage;
    this.#row = row;
    this.#writer = writer;
  }

  /** Returns the counts saved under the name `counter`, by entry id. Entries without a count are missing. One query. */
  async get(counter: string, ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    checkArgument("counter", counter, TEXT);
    checkArgument("ids", ids, list(ID, "an array of ids"));
    return this.#storage.tokenCounts(this.#row, counter, ids);
  }

  /**
   * Saves token counts, replacing those of the same counter. Ignores ids of unknown entries. `counter` must name everything
   * that a count depends on: encoding, rules, and their version.
   *
   * @throws {InvalidEntryError} a count is not a non-negative safe integer, or the name is empty or longer than 200 characters.
   * @throws {StoreBusyError | StoreFullError | StoreReadOnlyError | SessionNotFoundError} nothing was written.
   * @example
   * await session.tokenCounts.save("o200k_base/1", new Map([[entry.id, 412]]));
   */
  async save(counter: string, counts: ReadonlyMap<EntryId, number>): Promise<void> {
    checkArgument("counter", counter, TEXT);
    checkArgument("counts", counts, COUNTS);
    const copy = new Map(counts);
    await this.#writer.run(() => this.#storage.saveTokenCounts(this.#row, counter, copy));
  }
}
