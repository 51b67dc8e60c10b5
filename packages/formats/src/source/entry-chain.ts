import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceEntry, SourceRecord } from "@bough/session-core/engine";
import { type EntryReference, isId, type JsonObject, numberAt, stringAt } from "@bough/session-core/wire";
import { derivedId } from "./derived-id.js";

/** An entry to be attached to a chain. */
interface ChainedEntry {
  readonly line: number;
  /** The record's own id. Without a valid one, the entry gets an id derived from the session, the line and `part`. */
  readonly id?: string | undefined;
  /** The id that an earlier version gave it. */
  readonly formerId?: EntryId | undefined;
  /** The id that `idOf` gave for it, if it was asked: deriving an id costs a hash. */
  readonly entryId?: EntryId | undefined;
  /** The number of the entry among those of its line, from 0. */
  readonly part?: number;
  /** Default: the time of the entry before it. */
  readonly createdAtMs?: number | undefined;
  readonly payload: JsonObject;
  /** The entry of which it is a copy, if its record names one. */
  readonly origin?: EntryReference | undefined;
}

/**
 * The entries of a log that records no tree: each is attached to the one before it, and after `moveTo` to another one, which makes
 * a branch. An entry whose record has no time gets that of the entry before it.
 */
export class EntryChain {
  readonly #sessionId: SessionId;
  #leafId: EntryId | null;
  #lastMs: number;
  /** True if no entry was added since the last move: an import puts the leaf at the last entry, unless a record says otherwise. */
  #hasMoved = false;

  /** `state`: that of an earlier reading of the same session. */
  constructor(sessionId: SessionId, startMs: number, state: JsonObject = {}) {
    this.#sessionId = sessionId;
    this.#leafId = stringAt(state, "leafId") ?? null;
    this.#lastMs = numberAt(state, "lastMs") ?? startMs;
  }

  /** The last entry, or the one moved to; null: none. */
  get leafId(): EntryId | null {
    return this.#leafId;
  }

  /** The time of the last entry. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** The state from which a later reading continues: a JSON value. */
  get state(): JsonObject {
    return { leafId: this.#leafId, lastMs: this.#lastMs };
  }

  /** The id that `add` gives to this entry. The number comes first, so that a short prefix still names the first entry of the line. */
  idOf({ line, id, part = 0 }: Pick<ChainedEntry, "line" | "id" | "part">): EntryId {
    const own = id === undefined || part === 0 ? id : `${part + 1}:${id}`;
    return own !== undefined && isId(own) ? own : derivedId(this.#sessionId, id ?? "", line, part);
  }

  /** Attaches an entry to the leaf, and becomes the leaf. */
  add(entry: ChainedEntry): SourceEntry {
    const id = entry.entryId ?? this.idOf(entry);
    const formerId = entry.formerId ?? (entry.id !== undefined && (entry.part ?? 0) > 0 ? `${entry.id}:${entry.part}` : undefined);
    const parentId = this.#leafId;
    this.#lastMs = entry.createdAtMs ?? this.#lastMs;
    this.#leafId = id;
    this.#hasMoved = false;
    const { line, payload, origin } = entry;
    const copied = origin === undefined ? {} : { origin };
    const added = { kind: "entry", line, id, parentId, createdAtMs: this.#lastMs, payload, ...copied } as const;
    return formerId === undefined || formerId === id ? added : { ...added, formerId };
  }

  /** Continues behind this entry; null: before the first one. */
  moveTo(id: EntryId | null): void {
    this.#leafId = id;
    this.#hasMoved = true;
  }

  /** Where the leaf is, if this reading moved it and added no entry since. */
  *movedLeaf(): Generator<SourceRecord, void, void> {
    if (this.#hasMoved) yield { kind: "leaf", name: "main", entryId: this.#leafId };
  }
}
