import type { EntryId, ImportProblem, SessionId } from "@bough/session-core";
import { ReadFromStartError, type SourceEntry, type SourceRecord } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, numberAt, objectAt, parseTime, quoted, stringAt } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { type JsonLine, readJsonLines, type SourceLine } from "../source/json-lines.js";
import type { LogConversation } from "../source/record-log.js";
import { BLOB_PREFIX, type MissingBlob, restoreBlobs } from "./blobs.js";
import { toPayload } from "./entries.js";
import { isAnnotation, SkippedLines, toAnnotation } from "./links.js";
import { EXPORTED_BY } from "./marks.js";
import { type PiFile, readInitialSettings, readTitle } from "./pi-file.js";

/** A record, and its line. */
interface NumberedRecord {
  readonly id: EntryId;
  readonly line: number;
}

/**
 * Reads the records of a session file in file order, from its start or where the last reading ended. Versions 1, 2 and 3 are read
 * alike, because the header's version is not reliable: a record without an id gets one derived from its line, and a record without a
 * parent is attached to the record of the line before it. So is one whose parent is null, if no record of the file has a parent.
 *
 * Memory: one line, and the ids of the lines that are not entries; of a file with compactions of version 1, the ids of all records.
 */
export class PiConversation implements LogConversation {
  readonly isPending = false;
  /** False until the settings in the header were read. */
  #hasSettings: boolean;
  readonly #links: SkippedLines;
  readonly #isBoughExport: boolean;
  /** The entry at the last line: pi continues there when it opens the file. */
  #leafId: EntryId | null;
  #firstId: EntryId | null;
  #lastId: EntryId | null;
  #lastMs: number;
  #title: string | null | undefined;
  /** True if the file has a reply without a parent: its program records no tree. */
  #isChain: boolean;
  #hasMessage: boolean;
  #hasPrompt: boolean;
  /** Read for the first compaction of version 1: only these name what they kept by its number. */
  #records: readonly NumberedRecord[] | undefined;

  readonly #file: PiFile;
  readonly #sessionId: SessionId;

