import { createHash } from "node:crypto";
import { type CompactionPayload, type Entry, type EntryId, nativeCompactionOf } from "@bough/session-core";
import {
  branchSummaryText,
  compactionSummaryText,
  encodeBytes,
  isObject,
  type JsonObject,
  objectAt,
  stringAt,
  toIsoTime,
  without,
  withoutUndefined,
} from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { partId } from "./ids.js";
import { metaRecord, toClaudeRecord } from "./write-message.js";

/** The session's data that are in every record of a transcript. */
interface ClaudeSession {
  readonly id: string;
  readonly cwd: string | null;
  readonly title: string | null;
  readonly titleSource: "user" | "auto" | null;
  /** The session that a new one continues; importers link the two. */
  readonly parentSessionId?: string | null;
  /** The version of Claude Code and the branch of git, if the session is from there. */
  readonly metadata: JsonObject;
}

/** A branch to write as a transcript: its entries from the first on, with its context edits applied. */
export interface ClaudeExport {
  readonly session: ClaudeSession;
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  /** True if the transcript is a new session, whose records need uuids. Otherwise they have the ids of their entries. */
  readonly isNew: boolean;
}

/**
 * The lines of a transcript of Claude Code, without line breaks. Memory: the ids of the entries and of their calls.
 *
 * @example
 * for await (const line of claudeLines(input)) file.write(`${line}\n`);
 */
export async function* claudeLines({ session, entries, isNew }: ClaudeExport): AsyncGenerator<string, void, void> {
  const writer = new TranscriptWriter(session, isNew);
  for await (const entry of entries) for (const record of writer.write(entry)) yield JSON.stringify(encodeBytes(record, "entry"));
  for (const record of writer.end()) yield JSON.stringify(encodeBytes(record, "entry"));
}

/** The version in the records of a session that is not from Claude Code. */
const VERSION = "2.0.0";

class TranscriptWriter {
  readonly #session: ClaudeSession;
  readonly #isNew: boolean;
  readonly #ids = new RecordIds();
  /** The uuid of the record before the next one. */
  #parent: string | null = null;
  /** The entries so far with the uuid of their record, if they have one, for the list of the entries that a compaction kept. */
  readonly #written: { readonly id: EntryId; readonly uuid: string | undefined }[] = [];
  /** A user record, which may get further parts. */
  #open: UserRecord | undefined;

  constructor(session: ClaudeSession, isNew: boolean) {
    this.#session = session;
    this.#isNew = isNew;
  }

