import { setTimeout as sleep } from "node:timers/promises";
import { type SessionCopyResult, StoreBusyError, StoreFullError } from "@bough/session-core";
import { copyBetween } from "@bough/session-core/copies";
import { raceAbort } from "@bough/session-core/engine";
import { counted } from "@bough/session-core/view";
import { RemoteEndedError, RemoteStoreError } from "../errors.js";
import { dateTime } from "../format/time.js";
import { sessionTitle } from "../session/names.js";
import { StoreChanges } from "../session/store-watcher.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import { untilInterrupted } from "./command.js";
import { type CopyPair, type CopyRun, recordIn, withPlaces } from "./copy-places.js";

/** Time after a change in which more of them are collected, in milliseconds. */
const QUIET_MS = 500;

/** The longest time for which the other side waits for a change before it answers: a sign that the connection lives. */
const ASK_MS = 25_000;

/** After this time without any answer the connection counts as cut, in milliseconds. */
const SILENCE_MS = 120_000;

/** Waits between attempts to connect, in milliseconds; the last one repeats. */
const WAITS_MS = [1000, 2000, 5000, 10_000, 30_000, 60_000];

/** `bough copy --watch`: copies what is new until it is interrupted. */
export async function copyAndWatch(invocation: CopyRun): Promise<void> {
  await untilInterrupted(invocation, (signal) => new CopyWatch(invocation, signal).run());
}

class CopyWatch {
  readonly #invocation: CopyRun;
  readonly #signal: AbortSignal;
  /** The last thing that was said of each session that could not be copied, so that it is said once. */
  readonly #said = new Map<string, string>();
  #state = "";
  #failures = 0;

  constructor(invocation: CopyRun, signal: AbortSignal) {
    const io = withoutRepeats(invocation.io);
    this.#invocation = { ...invocation, io };
    this.#signal = signal;
  }

  /** Connects, copies and waits; after a cut, again. @throws an error that another attempt would not mend. */
  async run(): Promise<void> {
    for (;;) {
      try {
        await withPlaces(this.#invocation, this.#signal, (pair) => this.#follow(pair));
      } catch (error) {
        if (this.#signal.aborted || !isPassing(error)) throw error;
        const waitMs = WAITS_MS[Math.min(this.#failures, WAITS_MS.length - 1)] ?? 0;
        this.#failures += 1;
        await this.#tellState("waiting", `${error.message} Trying again, at least once a minute.`);
        await sleep(waitMs, undefined, { signal: this.#signal });
      }
    }
  }

  async #follow(pair: CopyPair): Promise<void> {
    const { from, to } = pair;
    (from.far ?? to.far)?.limitSilence(SILENCE_MS);
    const changes = from.store && new StoreChanges(from.store);
    try {
      for (let isFirst = true; ; isFirst = false) {
        const { sessions } = await copyBetween(from.place, to.place, {
          update: true,
          verify: isFirst && this.#checks,
          signal: this.#signal,
        });
        this.#failures = 0;
        for (const result of sessions) await this.#tell(pair, result);
        await this.#tellState("watching", `Watching ${from.name}, for ${to.name}. Ctrl-C ends it.`);
        await this.#change(pair, changes);
        await sleep(QUIET_MS, undefined, { signal: this.#signal });
      }
    } finally {
      changes?.end();
    }
  }

  get #checks(): boolean {
    return this.#invocation.options.check === true;
  }

  /** Resolves after something was written to the source. The other side is asked in any case, so that a cut is noticed. */
  async #change({ from, to }: CopyPair, changes: StoreChanges | undefined): Promise<void> {
    for (;;) {
      const isThere = from.far?.changes(ASK_MS);
      const alive = isThere ?? to.far?.changes(ASK_MS);
      const known = [isThere, changes?.next(), alive?.then(() => false)].filter((one) => one !== undefined);
      if (await raceAbort(Promise.race(known), this.#signal)) return;
    }
  }

  async #tell(pair: CopyPair, { sessionId, outcome, entriesAdded, difference, error }: SessionCopyResult): Promise<void> {
    const { out, options } = this.#invocation;
    const problem = error?.message ?? difference ?? "";
    if (outcome === "unchanged" || (problem !== "" && this.#said.get(sessionId) === problem)) return;
    this.#said.set(sessionId, problem);
    const record = await recordIn(pair, sessionId);
    const title = record === undefined ? sessionId : sessionTitle(record);
    if (options.json === true) this.#jsonLine({ sessionId, title, outcome, entriesAdded, difference, error: error?.code ?? null });
    else {
      const what = problem === "" ? `${outcome === "copied" ? "new, " : "+"}${counted(entriesAdded, "entry", "entries")}  ` : "";
      const left = problem === "" ? [] : [styled("error", `${outcome}  `)];
      const end = problem === "" ? [] : [`  ${problem}`];
      out.fitted(styled("dim", `${this.#now}  `), what, ...left, styled("bold", title), ...end);
    }
    await out.flush();
  }

  /** Prints a state once, when it begins. */
  async #tellState(state: "watching" | "waiting", text: string): Promise<void> {
    if (this.#state === text) return;
    this.#state = text;
    if (this.#invocation.options.json === true) {
      this.#jsonLine({ state, message: text });
      await this.#invocation.out.flush();
    } else await this.#invocation.out.note(styled(state === "waiting" ? "error" : "dim", text));
  }

  #jsonLine(value: object): void {
    this.#invocation.out.jsonLine({ at: new Date(this.#invocation.io.now()).toISOString(), ...value });
  }

  get #now(): string {
    return dateTime(this.#invocation.io.now());
  }
}

/** Errors that pass: a connection that is cut, a store that is locked or on a full disk. */
function isPassing(error: unknown): error is Error {
  if (error instanceof RemoteStoreError) return error.code === "STORE_BUSY" || error.code === "STORE_FULL";
  return error instanceof RemoteEndedError || error instanceof StoreBusyError || error instanceof StoreFullError;
}

/** Attempts to connect that fail in the same way print what ssh says once. */
function withoutRepeats(io: Io): Io {
  const printed = new Set<string>();
  const write = async (text: string) => {
    if (printed.has(text)) return;
    if (printed.size > 100) printed.clear();
    printed.add(text);
    await io.stderr.write(text);
  };
  return { ...io, stderr: { ...io.stderr, write } };
}
