import { hash } from "node:crypto";
import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceEntry, SourceRecord } from "@bough/session-core/engine";
import { type JsonObject, numberAt, stringAt, tryStringify } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import { compactionPayload, type KeptEntries, keptEntries, textBlocks } from "../source/payloads.js";
import { type Content, contentOf, toPayload } from "./messages.js";

/** Times are seconds since 1970. */
export function toMs(seconds: unknown): number | undefined {
  return typeof seconds === "number" ? Math.round(seconds * 1000) : undefined;
}

/**
 * A hash that a row has in common with its copies. A compression in the same session writes the messages that it keeps again, in
 * front of its summary and behind it, with the times that they had. Into one of them it may put the summary.
 */
export function keyOf(row: JsonObject): string {
  const content = handoffIn(row)?.live ?? contentOf(row);
  return hash("sha256", tryStringify([row.role, content, ...COPIED.map((name) => row[name])]) ?? "", "base64");
}

const COPIED = ["timestamp", "tool_call_id", "tool_calls", "tool_name"];

/** A summary whose kept messages are not all read. `before`, `after`: those in front of it and behind it. */
interface OpenCompaction {
  readonly row: JsonObject;
  readonly summary: string;
  readonly before: readonly EntryId[];
  readonly after: EntryId[];
}

/** An entry on the path. `isUsed`: false if its row was replaced. */
interface PathEntry {
  readonly id: EntryId;
  readonly isUsed: boolean;
}

/** The entries of a session, from its rows in order of their ids. */
export class History {
  readonly #chain: EntryChain;
  readonly #model: string | undefined;
  /** The id of the newest row with a key; undefined: no row was replaced or taken back. */
  readonly #newest: ReadonlyMap<string, unknown> | undefined;
  readonly #names = new Map<string, string>();
  /** The entries that were not taken back, from the first one, and their places. */
  #path: PathEntry[] = [];
  readonly #places = new Map<EntryId, number>();
  /** The entries of rows that are in use no more, by the keys of the rows. */
  readonly #replaced = new Map<string, EntryId>();
  /** The rows that repeat an entry since the last one that repeats none, and these entries. */
  #copies: (readonly [row: JsonObject, entryId: EntryId])[] = [];
  #compaction: OpenCompaction | undefined;
  #hasSummary = false;

  constructor(sessionId: SessionId, createdAtMs: number, model: string | undefined, newest: ReadonlyMap<string, unknown> | undefined) {
    this.#chain = new EntryChain(sessionId, createdAtMs);
    this.#model = model;
    this.#newest = newest;
  }

  *add(row: JsonObject): Generator<SourceRecord, void, void> {
    const handoff = handoffIn(row);
    if (handoff !== undefined) yield* this.#startCompaction(row, handoff.summary);
    if (handoff !== undefined && isSummaryOnly(row, handoff)) return;
    const key = this.#newest === undefined ? undefined : keyOf(row);
    // A rewind takes back a row that has no later copy.
    const isTakenBack = row.active === 0 && row.compacted !== 1 && (key === undefined || this.#newest?.get(key) === row.id);
    const repeated = key === undefined ? undefined : this.#replaced.get(key);
    if (repeated === undefined) {
      yield* this.#endCopies();
      yield this.#append(row, handoff?.live ?? contentOf(row), { part: handoff === undefined ? 0 : 1, isTakenBack, key });
    } else if (!isTakenBack) {
      if (this.#compaction === undefined) this.#copies.push([row, repeated]);
      else this.#compaction.after.push(repeated);
    }
  }

  *finish(): Generator<SourceRecord, void, void> {
    yield* this.#endCopies();
    this.#moveBack();
    yield* this.#chain.movedLeaf();
  }

  #append(
    row: JsonObject,
    content: Content,
    {
      part = 0,
      isTakenBack = false,
      key,
    }: { readonly part?: number; readonly isTakenBack?: boolean; readonly key?: string | undefined } = {},
  ): SourceEntry {
    if (!isTakenBack) this.#moveBack();
    const entry = this.#addEntry(row, toPayload(row, content, this.#model, this.#names), part);
    if (!isTakenBack) this.#pushPath(entry.id, row);
    if (key !== undefined && row.active === 0) this.#replaced.set(key, entry.id);
    return entry;
  }

  #addEntry(row: JsonObject, payload: JsonObject, part = 0): SourceEntry {
    const line = numberAt(row, "id") ?? 1;
    return this.#chain.add({ line, id: `message-${line}`, part, createdAtMs: toMs(row.timestamp), payload });
  }