  *write(entry: Entry): Generator<JsonObject, void, void> {
    if (this.#addPart(entry)) return;
    yield* this.end(false);
    const records = this.#recordsOf(entry);
    const [first] = records;
    this.#written.push({ id: entry.id, uuid: entry.type === "compaction" ? undefined : stringAt(first ?? {}, "uuid") });
    if (first === undefined) return;
    const open = entry.type === "message" ? toUserRecord(first, entry.id) : undefined;
    if (open === undefined) yield* records;
    else this.#open = open;
  }

  /** The record that is still open, and the title. */
  *end(isLast = true): Generator<JsonObject, void, void> {
    if (this.#open !== undefined) yield this.#open.record;
    this.#open = undefined;
    if (isLast) yield* this.#title();
  }

  // Claude Code's importer splits a record of results and texts into entries `UUID`, `2:UUID`, …; together they are one record.
  #addPart(entry: Entry): boolean {
    const open = this.#open;
    if (open === undefined || entry.type !== "message" || entry.id !== partId(open.entryId, open.parts + 1)) return false;
    const content = objectAt(toClaudeRecord(entry.message, this.#ids) ?? {}, "message")?.content;
    if (content === undefined) return false;
    open.content.push(...(Array.isArray(content) ? content : [{ type: "text", text: content }]));
    open.parts += 1;
    this.#written.push({ id: entry.id, uuid: stringAt(open.record, "uuid") });
    return true;
  }

  #recordsOf(entry: Entry): readonly JsonObject[] {
    switch (entry.type) {
      case "message": {
        const record = toClaudeRecord(entry.message, this.#ids);
        return record === undefined ? [] : [this.#place(entry, { ...record, ...leftoverOf(entry) })];
      }
      case "custom_message":
        return this.#custom(entry);
      case "branch_summary":
        return [this.#place(entry, metaRecord(branchSummaryText(entry.summary)))];
      case "compaction":
        return this.#compaction(entry);
      case "foreign":
        return isTreeRecord(entry.raw, entry.id) ? [this.#place(entry, toConversation(entry.raw))] : [];
      // Settings of other programs and data of hosts: Claude Code has no record for them.
      case "model_change":
      case "thinking_level_change":
      case "context_edit":
      case "custom":
        return [];
    }
  }

  #custom({ type: _type, ...entry }: Extract<Entry, { type: "custom_message" }>): readonly JsonObject[] {
    const { customType, content, display, details } = entry;
    const record = toClaudeRecord({ role: "custom", customType, content, display, details }, this.#ids);
    return record === undefined ? [] : [this.#place({ ...entry, type: "custom_message" }, record)];
  }

  // The boundary is a first record; its summary follows. Readers put the kept records behind the summary.
  #compaction(entry: Extract<Entry, { type: "compaction" }>): readonly JsonObject[] {
    const logicalParentUuid = this.#parent;
    const uuid = this.#uuidOf(entry.id);
    const anchorUuid = this.#uuidOf(`summary of ${entry.id}`, true);
    const kept = this.#keptBy(entry);
    const compactMetadata = { ...metadataOf(entry), ...(kept.length === 0 ? {} : { preservedMessages: { anchorUuid, uuids: kept } }) };
    const boundary = { type: "system", subtype: "compact_boundary", content: "Conversation compacted", isMeta: false };
    this.#parent = anchorUuid;
    return [
      {
        ...this.#envelope(entry, null, uuid),
        logicalParentUuid,
        ...boundary,
        compactMetadata,
        ...leftoverOf(entry),
      },
      {
        ...this.#envelope(entry, uuid, anchorUuid),
        type: "user",
        message: { role: "user", content: this.#isNew ? summaryForModel(entry.summary) : entry.summary },
        isVisibleInTranscriptOnly: true,
        isCompactSummary: true,
      },
    ];
  }

  #keptBy({ firstKeptEntryId, keptEntryIds }: CompactionPayload): readonly string[] {
    const from = firstKeptEntryId === null ? -1 : this.#written.findIndex(({ id }) => id === firstKeptEntryId);
    const only = keptEntryIds === undefined ? undefined : new Set(keptEntryIds);
    const kept = from === -1 ? [] : this.#written.slice(from).filter(({ id }) => only === undefined || only.has(id));
    return [...new Set(kept.flatMap(({ uuid }) => uuid ?? []))];
  }

  #place(entry: Entry, members: JsonObject): JsonObject {
    const uuid = this.#uuidOf(entry.id);
    const record = { ...this.#envelope(entry, this.#parent, uuid), ...members, parentUuid: this.#parent, uuid };
    this.#parent = uuid;
    return { ...record, sessionId: this.#session.id };
  }

  #envelope({ id: messageUuid, createdAtMs }: Entry, parentUuid: string | null, uuid: string): JsonObject {
    const { id, cwd, metadata, parentSessionId } = this.#session;
    return {
      parentUuid,
      isSidechain: false,
      userType: "external",
      cwd: cwd ?? "",
      sessionId: id,
      version: stringAt(metadata, "version") ?? VERSION,
      gitBranch: stringAt(metadata, "gitBranch") ?? "",
      uuid,
      timestamp: toIsoTime(createdAtMs),
      ...(this.#isNew && typeof parentSessionId === "string" ? { forkedFrom: { sessionId: parentSessionId, messageUuid } } : {}),
    };
  }

  #uuidOf(id: string, isDerived = this.#isNew): string {
    return isDerived && !UUID.test(id) ? derivedUuid(this.#session.id, id) : id;
  }

  *#title(): Generator<JsonObject, void, void> {
    const { id: sessionId, title, titleSource } = this.#session;
    if (title === null) return;
    if (titleSource === "user") yield { type: "custom-title", customTitle: title, sessionId };
    else yield { type: "ai-title", aiTitle: title, sessionId };
  }
}

/** A summary as a model understands it. Those of Claude Code start with their own introduction. */
function summaryForModel(summary: string): string {
  return summary.startsWith("This session is being continued") ? summary : compactionSummaryText(summary);
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A uuid of version 8 (a hash) from the session and an id: the same at each export. */
function derivedUuid(session: string, id: string): string {
  const hex = createHash("sha256").update(`${session}\n${id}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A user record that waits for its further parts. */
interface UserRecord {
  readonly record: JsonObject;
  readonly content: unknown[];
  readonly entryId: EntryId;
  parts: number;
}

/** The record with a content that can grow; undefined: it is no record of blocks of a user. */
function toUserRecord(record: JsonObject, entryId: EntryId): UserRecord | undefined {
  const message = objectAt(record, "message");
  if (record.type !== "user" || message === undefined || !Array.isArray(message.content)) return undefined;
  const content = [...message.content];
  return { record: { ...record, message: { ...message, content } }, content, entryId, parts: 1 };
}

// The importer keeps members that it does not know under `claude`; `gitBranch` is there if it changed.
function leftoverOf(entry: Entry): JsonObject {
  const leftover = entry["claude"];
  return isObject(leftover) ? leftover : {};
}

/** Types of records that have a position in the tree. */
const TREE_TYPES: readonly unknown[] = ["user", "assistant", "system", "attachment", "progress"];

/** True if a foreign entry is a record of Claude Code with its own position: hooks, attachments, reports. */
function isTreeRecord(raw: unknown, id: EntryId): raw is JsonObject {
  return isObject(raw) && raw.uuid === id && TREE_TYPES.includes(raw.type);
}

/** A record of the conversation, also if an agent's transcript had it. */
function toConversation(raw: JsonObject): JsonObject {
  return { ...without(raw, ["logicalParentUuid", "agentId"]), isSidechain: false };
}

function metadataOf({ trigger, tokensBefore, tokensAfter, ...payload }: CompactionPayload): JsonObject {
  const known = objectAt(payload, "compactMetadata") ?? {};
  const native = nativeCompactionOf(payload);
  return {
    ...without(known, ["preservedMessages", "preservedSegment"]),
    ...withoutUndefined({ trigger: trigger === "threshold" ? "auto" : trigger, preTokens: tokensBefore, postTokens: tokensAfter }),
    // Claude Code ignores the member; a later import has the provider's own form again.
    ...withoutUndefined({ native }),
  };
}

/** The ids of calls and replies of a transcript. */
class RecordIds {
  readonly #calls = new Map<string, string>();
  readonly #callIds = new UniqueIds();
  readonly #replyIds = new UniqueIds();

  newCall = (callId: string): string => {
    const id = this.#callIds.take(/^[a-zA-Z0-9_-]+$/.test(callId) ? callId : `call_${derivedId(callId)}`);
    this.#calls.set(callId, id);
    return id;
  };

  lastCall = (callId: string): string => this.#calls.get(callId) ?? this.newCall(callId);

  reply = (responseId: string | undefined): string => this.#replyIds.take(responseId ?? `msg_${this.#replyIds.size + 1}`);
}

/** Gives each id once: where it is taken, with a number behind it. Programs may have one id for all replies, or for the first call of each. */
class UniqueIds {
  /** The taken ids, and the number of the last copy of each. */
  readonly #copies = new Map<string, number>();

  get size(): number {
    return this.#copies.size;
  }

  take(id: string): string {
    let copy = this.#copies.get(id) ?? 1;
    let free = id;
    while (this.#copies.has(free)) {
      copy += 1;
      free = `${id}_${copy}`;
    }
    this.#copies.set(id, copy).set(free, 1);
    return free;
  }
}
