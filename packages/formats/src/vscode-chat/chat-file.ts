import type { EntryId, ImportProblem, SessionId } from "@bough/session-core";
import { ReadFromStartError, type ReadingPosition, RUNNING_MS, type SourceEntry, type SourceRecord } from "@bough/session-core/engine";
import { isId, isObject, type JsonObject, numberAt, objectAt, parseTime, stringAt } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import { readJsonDocument } from "../source/json-document.js";
import { readJsonLines } from "../source/json-lines.js";
import type { FileHead } from "../source/source-format.js";
import { isUndone, MutationLog, type RequestNode, type SavedChat } from "./mutation-log.js";
import { isComplete, modelOf, toPrompt, toReplies } from "./request.js";
import type { RequestEntry } from "./response.js";

/** The newest version of a chat's state that is known. */
const NEWEST_VERSION = 3;

/** The text that VS Code writes before the UUID of a request. */
const KEY_START = /^request_(?=[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:#\d+)?$)/i;

/** The lists of a document that are read by element. */
export const LISTS = ["requests"];

/** The end of a request's entries. */
interface End {
  /** The time of the last entry. */
  readonly lastMs: number;
  readonly leafId: EntryId | null;
  readonly model: string | undefined;
  /** The round to which the last entries belong. */
  readonly round: string | undefined;
}

const START: End = { lastMs: 0, leafId: null, model: undefined, round: undefined };

/** The state of a reading before the last request was added: the chat, its start, and the end of the request before. */
interface SavedReading {
  readonly chat: SavedChat;
  readonly startMs: number | null;
  readonly end: Pick<End, "lastMs" | "leafId"> & Partial<End>;
}

/** A place of the log before the last request was added. `last`: the request before it; undefined: it is the first one. */
interface Place extends Pick<ReadingPosition, "offset" | "line"> {
  readonly chat: () => SavedChat;
  readonly last: RequestNode | undefined;
}

/**
 * The chat in a file. The constructor replays it once. Memory: its state, and the undone requests.
 *
 * A later reading replays the changes since the last request was added: these change this request only, as a rule.
 */
export class ChatFile {
  readonly sessionId: SessionId;
  readonly #path: string;
  readonly #log: MutationLog;
  readonly #saved: SavedReading | undefined;
  #place: Place | undefined;
  #writer: RequestWriter | undefined;
  readonly #problems: ImportProblem[] = [];
  /** Changes of an unknown shape or place. */
  readonly #unknown: { readonly record: JsonObject; readonly line: number }[] = [];
  readonly #lines: number[] = [];

  /**
   * `sessionId`: the id of the session, from the one in the chat. `earlier`: where an earlier reading of the log ended.
   *
   * @throws {ReadFromStartError} the state of the earlier reading is not enough.
   */
  constructor(
    { path, document }: FileHead,
    isDocument: boolean,
    sessionId: (recorded: string | undefined) => SessionId,
    earlier?: ReadingPosition,
  ) {
    this.#path = path;
    this.#saved = earlier && readSaved(earlier.state);
    this.#log = new MutationLog(this.#saved?.chat);
    if (isDocument && isObject(document)) this.#log.apply({ kind: 0, v: document }, 1);
    else if (isDocument) this.#readDocument();
    else this.#readLog(earlier);
    this.sessionId = sessionId(stringAt(this.members, "sessionId"));
    const version = numberAt(this.members, "version");
    if (version !== undefined && version > NEWEST_VERSION) {
      const message = `version ${version} of this format is not known, only up to ${NEWEST_VERSION}; read as far as it is like these`;
      this.#problems.push({ code: "invalid-record", path, line: 1, message });
    }
  }

  /** The members of the chat. */
  get members(): JsonObject {
    return this.#log.members;
  }

  /** The start of the chat, in milliseconds since 1970: without it in the file, that of the earliest request. undefined: not known. */
  get startMs(): number | undefined {
    if (this.#saved !== undefined) return this.#saved.startMs ?? undefined;
    const times = this.#log.requests.map(({ request }) => parseTime(request.timestamp)).filter((time) => time !== undefined);
    return parseTime(this.members.creationDate) ?? (times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b)));
  }

  /**
   * True if the chat has no request: VS Code writes a chat for each window. A torn line does not count as damage: the first line of a new
   * log may be incomplete.
   */
  get isEmpty(): boolean {
    const isDamaged = this.#problems.some(({ code }) => code !== "torn-line");
    return this.#log.requests.length === 0 && this.#unknown.length === 0 && !isDamaged;
  }

  #readLog(from: ReadingPosition | undefined): void {
    let end = { offset: from?.offset ?? 0, line: from?.line ?? 0 };
    for (const read of readJsonLines(this.#path, { from })) {
      if (read.kind === "problem") {
        this.#problems.push(read.problem);
        continue;
      }
      const line = read.line.number;
      if (MutationLog.changesList(read.object)) this.#place = this.#placeAt(end);
      end = { offset: read.line.offset + read.line.bytes + 1, line };
      if (this.#log.apply(read.object, line)) this.#lines.push(line);
      else this.#unknown.push({ record: read.object, line });
    }
  }

  #placeAt(end: Pick<ReadingPosition, "offset" | "line">): Place | undefined {
    const chat = end.offset === 0 ? undefined : this.#log.save();
    return chat && { ...end, chat, last: this.#log.live.at(-1) };
  }

  /** Where a later reading goes on, after `records` was read; undefined: at the start. */
  get position(): ReadingPosition | undefined {
    const isDamaged = this.#problems.some(({ code }) => code !== "torn-line");
    if (this.#place === undefined || this.#unknown.length > 0 || isDamaged) return undefined;
    const { offset, line, chat, last } = this.#place;
    const saved: SavedReading = { chat: chat(), startMs: this.startMs ?? null, end: this.#writer?.endOf(last) ?? START };
    return { offset, line, state: { chat: JSON.stringify(saved) } };
  }

  #readDocument(): void {
    const members: [string, unknown][] = [];
    const requests: unknown[] = [];
    for (const part of readJsonDocument(this.#path, LISTS)) {
      if (part.kind === "problem") this.#problems.push(part.problem);
      else if (part.kind === "element") requests.push(part.value);
      else members.push([part.name, part.value]);
    }
    this.#log.apply({ kind: 0, v: Object.fromEntries([...members, ["requests", requests]]) }, 1);
  }

  *records(): Generator<SourceRecord, void, void> {
    for (const problem of this.#problems) yield { kind: "problem", problem };
    const last = this.#log.live.at(-1);
    const open = last === undefined || isComplete(last.request) ? undefined : last;
    const writer = new RequestWriter(this.sessionId, this.startMs ?? 0, open);
    this.#writer = writer;
    const known = this.#saved === undefined ? [] : this.#log.requests.slice(0, this.#saved.chat.live.length);
    if (this.#saved !== undefined) writer.goOn(known, { ...START, ...this.#saved.end });
    const lines = new Set<number>();
    for (const entry of writer.entries(this.#log.requests.slice(known.length))) {
      lines.add(entry.line);
      yield entry;
    }
    if (open !== undefined) {
      yield { kind: "open", waitMs: RUNNING_MS, leafId: writer.endOf(open).leafId };
      for (const entry of writer.openReplies()) {
        lines.add(entry.line);
        yield entry;
      }
    }
    // Requests that were undone stay in the chat until the next one is sent.
    const shown = this.#log.live.filter(({ request }) => !isUndone(request)).at(-1);
    const leafId = shown === undefined ? null : writer.endOf(shown).leafId;
    for (const { record, line } of this.#unknown) yield writer.addForeign(record, line, leafId);
    for (const line of this.#lines) if (!lines.has(line)) yield { kind: "merged", line };
    if (this.#log.requests.length > 0) yield { kind: "leaf", name: "main", entryId: leafId };
  }
}

function readSaved({ chat }: JsonObject): SavedReading {
  const saved: SavedReading | undefined = typeof chat === "string" ? JSON.parse(chat) : undefined;
  if (saved === undefined) throw new ReadFromStartError();
  return saved;
}

/** Writes the requests of a chat as entries, each below the one before it. */
class RequestWriter {
  readonly #sessionId: SessionId;
  #chain: EntryChain;
  /** True if an earlier reading has written requests: the rounds of these are not known. */
  #hasEarlier = false;
  readonly #unknown = new Set<RequestNode>();
  /** The request whose reply may still be written: its replies come last. */
  readonly #open: RequestNode | undefined;
  readonly #ends = new Map<RequestNode, End>();
  /** The entry after each round. */
  readonly #nextOf = new Map<string, EntryId>();

  constructor(sessionId: SessionId, startMs: number, open: RequestNode | undefined) {
    this.#sessionId = sessionId;
    this.#chain = new EntryChain(sessionId, startMs);
    this.#open = open;
  }

  /** Goes on behind the last of these requests, which an earlier reading has written. */
  goOn(known: readonly RequestNode[], end: End): void {
    this.#hasEarlier = true;
    this.#chain = new EntryChain(this.#sessionId, 0, { leafId: end.leafId, lastMs: end.lastMs });
    const last = known.at(-1);
    if (last !== undefined) this.#ends.set(last, end);
    for (const one of known.slice(0, -1)) this.#unknown.add(one);
  }

  /** The last entry of a request, and the model and round there. */
  endOf(node: RequestNode | undefined): End {
    if (node !== undefined && this.#unknown.has(node)) throw new ReadFromStartError();
    return (node && this.#ends.get(node)) ?? START;
  }

  /** A change of an unknown shape, below `parentId`. */
  addForeign(record: JsonObject, line: number, parentId: EntryId | null): SourceEntry {
    this.#chain.moveTo(parentId);
    const kind = typeof record.kind === "string" || typeof record.kind === "number" ? `change ${record.kind}` : "change";
    return this.#chain.add({ line, payload: { type: "foreign", originalType: kind.slice(0, 100), raw: record } });
  }

  /** The entries of the requests, parents before children. */
  *entries(nodes: readonly RequestNode[]): Generator<SourceEntry, void, void> {
    for (const node of nodes) {
      const missing: RequestNode[] = [];
      for (let at: RequestNode | undefined = node; at !== undefined && !this.#ends.has(at) && !missing.includes(at); at = at.parent)
        missing.push(at);
      for (const one of missing.reverse()) yield* this.#request(one);
    }
  }

  /** The replies to the request that may still be written. */
  *openReplies(): Generator<SourceEntry, void, void> {
    const node = this.#open;
    if (node?.request.message !== undefined) yield* this.#write(node, toReplies(node.request), this.endOf(node));
  }

  *#request(node: RequestNode): Generator<SourceEntry, void, void> {
    const before = this.endOf(node.parent);
    yield* this.#write(node, this.#entriesOf(node, before.model), before);
  }

  /** Writes entries of a request behind `before`, and keeps their end. */
  *#write(node: RequestNode, entries: readonly RequestEntry[], before: End): Generator<SourceEntry, void, void> {
    const chosen = modelOf(node.request);
    let { round } = before;
    this.#chain.moveTo(before.leafId);
    for (const entry of entries) {
      const added = this.#add(node, entry);
      const { payload } = entry;
      if (payload.type !== "compaction" && objectAt(payload, "message")?.role !== "toolResult") {
        if (round !== undefined) this.#nextOf.set(round, added.id);
        round = entry.round;
      }
      yield added;
    }
    const { leafId, lastMs } = this.#chain;
    this.#ends.set(node, { lastMs, leafId, model: chosen?.modelId ?? before.model, round });
  }

  #entriesOf(node: RequestNode, model: string | undefined): readonly RequestEntry[] {
    const { request } = node;
    if (request.message === undefined) return [{ name: "", payload: { type: "foreign", originalType: "request", raw: request } }];
    const chosen = modelOf(request);
    const change =
      chosen === undefined || chosen.modelId === model ? [] : [{ name: "model", payload: { type: "model_change", ...chosen } }];
    return [...change, { name: "", payload: toPrompt(request) }, ...(node === this.#open ? [] : toReplies(request))];
  }

  #add(node: RequestNode, { name, payload, createdAtMs, summarizes }: RequestEntry): SourceEntry {
    if (this.#hasEarlier && summarizes !== undefined && !this.#nextOf.has(summarizes)) throw new ReadFromStartError();
    const kept = summarizes === undefined ? {} : { firstKeptEntryId: this.#nextOf.get(summarizes) ?? null };
    // All keys begin with `request_`, so short prefixes of ids would be the same for all entries.
    const own = node.key.replace(KEY_START, "");
    const id = name === "" ? own : `${name}:${own}`;
    const former = name === "" ? node.key : `${node.key}:${name}`;
    return this.#chain.add({
      line: node.line,
      id: isId(id) ? id : derivedId(this.#sessionId, former),
      formerId: isId(former) ? former : undefined,
      createdAtMs: createdAtMs ?? parseTime(node.request.timestamp),
      payload: { ...payload, ...kept },
    });
  }
}
