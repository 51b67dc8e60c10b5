import type { ImportProblem } from "@bough/session-core";
import { ReadFromStartError } from "@bough/session-core/engine";
import { type JsonObject, objectAt, stringAt, tryStringify } from "@bough/session-core/wire";
import type { SourceLine } from "../source/json-lines.js";
import { SeenIds } from "../source/seen-ids.js";
import { Chains, Titles } from "./chains.js";
import { Boundaries } from "./compaction.js";
import { BRANCH_STARTS, classifyRecord, isNoise, type RecordKind } from "./record-kind.js";
import { RecordTable } from "./record-table.js";
import { CallIndex, ReplyGroups } from "./replies.js";
import { BEFORE, type IndexState, restoreRecords, type SavedTranscript } from "./saved-transcript.js";
import { type IndexedRecord, MISSING, type NodeIndex, ROOT, type SessionFile } from "./session-file.js";
import { UuidMap } from "./uuid-map.js";

/** The lines before the current one, to recognize a record that is written again. */
export interface EarlierLines {
  /** True if the line of an earlier record has the content of this line. */
  isSame(earlier: IndexedRecord, line: SourceLine, record: JsonObject): boolean;
}

/**
 * The parsed lines of a file of at most this size are kept for the second pass, in bytes. Costs 40 MB of memory at most (measured). Of a
 * larger file none are kept: parsing them again costs little beside the rest, and the index needs the memory.
 */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

/** Indexes the records of a session in the order of their lines. */
export class Indexer {
  readonly #path: string;
  readonly #agent: string | undefined;
  readonly #records: RecordTable;
  readonly #nodeOf = new UuidMap();
  readonly #problems = new Map<NodeIndex, ImportProblem>();
  readonly #renamed = new Set<NodeIndex>();
  readonly #calls: CallIndex;
  readonly #replies: ReplyGroups;
  readonly #chains: Chains;
  readonly #titles: Titles;
  readonly #boundaries = new Boundaries(this.#nodeOf);
  readonly #earlier: EarlierLines;
  readonly #isChain: boolean;
  /** Of a chain: the last record of the conversation and of each agent. */
  readonly #lastOf = new Map<string, NodeIndex>();
  #keptBytes = 0;
  /** The object of the current line. */
  #object: JsonObject | undefined;

  /** Of the records before this reading: the first one that is not read again, the ids of all, and their one session. undefined: none. */
  readonly #before: { readonly next: NodeIndex; readonly seen: SeenIds; readonly chain: number } | undefined;

  /** `isChain`: a record without a parent is below the one that was added before it. `saved`: by an earlier reading. */
  constructor(
    path: string,
    agent: string | undefined,
    earlier: EarlierLines,
    { isChain = false, saved }: { readonly isChain?: boolean; readonly saved?: SavedTranscript | undefined } = {},
  ) {
    this.#path = path;
    this.#agent = agent;
    this.#earlier = earlier;
    this.#isChain = isChain;
    this.#records = saved === undefined ? new RecordTable() : restoreRecords(saved);
    this.#chains = new Chains(saved?.chains);
    this.#titles = new Titles(saved?.titles);
    this.#calls = new CallIndex(saved?.calls);
    this.#replies = new ReplyGroups(saved?.replies);
    if (saved === undefined) return;
    this.#before = { next: saved.next, seen: SeenIds.from(saved.seen), chain: saved.chains.findIndex(({ records }) => records > 0) };
    this.#restoreLinks(saved);
  }

  #restoreLinks({ moved }: SavedTranscript): void {
    let node = -1;
    for (const { kind, uuid, reply } of this.#records) {
      node += 1;
      if (uuid !== "") this.#nodeOf.set(uuid, node);
      if (kind === "absorbed" && this.#records.get(reply)?.kind === "reply") this.#replies.add(reply, node);
    }
    for (const [uuid, place] of moved) {
      if (place >= 0) this.#nodeOf.set(uuid, place);
      else this.#nodeOf.delete(uuid);
    }
  }

