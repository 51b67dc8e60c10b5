import type { ImportProblem } from "@bough/session-core";
import { type JsonObject, objectAt, parseJsonObject, parseTime, stringAt, tryStringify } from "@bough/session-core/wire";
import { readJsonLines, type SourceLine } from "../source/json-lines.js";
import { Chains, Titles } from "./chains.js";
import { Boundaries } from "./compaction.js";
import { OpenRecords } from "./open-records.js";
import { BRANCH_STARTS, classifyRecord, type RecordKind } from "./record-kind.js";
import { CallIndex, ReplyGroups } from "./replies.js";
import { type IndexedRecord, LineReader, MISSING, type NodeIndex, ROOT, type SessionFile } from "./session-file.js";

/**
 * The first pass: reads a file once and indexes the position and the relations of each record.
 *
 * With the index, the second pass (records.ts) writes each reply before the results of its calls, although its lines are mixed
 * with them, and recognizes records without text that start a branch.
 *
 * Claude Code writes the parent of each reply; other programs write none. A file with replies without a parent is indexed again, with
 * each record that has none below the one before it.
 *
 * @param agent the agent of records that do not contain one.
 * @throws {SourceNotFoundError | SourceUnreadableError} the file cannot be opened or read.
 */
export function indexFile(path: string, agent?: string): IndexedFile {
  const lines = new EarlierFileLines(path);
  const indexer = new Indexer(path, agent, lines);
  const file = indexer.file();
  const open = new OpenRecords(file);
  try {
    for (const item of readJsonLines(path)) {
      if (item.kind === "object") indexer.add(item.line, item.object);
      else indexer.addProblem(item.problem);
      open.add(item.kind === "object" ? item.object : {});
    }
    return isUnlinked(file) ? indexAsChain(file, agent, lines) : { ...file, open, home: homeOf(agent) };
  } finally {
    lines.close();
  }
}

/** The index of a complete file, and which of its records its program may still change. */
export interface IndexedFile extends SessionFile {
  readonly open: OpenRecords;
  /** The number of the session that the file is of, in contrast to agents inside it. */
  readonly home: number;
}

function homeOf(agent: string | undefined): number {
  return agent === undefined ? 0 : 1;
}

/** True if a reply has no parent, although it is not the first step of its session. */
function isUnlinked({ records }: SessionFile): boolean {
  const started = new Set<number>();
  for (const { kind, chain, parent } of records) {
    if (kind === "reply" && parent === ROOT && started.has(chain)) return true;
    if (BRANCH_STARTS.includes(kind)) started.add(chain);
  }
  return false;
}

function indexAsChain(file: SessionFile, agent: string | undefined, lines: EarlierLines): IndexedFile {
  const indexer = new Indexer(file.path, agent, lines, true);
  const chain = indexer.file();
  const open = new OpenRecords(chain);
  const reader = new LineReader(file.path);
  try {
    const isLinked = file.records.some(({ parent }) => parent !== ROOT);
    for (const node of isLinked ? file.records.keys() : inOrderOfTime(file, reader)) {
      const record = file.records[node];
      const problem = file.problems.get(node);
      const text = record === undefined ? "" : reader.textAt(record);
      const object = parseJsonObject(text);
      if (problem !== undefined) {
        indexer.addProblem(problem);
        open.add({});
      } else if (record !== undefined && object !== undefined) {
        const { line: number, offset, bytes } = record;
        indexer.add({ number, text, offset, bytes, isTooLong: false, hasLineBreak: true }, object);
        open.add(object);
      }
    }
    return { ...chain, open, home: homeOf(agent) };
  } finally {
    reader.close();
  }
}

/** The records, oldest first. One without a time stays behind the one before it in the file. */
function inOrderOfTime({ records }: SessionFile, reader: LineReader): readonly NodeIndex[] {
  let lastMs = Number.NEGATIVE_INFINITY;
  const times = records.map((record) => {
    lastMs = parseTime(reader.takeObject(record)?.timestamp) ?? lastMs;
    return lastMs;
  });
  return [...records.keys()].sort((a, b) => Math.sign((times[a] ?? 0) - (times[b] ?? 0)) || a - b);
}

/** The lines before the current one, to recognize a record that is written again. */
export interface EarlierLines {
  /** True if the line of an earlier record has the content of this line. */
  isSame(earlier: IndexedRecord, line: SourceLine, record: JsonObject): boolean;
}

