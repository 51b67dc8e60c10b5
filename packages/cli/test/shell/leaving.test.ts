import { describe, expect, test } from "vitest";
import { type Gate, gate, trickle } from "../../../compaction/test/model/answer.js";
import { update } from "../../src/shell/update.js";
import { DrivenShell } from "./driven.js";

/** A shell in the middle of a reply: half of it has come, and the rest never will. */
async function midReply(): Promise<DrivenShell> {
  const shell = await DrivenShell.open({ hasModel: true });
  shell.server.reply(trickle(half(gate())));
  await shell.enter("go").until(() => shell.model.reply?.text === "Half of it");
  return shell;
}

async function* half(rest: Gate): AsyncGenerator<string> {
  yield "Half of it";
  await rest.opened;
}

describe("leaving during a reply", () => {
  test.each([
    ["Ctrl-C twice", ["ctrl+c", "ctrl+c"]],
    ["Ctrl-D", ["ctrl+d"]],
    ["/quit", [..."/quit", "enter"]],
  ])("%s waits until what came is stored", async (_name, keys) => {
    const shell = await midReply();
    shell.press(...keys);
    expect(shell.result).toBeUndefined();
    await shell.until(() => shell.result !== undefined);
    expect(shell.result).toEqual({ kind: "quit" });
    expect((await shell.messages())[1]).toMatchObject({ content: [{ type: "text", text: "Half of it" }], stopReason: "aborted" });
  });

  test("Ctrl-C once more leaves immediately", async () => {
    const shell = await midReply();
    expect(shell.press("ctrl+d", "ctrl+c").result).toEqual({ kind: "quit" });
  });

  test("queued lines are printed, so that they are not lost", async () => {
    const shell = await midReply();
    shell.enter("and then this").press("ctrl+d");
    await shell.until(() => shell.result !== undefined);
    expect(shell.above).toContain("This was not sent:\n› and then this");
    expect((await shell.messages()).filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("the tree is not opened over it", async () => {
    const shell = await midReply();
    expect(shell.press("ctrl+t").result).toBeUndefined();
    expect(shell.model.notice?.text).toBe("A reply is in progress. Esc stops it.");
  });
});

test.each([
  [{ reply: null, work: { text: "summarizing", sinceMs: 0, isStopping: false } }, "The shell is summarizing. Esc stops it."],
  // Esc does not stop a command, such as /import.
  [{ reply: null, work: null, running: 1 }, "The last line is still being carried out."],
])("the tree is not opened while other work runs, and the notice says which", async (runs, said) => {
  const { model } = await DrivenShell.open();
  const { model: next } = update({ ...model, ...runs }, { kind: "key", key: "ctrl+t" });
  expect(next.result).toBeUndefined();
  expect(next.notice?.text).toBe(said);
  const quitting = update({ ...model, ...runs }, { kind: "key", key: "ctrl+d" }).model;
  expect(quitting.notice?.text).toBe("Quitting when what runs has ended; Ctrl-C again: quit now");
});

describe("Esc", () => {
  test("stops a reply and keeps its text", async () => {
    const shell = await midReply();
    await shell.press("escape").until(() => shell.model.running === 0);
    expect((await shell.messages())[1]).toMatchObject({ content: [{ type: "text", text: "Half of it" }] });
    expect(shell.model.notice?.text).toBe("Stopped; the reply so far is kept.");
  });

  test("twice on an empty prompt opens the tree", async () => {
    const shell = await DrivenShell.open();
    expect(shell.press("escape").result).toBeUndefined();
    expect(shell.press("escape").result).toEqual({ kind: "tree", draft: "" });
  });

  test("does not open it if the prompt has text", async () => {
    const shell = await DrivenShell.open();
    expect(shell.type("x").press("escape", "escape").result).toBeUndefined();
  });
});
