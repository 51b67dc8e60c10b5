import { CALLBACK, checkArgument, list, NAME, NUMBER, nullable, OBJECT, optional, TEXT } from "../arguments/rules.js";
import { ID } from "../arguments/shapes.js";
import { ValueChangedError } from "../errors/session-errors.js";
import { type EntryId, toEntrySeq } from "../ids/ids.js";
import { COUNTS, LISTING, VALUE_RANGE } from "../port/options.js";
import type { EntryListing, Label, OutlineRow, SessionRow, StoredValue, ValueKey, ValueRange } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import type { Write } from "../port/writes.js";

// The groups of methods of a session handle: `labels`, `tokenCounts`, `values`, `tree`.

/** The writes of a handle, in their order. */
interface HandleWrites {
  commit(writes: readonly Write[]): Promise<unknown>;
  run(write: () => Promise<void>): Promise<void>;
}

/** The labels of a session: one for each entry at most. */
export class SessionLabels {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #writer: HandleWrites;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow, writer: HandleWrites) {
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
  readonly #writer: HandleWrites;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow, writer: HandleWrites) {
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

/** The condition of a write of a value. */
export interface SetValueOptions {
  /**
   * The value is written only if the present one equals this as JSON, ignoring the order of members; a member `ifEquals` that is
   * undefined: only if the key has no value.
   */
  readonly ifEquals?: unknown;
}

/** The maximum number of tries of `update`. Another writer has succeeded between any two tries. */
const MOST_TRIES = 1000;

/** Values of the host, stored with a session by key. They are not part of the tree: no leaf moves, and a search does not find them. */
export class SessionValues {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #writer: HandleWrites;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow, writer: HandleWrites) {
    this.#storage = storage;
    this.#row = row;
    this.#writer = writer;
  }

  /** Returns the value of a key, or undefined. */
  async get(key: string): Promise<unknown> {
    checkArgument("key", key, TEXT);
    return (await this.#storage.value(this.#row, key))?.value;
  }

  /**
   * Lists the values of a range of keys (default: all; a text is a prefix), ordered by key. Cost: the values returned.
   *
   * @example
   * const newest = await session.values.list({ prefix: "run/", order: "desc", limit: 20 });
   * const older = await session.values.list({ prefix: "run/", order: "desc", limit: 20, after: newest.at(-1)?.key });
   */
  async list(range: string | ValueRange = {}): Promise<readonly StoredValue[]> {
    return this.#storage.values(this.#row, toRange(range));
  }

  /** Lists the keys of a range with sizes and times, without reading the values. */
  async keys(range: string | ValueRange = {}): Promise<readonly ValueKey[]> {
    return this.#storage.valueKeys(this.#row, toRange(range));
  }

  /**
   * Stores a value, at most 16 MiB as JSON; `undefined` removes it.
   *
   * @throws {ValueChangedError} the present value does not equal `ifEquals`; nothing was written.
   * @throws {ValueTooLargeError | UnserializableValueError}
   * @throws {InvalidEntryError} the key is empty, longer than 200 characters, or no well-formed text (a lone surrogate).
   */
  async set(key: string, value: unknown, options: SetValueOptions = {}): Promise<void> {
    checkArgument("key", key, TEXT);
    checkArgument("options", options, OBJECT);
    const condition = "ifEquals" in options ? { ifEquals: options.ifEquals } : {};
    await this.#writer.commit([{ kind: "value", key, value, ...condition }]);
  }

  /**
   * Replaces a value by what `change` makes of it, and returns the new value. If another writer changes the value meanwhile, `change`
   * is called again with that one, so that no update is lost; it must not have effects of its own. `undefined` means no value.
   *
   * @throws {ValueChangedError} other writers were faster 1,000 times.
   * @throws what `change` throws; nothing was written.
   * @example
   * const runs = await session.values.update("runs", (count) => Number(count ?? 0) + 1);
   */
  async update(key: string, change: (present: unknown) => unknown): Promise<unknown> {
    checkArgument("key", key, TEXT);
    checkArgument("change", change, CALLBACK);
    for (let tries = 1; ; tries += 1) {
      const present = await this.get(key);
      // `change` gets a copy, because it may return the object that it was given.
      const value = await change(structuredClone(present));
      try {
        await this.set(key, value, { ifEquals: present });
        return value;
      } catch (error) {
        if (!(error instanceof ValueChangedError) || tries === MOST_TRIES) throw error;
      }
    }
  }

  /** Removes the values whose key starts with `prefix`, which must not be empty. */
  async deletePrefix(prefix: string): Promise<void> {
    checkArgument("prefix", prefix, NAME);
    await this.#writer.commit([{ kind: "deleteValues", prefix }]);
  }
}

function toRange(range: string | ValueRange): ValueRange {
  if (typeof range === "string") return { prefix: range };
  checkArgument("range", range, VALUE_RANGE);
  return range;
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

  /**
   * Returns rows of the tree in order of arrival: parents before children, or with `order: "newest"` the newest first. At most `limit`
   * (default 1,000); the next page starts after (before) the `seq` of the last row. Cost: the page; `customType` is read by an index,
   * with `types` the rows between one match and the next are read too.
   *
   * @example
   * const newest = await session.tree.outline({ order: "newest", limit: 50 });
   * const older = await session.tree.outline({ order: "newest", limit: 50, beforeSeq: newest.at(-1)?.seq });
   */
  async outline(options: EntryListing = {}): Promise<readonly OutlineRow[]> {
    checkArgument("options", options, LISTING);
    return this.#storage.outline(this.#row, options);
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
    return this.#storage.outlineAt(this.#row, seqs.map(toEntrySeq));
  }

  /** Returns the children of an entry, oldest first; for null the first entries of the session. @throws {EntryNotFoundError} */
  async children(id: EntryId | null): Promise<readonly OutlineRow[]> {
    checkArgument("id", id, nullable(ID));
    return this.#storage.children(this.#row, id);
  }

  /** Returns the other children of an entry's parent, oldest first. @throws {EntryNotFoundError} */
  async siblings(id: EntryId): Promise<readonly OutlineRow[]> {
    checkArgument("id", id, ID);
    // The rows of the path, because the entry itself would be read with its payload.
    const [, parent] = await this.#storage.outlinePath(this.#row, id, 2);
    return (await this.#storage.children(this.#row, parent?.id ?? null)).filter((row) => row.id !== id);
  }

  /**
   * Returns the newest entry without children below an entry, or the entry itself if it has no children: where the branch of an entry
   * ends. Cost: a climb (logarithmic) for each newer tip that is on another branch. @throws {EntryNotFoundError}
   *
   * @example
   * await session.moveLeaf(await session.tree.tipBelow(session.leafId));
   */
  async tipBelow(id: EntryId): Promise<EntryId> {
    checkArgument("id", id, ID);
    return this.#storage.tipBelow(this.#row, id);
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