class EarlierFileLines implements EarlierLines {
  readonly #path: string;
  #reader: LineReader | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  isSame(earlier: IndexedRecord, line: SourceLine, record: JsonObject): boolean {
    this.#reader ??= new LineReader(this.#path);
    const text = this.#reader.textAt(earlier);
    return text === line.text || hasSameContent(parseJsonObject(text), record);
  }

  close(): void {
    this.#reader?.close();
  }
}

/** The parsed lines of at most this much of a file are kept for the second pass, in bytes. Costs 40 MB of memory at most (measured). */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

/** Indexes the records of a session in the order of their lines. */
export class Indexer {
  readonly #path: string;
  readonly #agent: string | undefined;
  readonly #records: IndexedRecord[] = [];
  readonly #nodeOf = new Map<string, NodeIndex>();
  readonly #problems = new Map<NodeIndex, ImportProblem>();
  readonly #renamed = new Set<NodeIndex>();
  readonly #calls = new CallIndex();
  readonly #replies = new ReplyGroups();
  readonly #chains = new Chains();
  readonly #titles = new Titles();
  readonly #boundaries = new Boundaries(this.#nodeOf);
  readonly #earlier: EarlierLines;
  readonly #isChain: boolean;
  /** Of a chain: the last record of the conversation and of each agent. */
  readonly #lastOf = new Map<string, NodeIndex>();
  #keptBytes = 0;
  /** The object of the current line. */
  #object: JsonObject | undefined;

  /** `isChain`: a record without a parent is below the one that was added before it. */
  constructor(path: string, agent: string | undefined, earlier: EarlierLines, isChain = false) {
    this.#path = path;
    this.#agent = agent;
    this.#earlier = earlier;
    this.#isChain = isChain;
  }

  addProblem(problem: ImportProblem): void {
    this.#object = undefined;
    this.#problems.set(this.#records.length, problem);
    this.#push("bad", "", { number: problem.line ?? 0, offset: 0, bytes: 0 }, ROOT, 0);
  }

  add(line: SourceLine, record: JsonObject): void {
    this.#object = record;
    const uuid = stringAt(record, "uuid");
    if (uuid === undefined || uuid === "" || isMark(record)) this.#addSide(line, record);
    else this.#addNode(uuid, line, record);
  }

