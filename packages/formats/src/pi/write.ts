import type { Entry, EntryId, EntryPayload, SessionId } from "@bough/session-core";
import { encodeBytes, isObject, type JsonObject, type PayloadOf, parseTime, toIsoTime, without } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EXPORTED_BY, FOREIGN_MARK, LEAF_MARK, USAGE_MARKS } from "./marks.js";
import { isSectioned, PROMPT_CHANGE, toPromptChange } from "./prompts.js";
import { fillRequired, toPiContent, toPiMessage } from "./write-message.js";

/** The session's data in pi's header and last lines. */
interface PiExportSession {
  readonly id: SessionId;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly createdAtMs: number;
  readonly parentSessionId: SessionId | null;
}

/** A label on an entry of the export. */
interface PiExportLabel {
  readonly entryId: EntryId;
  readonly label: string;
  readonly createdAtMs: number;
}

/** A session to write as a pi file. Entries come parents first and are written one by one. */
export interface PiExport {
  readonly session: PiExportSession;
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly labels: AsyncIterable<PiExportLabel> | Iterable<PiExportLabel>;
  /** The leaf; null: before the first entry. */
  readonly leafId: EntryId | null;
}

/**
 * The lines of a pi session file, version 3, without line breaks: header, entries in the given order, labels, title. Reading
 * them with `piFormat` gives the same tree, leaf, labels, title and payloads.
 *
 * @example
 * for await (const line of piLines(input)) file.write(`${line}\n`);
 */
export async function* piLines(input: PiExport): AsyncGenerator<string, void, void> {
  yield JSON.stringify(toPiHeader(input.session));
  let last: EntryId | null = null;
  for await (const entry of input.entries) {
    last = entry.id;
    yield JSON.stringify(encodeBytes(toPiRecord(entry), "entry"));
  }
  yield* lastLines(input, last);
}

function toPiHeader({ id, cwd, createdAtMs, parentSessionId }: PiExportSession): JsonObject {
  const header = { type: "session", version: 3, id, timestamp: toIsoTime(createdAtMs), cwd: cwd ?? "", [EXPORTED_BY]: "bough" };
  return parentSessionId === null ? header : { ...header, parentSession: parentSessionId };
}

// pi's leaf is the last line of the file. So the lines after the entries are a chain below the leaf. If the leaf is not the
// last entry, a line is written only to set it.
async function* lastLines({ session, labels, leafId }: PiExport, last: EntryId | null): AsyncGenerator<string, void, void> {
  const chain = new Chain(session, leafId);
  if (leafId !== last) yield chain.line(session.createdAtMs, { type: "custom", customType: LEAF_MARK });
  for await (const { entryId, label, createdAtMs } of labels) yield chain.line(createdAtMs, { type: "label", targetId: entryId, label });
  if (session.title !== null) yield chain.line(session.createdAtMs, { type: "session_info", name: session.title });
}

class Chain {
  #written = 0;

  readonly #session: PiExportSession;
  #parentId: string | null;

  constructor(session: PiExportSession, parentId: string | null) {
    this.#session = session;
    this.#parentId = parentId;
  }

  line(createdAtMs: number, record: JsonObject): string {
    const id = derivedId(this.#session.id, "last line", ++this.#written);
    const line = JSON.stringify({ ...record, id, parentId: this.#parentId, timestamp: toIsoTime(createdAtMs) });
    this.#parentId = id;
    return line;
  }
}

// Types that pi or `piFormat` interpret: a foreign record of such a type must not be written unchanged.
const KNOWN_TYPES: ReadonlySet<unknown> = new Set([
  ...["session", "title", "label", "session_info", "title_change", "message", "model_change", "thinking_level_change"],
  ...["compaction", "branch_summary", "context_edit", "custom", "custom_message", "usage", "model_usage"],
]);

/** The line of a pi file (version 3) that holds `entry`. */
function toPiRecord(entry: Entry): JsonObject {
  if (entry.type === "foreign" && isUntouched(entry)) return entry.raw;
  const { id, seq: _seq, parentId, createdAtMs, ...payload } = entry;
  const { type, ...fields } = toPiPayload(payload, entry);
  return { type, ...fields, id, parentId, timestamp: toIsoTime(createdAtMs) };
}

type ForeignEntry = Extract<Entry, { type: "foreign" }>;

// A record of pi or oh-my-pi is written unchanged if reading it gives this entry again.
function isUntouched(entry: ForeignEntry): entry is ForeignEntry & { raw: JsonObject } {
  const { raw, originalType } = entry;
  if (!isObject(raw) || KNOWN_TYPES.has(originalType) || raw.type !== originalType) return false;
  const hasPosition = raw.id === entry.id && raw.parentId === entry.parentId;
  return hasPosition && typeof raw.timestamp === "string" && parseTime(raw.timestamp) === entry.createdAtMs;
}

function toPiPayload(payload: EntryPayload, { id, createdAtMs }: Entry): JsonObject {
  switch (payload.type) {
    case "message":
      return { ...payload, message: toPiMessage(payload.message, createdAtMs) };
    case "compaction":
      // pi does not allow null: a compaction that kept nothing names itself.
      return { ...fillRequired(payload, { tokensBefore: 0 }), firstKeptEntryId: payload.firstKeptEntryId ?? id };
    case "branch_summary":
      return { ...payload, fromId: payload.fromId ?? "root" };
    case "model_change":
      return fillRequired(payload, { provider: "unknown" });
    case "thinking_level_change":
      return fillRequired(payload, { thinkingLevel: "off" });
    case "custom_message":
      if (isPromptChange(payload, payload.details)) return toPiPromptChange(payload, payload.details);
      return fillRequired({ ...payload, content: toPiContent(payload.content) }, { display: true });
    case "custom":
      return toPiCustom(payload);
    case "foreign": {
      const { type: _type, ...data } = payload;
      return { type: "custom", customType: FOREIGN_MARK, data };
    }
    case "context_edit":
      return payload;
  }
}

/** True if reading `message` gives this payload again, but for other members of the record. */
function isPromptChange(payload: PayloadOf<"custom" | "custom_message">, message: unknown): message is JsonObject {
  if (payload.customType !== PROMPT_CHANGE || !isSectioned(message)) return false;
  const change = toPromptChange(message);
  return change !== undefined && Object.entries(change).every(([key, value]) => value === message || payload[key] === value);
}

function toPiPromptChange(payload: JsonObject, message: JsonObject): JsonObject {
  return { ...without(payload, ["customType", "content", "display", "details", "data"]), type: "message", message };
}

function toPiCustom(payload: PayloadOf<"custom">): JsonObject {
  if (isPromptChange(payload, payload.data)) return toPiPromptChange(payload, payload.data);
  const isUsage = payload.customType === USAGE_MARKS.usage && isObject(payload.data) && Object.keys(payload).length === 3;
  return isUsage && isObject(payload.data) ? { ...payload.data, type: "usage" } : payload;
}
