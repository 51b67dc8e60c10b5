import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from "@anthropic-ai/claude-agent-sdk";
import {
  type Page,
  pagesOf,
  type Session,
  type SessionFilter,
  type SessionId,
  SessionNotFoundError,
  type SessionRecord,
  type Store,
} from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { SerialQueue } from "@bough/session-core/engine";
import { isObject } from "@bough/session-core/wire";
import { requireStore } from "../store-argument.js";
import { agentOf, conversationIdOf, isConversation, isOf, mayBecome, metadataOf, otherIdOf } from "./names.js";
import { isSummary, readTranscript, SUMMARY, withExtra } from "./stored-transcript.js";
import { Transcript, TranscriptMovedError } from "./transcript.js";

// A line without a type would be lost when the transcript is read.
const LINES = rules.list(rules.record({ type: rules.TEXT }, "an object with a type"), "an array of the lines of a transcript");

/** The most transcripts that are kept in memory, each with about 400 bytes a line. */
const MOST_OPEN = 32;

/** The most attempts of an append. Another process has appended between any two of them. */
const MOST_TRIES = 1000;

/**
 * A `SessionStore` of the Claude Agent SDK: the sessions of the SDK are those that `bough import` makes of the same transcripts, with the same
 * ids and entries, so that they can be read, searched and compacted while they are written.
 *
 * An append is one transaction: all lines, the entries that they complete, and the summary for listings. Several processes may append to
 * one session. A reply becomes an entry when its last line is known, which is at the next step, or at the end of the turn; until then the
 * store buffers its lines, and `load` returns them. `flush` makes entries of buffered lines.
 *
 * @example
 * const store = await openStore({ path: "sessions.db" });
 * const sessionStore = new BoughSessionStore(store);
 * for await (const message of query({ prompt, options: { sessionStore } })) show(message);
 * await sessionStore.flush();
 */
export class BoughSessionStore implements SessionStore {
  readonly #store: Store;
  /** The transcripts used last, oldest first. */
  readonly #open = new Map<string, Transcript>();
  readonly #queues = new Map<string, SerialQueue>();
  /** The transcripts with lines that may be in no entry yet. */
  readonly #touched = new Map<string, SessionKey>();

  constructor(store: Store) {
    this.#store = requireStore(store);
  }

