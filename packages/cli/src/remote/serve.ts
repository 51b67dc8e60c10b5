import { BoughError, openStore, SessionNotFoundError, type Store, TooLargeError } from "@bough/session-core";
import {
  type CopiedState,
  type CopyPlace,
  digestOfEntries,
  digestOfSession,
  digestOfState,
  judgedCopies,
  parseCopiedPart,
  parseCopiedState,
  placeOf,
  type SessionCopies,
} from "@bough/session-core/copies";
import { CommandFailure, NoStoreError, RemoteProtocolError } from "../errors.js";
import { expandHome } from "../format/path.js";
import { withStore } from "../session/open-store.js";
import { StoreChanges } from "../session/store-watcher.js";
import type { Io } from "../terminal/io.js";
import { VERSION } from "../version.js";
import { greetingLine, type Lines, LineWriter, MOST_LINE_BYTES, type Opened, PROTOCOLS, parseQuestion, type Question } from "./protocol.js";

/** Serves a store to `bough copy` on another machine until the input ends. The client is judged as a file that is imported. */
export async function serveCopies(io: Io, lines: Lines, usual: string | undefined): Promise<void> {
  const writer = new LineWriter(io.pipes.output);
  await writer.write(greetingLine({ ...PROTOCOLS, version: VERSION }).trimEnd());
  const line = await lines.next();
  if (line === undefined) return;
  const question = parseQuestion(line);
  if (question.ask !== "open") throw new RemoteProtocolError("a question before a store was opened");
  if (question.protocol < PROTOCOLS.oldest || question.protocol > PROTOCOLS.newest) throw new RemoteProtocolError("an unknown version");
  try {
    await withServedStore(io, question, usual, async (store, opened) => {
      await writer.write(JSON.stringify({ id: question.id, value: opened }));
      await new CopyServer(store, writer).run(lines);
    });
  } catch (error) {
    // The store could not be opened: the client prints the error.
    await writer.write(JSON.stringify({ id: question.id, error: sent(error) }));
  }
}

type Opening = Extract<Question, { readonly ask: "open" }>;

async function withServedStore(
  io: Io,
  { path, access }: Opening,
  usual: string | undefined,
  work: (store: Store, opened: Opened) => Promise<void>,
): Promise<void> {
  const place = path === null ? usual : expandHome(path, io.home);
  let isThere = false;
  try {
    await withStore(io, place, access === "write" ? "create" : "read", (store, { name }) => {
      isThere = true;
      return work(store, { name, exists: true });
    });
  } catch (error) {
    if (isThere || access !== "compare" || !(error instanceof NoStoreError)) throw error;
    const empty = await openStore({ path: ":memory:" });
    await work(empty, { name: place ?? "", exists: false }).finally(() => empty.close());
  }
}

/** Sessions of which the state is kept between two parts: those that a client writes at once, and some that were left. */
const MOST_STATES = 64;

/** Answers questions about one store. */
class CopyServer {
  readonly #store: Store;
  readonly #place: CopyPlace;
  readonly #judged: SessionCopies;
  readonly #writer: LineWriter;
  readonly #changes: StoreChanges;
  readonly #ending = new AbortController();
  /** The states of sessions that are being written, by id. */
  readonly #states = new Map<string, CopiedState>();
  #added = 0;

  constructor(store: Store, writer: LineWriter) {
    this.#store = store;
    this.#place = placeOf(store);
    this.#judged = judgedCopies(this.#place.copies);
    this.#writer = writer;
    this.#changes = new StoreChanges(store);
  }

  /** Answers until the input ends. A question waits for the others only where the store makes it. */
  async run(lines: Lines): Promise<void> {
    const running = new Set<Promise<void>>();
    try {
      for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
        const question = parseQuestion(line);
        const answered: Promise<void> = this.#respond(question).finally(() => running.delete(answered));
        running.add(answered);
      }
    } finally {
      this.#ending.abort();
      this.#changes.end();
      await Promise.allSettled(running);
      this.#place.countAdded(this.#added);
    }
  }

  async #respond(question: Question): Promise<void> {
    const { id } = question;
    try {
      const line = JSON.stringify({ id, value: await this.#answer(question) });
      if (line.length > MOST_LINE_BYTES / 2) throw new TooLargeError("A part of the session", MOST_LINE_BYTES / 2);
      await this.#writer.write(line);
    } catch (error) {
      await this.#writer.write(JSON.stringify({ id, error: sent(error) }));
    }
  }

  async #answer(question: Question): Promise<unknown> {
    const { copies } = this.#place;
    switch (question.ask) {
      case "open":
        throw new RemoteProtocolError("a store was opened twice");
      case "find":
        return (await this.#store.resolveSession(question.name)).id;
      case "ids":
        return this.#place.listIds(question.parent);
      case "states":
        return Promise.all(question.sessions.map((id) => this.#digestOfState(id)));
      case "state":
        return (await copies.state(question.session)) ?? null;
      case "entries":
        return (await copies.entries(question.session, question.after, question.upTo)).map((entry) => ({ ...entry, tokens: [] }));
      case "digest":
        return this.#digest(question);
      case "write":
        return this.#write(question);
      case "changes":
        return this.#changes.next(question.waitMs);
    }
  }

  async #digestOfState(id: string): Promise<string | null> {
    const state = await this.#place.copies.state(id);
    return state === undefined ? null : digestOfState(state);
  }

  async #digest({ session, entries }: Extract<Question, { ask: "digest" }>): Promise<string | null> {
    const { signal } = this.#ending;
    if (entries !== null) return digestOfEntries(this.#place.copies, session, entries, signal);
    const state = await this.#place.copies.state(session);
    return state === undefined ? null : digestOfSession(this.#place.copies, state, signal);
  }

  async #write({ session, state: given, part: givenPart }: Extract<Question, { ask: "write" }>): Promise<unknown> {
    const state = given === undefined ? this.#states.get(session) : parseCopiedState(session, given);
    if (state === undefined) throw new SessionNotFoundError(session);
    const part = parseCopiedPart(session, givenPart);
    this.#states.delete(session);
    const row = await this.#judged.write({ ...part, state });
    this.#added += part.entries.length;
    if (!part.isLast) this.#states.set(session, state);
    const [oldest] = this.#states.keys();
    if (this.#states.size > MOST_STATES && oldest !== undefined) this.#states.delete(oldest);
    return row;
  }
}

/** An error as the client gets it: without the place in the code. */
function sent(error: unknown) {
  if (error instanceof BoughError || error instanceof CommandFailure)
    return { code: error.code, message: error.message.slice(0, 10_000), hint: error instanceof BoughError ? error.hint : undefined };
  return { code: "FAULT", message: error instanceof Error ? error.message.slice(0, 10_000) : "an unknown error" };
}
