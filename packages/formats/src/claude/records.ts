import type { EntryId, ImportProblem, SessionId } from "@bough/session-core";
import type { ReadingPosition, SourceRecord } from "@bough/session-core/engine";
import { type EntryReference, type JsonObject, objectAt, parseTime, quoted, stringAt } from "@bough/session-core/wire";
import { readTitle } from "./chains.js";
import { derivedId, isUsableId, partId } from "./ids.js";
import type { IndexedFile } from "./index-file.js";
import { PayloadBuilder } from "./payloads.js";
import { TreePlacement } from "./placement.js";
import { firstSaved, type IndexState, type SavedTranscript, saveIndex } from "./saved-transcript.js";
import { type IndexedRecord, LineReader, type LineSource, MISSING, type NodeIndex, ROOT, type SessionFile } from "./session-file.js";

/**
 * The second pass: reads the records of a session of the file, in file order. Memory: the index and the lines of one reply.
 *
 * @param ended called before the first record that this reading may read incomplete, with the position from which a later one goes on.
 * @throws {SourceNotFoundError | SourceUnreadableError} the file was removed or replaced.
 */
export function* readRecords(
  file: IndexedFile,
  chain: number,
  sessionId: SessionId,
  ended: (position: () => ReadingPosition | undefined) => void,
): Generator<SourceRecord, void, void> {
  const reader = new LineReader(file.path);
  try {
    const records = new RecordReader(file, chain, sessionId, reader, file.saved);
    let isOpen = false;
    for (let node = file.saved?.next ?? 0; node <= file.records.length; node += 1) {
      if (node === file.end?.next && chain === file.home) ended(records.positionAt(file.end));
      if (!isOpen && records.has(node) && file.open.isOpen(node, file.home)) {
        isOpen = true;
        yield* records.title();
        yield { kind: "open", waitMs: file.open.waitMs(chain), leafId: records.leafId };
      }
      yield* records.read(node);
    }
    yield* records.ending();
  } finally {
    reader.close();
  }
}

/**
 * Converts the records of one session of a file. Each node of the file is read once and in order. The file may grow between two
 * calls: a transcript is read while it is written.
 */
export class RecordReader {
  readonly #file: SessionFile;
  readonly #chain: number;
  readonly #sessionId: SessionId;
  readonly #reader: LineSource;
  readonly #placement: TreePlacement;
  readonly #payloads: PayloadBuilder;
  /** The id of the last entry of records whose uuid is not this id. */
  readonly #lastIds = new Map<NodeIndex, EntryId>();
  #lastTimeMs: number;

  constructor(file: SessionFile, chain: number, sessionId: SessionId, reader: LineSource, saved?: SavedTranscript) {
    this.#file = file;
    this.#chain = chain;
    this.#sessionId = sessionId;
    this.#reader = reader;
    this.#placement = new TreePlacement(file, saved?.placement);
    this.#payloads = new PayloadBuilder(file, chain, reader, this.#placement, (node) => this.#entriesOf(node));
    this.#lastTimeMs = saved?.lastTimeMs ?? file.chains[chain]?.createdAtMs ?? 0;
    for (const [node, id] of saved?.lastIds ?? []) this.#lastIds.set(node, id);
  }

