import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, numberAt, stringAt } from "@bough/session-core/wire";
import { derivedId } from "./derived-id.js";
import { readJsonLines, type SourceLine } from "./json-lines.js";
import type { LogConversation } from "./record-log.js";

/** The position of a record in the tree of its file, and the entries that it becomes. */
export interface TreeRecord {
  /** The record's own id; undefined: it is no part of the tree. */
  readonly id: string | undefined;
  /** The id of the record before it; null: it is a first one; undefined: the record of the line before. */
  readonly parentId: string | null | undefined;
  readonly createdAtMs: number | undefined;
  /** Each is the child of the one before. Empty: the record becomes no entry, and its children are attached to the entry above it. */
  readonly payloads: readonly JsonObject[];
  /** A title or label that the record says. */
  readonly marks?: readonly SourceRecord[];
}

/** The facts of the session that the conversion of a record needs. */
export interface TreeReading {
  /** The name of the tool of a call; undefined: no reply before it has the call. */
  toolName(callId: string): string | undefined;
  /** The last entry on the path to the record `parentId` whose record has this key; undefined: none. Reads the lines since the last call again. */
  findAbove(parentId: string | null, key: string): EntryId | undefined;
  /** The same on the path to the record of the line before. */
  findLast(key: string): EntryId | undefined;
}

/** A record as `findAbove` remembers it. */
interface KnownRecord {
  readonly parentId: string | null;
  readonly key: string | undefined;
}

/**
 * The entries of a log whose records name their parents, such as those of Qwen Code and Droid. Entries have the ids of their records.
 *
 * Memory: the ids of records that are no entries, and the calls without a result; with a compaction, 200 bytes a record. The state of a
 * reading has the last of them only: a later reading that meets an earlier one reads the file from its start for it.
 */
export class TreeConversation implements LogConversation {
  readonly isPending = false;
  readonly #path: string;
  readonly #sessionId: SessionId;
  readonly #read: (record: JsonObject, reading: TreeReading) => TreeRecord;
  readonly #keyOf: (record: JsonObject) => string | undefined;
  /** The entry for a record that became none, or more than one. */
  #links = new Map<string, EntryId | null>();
  #names: Map<string, string>;
  #isWhole: boolean;
  /**
   * The record of the line before, and where records go on that name it as their parent. `under`: the last record before it that names
   * a parent, if it names none itself.
   */
  #last: { readonly id: string; readonly entryId: EntryId | null; readonly under: string | undefined } | undefined;
  #lastMs: number;
  #line = 0;
  /** The records that `findAbove` has read, by their ids; the last one, and where it goes on. */
  readonly #known = new Map<string, KnownRecord>();
  #lastKnown: string | null = null;
  #knownUpTo = { offset: 0, line: 0 };

  /** `keyOf`: by which a compaction names a record that it keeps. */
  constructor(
    { path, sessionId, startMs, state }: { path: string; sessionId: SessionId; startMs: number; state?: JsonObject | undefined },
    read: (record: JsonObject, reading: TreeReading) => TreeRecord,
    keyOf: (record: JsonObject) => string | undefined,
  ) {
    this.#path = path;
    this.#sessionId = sessionId;
    this.#read = read;
    this.#keyOf = keyOf;
    this.#isWhole = state === undefined;
    const last = stringAt(state ?? {}, "last");
    if (last !== undefined)
      this.#last = { id: last, entryId: stringAt(state ?? {}, "entryId") ?? null, under: stringAt(state ?? {}, "under") };
    this.#lastMs = numberAt(state ?? {}, "lastMs") ?? startMs;
    const names = isObject(state?.names) ? state.names : {};
    this.#names = new Map(Object.entries(names).map(([id, name]) => [id, String(name)]));
  }