  #addNode(uuid: string, line: SourceLine, record: JsonObject): void {
    const linked = this.#parentOf(record);
    const chain = this.#chains.chainOf(record, this.#records[linked]?.chain ?? 0, this.#agent);
    const parent = this.#parentInChain(chain, linked);
    this.#chains.addFacts(chain, record);
    if (this.#nodeOf.has(uuid) && this.#isRepeat(uuid, line, record, parent)) {
      this.#push("absorbed", uuid, line, parent, chain);
      return;
    }
    this.#addStep(uuid, line, record, parent, chain);
  }

  #addSide(line: SourceLine, record: JsonObject): void {
    this.#titles.add(record);
    this.#chains.addFacts(0, record);
    this.#push("side", "", line, ROOT, 0);
  }

  #parentOf(record: JsonObject): NodeIndex {
    const logical = record.subtype === "compact_boundary" ? stringAt(record, "logicalParentUuid") : undefined;
    const uuid = logical ?? stringAt(record, "parentUuid");
    if (uuid !== undefined) return this.#nodeOf.get(uuid) ?? MISSING;
    return (this.#isChain ? this.#lastOf.get(chainKeyOf(record)) : undefined) ?? ROOT;
  }

  // The parent of a sidechain may be the call that started it; the session's header already has this link.
  #parentInChain(chain: number, parent: NodeIndex): NodeIndex {
    if (parent < 0 || this.#records[parent]?.chain === chain) return parent;
    return chain > 0 ? ROOT : MISSING;
  }

  #addStep(uuid: string, line: SourceLine, record: JsonObject, parent: NodeIndex, chain: number): void {
    const node = this.#records.length;
    const kind = classifyRecord(record);
    if (this.#nodeOf.has(uuid)) this.#renamed.add(node);
    const owner = this.#ownerOf(kind, record, node, parent, chain);
    const isAbsorbed = owner !== undefined;
    const reply = this.#replyOf(kind, record, node, parent);
    this.#push(isAbsorbed ? "absorbed" : kind, uuid, line, parent, chain, isAbsorbed ? owner : reply);
    this.#nodeOf.set(uuid, owner ?? node);
    this.#boundaries.addStep(uuid);
    if (this.#isChain) this.#lastOf.set(chainKeyOf(record), owner ?? node);
    if (kind === "reply") this.#calls.addCalls(record, owner ?? node);
    if (kind === "boundary") this.#boundaries.add(record, node, parent === MISSING);
    if (!isAbsorbed && BRANCH_STARTS.includes(kind)) this.#markLeading(parent);
  }

  /** The earlier record whose entry contains this one. */
  #ownerOf(kind: RecordKind, record: JsonObject, node: NodeIndex, parent: NodeIndex, chain: number): NodeIndex | undefined {
    if (kind === "summary") return this.#boundaries.attachSummary(node, parent, this.#records);
    if (kind !== "reply") return undefined;
    const first = this.#replies.find(record, parent, chain, this.#records);
    if (first === undefined) this.#replies.begin(record, node);
    else this.#replies.add(first, node);
    return first;
  }

  #replyOf(kind: RecordKind, record: JsonObject, node: NodeIndex, parent: NodeIndex): NodeIndex {
    const inherited = this.#records[parent]?.reply ?? -1;
    if (kind === "reply") return node;
    if (kind === "result") return this.#calls.addResults(record, node) ?? inherited;
    if (kind !== "noise") return -1;
    this.#calls.addProgress(record);
    return inherited;
  }

  #markLeading(from: NodeIndex): void {
    let record = this.#records[from];
    while (record !== undefined && !record.hasStepChild && (record.kind === "noise" || record.kind === "injected")) {
      record.hasStepChild = true;
      record = this.#records[record.parent];
    }
  }

  /**
   * True if a record with a repeated uuid is a copy of the earlier record. Claude Code may write records that a compaction kept again
   * with a new parent; no entry is created for the copy, and its children are attached to its parent.
   */
  #isRepeat(uuid: string, line: SourceLine, record: JsonObject, parent: NodeIndex): boolean {
    const original = this.#nodeOf.get(uuid) ?? ROOT;
    const refersToCompaction = this.#records[original]?.kind === "boundary" && this.#records[original]?.uuid !== uuid;
    if (refersToCompaction) return true;
    if (parent > original) {
      this.#nodeOf.set(uuid, parent);
      return true;
    }
    return this.#isCopy(uuid, line, record, original);
  }

  #isCopy(uuid: string, line: SourceLine, record: JsonObject, original: NodeIndex): boolean {
    const candidates = [original, ...(this.#replies.lines.get(original) ?? []), this.#boundaries.facts.get(original)?.summary];
    for (const node of candidates) {
      const place = node === undefined ? undefined : this.#records[node];
      if (place?.uuid === uuid && this.#earlier.isSame(place, line, record)) return true;
    }
    return false;
  }

  #push(
    kind: RecordKind,
    uuid: string,
    { number, offset, bytes }: Pick<SourceLine, "number" | "offset" | "bytes">,
    parent: NodeIndex,
    chain: number,
    reply: NodeIndex = -1,
  ): void {
    this.#keptBytes += bytes;
    const object = this.#keptBytes > MOST_KEPT_BYTES ? undefined : this.#object;
    this.#records.push({ kind, uuid, line: number, offset, bytes, parent, reply, chain, hasStepChild: false, object });
  }

  /** The index, which grows with each line that is added. */
  file(): SessionFile {
    const titles = this.#titles;
    const nodeOf = this.#nodeOf;
    return {
      path: this.#path,
      records: this.#records,
      nodeOf: this.#nodeOf,
      problems: this.#problems,
      replyLines: this.#replies.lines,
      boundaries: this.#boundaries.facts,
      calls: this.#calls.calls,
      repeatedResults: this.#calls.repeatedResults,
      renamed: this.#renamed,
      isChain: this.#isChain,
      agentCalls: this.#calls.agentCalls,
      promptCalls: this.#calls.promptCalls,
      chains: this.#chains.facts,
      get titles() {
        return titles.choose((uuid) => nodeOf.has(uuid));
      },
    };
  }
}

function chainKeyOf(record: JsonObject): string {
  return record.isSidechain === true ? `agent ${stringAt(record, "agentId") ?? ""}` : "";
}

// The Agent SDK gives the titles and tags that it appends a uuid, but no place in the tree.
function isMark({ type, parentUuid }: JsonObject): boolean {
  return parentUuid === undefined && (type === "custom-title" || type === "ai-title" || type === "tag");
}

function hasSameContent(written: JsonObject | undefined, record: JsonObject): boolean {
  const writtenContent = written && comparableContent(written);
  return writtenContent !== undefined && writtenContent === comparableContent(record);
}

/** The content of a record without its position, as JSON; undefined if it is nested too deep. */
export function comparableContent(record: JsonObject): string | undefined {
  // Without the usage of a reply: a copy may have the final counts.
  const message = objectAt(record, "message");
  return tryStringify([record.type, record.content, message?.id, message?.content, record.attachment, record.data]);
}