  /**
   * `state`: that of an earlier reading; empty if it had read no line.
   *
   * @throws {ReadFromStartError} the state does not say whether a system message was read.
   */
  constructor(file: PiFile, sessionId: SessionId, state: JsonObject = {}) {
    this.#file = file;
    this.#sessionId = sessionId;
    this.#hasSettings = Object.keys(state).length > 0;
    this.#isBoughExport = file.header[EXPORTED_BY] === "bough";
    this.#links = new SkippedLines(state.links);
    this.#leafId = stringAt(state, "leafId") ?? null;
    this.#firstId = stringAt(state, "firstId") ?? null;
    this.#lastId = stringAt(state, "lastId") ?? null;
    this.#lastMs = numberAt(state, "lastMs") ?? parseTime(file.header.timestamp) ?? 0;
    this.#title = state.title === null ? null : stringAt(state, "title");
    this.#isChain = state.isChain === true;
    this.#hasMessage = this.#leafId !== null && state.hasMessage !== false;
    // An earlier version did not note it.
    if (this.#leafId !== null && this.#hasMessage && state.hasPrompt === undefined) throw new ReadFromStartError();
    this.#hasPrompt = state.hasPrompt === true;
  }

  /** Reads the file up to the first record with a parent, or the first reply without one: a reply is never the first entry of a tree. */
  #findChain(): void {
    // Bough writes trees of any shape.
    if (this.#isBoughExport) return;
    for (const line of readJsonLines(this.#file.path)) {
      if (line.kind === "problem" || line.line.number <= this.#file.headerLine) continue;
      const { parentId } = line.object;
      if (parentId !== null || isReply(line.object)) {
        this.#isChain = parentId === null && line.line.number > this.#file.headerLine + 1;
        return;
      }
    }
  }

  /** The state from which a later reading continues. Its size grows with the labels and titles of the file only. */
  get state(): JsonObject {
    if (!this.#hasSettings) return {};
    const [links, leafId, firstId, lastId] = [this.#links.state, this.#leafId, this.#firstId, this.#lastId];
    return {
      links,
      leafId,
      firstId,
      lastId,
      lastMs: this.#lastMs,
      title: this.#title,
      hasPrompt: this.#hasPrompt,
      ...(this.#isChain ? { isChain: true } : {}),
      ...(this.#leafId !== null && !this.#hasMessage ? { hasMessage: false } : {}),
    };
  }

  *#readSettings(): Generator<SourceRecord, void, void> {
    this.#hasSettings = true;
    this.#findChain();
    for (const payload of readInitialSettings(this.#file)) {
      const id = derivedId(this.#sessionId, "header", stringAt(payload, "type") ?? "");
      yield this.#toEntry(id, this.#leafId, this.#file.headerLine, payload);
    }
  }

  *read(object: JsonObject, line: SourceLine): Generator<SourceRecord, void, void> {
    if (!this.#hasSettings) yield* this.#readSettings();
    if (line.number === this.#file.headerLine || line.number === this.#file.titleLine) return;
    const { record, missing } = line.text.includes(BLOB_PREFIX) ? restoreBlobs(object, this.#file.path) : { record: object, missing: [] };
    for (const reference of missing) yield missingBlobProblem(this.#file.path, line.number, reference);
    yield* isAnnotation(record) ? this.#readAnnotation(record, line.number) : this.#readEntry(record, { kind: "object", line, object });
  }

  *finish(): Generator<SourceRecord, void, void> {
    const title = readTitle(this.#file);
    // The title slot is overwritten in place, so it is newer than the logged changes.
    if (this.#file.titleSlot !== undefined && title !== undefined && this.#title !== undefined && this.#title !== title) {
      yield { kind: "title", title, source: this.#file.titleSlot.source === "user" ? "user" : "auto" };
    }
    if (this.#leafId !== this.#lastId && this.#isWritten(this.#leafId)) yield { kind: "leaf", name: "main", entryId: this.#leafId };
  }

  #firstKept(compaction: JsonObject, own: JsonLine): EntryId | null {
    const named = stringAt(compaction, "firstKeptEntryId");
    // In pi's format, a compaction that names itself kept nothing.
    if (named !== undefined) return named === this.#idOf(own) ? null : this.#links.firstFrom(named);
    const index = numberAt(compaction, "firstKeptEntryIndex");
    if (index === undefined) return null;
    // Number 0 is the header: everything from the first entry on was kept.
    if (index <= 0) return this.#firstId;
    this.#records ??= this.#readRecords();
    const kept = this.#records[index];
    return kept === undefined || kept.line >= own.line.number ? null : this.#links.firstFrom(kept.id);
  }

  /** The records from the header on, which is number 0; lines that are not JSON objects do not count. Reads the file again. */
  #readRecords(): readonly NumberedRecord[] {
    const records: NumberedRecord[] = [];
    for (const line of readJsonLines(this.#file.path))
      if (line.kind === "object" && line.line.number >= this.#file.headerLine)
        records.push({ id: this.#idOf(line), line: line.line.number });
    return records;
  }

  *#readAnnotation(record: JsonObject, line: number): Generator<SourceRecord, void, void> {
    const parentId = this.#parentOf(record);
    const id = stringAt(record, "id");
    const annotation = toAnnotation(record, this.#links);
    if (id !== undefined) this.#links.add(id, parentId);
    this.#leafId = this.#links.entryFor(parentId);
    if (annotation?.kind === "title") this.#title = annotation.title;
    if (annotation !== undefined) yield annotation;
    else if (record.type === "label") yield labelWithoutEntryProblem(this.#file.path, line);
  }

  *#readEntry(record: JsonObject, line: JsonLine): Generator<SourceRecord, void, void> {
    const { payload, isInvalid } = toPayload(record, {
      links: this.#links,
      isBoughExport: this.#isBoughExport,
      isPromptKnown: this.#hasPrompt,
      firstKept: () => this.#firstKept(record, line),
    });
    if (isInvalid) yield invalidRecordProblem(this.#file.path, line);
    this.#lastMs = readRecordTime(record) ?? this.#lastMs;
    const id = this.#idOf(line);
    const parentId = this.#parentOf(record);
    const entryParent = this.#links.entryFor(parentId);
    const isUnchanged = payload.message === line.object.message && id === record.id && entryParent === record.parentId;
    yield this.#toEntry(id, entryParent, line.line.number, payload, isUnchanged ? findMessageJson(line) : undefined);
    this.#links.addChild(parentId, id);
    this.#hasMessage ||= record.type === "message";
    this.#hasPrompt ||= record.type === "message" && objectAt(record, "message")?.role === "system";
  }

  #toEntry(id: EntryId, parentId: EntryId | null, line: number, payload: unknown, payloadJson?: string): SourceEntry {
    this.#firstId ??= id;
    this.#lastId = id;
    this.#leafId = id;
    return { kind: "entry", line, id, parentId, createdAtMs: this.#lastMs, payload, payloadJson };
  }

  #idOf({ line, object }: JsonLine): EntryId {
    const id = stringAt(object, "id");
    return id !== undefined && isId(id) ? id : derivedId(this.#sessionId, line.number, line.text);
  }

  #parentOf(record: JsonObject): string | null {
    const { parentId } = record;
    this.#isChain ||= parentId === null && this.#leafId !== null && isReply(record) && !this.#isBoughExport;
    if (parentId === undefined || (parentId === null && this.#isChain)) return this.#leafId;
    // OpenClaw's first records name the session as their parent; settings before the first message are on its path.
    if (parentId === this.#file.header.id) return this.#hasMessage ? null : this.#leafId;
    return typeof parentId === "string" && parentId !== "" ? parentId : null;
  }

  // The parent of a last label may be a torn line. Only a file that ends like this is read a second time.
  #isWritten(id: EntryId | null): boolean {
    if (id === null) return true;
    for (const line of readJsonLines(this.#file.path)) if (line.kind === "object" && line.object.id === id) return true;
    return false;
  }
}

/** The members of a record that pi and oh-my-pi write for a message, in their order. */
const MESSAGE_MEMBERS = "type,id,parentId,timestamp,message";

/**
 * The JSON text of a payload whose message is the one of this line, unchanged: the end of the line. undefined if the record has other
 * members, or if they are written in another way than `JSON.stringify` writes them.
 */
function findMessageJson({ line: { text }, object }: JsonLine): string | undefined {
  if (Object.keys(object).join() !== MESSAGE_MEMBERS) return undefined;
  const { id, parentId, timestamp } = object;
  if (typeof id !== "string" || typeof timestamp !== "string" || (parentId !== null && typeof parentId !== "string")) return undefined;
  const parent = parentId === null ? "null" : `"${parentId}"`;
  const start = `{"type":"message","id":"${id}","parentId":${parent},"timestamp":"${timestamp}","message":`;
  // The second brace shows that the last member is an object: the message, and not a repeated member.
  return text.startsWith(start) && text.endsWith("}}") ? `{"message":${text.slice(start.length)}` : undefined;
}

function isReply({ type, message }: JsonObject): boolean {
  return type === "message" && isObject(message) && message.role === "assistant";
}

function readRecordTime(record: JsonObject): number | undefined {
  const message = objectAt(record, "message");
  return parseTime(record.timestamp) ?? (message === undefined ? undefined : parseTime(message.timestamp));
}

/** A problem of one line. */
function toProblem(path: string, line: number, code: ImportProblem["code"], message: string): SourceRecord {
  return { kind: "problem", problem: { code, path, line, message } };
}

/** A record of a known type with an unexpected shape. */
function invalidRecordProblem(path: string, { line, object }: JsonLine): SourceRecord {
  const type = quoted(stringAt(object, "type") ?? "record without a type");
  return toProblem(
    path,
    line.number,
    "invalid-record",
    `this ${type} has an unexpected shape; it was kept as a foreign entry, outside the context`,
  );
}

/** A label without an entry. */
function labelWithoutEntryProblem(path: string, line: number): SourceRecord {
  return toProblem(path, line, "invalid-record", "the label names no entry; it was left out");
}

/** An image in a separate file of oh-my-pi that is missing or cannot be read. */
function missingBlobProblem(path: string, line: number, { reference, reason }: MissingBlob): SourceRecord {
  const name = reference.slice(BLOB_PREFIX.length, BLOB_PREFIX.length + 12);
  return toProblem(path, line, "missing-blob", `the image ${name}… ${reason}; the reference was kept`);
}
