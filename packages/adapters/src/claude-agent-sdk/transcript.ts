import { createHash } from "node:crypto";
import { foldSessionSummary, type SessionKey, type SessionStoreEntry, type SessionSummaryEntry } from "@anthropic-ai/claude-agent-sdk";
import { TranscriptReader } from "@bough/formats";
import type { Session, SessionId, Store } from "@bough/session-core";
import type { SourceAppend, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { LineDeltas } from "./line-delta.js";
import { agentOf, metadataOf } from "./names.js";
import {
  EMPTY_STATE,
  EXTRA,
  type ExtraLine,
  encodeLines,
  isSummary,
  partKey,
  type ReadTranscript,
  readTranscript,
  STATE,
  SUMMARY,
  type TranscriptState,
  WAITING,
} from "./stored-transcript.js";

/** Another writer has appended to the transcript since it was read: read it again and repeat. */
export class TranscriptMovedError extends Error {
  override readonly name = "TranscriptMoved";
}

/** The transcript of a session in memory, with the state that an append of lines needs. About 400 bytes a line. */
export class Transcript {
  readonly #store: Store;
  readonly #key: SessionKey;
  readonly #id: SessionId;
  readonly #reader: TranscriptReader;
  readonly #deltas: LineDeltas;
  readonly #digests = new Map<string, string>();
  readonly #others = new Set<string>();
  #state: TranscriptState;
  #waiting: JsonObject[] = [];
  #extra: readonly ExtraLine[];
  #title: string | undefined;

  private constructor(store: Store, key: SessionKey, id: SessionId, conversation: SessionId, stored: ReadTranscript | undefined) {
    this.#store = store;
    this.#key = key;
    this.#id = id;
    this.#reader = new TranscriptReader({ sessionId: conversation, agent: agentOf(key) });
    this.#state = stored?.state ?? EMPTY_STATE;
    this.#deltas = stored?.deltas ?? new LineDeltas();
    this.#extra = stored?.extra ?? [];
    for (const line of stored?.lines ?? []) this.#addLine(line);
    const waiting = stored?.waiting ?? 0;
    this.#waiting = stored?.lines.slice(stored.lines.length - waiting).slice() ?? [];
    // An earlier reader made entries of this many lines. Reading them again brings this one to the same line.
    this.#reader.read({ lines: this.#state.lines });
    this.#title = this.#wantedTitle;
  }

  /** Reads the transcript of a session; undefined: the session does not exist yet. */
  static async open(
    store: Store,
    key: SessionKey,
    id: SessionId,
    conversation: SessionId,
    session: Session | undefined,
  ): Promise<Transcript> {
    return new Transcript(store, key, id, conversation, session && (await readTranscript(session)));
  }

  get reader(): TranscriptReader {
    return this.#reader;
  }

  /** True if nothing was appended yet. */
  get isNew(): boolean {
    return this.#state.version === 0;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * Appends lines and the entries that they complete, in one transaction. After an error the object must not be used any more.
   *
   * @param everything also the entries of buffered lines.
   * @param starter the transcript of the conversation, for the link to the call that started this agent.
   * @throws {TranscriptMovedError}
   */
  async append(given: readonly SessionStoreEntry[], everything: boolean, starter?: TranscriptReader): Promise<void> {
    const fresh = this.#freshLines(given);
    if (fresh.length === 0 && !(everything && this.hasWaiting)) return;
    for (const line of fresh) {
      if (line.type === "agent_metadata") this.#extra = [...this.#extra, [this.#reader.lines, line]];
      else this.#addLine(line);
      if (line.type !== "agent_metadata") this.#waiting.push(line);
    }
    const [meta] = this.#extra.at(-1)?.slice(1) ?? [];
    const read = this.#reader.read({ everything, starter: starter?.file, ...(isObject(meta) ? { meta: withoutType(meta) } : {}) });
    for (const agent of read.agents) await this.#import(agent, NOTHING);
    const home = this.#renamed({ ...read.home, header: { ...read.home.header, sessionId: this.#id } });
    const isNew = this.isNew;
    await this.#import(withMetadata(home, this.#key), this.#appendOf(home, read.owners, fresh));
    this.#waiting = this.#waiting.slice(read.owners.length);
    if (isNew) await this.#store.setMetadata(this.#id, metadataOf(this.#key));
    if (isObject(meta) && fresh.some(({ type }) => type === "agent_metadata"))
      await this.#store.setMetadata(this.#id, { agent: withoutType(meta) });
    await this.#retitle();
  }

  #addLine(line: JsonObject): void {
    this.#reader.add(line);
    if (typeof line["uuid"] === "string") this.#digests.set(line["uuid"], digestOf(line));
    else this.#others.add(digestOf(line));
  }

  // A line with a uuid is appended once. Others are appended each time, unless the whole batch was appended before: a repeated import.
  #freshLines(given: readonly SessionStoreEntry[]): readonly SessionStoreEntry[] {
    const isKnown = (line: SessionStoreEntry) => line.uuid !== undefined && this.#digests.get(line.uuid) === digestOf(line);
    const isRepeated =
      given.some(isKnown) && given.every((line) => isKnown(line) || (line.uuid === undefined && this.#others.has(digestOf(line))));
    const known = this.#extra.map(([, line]) => digestOf(line));
    const fresh = isRepeated ? [] : given.filter((line) => !isKnown(line));
    return fresh.filter((line) => line.type !== "agent_metadata" || !known.includes(digestOf(line)));
  }

  #import(source: SourceSession, append: SourceAppend): Promise<unknown> {
    const path = `claude-agent-sdk:${this.#key.projectKey}/${this.#key.sessionId}`;
    return this.#store.importSession(source, { format: "claude", path, append });
  }

  /** The source with the ids that the store has for entries that it knew with other content. */
  #renamed(source: SourceSession): SourceSession {
    const idOf = <T extends string | null>(id: T) => (id === null ? null : (this.#state.renamed[id] ?? id));
    const rename = (record: SourceRecord): SourceRecord => {
      if (record.kind === "entry") return { ...record, parentId: idOf(record.parentId) };
      return record.kind === "leaf" ? { ...record, entryId: idOf(record.entryId) } : record;
    };
    return Object.keys(this.#state.renamed).length === 0 ? source : { ...source, records: () => [...source.records()].map(rename) };
  }

  #appendOf(source: SourceSession, owners: readonly number[], fresh: readonly SessionStoreEntry[]): SourceAppend {
    const before = this.#state;
    const complete = this.#waiting.slice(0, owners.length);
    const waiting = this.#waiting.slice(owners.length);
    let summary: unknown;
    return {
      after: before.after,
      leaf: before.leaf,
      begin: (value) => {
        const stored = value(STATE);
        const version = isObject(stored) ? stored["version"] : 0;
        if (version !== before.version) throw new TranscriptMovedError();
        summary = value(SUMMARY);
      },
      values: (entries) => {
        const other = entries.filter(({ id, sourceId }) => id !== sourceId).map(({ id, sourceId }) => [sourceId, id]);
        const renamed: Readonly<Record<string, string>> = { ...before.renamed, ...Object.fromEntries(other) };
        const after = entries.at(-1)?.id ?? before.after;
        const leaf = [...source.records()].findLast((record) => record.kind === "leaf")?.entryId ?? after;
        this.#state = {
          version: before.version + 1,
          lines: before.lines + complete.length,
          parts: before.parts + (complete.length > 0 ? 1 : 0),
          after,
          leaf: leaf === null ? null : (renamed[leaf] ?? leaf),
          renamed,
        };
        const part = complete.length === 0 ? [] : [[partKey(before.parts), encodeLines(complete, owners, entries, this.#deltas)] as const];
        return [
          ...part,
          [STATE, this.#state],
          [WAITING, waiting.length === 0 ? undefined : waiting],
          ...(this.#extra.length === 0 ? [] : [[EXTRA, this.#extra] as const]),
          ...(this.#key.subpath === undefined ? [[SUMMARY, this.#fold(summary, fresh)] as const] : []),
          ...valuesIn(source),
        ];
      },
    };
  }

  #fold(before: unknown, fresh: readonly SessionStoreEntry[]): SessionSummaryEntry {
    const summary = isSummary(before) ? before : undefined;
    // Later than the last one, so that listings sort by it also within a millisecond.
    return foldSessionSummary(summary, this.#key, [...fresh], { mtime: Math.max(Date.now(), (summary?.mtime ?? 0) + 1) });
  }

  get #wantedTitle(): string | undefined {
    const { user, auto } = this.#reader.file.titles;
    return user ?? auto;
  }

  // The import sets a title only where no person has set one. Here the transcript may change the title that it has set.
  async #retitle(): Promise<void> {
    const [before, wanted] = [this.#title, this.#wantedTitle];
    if (wanted === undefined || wanted === before) return;
    this.#title = wanted;
    const record = await (await this.#store.openSession(this.#id)).record();
    if (record.title === wanted || (record.titleSource === "user" && record.title !== before)) return;
    await this.#store.renameSession(this.#id, wanted, this.#reader.file.titles.user === undefined ? "auto" : "user");
  }
}

const NOTHING: SourceAppend = { after: null, begin: () => undefined, values: () => [] };

function withMetadata(source: SourceSession, key: SessionKey): SourceSession {
  return { ...source, header: { ...source.header, metadata: { ...source.header.metadata, ...metadataOf(key) } } };
}

/** The values that the transcript sets; the last one of a key counts. */
function valuesIn(source: SourceSession): readonly (readonly [string, unknown])[] {
  return [...source.records()].flatMap((record) => (record.kind === "value" ? [[record.key, record.value] as const] : []));
}

function withoutType({ type: _type, ...rest }: JsonObject): JsonObject {
  return rest;
}

function digestOf(line: JsonObject): string {
  return createHash("sha256").update(JSON.stringify(line)).digest("base64url").slice(0, 16);
}
