import { describe, expect, test } from "vitest";
import { text } from "../../../compaction/test/model/answer.js";
import { calls } from "../agent/model-answers.js";
import { DrivenShell } from "./driven.js";

const COMMAND = "echo ran";

/** A shell whose model wants to run a command, while `typed` stands at the prompt. */
async function asked(typed = "", command = COMMAND, rows = 24): Promise<DrivenShell> {
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

  test("is not answered by what a person is in the middle of typing", async () => {
    const shell = await asked("use t");
    shell.type("abs, anyway");
    expect(shell.model.editor.text).toBe("use tabs, anyway");
    expect(shell.model.question).not.toBeNull();
    expect(shell.effects.filter(({ kind }) => kind === "answer")).toEqual([]);
  });

  test("is answered after Tab, and what is typed stays", async () => {
    const shell = await asked("use t");
    expect(shell.shown).toContain("Tab answer");
    shell.press("tab", "y");
    expect(await results(shell)).toEqual([false]);
    expect(shell.model.editor.text).toBe("use t");
  });

  test("gives the keys back to who begins to type something else", async () => {
    const shell = await asked();
    shell.type("talk");
    expect(shell.model.editor.text).toBe("talk");
    expect(shell.model.question).not.toBeNull();
  });

  test("does not swallow what is pasted", async () => {
    const shell = await asked();
    shell.event({ kind: "paste", text: "yes\na\n" });
    expect(shell.model.editor.text).toBe("yes\na\n");
    expect(shell.model.question).not.toBeNull();
  });

  test("ends with the reply that Esc stops, and nothing has run", async () => {
    const shell = await asked("typed");
    shell.press("escape");
    expect(await results(shell)).toEqual([true]);
    expect(shell.model.question).toBeNull();
  });

  test("is about a call that is seen whole: what does not fit is printed above", async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `echo ${at}`);
    const shell = await asked("", lines.join("\n"), 9);
    expect(shell.shown).toContain("more lines, printed above");
    for (const line of lines) expect(shell.above).toContain(line);
  });
});
