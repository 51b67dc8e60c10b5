import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { openStore, type Store } from "@bough/session-core";
import { onTestFinished } from "vitest";
import { BOUGH, removeFolder } from "../terminal/test-home.js";

/** A session of pi as the lines of its file. */
export function piLines(id: string, ...texts: readonly string[]): string {
  return [piHeader(id), ...texts.map((text, at) => piMessage(at, text))].join("");
}

function piHeader(id: string): string {
  return line({ type: "session", version: 3, id, timestamp: "2026-01-02T03:04:05.000Z", cwd: "/home/ada/parser" });
}

/** The message at a place of a session, below the one before it. */
export function piMessage(at: number, text: string): string {
  const parentId = at === 0 ? null : idAt(at - 1);
  const message = { role: "user", content: [{ type: "text", text }], timestamp: 1_767_323_045_000 + at };
  return line({ type: "message", id: idAt(at), parentId, timestamp: "2026-01-02T03:04:06.000Z", message });
}

function idAt(at: number): string {
  return at.toString(16).padStart(8, "0");
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** One session of Claude Code with one message. */
export function claudeLines(sessionId: string, text: string): string {
  const common = { uuid: `${sessionId.slice(0, -1)}f`, timestamp: "2026-01-02T03:04:06.000Z", cwd: "/home/ada/parser", version: "2.0.0" };
  return line({ type: "user", parentUuid: null, isSidechain: false, sessionId, message: { role: "user", content: text }, ...common });
}

/** A reply to that message, as Claude Code writes it before it knows why the reply stopped. */
export function claudeReply(sessionId: string, text: string): string {
  const [prompt, uuid] = ["f", "e"].map((end) => `${sessionId.slice(0, -1)}${end}`);
  const message = { id: "msg_1", role: "assistant", model: "claude-x", content: [{ type: "text", text }], stop_reason: null };
  const common = { timestamp: "2026-01-02T03:04:07.000Z", cwd: "/home/ada/parser", version: "2.0.0" };
  return line({ type: "assistant", uuid, parentUuid: prompt, isSidechain: false, sessionId, message, ...common });
}

/** The message after that reply. */
export function claudeNext(sessionId: string, text: string): string {
  const [parentUuid, uuid] = ["e", "d"].map((end) => `${sessionId.slice(0, -1)}${end}`);
  const common = { timestamp: "2026-01-02T03:04:08.000Z", cwd: "/home/ada/parser", version: "2.0.0" };
  return line({ type: "user", uuid, parentUuid, isSidechain: false, sessionId, message: { role: "user", content: text }, ...common });
}

/** A home with folders of agents and a store. Everything goes away with the test. */
export class SyncedHome {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-sync-"));
  readonly store = join(this.folder, "sessions.db");

  get env(): NodeJS.ProcessEnv {
    return { PATH: process.env["PATH"], HOME: this.folder, BOUGH_STORE: this.store, LANG: "C.UTF-8" };
  }

  /** The path of a file in pi's folder. */
  pi(name: string): string {
    return join(this.folder, ".pi", "agent", "sessions", name);
  }

  /** Writes a file, and the folders above it. */
  write(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  append(path: string, text: string): void {
    appendFileSync(path, text);
  }

  /** Runs a command to its end, however it ends. */
  run(...args: readonly string[]): { readonly exit: number | null; readonly stdout: string; readonly stderr: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, ...args], { cwd: this.folder, env: this.env, encoding: "utf8" });
    return { exit: status, stdout, stderr };
  }

  /** Runs a command to its end; what it printed. */
  bough(...args: readonly string[]): string {
    return execFileSync(process.execPath, [BOUGH, ...args], { cwd: this.folder, env: this.env, encoding: "utf8" });
  }

  /** Starts a command whose lines are read as they come. */
  start(...args: readonly string[]): RunningCommand {
    return this.startAs(undefined, ...args);
  }

  /** The same as another user. */
  startAs(uid: number | undefined, ...args: readonly string[]): RunningCommand {
    const child = spawn(process.execPath, [BOUGH, ...args], { cwd: this.folder, env: this.env, ...(uid === undefined ? {} : { uid }) });
    const command = new RunningCommand(child);
    onTestFinished(() => command.kill());
    return command;
  }

  /** Starts `bough sync --watch --json`, and waits until it has looked at everything once. */
  async watch(): Promise<RunningCommand> {
    const watching = this.start("sync", "--watch", "--json");
    await watching.until((said) => said.startsWith("Watching"));
    return watching;
  }

  /** Works on the store as another process does. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore({ path: this.store, durability: "normal" });
    return work(store).finally(() => store.close());
  }

  /** The texts of a session's path. */
  async texts(id: string): Promise<readonly unknown[]> {
    return this.withStore(async (store) => {
      const path = await (await store.openSession(id)).path();
      return path.flatMap((entry) => (entry.type === "message" && "content" in entry.message ? [textIn(entry.message.content)] : []));
    });
  }

  /** The broken rules of the store. */
  violations(): Promise<readonly unknown[]> {
    return this.withStore(async (store) => {
      const found = [];
      for await (const violation of store.verify()) found.push(violation);
      return found;
    });
  }
}

function textIn(content: unknown): unknown {
  return Array.isArray(content) ? content.map((block: { text?: unknown }) => block.text).join("") : content;
}

/** A command that is running. */
export class RunningCommand {
  readonly lines: string[] = [];
  readonly ended: Promise<{ readonly exit: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #child: ChildProcess;
  #waiting: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      if (stream !== null)
        createInterface(stream).on("line", (said) => {
          this.lines.push(said);
          this.#wake();
        });
    this.ended = new Promise((resolve) => {
      child.on("close", (exit, signal) => {
        resolve({ exit, signal });
        this.lines.push(`ended with ${exit ?? signal}`);
        this.#wake();
      });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Waits for a line, also one that was said before, and returns it. Throws when the command ends without it. */
  async until(wanted: (said: string) => boolean): Promise<string> {
    for (let at = 0; ; ) {
      for (; at < this.lines.length; at += 1) {
        const said = this.lines[at] ?? "";
        if (wanted(said)) return said;
        if (said.startsWith("ended with")) throw new Error(`The command never said it:\n${this.lines.join("\n")}`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Waits for the import of so many entries of a session, all told. */
  async imported(sessionId: string, entries: number): Promise<void> {
    await this.until(() => this.countOf(sessionId) >= entries);
  }

  /** How many entries of a session were imported, as the lines say. */
  countOf(sessionId: string): number {
    const said = this.lines.filter((one) => one.startsWith("{")).map((one) => JSON.parse(one) as Record<string, unknown>);
    return said.reduce((sum, one) => sum + (one["sessionId"] === sessionId ? Number(one["entriesAdded"]) : 0), 0);
  }

  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    this.#child.kill(signal);
  }
}

/** A home for one test. */
export function syncedHome(): SyncedHome {
  const made = new SyncedHome();
  onTestFinished(() => removeFolder(made.folder));
  return made;
}
