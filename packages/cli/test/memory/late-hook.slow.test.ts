import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { PassThrough, Readable, Writable } from "node:stream";
import { assistantMessage, type Store, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { run } from "../../src/run.js";
import { quietIo } from "../quiet-io.js";
import { NOON, type World, world } from "../world.js";

// What stands in the way of a hook for real: another process holds the store, a server takes the connection and says nothing, an agent never
// ends its input, a transcript is a pipe without a writer. The hook gives up by its own timer.

const QUESTION = "Why did we give up the heron cache in the tokenizer?";

interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  /** The exit code with which the hook ended its process; undefined: it returned. */
  readonly endedWith: number | undefined;
}

async function callHook(here: World, input: Readable, env: Record<string, string> = {}): Promise<Ended> {
  const said = { out: "", err: "" };
  let endedWith: number | undefined;
  const sink = (key: "out" | "err") => ({
    isTerminal: false,
    color: false,
    columns: undefined,
    write: async (piece: string) => {
      said[key] += piece;
    },
  });
  const io = quietIo(
    here.folder,
    {},
    {
      stdout: sink("out"),
      stderr: sink("err"),
      env: { BOUGH_STORE: here.store, ...env },
      now: () => NOON,
      pipes: { input, output: new Writable() },
      endProcess: (exit) => {
        endedWith = exit;
      },
    },
  );
  const exit = await run(["hook", "run", "claude", "--debug"], io);
  return { exit, ...said, endedWith };
}

const prompt = (here: World, more: object = {}) =>
  Readable.from([JSON.stringify({ session_id: "now", cwd: here.folder, hook_event_name: "UserPromptSubmit", prompt: QUESTION, ...more })]);

async function remembered(here: World): Promise<void> {
  await here.withStore(async (store: Store) => {
    const session = await store.createSession({ id: "earlier", cwd: here.folder });
    await session.append(userMessage("Please drop the heron cache of the tokenizer, it is too large"));
    await session.append(assistantMessage("We gave up the heron cache because the tokenizer allocated too much memory."));
  });
}

/** Another process that holds the store for itself until the test is over. */
async function lock(path: string): Promise<void> {
  const holder = spawn(process.execPath, ["--input-type=module", "--eval", HOLDER, path], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
}

const HOLDER = `
import Database from "better-sqlite3";
const file = new Database(process.argv[1]);
file.pragma("locking_mode = EXCLUSIVE");
file.exec("BEGIN EXCLUSIVE; UPDATE session SET title = title");
process.stdout.write("locked");
process.stdin.resume();
`;

/** The address of a server that takes connections and never says anything. */
async function silentServer(): Promise<string> {
  const server = createServer((socket) => void onTestFinished(() => void socket.destroy()));
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return `postgres://nobody@127.0.0.1:${address.port}/none`;
}

describe("a hook that waits for something", () => {
  test("prints nothing and ends well while another process holds the store", async () => {
    const here = world();
    await remembered(here);
    await lock(here.store);
    const ended = await callHook(here, prompt(here));
    expect(ended).toMatchObject({ exit: 0, out: "", endedWith: undefined });
    expect(ended.err).toMatch(/^bough hook: .*(?:another process|lock|busy)/i);
  });

  test("gives up at a server that does not answer, and ends the process", async () => {
    const here = world();
    const ended = await callHook(here, prompt(here), { BOUGH_STORE: await silentServer() });
    expect(ended).toMatchObject({ exit: 0, out: "" });
    // The store waits as long for its server as the hook does: either of them gives up first.
    expect(ended.err).toMatch(/^bough hook: (gave up after 2 s|Cannot connect to .*)\n$/);
  });

  test("gives up if the agent never ends its input", async () => {
    const here = world();
    await remembered(here);
    const open = new PassThrough();
    onTestFinished(() => void open.destroy());
    open.write('{"hook_event_name":');
    expect(await callHook(here, open)).toEqual({ exit: 0, out: "", err: "bough hook: gave up after 2 s\n", endedWith: 0 });
  });

  test.skipIf(process.platform === "win32")("does not wait for a transcript or a store that is a pipe", async () => {
    const here = world();
    await remembered(here);
    for (const name of ["transcript", "store"]) execFileSync("mkfifo", [here.path(name)]);
    const answered = await callHook(here, prompt(here, { transcript_path: here.path("transcript") }));
    expect(answered).toMatchObject({ exit: 0, err: "", endedWith: undefined });
    expect(answered.out).toContain("the tokenizer allocated too much memory");
    const ended = await callHook(here, prompt(here), { BOUGH_STORE: here.path("store") });
    expect(ended).toMatchObject({ exit: 0, out: "", endedWith: undefined });
  });
});