  /** Appends lines of a transcript. A line with the uuid and content of an earlier one is not appended again. */
  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    rules.checkArgument("entries", entries, LINES);
    if (entries.length === 0) return;
    this.#touched.set(nameOf(key), key);
    await this.#inOrder(key, () => this.#write(key, entries, false));
  }

  /**
   * Flushes buffered lines to entries, for one session or for every session to which this object has appended. Call it when a query has
   * ended. If a reply continues after that, the rest of it is a second entry, beside the first.
   */
  async flush(key?: SessionKey): Promise<void> {
    const keys = key === undefined ? [...this.#touched.values()] : [key];
    for (const each of keys) await this.#inOrder(each, () => this.#write(each, [], true));
  }

  /** Returns all lines of a transcript, deep-equal to what was appended; null: none was. */
  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const session = (await this.#find(key)).session;
    const transcript = session && (await readTranscript(session));
    return transcript === undefined ? null : withExtra(transcript).filter(isLine);
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    return (await this.listSessionSummaries(projectKey)).map(({ sessionId, mtime }) => ({ sessionId, mtime }));
  }

  /** Cost: one look-up for each session of the project. */
  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const summaries: SessionSummaryEntry[] = [];
    for await (const { items } of this.#pages({ metadata: { claudeProject: projectKey, claudeSubpath: null } })) {
      const values = await this.#store.valuesOf(
        SUMMARY,
        items.filter((record) => isConversation(record, projectKey)).map(({ id }) => id),
      );
      for (const { value } of values.values()) if (isSummary(value)) summaries.push(value);
    }
    return summaries;
  }

  async listSubkeys({ projectKey, sessionId }: { projectKey: string; sessionId: string }): Promise<string[]> {
    const subkeys = new Set<string>();
    for await (const { items } of this.#pages({ metadata: { claudeProject: projectKey, claudeSession: sessionId } }))
      for (const { metadata } of items) if (typeof metadata["claudeSubpath"] === "string") subkeys.add(metadata["claudeSubpath"]);
    return [...subkeys];
  }

  /** Deletes a transcript; of a conversation also the sessions of its agents. */
  async delete(key: SessionKey): Promise<void> {
    await this.#inOrder(key, async () => {
      const { id, session } = await this.#find(key);
      this.#forget(key);
      if (session === undefined) return;
      const agents = key.subpath === undefined ? await this.#agentsOf(key, id) : new Set<SessionId>();
      for (const each of [...agents, id]) await this.#deleteSession(each);
    });
  }

  async #agentsOf({ projectKey, sessionId }: SessionKey, id: SessionId): Promise<Set<SessionId>> {
    const found = new Set<SessionId>();
    const filters: SessionFilter[] = [{ metadata: { claudeProject: projectKey, claudeSession: sessionId } }, { parentId: id }];
    for (const filter of filters)
      for await (const { items } of this.#pages(filter)) for (const record of items) if (record.kind === "subagent") found.add(record.id);
    return found;
  }

  async #deleteSession(id: SessionId): Promise<void> {
    try {
      await this.#store.deleteSession(id);
    } catch (error) {
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  }

  #pages(filter: SessionFilter): AsyncIterable<Page<SessionRecord>> {
    return pagesOf((cursor) => this.#store.listSessions({ kind: "all", archived: "all", empty: true, ...filter, cursor }));
  }

  #forget(key: SessionKey): void {
    const name = nameOf(key);
    for (const each of [...this.#open.keys(), ...this.#touched.keys()]) {
      if (each !== name && !(key.subpath === undefined && each.startsWith(`${name}\n`))) continue;
      this.#open.delete(each);
      this.#touched.delete(each);
    }
  }

  /** Runs the work on one transcript in the order of the calls. */
  #inOrder<T>(key: SessionKey, work: () => Promise<T>): Promise<T> {
    const name = nameOf(key);
    const queue = this.#queues.get(name) ?? new SerialQueue();
    this.#queues.set(name, queue);
    const result = queue.run(work);
    const done = () => {
      if (queue.isBusy) return;
      this.#queues.delete(name);
      // After an error the transcript is not in memory, and its lines are not flushed.
      if (this.#open.get(name)?.hasWaiting === false) this.#touched.delete(name);
    };
    result.then(done, done);
    return result;
  }

  async #write(key: SessionKey, lines: readonly SessionStoreEntry[], everything: boolean): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const transcript = await this.#transcript(key);
        const starter = key.subpath !== undefined && transcript.isNew ? await this.#starter(key) : undefined;
        return await transcript.append(lines, everything, starter?.reader);
      } catch (error) {
        // The transcript in memory has the lines that were not written.
        this.#open.delete(nameOf(key));
        if (!(error instanceof TranscriptMovedError) || tries === MOST_TRIES) throw error;
      }
    }
  }

  async #starter({ projectKey, sessionId }: SessionKey): Promise<Transcript | undefined> {
    const key = { projectKey, sessionId };
    return (await this.#find(key)).session === undefined ? undefined : this.#transcript(key);
  }

  async #transcript(key: SessionKey): Promise<Transcript> {
    const name = nameOf(key);
    const known = this.#open.get(name);
    this.#open.delete(name);
    const transcript = known ?? (await this.#read(key));
    this.#open.set(name, transcript);
    for (const oldest of this.#open.keys()) if (this.#open.size > MOST_OPEN) this.#open.delete(oldest);
    return transcript;
  }

  async #read(key: SessionKey): Promise<Transcript> {
    const { id, conversation, session } = await this.#find(key);
    return Transcript.open(this.#store, key, id, conversation, session);
  }

  /** The session of a transcript, and that of its conversation. */
  async #find(
    key: SessionKey,
  ): Promise<{ readonly id: SessionId; readonly conversation: SessionId; readonly session?: Session | undefined }> {
    const { projectKey, sessionId, subpath } = key;
    if (subpath === undefined) {
      const found = await this.#openIfOf(conversationIdOf(key), key);
      return { ...found, conversation: found.id };
    }
    const { id: conversation } = await this.#find({ projectKey, sessionId });
    return { ...(await this.#openIfOf(`${conversation}.${agentOf(key) ?? ""}`.slice(0, 110), key)), conversation };
  }

  async #openIfOf(id: SessionId, key: SessionKey): Promise<{ readonly id: SessionId; readonly session?: Session | undefined }> {
    const session = await this.#openIfThere(id);
    const record = await session?.record();
    if (session !== undefined && record !== undefined && isOf(record, key)) return { id, session };
    // The session that had the plain id may have been deleted, or imported, after this one got the other id.
    const other = otherIdOf(id, key);
    const found = await this.#openIfThere(other);
    if (found !== undefined) return { id: other, session: found };
    return record === undefined || mayBecome(record) ? { id, session } : { id: other };
  }

  async #openIfThere(id: SessionId): Promise<Session | undefined> {
    try {
      return await this.#store.openSession(id);
    } catch (error) {
      if (error instanceof SessionNotFoundError) return undefined;
      throw error;
    }
  }
}

function nameOf(key: SessionKey): string {
  const { claudeProject, claudeSession, claudeSubpath } = metadataOf(key);
  return [claudeProject, claudeSession, ...(claudeSubpath === null ? [] : [claudeSubpath])].join("\n");
}

function isLine(line: unknown): line is SessionStoreEntry {
  return isObject(line) && typeof line["type"] === "string";
}