  get state(): JsonObject {
    const names = this.#names.size === 0 ? {} : { names: Object.fromEntries(this.#names) };
    const last = this.#last === undefined ? {} : { last: this.#last.id, entryId: this.#last.entryId, under: this.#last.under };
    return { lastMs: this.#lastMs, ...last, ...names };
  }

  *read(record: JsonObject, { number: line, text }: SourceLine): Generator<SourceRecord, void, void> {
    this.#line = line;
    const { id, parentId, createdAtMs, payloads, marks = [] } = this.#read(record, this);
    this.#lastMs = createdAtMs ?? this.#lastMs;
    yield* marks;
    if (payloads.length === 0) yield { kind: "merged", line };
    if (id === undefined && payloads.length === 0) return;
    let entryId = parentId === undefined || id === undefined ? (this.#last?.entryId ?? null) : this.#entryFor(parentId);
    for (const [part, payload] of payloads.entries()) {
      const own = id === undefined || part === 0 ? id : `${part + 1}:${id}`;
      const entry = own !== undefined && isId(own) ? own : derivedId(this.#sessionId, id ?? text, line, part);
      yield { kind: "entry", line, id: entry, parentId: entryId, createdAtMs: this.#lastMs, payload };
      this.#noteCalls(payload);
      entryId = entry;
    }
    this.#goTo(id ?? String(entryId), entryId, parentId === undefined);
  }

  /** Notes where records go on behind this one. `isBeside`: it names no parent, as a compaction; later ones may name those before it. */
  #goTo(id: string, entryId: EntryId | null, isBeside: boolean): void {
    const before = isBeside ? this.#last : undefined;
    const under = before?.under ?? before?.id;
    if (id !== entryId) this.#links.set(id, entryId);
    for (const one of [before?.id, under]) if (one !== undefined) this.#links.set(one, entryId);
    this.#last = { id, entryId, under };
  }

  *finish(): Generator<SourceRecord, void, void> {
    // A rewind at the end adds no entry.
    if (this.#last !== undefined && this.#links.has(this.#last.id)) yield { kind: "leaf", name: "main", entryId: this.#last.entryId };
  }

  #entryFor(parentId: string | null): EntryId | null {
    if (parentId === null) return null;
    if (parentId === this.#last?.id || parentId === this.#last?.under) return this.#last.entryId;
    if (!this.#isWhole && !this.#links.has(parentId)) this.#readLinks();
    const known = this.#links.get(parentId);
    return known === undefined ? parentId : known;
  }

  /** Reads the records before this line for those that are no entries. */
  #readLinks(): void {
    this.#isWhole = true;
    const earlier = new TreeConversation({ path: this.#path, sessionId: this.#sessionId, startMs: 0 }, this.#read, this.#keyOf);
    for (const line of readJsonLines(this.#path)) {
      if (line.kind === "problem") continue;
      if (line.line.number >= this.#line) break;
      for (const _ of earlier.read(line.object, line.line));
    }
    this.#links = new Map([...earlier.#links, ...this.#links]);
  }

  #noteCalls(payload: JsonObject): void {
    const message = isObject(payload.message) ? payload.message : {};
    if (message.role === "toolResult") this.#names.delete(String(message.toolCallId));
    const blocks: readonly unknown[] = message.role === "assistant" && Array.isArray(message.content) ? message.content : [];
    for (const block of blocks) if (isObject(block) && block.type === "toolCall") this.#names.set(String(block.id), String(block.name));
  }

  toolName(callId: string): string | undefined {
    return this.#names.get(callId);
  }

  findLast(key: string): EntryId | undefined {
    return this.findAbove(this.#last?.id ?? null, key);
  }

  findAbove(parentId: string | null, key: string): EntryId | undefined {
    this.#readKnown();
    const seen = new Set<string>();
    for (let id = parentId; id !== null && !seen.has(id); id = this.#known.get(id)?.parentId ?? null) {
      seen.add(id);
      if (this.#known.get(id)?.key === key) return isId(id) ? id : undefined;
    }
    return undefined;
  }

  /** Reads the records before this line that were not read for an earlier compaction. */
  #readKnown(): void {
    for (const read of readJsonLines(this.#path, { from: this.#knownUpTo })) {
      const { number, offset, bytes } = read.line;
      if (number >= this.#line) break;
      this.#knownUpTo = { offset: offset + bytes + 1, line: number };
      if (read.kind === "problem") continue;
      const { id, parentId = this.#lastKnown } = this.#read(read.object, NOTHING_KNOWN);
      if (id === undefined) continue;
      this.#known.set(id, { parentId, key: this.#keyOf(read.object) });
      this.#lastKnown = id;
    }
  }
}

const NOTHING_KNOWN: TreeReading = { toolName: () => undefined, findAbove: () => undefined, findLast: () => undefined };
