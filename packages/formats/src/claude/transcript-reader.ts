import { hash } from "node:crypto";
import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceHeader, SourceRecord, SourceSession } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { agentSessionId } from "../source/derived-id.js";
import type { SourceLine } from "../source/json-lines.js";
import { toAgentHeader, toConversationHeader } from "./headers.js";
import { comparableContent, type EarlierLines, Indexer } from "./indexer.js";
import { OpenRecords } from "./open-records.js";
import { RecordReader } from "./records.js";
import type { IndexedRecord, LineSource, NodeIndex, SessionFile } from "./session-file.js";

/** The transcript that a reader reads. */
export interface TranscriptName {
  /** The conversation: the name of its file. */
  readonly sessionId: SessionId;
  /** The agent whose transcript it is: `x7` of `agent-x7.jsonl`; undefined: the conversation. */
  readonly agent?: string | undefined;
}

/** Lines whose entries no later line changes, and these entries. */
export interface ReadLines {
  /** For each line, the line of the record in whose entries it is: an earlier one for the later lines of a reply. */
  readonly owners: readonly number[];
  /** The session of the transcript. */
  readonly home: SourceSession;
  /** Agents inside the transcript, as versions before 2 wrote them. */
  readonly agents: readonly SourceSession[];
}

/**
 * Reads a transcript of Claude Code while it is written. Its entries, with their ids and parents, are those that the import reads from
 * the complete file: both use the same index, placement and payloads.
 *
 * A line waits while a later one can change its entry: a reply until the next step or the end of its turn, a compaction until its
 * summary. Lines keep their order, so all lines after it wait too.
 *
 * Memory: about 300 bytes a record, and the lines that wait.
 *
 * @example
 * const reader = new TranscriptReader({ sessionId });
 * for (const line of lines) reader.add(line);
 * const { home } = reader.read();
 */
export class TranscriptReader {
  readonly #name: TranscriptName;
  readonly #lines = new KeptLines();
  readonly #indexer: Indexer;
  readonly #file: SessionFile;
  readonly #open: OpenRecords;
  readonly #readers: RecordReader[] = [];
  /** The next record to read. */
  #next: NodeIndex = 0;
  /** Replies that were read before their last line came. */
  readonly #grown = new Set<NodeIndex>();

  constructor(name: TranscriptName) {
    this.#name = name;
    this.#indexer = new Indexer(`${name.agent === undefined ? name.sessionId : `agent-${name.agent}`}.jsonl`, name.agent, this.#lines);
    this.#file = this.#indexer.file();
    this.#open = new OpenRecords(this.#file);
  }

  /** The index of the lines so far. */
  get file(): SessionFile {
    return this.#file;
  }

  /** The id of the session of the transcript. */
  get sessionId(): SessionId {
    const { sessionId, agent } = this.#name;
    return agent === undefined ? sessionId : agentSessionId(sessionId, agent);
  }

  /** The number of lines that were added. */
  get lines(): number {
    return this.#file.records.length;
  }

  /** The number of added lines that still wait to be read. */
  get waiting(): number {
    return this.lines - this.#next;
  }