  /** The position from which a later reading goes on. Call it before `end.next` is read. undefined: that reading begins at the start. */
  positionAt(end: IndexState): () => ReadingPosition | undefined {
    const first = firstSaved(end, this.#placement.lastStep);
    if (first === undefined) return () => undefined;
    const placement = this.#placement.save(first, end.next);
    const lastIds = [...this.#lastIds].flatMap(([node, id]) => (node < first ? [] : [[node - first, id] as const]));
    const lastTimeMs = this.#lastTimeMs;
    return () => {
      const index = saveIndex(end, first);
      return index && { ...end.end, state: { transcript: JSON.stringify({ ...index, placement, lastIds, lastTimeMs }) } };
    };
  }

  /** The records of the next node; none if it is of another session. Lists, because generators cost time for each record. */
  read(node: NodeIndex): readonly SourceRecord[] {
    const record = this.#file.records.get(node);
    return record !== undefined && this.#isOfChain(record) ? this.#readRecord(node, record) : [];
  }

  /** True if a node is of this session. */
  has(node: NodeIndex): boolean {
    const record = this.#file.records.get(node);
    return record !== undefined && this.#isOfChain(record);
  }

  /** The last entry of a reply that was read before its last line came. */
  readAgain(node: NodeIndex): readonly SourceRecord[] {
    const record = this.#file.records.get(node);
    const object = record && this.#reader.takeObject(record);
    if (record === undefined || object === undefined) return [];
    const { payloads } = this.#payloads.create(node, object);
    const createdAtMs = parseTime(object.timestamp) ?? this.#lastTimeMs;
    const first = this.#idFor(node, record);
    const count = payloads.length;
    const parentId = count > 1 ? partId(first, count - 1) : this.#parentId(record, object, this.#placement.parentOf(node));
    return [{ kind: "entry", line: record.line, id: partId(first, count), parentId, createdAtMs, payload: payloads[count - 1] }];
  }

  /** The id of the entry that was read last; null: none was. */
  get lastId(): EntryId | null {
    return this.#lastIdOf(this.#placement.lastPlaced);
  }

  /** The leaf, if it is not the entry read last, and the title. */
  *ending(): Generator<SourceRecord, void, void> {
    if (this.#placement.current !== this.#placement.lastPlaced) yield { kind: "leaf", name: "main", entryId: this.leafId };
    yield* this.title();
  }

  /** The entry after which the conversation continues. */
  get leafId(): EntryId | null {
    return this.#lastIdOf(this.#placement.current);
  }

  // In the file of an agent, records without a session belong to the agent's session.
  #isOfChain(record: IndexedRecord): boolean {
    if (record.chain === this.#chain) return true;
    return record.chain === 0 && this.#chain === 1 && this.#file.chains[0]?.records === 0;
  }

  /** The title that the file gives to the session. */
  *title(): Generator<SourceRecord, void, void> {
    if (this.#chain > 0) return;
    const { user, auto } = this.#file.titles;
    if (user !== undefined) yield { kind: "title", title: user, source: "user" };
    else if (auto !== undefined) yield { kind: "title", title: auto, source: "auto" };
  }

  #readRecord(node: NodeIndex, record: IndexedRecord): readonly SourceRecord[] {
    if (record.kind === "absorbed") return [];
    const problem = this.#file.problems.get(node);
    if (problem !== undefined) return [{ kind: "problem", problem }];
    const object = this.#reader.takeObject(record);
    if (object === undefined)
      return [this.#toProblem("malformed-line", record, "the file was changed while it was read; the line was left out")];
    return record.kind === "side" ? this.#readSideRecord(node, record, object) : this.#readTreeRecord(node, record, object);
  }

  #readSideRecord(node: NodeIndex, record: IndexedRecord, object: JsonObject): readonly SourceRecord[] {
    const title = readTitle(object);
    if (title !== undefined && (title.kind !== "summary" || this.#file.isTitle(title.leafUuid))) return [];
    if (object.type === "tag") return [{ kind: "value", key: "claude.tag", value: object.tag ?? null }];
    return this.#readTreeRecord(node, record, object);
  }

  #readTreeRecord(node: NodeIndex, record: IndexedRecord, object: JsonObject): readonly SourceRecord[] {
    const { payloads, problems } = this.#payloads.create(node, object);
    const found = problems.map(({ code, message }) => this.#toProblem(code, record, message));
    if (this.#file.renamed.has(node)) {
      const message = `another record has the uuid ${quoted(record.uuid)}; this one got a derived id`;
      found.unshift(this.#toProblem("duplicate-id", record, message));
    }
    const entries = this.#toEntries(node, record, object, payloads);
    return found.length === 0 ? entries : [...found, ...entries];
  }

  #toEntries(node: NodeIndex, record: IndexedRecord, object: JsonObject, payloads: readonly JsonObject[]): readonly SourceRecord[] {
    const createdAtMs = parseTime(object.timestamp) ?? this.#lastTimeMs;
    this.#lastTimeMs = createdAtMs;
    const first = this.#idFor(node, record);
    let parentId = this.#parentId(record, object, this.#placement.place(node));
    const entries: SourceRecord[] = [];
    for (const payload of payloads) {
      const id = partId(first, entries.length + 1);
      const origin = readOrigin(object, entries.length + 1);
      entries.push({ kind: "entry", line: record.line, id, parentId, createdAtMs, payload, origin });
      parentId = id;
    }
    if (parentId !== null && parentId !== record.uuid) this.#lastIds.set(node, parentId);
    return entries;
  }

  #idFor(node: NodeIndex, record: IndexedRecord): EntryId {
    const isOwn = isUsableId(record.uuid) && !this.#file.renamed.has(node);
    return isOwn ? record.uuid : derivedId(this.#sessionId, record.line, this.#reader.textAt(record));
  }

  // A missing parent is kept: `SessionImporter` reports it.
  #parentId(record: IndexedRecord, object: JsonObject, under: NodeIndex): EntryId | null {
    const isUnknown = record.parent === MISSING && record.kind !== "boundary";
    return (isUnknown ? stringAt(object, "parentUuid") : undefined) ?? this.#lastIdOf(under);
  }

  /** The ids of the entries of a record that was read; none if they are not known. */
  #entriesOf(node: NodeIndex): readonly EntryId[] {
    const uuid = this.#file.records.get(node)?.uuid ?? "";
    if (!isUsableId(uuid) || this.#file.renamed.has(node)) return [];
    const last = this.#lastIds.get(node);
    return Array.from({ length: last === undefined ? 1 : Number.parseInt(last, 10) }, (_, at) => partId(uuid, at + 1));
  }

  #lastIdOf(node: NodeIndex): EntryId | null {
    return node === ROOT ? null : (this.#lastIds.get(node) ?? this.#file.records.get(node)?.uuid ?? null);
  }

  #toProblem(code: ImportProblem["code"], record: IndexedRecord, message: string): SourceRecord {
    return { kind: "problem", problem: { code, path: this.#file.path, line: record.line, message } };
  }
}

/** The entry of which the `count`-th entry of a record is a copy: of the session that a fork was made from. */
function readOrigin(record: JsonObject, count: number): EntryReference | undefined {
  const forkedFrom = objectAt(record, "forkedFrom");
  const [sessionId, entryId] = [stringAt(forkedFrom ?? {}, "sessionId"), stringAt(forkedFrom ?? {}, "messageUuid")];
  return sessionId === undefined || entryId === undefined ? undefined : { sessionId, entryId: partId(entryId, count) };
}
