import { nullable, oneOf, optional, options as optionsOf, type RulesOf } from "../arguments/rules.js";
import { ID } from "../arguments/shapes.js";
import type { SessionContext } from "../context/context.js";
import { MessageList, readSettings } from "../context/message-list.js";
import { ProjectedEntries } from "../context/projected-entries.js";
import type { DanglingCalls } from "../context/tool-pairs.js";
import { type EntryId, type EntrySeq, toEntrySeq } from "../ids/ids.js";
import type { SessionRow } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";

/** Where a context ends, and how it is built. */
export interface ContextOptions {
  /** Default: the current leaf in the store, even if another process moved it. null: before the first entry. */
  readonly leafId?: EntryId | null | undefined;
  /** `close` (default) adds a result to a tool call without one; `drop` removes the call. */
  readonly danglingCalls?: DanglingCalls | undefined;
}

export const CONTEXT = optionsOf({
  leafId: optional(nullable(ID)),
  danglingCalls: optional(oneOf("close", "drop")),
} satisfies RulesOf<ContextOptions>);

/** The settings in force at an entry. */
export type ContextSettings = Pick<SessionContext, "model" | "thinkingLevel" | "system">;

/** Builds the contexts of a handle. That of its leaf is kept, so that after an append only the new entries are read. */
export class ContextReader {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #leafName: string;
  readonly #entries = new ProjectedEntries();
  readonly #messages = new MessageList();

  constructor(storage: SessionStorage, row: SessionRow, leafName: string) {
    this.#storage = storage;
    this.#row = row;
    this.#leafName = leafName;
  }

  ofLeaf(danglingCalls: DanglingCalls): Promise<SessionContext> {
    return this.#ofLeafSince(this.#entries.end, danglingCalls);
  }

  async #ofLeafSince(knownSeq: EntrySeq | null, danglingCalls: DanglingCalls): Promise<SessionContext> {
    const path = await this.#storage.contextPath(this.#row, { leafName: this.#leafName }, knownSeq);
    const update = this.#entries.update(path, knownSeq);
    // The cached entries are not on this path, so all entries are read.
    if (update === undefined) return this.#ofLeafSince(null, danglingCalls);
    return { ...this.#messages.update(path, update, danglingCalls), ...readSettings(path) };
  }

  async at(leafId: EntryId | null, danglingCalls: DanglingCalls): Promise<SessionContext> {
    const path = await this.#storage.contextPath(this.#row, { entryId: leafId }, null);
    const update = { entries: this.#entries.reuse(path.entries), newFrom: 0 };
    return { ...new MessageList().update(path, update, danglingCalls), ...readSettings(path) };
  }

  /** Reads no entries but those of the settings. */
  async settingsAt(leafId: EntryId | null): Promise<ContextSettings> {
    // With the entry itself as the known end, the storage reads no entries.
    const [end] = await this.#storage.outlinePath(this.#row, leafId, 1);
    return readSettings(await this.#storage.contextPath(this.#row, { entryId: leafId }, end === undefined ? null : toEntrySeq(end.seq)));
  }
}
