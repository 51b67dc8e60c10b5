import {
  type EntryId,
  type Session,
  SessionNotFoundError,
  StoreBusyError,
  StoreClosedError,
  StoreFullError,
  StoreReadOnlyError,
} from "@bough/session-core";
import type { TokenCounter } from "./counter.js";
import { type ImageModel, imageRuleOf } from "./image-tokens.js";

/** So many new counts are written together: one transaction for each would cost as much as the appends. */
const BATCH = 64;

/**
 * The counts that a store keeps with its entries, for one way to count. Only what an entry says itself is kept there; what
 * an edit on some path makes of it is another text, and on another path it is not even that.
 */
export class StoredCounts {
  readonly #name: string;
  readonly #pending = new Map<EntryId, number>();
  /** Where the path ends that the pending counts are about. */
  #leafId: EntryId | null = null;

  constructor(
    private readonly session: Session,
    counter: TokenCounter,
    model: ImageModel,
  ) {
    // Providers count images by rules of their own.
    this.#name = `${counter.name} ${imageRuleOf(model)}`;
  }

  get isWorthSaving(): boolean {
    return this.#pending.size >= BATCH;
  }

  /** What is known of entries of the current path, oldest first; those that an edit changes are left out. */
  async load(ids: readonly EntryId[]): Promise<ReadonlyMap<EntryId, number>> {
    const known = new Map(await this.session.tokenCounts(this.#name, ids));
    if (known.size > 0) for (const id of await this.#edited(ids[0])) known.delete(id);
    return known;
  }

  /** The counts that follow are about the path that ends at `leafId`. `continues`: it only went on since the last ones. */
  begin(continues: boolean, leafId: EntryId | null): void {
    // What was counted on another branch may be what an edit there made of an entry.
    if (!continues) this.#pending.clear();
    this.#leafId = leafId;
  }

  add(id: EntryId, tokens: number): void {
    this.#pending.set(id, tokens);
  }

  /** Writes what was added. It is a cache: where it cannot be written, nothing is lost but time. */
  async save(): Promise<void> {
    if (this.#pending.size === 0) return;
    const counts = new Map(this.#pending);
    this.#pending.clear();
    try {
      for (const id of await this.#edited(counts.keys().next().value)) counts.delete(id);
      await this.session.saveTokenCounts(this.#name, counts);
    } catch (error) {
      if (!isOfTheStore(error)) throw error;
    }
  }

  /** Entries that an edit on the path changes. An edit is younger than its target, so it stands below the oldest one. */
  async #edited(oldest: EntryId | undefined): Promise<ReadonlySet<EntryId>> {
    const leafId = this.#leafId;
    if (leafId === null || oldest === undefined) return new Set();
    const stopAt = await this.session.commonAncestor(leafId, oldest);
    const { items } = await this.session.scan({ leafId, types: ["context_edit"], ...(stopAt === null ? {} : { stopAt }) });
    return new Set(items.flatMap((entry) => (entry.type === "context_edit" ? [entry.targetId] : [])));
  }
}

function isOfTheStore(error: unknown): boolean {
  return (
    error instanceof StoreReadOnlyError ||
    error instanceof StoreBusyError ||
    error instanceof StoreFullError ||
    error instanceof StoreClosedError ||
    error instanceof SessionNotFoundError
  );
}
