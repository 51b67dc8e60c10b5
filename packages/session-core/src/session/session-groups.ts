import { checkArgument, list, NUMBER, nullable, optional, TEXT } from "../arguments/rules.js";
import { COUNTS, ID, OUTLINE } from "../arguments/shapes.js";
import type { EntryId } from "../ids/ids.js";
import type { Label, OutlineRow, SessionRow } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import type { LeafWriter } from "./leaf-writer.js";

// The groups of methods of a session handle: `session.labels`, `session.tree`, `session.tokenCounts`.

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

/** The structure of all branches, as rows without payloads. */
export class SessionTree {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow) {
    this.#storage = storage;
    this.#row = row;
  }

  /** Returns the rows of the tree in order of arrival, parents before children: `limit` (default 1,000) rows after `afterSeq`. */
  async outline(options: { readonly afterSeq?: number; readonly limit?: number } = {}): Promise<readonly OutlineRow[]> {
    checkArgument("options", options, OUTLINE);
    return this.#storage.outline(this.#row, options.afterSeq ?? 0, options.limit ?? 1000);
  }

  /**
   * Returns the rows of the path of an entry, from that entry upwards: at most `limit` (default 1,000). The cost does not depend on
   * the length of the path.
   *
   * @throws {EntryNotFoundError}
   */
  async path(leafId: EntryId | null, limit = 1000): Promise<readonly OutlineRow[]> {
    checkArgument("leafId", leafId, nullable(ID));
    checkArgument("limit", limit, NUMBER);
    return this.#storage.outlinePath(this.#row, leafId, limit);
  }

  /** Returns rows by their order of arrival (`seq`), oldest first. Ignores numbers that belong to other sessions. */
  async rowsAt(seqs: readonly number[]): Promise<readonly OutlineRow[]> {
    checkArgument("seqs", seqs, list(NUMBER, "an array of numbers"));
    return this.#storage.outlineAt(this.#row, seqs);
  }

  /** Returns the children of an entry, oldest first; for null the first entries of the session. @throws {EntryNotFoundError} */
  async children(id: EntryId | null): Promise<readonly OutlineRow[]> {
    checkArgument("id", id, nullable(ID));
    return this.#storage.children(this.#row, id);
  }

  /** Returns the other children of an entry's parent, oldest first. @throws {EntryNotFoundError} */
  async siblings(id: EntryId): Promise<readonly OutlineRow[]> {
    checkArgument("id", id, ID);
    const { parentId } = await this.#storage.entry(this.#row, id);
    return (await this.#storage.children(this.#row, parentId)).filter((row) => row.id !== id);
  }

  /** Returns the entries with more than one child, oldest first. */
  async branchPoints(): Promise<readonly OutlineRow[]> {
    return this.#storage.branchPoints(this.#row);
  }

  /** Returns the entries without children, oldest first. */
  async tips(): Promise<readonly OutlineRow[]> {
    return this.#storage.tips(this.#row);
  }

  /** Returns the deepest entry on the paths of both, or null. @throws {EntryNotFoundError} */
  async commonAncestor(a: EntryId, b: EntryId): Promise<EntryId | null> {
    checkArgument("a", a, ID);
    checkArgument("b", b, ID);
    return this.#storage.commonAncestor(this.#row, a, b);
  }
}
