import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  assistantMessage,
  type EntryInput,
  type NewSession,
  openStore,
  type Session,
  type Store,
  toolResult,
  userMessage,
  type Write,
} from "@bough/session-core";
import { isServerUrl } from "@bough/session-core/engine";
import { onTestFinished } from "vitest";
import { ON_SERVER, serverUrl } from "../../../.ci/test-engine.js";
import { run } from "../src/run.js";
import { type Cancellation, OutputClosedError, type Sink } from "../src/terminal/io.js";
import { quietIo } from "./quiet-io.js";

/** What a command did. */
export interface Ran {
  readonly exit: number;
  readonly out: string;
  /** Without the code of the error. */
  readonly err: string;
  /** The code of the error that ended the command, as its last line says it. */
  readonly code: string | undefined;
  /** What it asked the person. */
  readonly asked: readonly string[];
}

/** What is different from a pipe at noon. */
export interface Circumstances {
  readonly env?: Record<string, string>;
  readonly columns?: number;
  readonly color?: boolean;
  readonly isTerminal?: boolean;
  readonly cwd?: string;
  /** The user's answers; without them the process is not interactive. */
  readonly answer?: string | (() => Promise<string>);
  /** The person presses Ctrl+C once this has happened. */
  readonly interruptedAt?: Promise<unknown>;
  /** The reader goes away after this many characters. */
  readonly readerLeavesAfter?: number;
}

/** The time at which all commands of the tests run. */
export const NOON = Date.UTC(2025, 10, 21, 12);

const HOUR = 3_600_000;

/** A folder of its own for one test, with a store in it or on the server of this run, and a way to run commands on it. */
export class World {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-cli-"));
  /** The value of `BOUGH_STORE`: the path of a file, or a URL. */
  readonly store = ON_SERVER ? serverUrl() : join(this.folder, "sessions.db");

  path(name: string): string {
    return join(this.folder, name);
  }

  async run(args: readonly string[], { answer, ...around }: Circumstances = {}): Promise<Ran> {
    const text = { out: "", err: "" };
    const asked: string[] = [];
    const sink = (key: "out" | "err"): Sink => ({
      isTerminal: around.isTerminal ?? false,
      color: around.color ?? false,
      columns: around.columns,
      write: async (piece) => {
        if (key === "out" && text.out.length >= (around.readerLeavesAfter ?? Number.POSITIVE_INFINITY)) throw new OutputClosedError();
        text[key] += piece;
      },
    });
    const streams = { stdout: sink("out"), stderr: sink("err"), env: { BOUGH_STORE: this.store, ...around.env } };
    const ask = answer === undefined ? undefined : answering(asked, answer);
    const cancelOnInterrupt = () => cancelledBy(around.interruptedAt);
    const cwd = around.cwd ?? this.folder;
    const exit = await run(args, quietIo(this.folder, {}, { ...streams, cwd, now: () => NOON, ask, bough: run, cancelOnInterrupt }));
    const [ended = "", code] = / \(([A-Z_]+)\)\n$/.exec(text.err) ?? [];
    return { exit, out: text.out, err: code === undefined ? text.err : `${text.err.slice(0, -ended.length)}\n`, code, asked };
  }

  /** Runs a command that must end well and print JSON. */
  async json(...args: readonly string[]): Promise<unknown> {
    const { out, exit, err } = await this.run([...args, "--json"]);
    if (exit !== 0) throw new TypeError(`exit ${exit}: ${err}`);
    return JSON.parse(out);
  }

  /** Opens the store, as another program would, for as long as `work` takes. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const place = isServerUrl(this.store) ? { url: this.store } : { path: this.store };
    const store = await openStore({ ...place, durability: "normal" });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}

function cancelledBy(interruption: Promise<unknown> | undefined): Cancellation {
  const controller = new AbortController();
  void interruption?.then(() => controller.abort());
  return { signal: controller.signal, end: () => undefined };
}

function answering(asked: string[], answer: string | (() => Promise<string>)) {
  return async (question: string): Promise<string> => {
    asked.push(question);
    return typeof answer === "string" ? answer : answer();
  };
}

/** A world that goes away with the test. */
export function world(): World {
  const made = new World();
  onTestFinished(() => rmSync(made.folder, { recursive: true, force: true }));
  return made;
}

function entryNamed(name: string, at: number): EntryInput {
  const fields = { id: name, createdAtMs: NOON - HOUR + at * 1000 };
  if (name.startsWith("call")) {
    const block = { type: "toolCall", id: `${name}-id`, name: "read", arguments: { path: `src/${name}.ts` } } as const;
    return { ...assistantMessage([block]), ...fields };
  }
  if (name.startsWith("res")) return { ...toolResult(`${name.replace("res", "call")}-id`, `output of ${name}`), ...fields };
  return { ...(name.startsWith("u") ? userMessage(`said in ${name}`) : assistantMessage(`replied in ${name}`)), ...fields };
}

/**
 * Grows a session in one transaction: `u…` are user messages, `a…` replies, `callN` tool calls and `resN` their results; `<name` goes back
 * to that entry. Entry ids are the names.
 */
export async function grow(store: Store, id: string, names: string, about: { title?: string; cwd?: string } = {}): Promise<Session> {
  const writes = names
    .split(" ")
    .map(
      (name, at): Write =>
        name.startsWith("<") ? { kind: "moveLeaf", to: name.slice(1) } : { kind: "entry", entry: entryNamed(name, at) },
    );
  const session = await store.createSession({ id, createdAtMs: NOON - HOUR, ...about });
  await session.write(writes);
  return session;
}

/** Creates many sessions of one message each, some of them at once. */
export async function growMany(store: Store, count: number, about: (at: number) => NewSession): Promise<void> {
  const create = (at: number) => {
    const entry = { ...userMessage(`said in ${at}`), createdAtMs: NOON };
    return store.createSession({ createdAtMs: NOON, ...about(at) }, { writes: [{ kind: "entry", entry }] });
  };
  for (let at = 0; at < count; at += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - at) }, (_, index) => create(at + index)));
}

/** A session "Parser" with two branches: `user1 asst1`, then `user2 asst2` and, where the leaf is, `user3 asst3`. */
export async function parserSession(at: World): Promise<void> {
  await at.withStore((store) =>
    grow(store, "parser-session-1", "user1 asst1 user2 asst2 <asst1 user3 call3 res3 asst3", { title: "Parser", cwd: at.folder }),
  );
}
