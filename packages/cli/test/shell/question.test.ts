import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { text } from "../../../compaction/test/model/answer.js";
import { decodeSequence } from "../../src/tui/decode.js";
import { calls } from "../agent/model-answers.js";
import { DrivenShell } from "./driven.js";

const COMMAND = "echo ran";

/** A shell whose model wants to run a command, with `typed` in the prompt. */
async function asked(typed = "", command = COMMAND, rows = 24): Promise<DrivenShell> {
  return (await shown(typed, command, rows)).moment();
}

/** The same, with a question that has been drawn just now. */
async function shown(typed = "", command = COMMAND, rows = 24): Promise<DrivenShell> {
  const shell = await DrivenShell.open({ hasModel: true, config: { tools: { bash: "ask" } }, size: { columns: 60, rows } });
  shell.server.reply(calls([{ name: "bash", input: { command } }]), text("Done."));
  return shell
    .enter("go")
    .type(typed)
    .until(() => shell.model.question !== null);
}

async function results(shell: DrivenShell): Promise<readonly boolean[]> {
  await shell.until(() => shell.model.running === 0);
  return (await shell.messages()).flatMap((message) => (message.role === "toolResult" ? [message.isError === true] : []));
}

describe("the question whether a tool may run", () => {
  test.each([
    ["y", [false]],
    ["a", [false]],
    ["n", [true]],
  ])("is answered by %s", async (key, isError) => {
    const shell = await asked();
    shell.press(key);
    expect(await results(shell)).toEqual(isError);
  });

  test("is what the shell waits for: no tool is said to run, and no id of the call is shown", async () => {
    const shell = await asked();
    expect(shell.shown).toContain("waiting for your answer");
    expect(shell.shown).not.toMatch(/running|call_/);
  });

  test("is not answered by keys of a message that is being typed", async () => {
    const shell = await asked("use t");
    shell.type("abs, anyway");
    expect(shell.model.editor.text).toBe("use tabs, anyway");
    expect(shell.model.question).not.toBeNull();
    expect(shell.answers).toEqual([]);
  });

  test("is answered after Tab, and the prompt keeps its text", async () => {
    const shell = await asked("use t");
    expect(shell.shown).toContain("Tab answer");
    shell.press("tab", "y");
    expect(await results(shell)).toEqual([false]);
    expect(shell.model.editor.text).toBe("use t");
  });

  test("returns the keys to the prompt when another letter is typed", async () => {
    const shell = await asked();
    shell.type("talk");
    expect(shell.model.editor.text).toBe("talk");
    expect(shell.model.question).not.toBeNull();
  });

  test("does not consume a paste", async () => {
    const shell = await asked();
    shell.event({ kind: "paste", text: "yes\na\n" });
    expect(shell.model.editor.text).toBe("yes\na\n");
    expect(shell.model.question).not.toBeNull();
  });

  test("is not answered by a letter after a paste", async () => {
    const shell = await asked();
    shell.event({ kind: "paste", text: "please look at " }).type("a yes");
    expect(shell.model.editor.text).toBe("please look at a yes");
    expect(shell.answers).toEqual([]);
  });

  test("is not answered by keys that arrive in one burst, such as an unmarked paste", async () => {
    const shell = await asked();
    for (const event of decodeSequence("yes")) shell.event(event);
    expect(shell.model.editor.text).toBe("yes");
    expect(shell.answers).toEqual([]);
  });

  test("is not answered until no key came for a moment", async () => {
    const shell = await shown();
    shell.press("y", "a", "tab").press("backspace", "backspace", "y", "backspace");
    expect(shell.answers).toEqual([]);
    shell.moment().press("y");
    expect(await results(shell)).toEqual([false]);
  });

  test("keeps early keys in the prompt", async () => {
    const shell = await shown();
    shell.press("y").moment().press("y");
    expect([shell.model.editor.text, shell.answers]).toEqual(["yy", []]);
  });

  test("is not answered by a second y after the previous answer", async () => {
    const shell = await DrivenShell.open({ hasModel: true, config: { tools: { bash: "ask" } } });
    const [first, second] = ["first", "second"].map((id) => ({ id, name: "bash", input: { command: COMMAND } }));
    if (first !== undefined && second !== undefined) shell.server.reply(calls([first, second]), text("Done."));
    await shell.enter("go").until(() => shell.model.question?.id === "first");
    await shell
      .moment()
      .press("y")
      .until(() => shell.model.question?.id === "second");
    shell.press("y");
    expect(shell.answers).toEqual(["first"]);
    shell.press("backspace").moment().press("n");
    expect(await results(shell)).toEqual([false, true]);
  });

  test("about a file outside the directory names it, and cannot be answered with always", async () => {
    const shell = await DrivenShell.open({ hasModel: true, config: { tools: { read: "allow" } } });
    symlinkSync("../..", join(shell.folder, "link"));
    shell.server.reply(calls([{ name: "read", input: { path: "link/none" } }]), text("Done."));
    await shell.enter("go").until(() => shell.model.question !== null);
    const target = join(realpathSync(shell.folder), "../..", "none");
    expect(shell.shown).toContain(`This call reaches outside the working directory: ${target}`);
    expect(shell.shown).not.toContain("always");
    shell.moment().press("a");
    expect([shell.model.editor.text, shell.answers]).toEqual(["a", []]);
  });

  test("ends when Esc stops the reply, and nothing has run", async () => {
    const shell = await asked("typed");
    shell.press("escape");
    expect(await results(shell)).toEqual([true]);
    expect(shell.model.question).toBeNull();
  });

  test("shows the whole call: a call that does not fit is printed above", async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `echo ${at}`);
    const shell = await asked("", lines.join("\n"), 9);
    expect(shell.shown).toContain("more lines, printed above");
    for (const line of lines) expect(shell.above).toContain(line);
  });
});