  #pushPath(id: EntryId, row: JsonObject): void {
    this.#places.set(id, this.#path.length);
    this.#path.push({ id, isUsed: row.active !== 0 });
  }

  /** Continues behind the last entry that was not taken back. */
  #moveBack(): void {
    const leafId = this.#path.at(-1)?.id ?? null;
    if (this.#chain.leafId !== leafId) this.#chain.moveTo(leafId);
  }

  /** A summary keeps the copies in front of it. A session that continues another one has there what its first summary keeps. */
  *#startCompaction(row: JsonObject, summary: string): Generator<SourceRecord, void, void> {
    if (this.#compaction !== undefined) yield* this.#endCopies();
    const copied = this.#copies.map(([, entryId]) => entryId);
    const before = copied.length > 0 || this.#hasSummary ? copied : this.#path.flatMap(({ id, isUsed }) => (isUsed ? [id] : []));
    this.#copies = [];
    this.#hasSummary = true;
    this.#compaction = { row, summary, before, after: [] };
  }

  /** All that the last compression copied is read. Without a summary, it changed messages: what it wrote is a branch from the start. */
  *#endCopies(): Generator<SourceRecord, void, void> {
    const [compaction, copies] = [this.#compaction, this.#copies];
    this.#compaction = undefined;
    this.#copies = [];
    if (compaction !== undefined) {
      const { row, summary, before, after } = compaction;
      this.#moveBack();
      const entry = this.#addEntry(row, compactionPayload({ summary, kept: this.#kept(before, after) }));
      this.#pushPath(entry.id, row);
      yield entry;
    } else if (copies.length > 0) {
      this.#path = [];
      this.#replaced.clear();
      for (const [row] of copies) yield this.#append(row, contentOf(row), { key: row.active === 0 ? keyOf(row) : undefined });
    }
  }

  #kept(before: readonly EntryId[], after: readonly EntryId[]): KeptEntries {
    const isTail = after.every((id, at) => this.#path.at(at - after.length)?.id === id);
    if (before.length === 0 && isTail) return keptEntries([], after);
    const placeOf = (id: EntryId) => this.#places.get(id) ?? 0;
    const first = [...before, ...after].reduce((oldest, id) => (placeOf(id) < placeOf(oldest) ? id : oldest));
    return { firstKeptEntryId: first, keptEntryIds: [...before, null, ...after] };
  }
}

/** True if a row with a summary has nothing else. */
function isSummaryOnly({ role, tool_calls: calls }: JsonObject, { live }: Handoff): boolean {
  return live.length === 0 && role !== "tool" && (typeof calls !== "string" || calls === "" || calls === "[]");
}

/** The start of a message that replaces earlier ones. */
const SUMMARY = /^(?:\[CONTEXT COMPACTION[^\]]*\]|\[CONTEXT SUMMARY\]:)\s*/;

/** The start of a message behind which a summary was put, and what is between them. */
const PRIOR = /^\[PRIOR CONTEXT[^\]]*\]\s*/;
const DELIMITER = "[END OF PRIOR CONTEXT";

/** The line behind a summary, which a message may follow into which it was put. */
const END = "--- END OF CONTEXT SUMMARY";
const RULE = "---";

/** A row that has a summary of a compression. */
interface Handoff {
  readonly summary: string;
  /** The message that the row was before the summary was put into it; empty: the row has the summary alone. */
  readonly live: Content;
}

/** The summary in a row: newer versions mark the row, older ones only begin its text. undefined: it has none. */
function handoffIn(row: JsonObject): Handoff | undefined {
  const isMarked = row["_compressed_summary"] === 1;
  if (!isMarked && row.role !== "user" && row.role !== "assistant") return undefined;
  const content = contentOf(row);
  if (typeof content === "string") return splitText(content, isMarked);
  for (const [at, part] of content.entries()) {
    const found = splitText(stringAt(part, "text") ?? "", false);
    if (found !== undefined) return { ...found, live: content.flatMap((one, index) => (index === at ? textBlocks(found.live) : [one])) };
  }
  return undefined;
}

/** `isMarked`: true if the text has a summary, whatever it begins with. */
function splitText(text: string, isMarked: boolean): { readonly summary: string; readonly live: string } | undefined {
  const middle = PRIOR.test(text) ? text.indexOf(DELIMITER) : -1;
  const from = middle === -1 ? 0 : text.indexOf("]", middle) + 1;
  const rest = text.slice(from).trimStart();
  if (!SUMMARY.test(rest) && !isMarked) return undefined;
  const end = rest.indexOf(END);
  const rule = end === -1 ? -1 : rest.indexOf(RULE, end + END.length);
  const summary = (end === -1 ? rest : rest.slice(0, end)).replace(SUMMARY, "").trim();
  const prior = middle === -1 ? "" : text.slice(0, middle).replace(PRIOR, "").trim();
  const after = rule === -1 ? "" : rest.slice(rule + RULE.length).trim();
  return { summary, live: [prior, after].filter((part) => part !== "").join("\n\n") };
}