  /** Adds the next line. */
  add(object: JsonObject): void {
    const line = { number: this.lines + 1, text: JSON.stringify(object), offset: 0, bytes: 0, isTooLong: false, hasLineBreak: true };
    this.#lines.add(line, object);
    this.#indexer.add(line, object);
    this.#open.add(object);
    const record = this.#file.records.get(this.lines - 1);
    const owner = record?.kind === "absorbed" ? record.reply : -1;
    if (owner >= 0 && owner < this.#next && this.#file.replyLines.has(owner)) this.#grown.add(owner);
  }

  /**
   * Reads the entries of the lines that no longer wait.
   *
   * `everything` also reads the lines that wait: a reply that gets further lines after that is read again, with all its lines. `lines` is the
   * last line that an earlier reader has read. `starter` is the transcript whose calls started the agents; default: this one. `meta` is the
   * program's own record of the agent.
   */
  read({ everything = false, lines, starter = this.#file, meta }: ReadOptions = {}): ReadLines {
    const from = this.#next;
    const records = new Map<number, SourceRecord[]>();
    const home = this.#homeChain;
    for (const node of this.#grown) this.#collect(records, this.#readers[this.#chainAt(node)]?.readAgain(node), this.#chainAt(node));
    this.#grown.clear();
    while (lines === undefined ? this.#next < this.lines && (everything || this.#canRead(this.#next, home)) : this.#next < lines) {
      for (const [chain, { records: count }] of this.#file.chains.entries())
        if (chain === home || count > 0) this.#collect(records, this.#readerOf(chain).read(this.#next), chain);
      this.#next += 1;
    }
    const owners = this.#file.records.slice(from, this.#next).map((record) => this.#ownerOf(record));
    for (let node = from; node < this.#next; node += 1) this.#release(node);
    const sessions = [...this.#file.chains.keys()].map((chain) => this.#toSession(chain, records.get(chain) ?? [], starter, meta));
    const agents = sessions.filter((_, chain) => chain !== home && (records.get(chain)?.length ?? 0) > 0);
    return { owners, home: sessions[home] ?? this.#toSession(0, [], starter, meta), agents };
  }

  get #homeChain(): number {
    return this.#name.agent === undefined ? 0 : 1;
  }

  #chainAt(node: NodeIndex): number {
    return this.#file.records.get(node)?.chain ?? 0;
  }

  #collect(into: Map<number, SourceRecord[]>, found: readonly SourceRecord[] | undefined, chain: number): void {
    if (found === undefined || found.length === 0) return;
    const known = into.get(chain);
    if (known === undefined) into.set(chain, [...found]);
    else known.push(...found);
  }

  // The first records wait for the time and the folder of the session, which a later one may be the first to have.
  #canRead(node: NodeIndex, home: number): boolean {
    const facts = this.#file.chains[home];
    return facts !== undefined && facts.records > 0 && !this.#open.isOpen(node, home);
  }

  #readerOf(chain: number): RecordReader {
    const known = this.#readers[chain];
    if (known !== undefined) return known;
    const id = chain === this.#homeChain ? this.sessionId : agentSessionId(this.#name.sessionId, this.#file.chains[chain]?.key ?? "");
    const reader = new RecordReader(this.#file, chain, id, this.#lines);
    this.#readers[chain] = reader;
    return reader;
  }

  #ownerOf(record: IndexedRecord): number {
    const owner = record.kind === "absorbed" && record.reply >= 0 ? this.#file.records.get(record.reply) : record;
    return (owner ?? record).line;
  }

  // A reply that is still open keeps its lines, because it is read again if further lines follow.
  #release(node: NodeIndex): void {
    const record = this.#file.records.get(node);
    if (record === undefined) return;
    record.object = undefined;
    const reply = record.kind === "reply" ? node : record.reply;
    if (reply < 0 || !this.#open.isOpen(reply, this.#homeChain)) this.#lines.release(record.line);
  }

  #toSession(chain: number, records: readonly SourceRecord[], starter: SessionFile, meta: JsonObject | undefined): SourceSession {
    const ending = [...(this.#readers[chain]?.ending() ?? [])];
    return { header: this.#headerOf(chain, starter, meta), records: () => [...records, ...ending] };
  }

  #headerOf(chain: number, starter: SessionFile, meta: JsonObject | undefined): SourceHeader {
    const facts = this.#file.chains[chain] ?? { key: this.#name.agent ?? "", records: 0 };
    const isConversation = chain === 0 && this.#name.agent === undefined;
    if (isConversation) return toConversationHeader(this.#file, facts, this.#name.sessionId);
    return toAgentHeader({ ...facts, key: facts.key || (this.#name.agent ?? "") }, this.#name.sessionId, starter, meta);
  }

  /** The id of the last entry of the records read so far; null: none. */
  get lastId(): EntryId | null {
    return this.#readers[this.#homeChain]?.lastId ?? null;
  }
}

/** Options of `TranscriptReader.read`. */
export interface ReadOptions {
  readonly everything?: boolean | undefined;
  readonly lines?: number | undefined;
  readonly starter?: SessionFile | undefined;
  readonly meta?: JsonObject | undefined;
}

/** The lines of a growing transcript: the text and object of each line that is not read yet, and a digest of each line with a uuid. */
class KeptLines implements LineSource, EarlierLines {
  readonly #kept = new Map<number, { readonly text: string; readonly object: JsonObject }>();
  readonly #digests = new Map<number, string>();

  add(line: SourceLine, object: JsonObject): void {
    this.#kept.set(line.number, { text: line.text, object });
    if (typeof object.uuid === "string") this.#digests.set(line.number, digestOf(line, object));
  }

  textAt(record: IndexedRecord): string {
    return this.#kept.get(record.line)?.text ?? "";
  }

  takeObject(record: IndexedRecord): JsonObject | undefined {
    return this.#kept.get(record.line)?.object;
  }

  isSame(earlier: IndexedRecord, line: SourceLine, record: JsonObject): boolean {
    return this.#digests.get(earlier.line) === digestOf(line, record);
  }

  /** Drops text and object of a line. */
  release(line: number): void {
    this.#kept.delete(line);
  }
}

function digestOf(line: SourceLine, record: JsonObject): string {
  return hash("sha256", comparableContent(record) ?? line.text, "base64url").slice(0, 12);
}
