import { setMaxListeners } from "node:events";
import { BoughError } from "@bough/session-core";
import {
  type CopiedState,
  type CopyPlace,
  type FarDigests,
  parseCopiedEntries,
  parseCopiedState,
  type SessionCopies,
} from "@bough/session-core/copies";
import { raceAbort, type SessionKey } from "@bough/session-core/engine";
import type { z } from "zod";
import { RemoteEndedError, RemoteProtocolError, RemoteStoreError } from "../errors.js";
import {
  ANSWERS,
  type Answer,
  type Asked,
  checked,
  type Lines,
  type LineWriter,
  type Opened,
  parseAnswer,
  type SentError,
} from "./protocol.js";

/** A store that `bough copy --serve` serves: a place of a copy. Every answer is judged as a file that is imported. */
export class FarStore implements CopyPlace {
  readonly #lines: Lines;
  readonly #writer: LineWriter;
  /** The questions without an answer, by number. */
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: unknown) => void }>();
  readonly #signal: AbortSignal;
  readonly #describeEnd: () => Promise<Error>;
  #next = 0;
  #end: Error | undefined;
  /** The state that was sent last of each session that is being written. */
  readonly #sent = new Map<string, CopiedState>();
  #silence: NodeJS.Timeout | undefined;
  #longestSilenceMs = 0;

  /** `describeEnd`: the error for questions that have no answer when the stream has ended. */
  constructor(lines: Lines, writer: LineWriter, signal: AbortSignal, describeEnd: () => Promise<Error>) {
    this.#lines = lines;
    this.#writer = writer;
    this.#signal = signal;
    this.#describeEnd = describeEnd;
    // Each question without an answer listens to it, and Node warns of more than ten.
    setMaxListeners(0, signal);
    void this.#read();
  }

  /** Opens a store there; the first question. */
  async open(path: string | null, access: "read" | "write" | "compare", protocol: number): Promise<Opened> {
    return this.#ask({ ask: "open", protocol, path, access }, ANSWERS.opened);
  }

  /** The id of the session that a person names. */
  find(name: string): Promise<string> {
    return this.#ask({ ask: "find", name }, ANSWERS.id);
  }

  /** Resolves when another process has written there, or after this time. Returns whether one has since the last call. */
  changes(waitMs: number): Promise<boolean> {
    return this.#ask({ ask: "changes", waitMs }, ANSWERS.changed);
  }

  /** From now on the connection counts as ended when a question has no answer, and nothing else arrives, for this time. */
  limitSilence(ms: number): void {
    this.#longestSilenceMs = ms;
  }

  readonly copies: SessionCopies = {
    state: async (session) => {
      const given = await this.#request({ ask: "state", session });
      return given === null || given === undefined ? undefined : parseCopiedState(idOf(session), given);
    },
    entries: async (session, after, upTo) => {
      const entries = parseCopiedEntries(idOf(session), await this.#request({ ask: "entries", session, after, upTo }));
      if (entries.length > upTo - after) throw new RemoteProtocolError("more entries than it was asked for");
      return entries;
    },
    write: async ({ state, ...part }) => {
      const { id } = state.session;
      const isSent = this.#sent.get(id) === state && part.into !== undefined;
      this.#sent.delete(id);
      const row = await this.#ask({ ask: "write", session: id, ...(isSent ? {} : { state }), part }, ANSWERS.row);
      if (row.id !== id) throw new RemoteProtocolError("the row of another session");
      if (!part.isLast) this.#sent.set(id, state);
      return row;
    },
  };

  readonly far: FarDigests = {
    ofStates: async (ids) => {
      const digests = await this.#ask({ ask: "states", sessions: [...ids] }, ANSWERS.digests);
      if (digests.length !== ids.length) throw new RemoteProtocolError("another number of digests");
      return digests;
    },
    ofEntries: async (session, entries) => (await this.#ask({ ask: "digest", session, entries }, ANSWERS.digest)) ?? "",
    ofSession: (session) => this.#ask({ ask: "digest", session, entries: null }, ANSWERS.digest),
  };

  listIds(parent?: string): Promise<readonly string[]> {
    return this.#ask({ ask: "ids", ...(parent === undefined ? {} : { parent }) }, ANSWERS.ids);
  }

  /** The other process counts what it has written. */
  countAdded(): void {}

  async #ask<T>(question: Asked, schema: z.ZodType<T>): Promise<T> {
    return checked(schema, await this.#request(question));
  }

  async #request(question: Asked): Promise<unknown> {
    if (this.#end !== undefined) throw this.#end;
    const id = this.#next++;
    const answered = new Promise<Answer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // The write may wait for the other side, and fail together with it.
    answered.catch(() => undefined);
    this.#awaitSound();
    await this.#writer.write(JSON.stringify({ id, ...question }));
    const { value, error } = await raceAbort(answered, this.#signal);
    if (error !== undefined) throw toError(error);
    return value;
  }

  /** Gives each answer to its question, until the stream ends or is not of this protocol. */
  async #read(): Promise<void> {
    try {
      for (let line = await this.#lines.next(); line !== undefined; line = await this.#lines.next()) {
        const answer = parseAnswer(line);
        const question = this.#waiting.get(answer.id);
        if (question === undefined) throw new RemoteProtocolError("an answer to no question");
        this.#waiting.delete(answer.id);
        question.resolve(answer);
        this.#awaitSound();
      }
      this.#fail(await this.#describeEnd());
    } catch (error) {
      this.#fail(error instanceof Error ? error : new RemoteEndedError("The connection broke."));
    }
  }

  #awaitSound(): void {
    clearTimeout(this.#silence);
    if (this.#longestSilenceMs === 0 || this.#waiting.size === 0 || this.#end !== undefined) return;
    const seconds = Math.round(this.#longestSilenceMs / 1000);
    const onSilence = () => this.#fail(new RemoteEndedError(`There was no answer for ${seconds} seconds.`));
    this.#silence = setTimeout(onSilence, this.#longestSilenceMs);
    this.#silence.unref();
  }

  #fail(error: Error): void {
    clearTimeout(this.#silence);
    this.#end = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function idOf(session: SessionKey): string {
  return typeof session === "string" ? session : session.id;
}

/** Errors of one session: the copy reports it as failed, and copies the others. Any other error ends it. */
const OF_SESSION = new Set([
  "SESSION_NOT_FOUND",
  "SESSION_EXISTS",
  "SESSION_CHANGED",
  "PAYLOAD_DAMAGED",
  "TOO_LARGE",
  "VALUE_TOO_LARGE",
  "INVALID_COPY",
  "INVALID_ENTRY",
  "UNSERIALIZABLE_VALUE",
]);

/** An error of one session in the store on the other machine. */
class FarSessionError extends BoughError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function toError({ code, message }: SentError): Error {
  const text = `There: ${message}`;
  return OF_SESSION.has(code) ? new FarSessionError(code, text) : new RemoteStoreError(code, text);
}