  /** The parts of a saved transcript that the index of the file does not show. */
  get saved(): Pick<IndexState, "titles" | "replies"> {
    return { titles: this.#titles.save((uuid) => this.#nodeOf.has(uuid)), replies: this.#replies.open };
  }

  /** Of a reading that continues an earlier one: fails if an id is that of an earlier record that it does not know. */
  #assertNew(id: string | undefined): void {
    if (id !== undefined && this.#before?.seen.has(id) === true) throw new ReadFromStartError();
  }

  /** Of a reading that continues an earlier one: fails if a record does not leave the earlier ones as they are. */
  #assertRest(isSimple: boolean): void {
    if (this.#before !== undefined && !isSimple) throw new ReadFromStartError();
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
    this.#assertNew(uuid);
    this.#assertRest(!this.#nodeOf.has(uuid));
    const linked = this.#parentOf(record);
    const chain = this.#chains.chainOf(record, this.#records.get(linked)?.chain ?? 0, this.#agent);
    const parent = this.#parentInChain(chain, linked);
    this.#assertRest(chain === this.#before?.chain);
    this.#chains.addFacts(chain, record);
    if (this.#nodeOf.has(uuid) && this.#isRepeat(uuid, line, record, parent)) {
      this.#push("absorbed", uuid, line, parent, chain);
      return;
    }
    this.#addStep(uuid, line, record, parent, chain);
  }

  #addSide(line: SourceLine, record: JsonObject): void {
    const leaf = record.type === "summary" ? stringAt(record, "leafUuid") : undefined;
    if (leaf !== undefined && !this.#nodeOf.has(leaf)) this.#assertNew(leaf);
    this.#assertRest(typeof record.uuid !== "string" || this.#before?.chain === 0);
    this.#titles.add(record);
    this.#chains.addFacts(0, record);
    this.#push("side", "", line, ROOT, 0);
  }

  #parentOf(record: JsonObject): NodeIndex {
    const logical = record.subtype === "compact_boundary" ? stringAt(record, "logicalParentUuid") : undefined;
    const uuid = logical ?? stringAt(record, "parentUuid");
    const known = uuid === undefined ? undefined : this.#nodeOf.get(uuid);
    if (known === undefined) this.#assertNew(uuid);
    if (uuid !== undefined) return known ?? MISSING;
    return (this.#isChain ? this.#lastOf.get(chainKeyOf(record)) : undefined) ?? ROOT;
  }

  // The parent of a sidechain may be the call that started it; the session's header already has this link.
  #parentInChain(chain: number, parent: NodeIndex): NodeIndex {
    if (parent < 0 || this.#records.get(parent)?.chain === chain) return parent;
    return chain > 0 ? ROOT : MISSING;
  }

  #addStep(uuid: string, line: SourceLine, record: JsonObject, parent: NodeIndex, chain: number): void {
    const node = this.#records.length;
    const kind = classifyRecord(record);
    this.#assertRest(kind !== "boundary" && kind !== "summary");
    if (this.#nodeOf.has(uuid)) this.#renamed.add(node);
    const owner = this.#ownerOf(kind, record, node, parent, chain);
    const isAbsorbed = owner !== undefined;
    this.#assertRest(owner === undefined || owner >= (this.#before?.next ?? 0));
    const reply = this.#replyOf(kind, record, node, parent);
    this.#push(isAbsorbed ? "absorbed" : kind, uuid, line, parent, chain, isAbsorbed ? owner : reply);
    this.#nodeOf.set(uuid, owner ?? node);
    this.#boundaries.addStep(uuid);
    if (this.#isChain) this.#lastOf.set(chainKeyOf(record), owner ?? node);
    if (kind === "reply") for (const id of this.#calls.addCalls(record, owner ?? node)) this.#assertNew(id);
    this.#assertRest(this.#calls.repeatedResults.size === 0);
    if (kind === "boundary") this.#boundaries.add(record, node, parent === MISSING);
    if (!isAbsorbed && BRANCH_STARTS.includes(kind)) this.#markLeading(parent);
  }

  /** The earlier record whose entry contains this one. */
  #ownerOf(kind: RecordKind, record: JsonObject, node: NodeIndex, parent: NodeIndex, chain: number): NodeIndex | undefined {
    if (kind === "summary") return this.#boundaries.attachSummary(node, parent, this.#records);
    if (kind !== "reply") return undefined;
    this.#assertNew(this.#replies.newId(record));
    const first = this.#replies.find(record, parent, chain, this.#records);
    if (first === undefined) this.#replies.begin(record, node);
    else this.#replies.add(first, node);
    return first;
  }

  #replyOf(kind: RecordKind, record: JsonObject, node: NodeIndex, parent: NodeIndex): NodeIndex {
    const inherited = this.#records.get(parent)?.reply ?? -1;
    if (kind === "reply") return node;
    if (kind === "result") {
      if (this.#before !== undefined) for (const id of this.#calls.unknownIn(record)) this.#assertNew(id);
      return this.#calls.addResults(record, node) ?? inherited;
    }
    if (!isNoise(kind)) return -1;
    this.#calls.addProgress(record);
    return inherited;
  }

  #markLeading(from: NodeIndex): void {
    let record = this.#records.get(from);
    let node = from;
    while (record !== undefined && !record.hasStepChild && (isNoise(record.kind) || record.kind === "injected")) {
      this.#assertRest(node >= (this.#before?.next ?? 0));
      record.hasStepChild = true;
      node = record.parent;
      record = this.#records.get(node);
    }
    this.#assertRest(node !== BEFORE);
  }

  /**
   * True if a record with a repeated uuid is a copy of the earlier record. Claude Code may write records that a compaction kept again
   * with a new parent; no entry is created for the copy, and its children are attached to its parent.
   */
  #isRepeat(uuid: string, line: SourceLine, record: JsonObject, parent: NodeIndex): boolean {
    const original = this.#nodeOf.get(uuid) ?? ROOT;
    const refersToCompaction = this.#records.get(original)?.kind === "boundary" && this.#records.get(original)?.uuid !== uuid;
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
      const place = node === undefined ? undefined : this.#records.get(node);
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
    const object = this.#keeps(bytes) ? this.#object : undefined;
    this.#records.push({ kind, uuid, line: number, offset, bytes, parent, reply, chain, hasStepChild: false, object });
  }

  /** True if the objects of lines are kept. Drops them all when the file turns out to be too large. */
  #keeps(bytes: number): boolean {
    const hasKept = this.#keptBytes <= MOST_KEPT_BYTES;
    this.#keptBytes += bytes;
    if (this.#keptBytes <= MOST_KEPT_BYTES) return true;
    if (hasKept) this.#records.dropObject();
    return false;
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
      isTitle: (uuid) => nodeOf.has(uuid) || titles.wasHere(uuid),
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

/** True if two lines are the same record, written twice. */
export function hasSameContent(written: JsonObject | undefined, record: JsonObject): boolean {
  const writtenContent = written && comparableContent(written);
  return writtenContent !== undefined && writtenContent === comparableContent(record);
}

/** The content of a record without its position, as JSON; undefined if it is nested too deep. */
export function comparableContent(record: JsonObject): string | undefined {
  // Without the usage of a reply: a copy may have the final counts.
  const message = objectAt(record, "message");
  return tryStringify([record.type, record.content, message?.id, message?.content, record.attachment, record.data]);
}
