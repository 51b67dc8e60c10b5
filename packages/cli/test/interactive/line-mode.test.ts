import { PassThrough } from "node:stream";
import { type Message, openStore } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { text } from "../../../compaction/test/model/answer.js";
import { startModelServer } from "../../../compaction/test/model/model-server.js";
import { chooseChatModel } from "../../src/agent/chat-model.js";
import { OutputFailedError } from "../../src/errors.js";
import { runLineMode } from "../../src/interactive/line-mode.js";
import type { InteractiveRun } from "../../src/interactive/opened-session.js";
import { run } from "../../src/run.js";
import { fileAt } from "../../src/session/store-location.js";
import { LineReader } from "../../src/terminal/line-reader.js";
import { Printer } from "../../src/terminal/printer.js";
import { calls } from "../agent/model-answers.js";
import { quietIo } from "../quiet-io.js";
import { NOON, world } from "../world.js";

const CALL = calls([{ name: "bash", input: { command: "echo ran" } }]);

/** The shell on a terminal that can only print, with a model that may run commands if the person says so. */
async function lineShell() {
  const { folder, store: storePath } = world();
  const [store, server, input] = [await openStore({ path: storePath, durability: "normal" }), await startModelServer(), new PassThrough()];
  onTestFinished(() => store.close());
  const printed = { text: "", canWrite: true };
  const heard: (() => void)[] = [];
  const write = async (piece: string) => {
    if (!printed.canWrite) throw new OutputFailedError("Cannot write the output.");
    printed.text += piece;
    for (const listener of heard.splice(0)) listener();
  };
  const output = new PassThrough({ encoding: "utf8" });
  output.on("data", write);
  const moments = new Set<() => void>();
  const afterMoment = (then: () => void) => {
    moments.add(then);
    return () => void moments.delete(then);
  };
  const reader = new LineReader({ input, output, onInterrupt: () => undefined, startDelay: afterMoment });
  const ask = (question: string, takeEarly?: (line: string) => void) => reader.ask(question, takeEarly);
  const io = quietIo(folder, { columns: 80, write }, { env: { PATH: "/usr/bin:/bin" }, now: () => NOON, ask, bough: run });
  const session = await store.createSession({ id: "talk", cwd: folder });
  const model = chooseChatModel({}, {}, { model: "test-model", baseUrl: server.baseURL });
  const about: InteractiveRun = {
    io,
    store,
    location: fileAt(storePath),
    config: { tools: { bash: "ask" } },
    model,
    isNotebookShown: true,
    options: {},
  };
  const ended = runLineMode(about, new Printer(io), ask, session.id);
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise<void>((resolve) => heard.push(resolve));
  };
  const messages = async (): Promise<readonly Message[]> =>
    (await (await store.openSession("talk")).path()).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const moment = () => {
    for (const passed of moments) passed();
  };
  return { store, server, input, printed, ended, until, messages, moment };
}

describe("a question of a tool, line by line", () => {
  test("is not answered by a line that was typed while the reply came; that line is the next message", async () => {
    const { server, input, printed, ended, until, messages, moment } = await lineShell();
    server.reply(CALL, text("As you wish."), text("What about it?"));
    await until(() => printed.text.endsWith("> "));
    input.write("go\n");
    await server.request(0);
    input.write("y\n");
    await until(() => printed.text.includes("May the model use bash?"));
    await until(() => (printed.text.match(/no: /g) ?? []).length === 2);
    moment();
    input.write("n\n");
    await until(() => printed.text.includes("What about it?"));
    input.end();
    await ended;
    const said = (await messages()).map((message) => (message.role === "toolResult" ? message.isError : message.role));
    expect(said).toEqual(["user", "assistant", true, "assistant", "user", "assistant"]);
    expect((await messages())[4]).toMatchObject({ content: "y" });
  });

  test("that cannot be put stops the reply, and the shell ends with what went wrong", async () => {
    const { server, input, printed, ended, until, messages } = await lineShell();
    server.reply(CALL);
    await until(() => printed.text.endsWith("> "));
    input.write("go\n");
    await server.request(0);
    printed.canWrite = false;
    await expect(ended).rejects.toThrow(OutputFailedError);
    expect((await messages())[2]).toMatchObject({ role: "toolResult", isError: true });
  });
});

test("a command that prints what a screen shows says why it cannot", async () => {
  const { store, input, printed, ended, until } = await lineShell();
  await until(() => printed.text.endsWith("> "));
  await store.deleteSession("talk");
  input.write("/tree\n");
  await until(() => (printed.text.match(/> /g) ?? []).length === 2);
  input.end();
  await ended;
  expect(printed.text).toContain("bough: No session talk in this store.");
});
