import { checkArgument, list, NUMBER, nullable } from "../arguments/rules.js";
import { ID, LISTING } from "../arguments/shapes.js";
import type { EntryId } from "../ids/ids.js";
import type { EntryListing, OutlineRow, SessionRow } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";

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
