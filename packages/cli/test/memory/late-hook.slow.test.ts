import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { assistantMessage, type Store, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { HOOK_AGENTS } from "../../src/memory/hook-agents.js";
import { type World, world } from "../world.js";
import { callHook, promptCall, QUESTION } from "./call-hook.js";

// What stands in the way of a hook for real: another process holds the store, a server takes the connection and says nothing, an agent never
// ends its input, a transcript is a pipe without a writer. The hook gives up by its own timer.

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
    const ended = await callHook(here, promptCall(here, QUESTION));
    expect(ended).toMatchObject({ exit: 0, out: "", endedWith: undefined });
    expect(ended.err).toMatch(/^bough hook: .*(?:another process|lock|busy)/i);
  });

  test("gives up at a server that does not answer, and ends the process", async () => {
    const here = world();
    const ended = await callHook(here, promptCall(here, QUESTION), { env: { BOUGH_STORE: await silentServer() } });
    expect(ended).toMatchObject({ exit: 0, out: "", err: "bough hook: gave up after 2 s\n", endedWith: 0 });
  });

  test("gives up if the agent never ends its input", async () => {
    const here = world();
    await remembered(here);
    const open = new PassThrough();
    onTestFinished(() => void open.destroy());
    open.write('{"hook_event_name":');
    expect(await callHook(here, open)).toMatchObject({ exit: 0, out: "", err: "bough hook: gave up after 2 s\n", endedWith: 0 });
  });

  test.skipIf(process.platform === "win32")("does not wait for a transcript or a store that is a pipe", async () => {
    const here = world();
    await remembered(here);
    for (const name of ["transcript", "store"]) execFileSync("mkfifo", [here.path(name)]);
    const answered = await callHook(here, promptCall(here, QUESTION, { transcript_path: here.path("transcript") }));
    expect(answered).toMatchObject({ exit: 0, err: "", endedWith: undefined });
    expect(answered.out).toContain("the tokenizer allocated too much memory");
    const ended = await callHook(here, promptCall(here, QUESTION), { env: { BOUGH_STORE: here.path("store") } });
    expect(ended).toMatchObject({ exit: 0, out: "", endedWith: undefined });
  });
});

describe("the module that an agent loads", () => {
  // Like a process that waits for a disk: its output does not end when it is killed, because its child has it until the test removes a file.
  const hanging = (here: World): readonly string[] => {
    writeFileSync(here.path("until"), "");
    onTestFinished(() => rmSync(here.path("until"), { force: true }));
    return ["/bin/sh", "-c", 'while [ -e "$0" ]; do sleep 0.1; done & wait', here.path("until")];
  };

  const load = async (here: World, name: string): Promise<Record<string, unknown>> => {
    const agent = HOOK_AGENTS.find((one) => one.name === name);
    if (agent?.kind !== "plugin") throw new Error(`${name} loads no module`);
    writeFileSync(here.path(`${name}.mjs`), agent.text(hanging(here)));
    return import(pathToFileURL(here.path(`${name}.mjs`)).href);
  };

  test.skipIf(process.platform === "win32")("of opencode sends the prompt without a text when the command hangs", async () => {
    const here = world();
    const { BoughMemory } = await load(here, "opencode");
    const { "chat.message": onMessage } = await called(BoughMemory, { directory: here.folder });
    const parts = [{ type: "text", text: QUESTION }];
    await called(onMessage, { sessionID: "s" }, { message: { id: "m" }, parts });
    expect(parts).toEqual([{ type: "text", text: QUESTION }]);
  });

  test.skipIf(process.platform === "win32")("of pi sends the prompt without a text when the command hangs", async () => {
    const here = world();
    const handlers: Record<string, unknown> = {};
    const { default: extend } = await load(here, "pi");
    await called(extend, { on: (event: string, handler: unknown) => Object.assign(handlers, { [event]: handler }) });
    const { before_agent_start: onStart } = handlers;
    expect(await called(onStart, { prompt: QUESTION }, { cwd: here.folder })).toBeUndefined();
  });
});

/** Calls a function of a module that has no types. */
async function called(given: unknown, ...args: unknown[]): Promise<Record<string, unknown>> {
  if (typeof given !== "function") throw new Error("The module has no such function");
  return await given(...args);
}
