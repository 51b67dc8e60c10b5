import { userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { fail, text } from "../../../compaction/test/model/answer.js";
import { DrivenShell } from "./driven.js";

/** The messages of the path, as another process reads them. */
async function storedMessages(shell: DrivenShell): Promise<readonly string[]> {
  return (await shell.messages()).map((message) => {
    if (message.role !== "user" && message.role !== "assistant") return message.role;
    const { content, role } = message;
    return `${role}: ${typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : "")).join("")}`;
  });
}

const isIdle = ({ model }: DrivenShell) => model.running === 0 && model.reply === null && model.queue.length === 0;

describe("lines that are sent faster than they are performed", () => {
  test("two messages in one burst are two turns, one after the other", async () => {
    const shell = await DrivenShell.open({ hasModel: true });
    shell.server.reply(text("one!"), text("two!"));
    await shell
      .enter("first")
      .enter("second")
      .until(() => isIdle(shell));
    expect(await storedMessages(shell)).toEqual(["user: first", "assistant: one!", "user: second", "assistant: two!"]);
  });

  test("a message after /undo is appended where the undo moved the leaf", async () => {
    const shell = await DrivenShell.open({
      before: async (session) => {
        const { id } = await session.append(userMessage("a"));
        await session.append(userMessage("b"));
        await session.moveLeaf(id);
      },
    });
    await shell
      .enter("/undo")
      .enter("under b")
      .until(() => isIdle(shell));
    expect(await storedMessages(shell)).toEqual(["user: a", "user: b", "user: under b"]);
  });

  test("a command keeps its position between messages", async () => {
    const shell = await DrivenShell.open();
    await shell
      .enter("one")
      .enter("/label here")
      .enter("two")
      .until(() => isIdle(shell));
    const [label] = await shell.session.labels.list();
    expect((await shell.session.entry(label?.entryId ?? "")).parentId).toBeNull();
    expect(await storedMessages(shell)).toEqual(["user: one", "user: two"]);
  });

  test("in a notebook all queued lines are sent after other work", async () => {
    const shell = await DrivenShell.open();
    shell.event({ kind: "work-started", text: "summarizing" }).enter("one").enter("two");
    expect(shell.model.queue).toEqual(["one", "two"]);
    await shell.event({ kind: "work-ended" }).until(() => isIdle(shell));
    expect(await storedMessages(shell)).toEqual(["user: one", "user: two"]);
  });

  test("after a failed reply the next message is sent", async () => {
    const shell = await DrivenShell.open({ hasModel: true });
    shell.server.reply(fail(400, { error: { message: "no" } }), text("two!"));
    await shell
      .enter("first")
      .enter("second")
      .until(() => isIdle(shell));
    expect((await storedMessages(shell)).at(-1)).toBe("assistant: two!");
  });
});

describe("a message that cannot be stored", () => {
  test("returns to the prompt with the queued lines and the text typed since, in this order", async () => {
    const shell = await DrivenShell.open();
    await shell.store.deleteSession("talk");
    shell.enter("//first").enter("second").type("third");
    await shell.until(() => shell.model.notice?.isError === true);
    expect(shell.model.editor.text).toBe("//first\n\nsecond\n\nthird");
    expect(shell.model.queue).toEqual([]);
  });

  test("goes to the next screen as the draft", async () => {
    const shell = await DrivenShell.open();
    shell.enter("one").enter("/tree").enter("two").type("three");
    await shell.until(() => shell.result !== undefined);
    expect(shell.result).toEqual({ kind: "tree", draft: "two\n\nthree" });
  });

  test("is kept through a fork that opens during typing", async () => {
    const shell = await DrivenShell.open({ before: (session) => session.append(userMessage("a")) });
    shell.enter("/fork").type("next");
    await shell.until(() => shell.result !== undefined);
    expect(shell.result).toMatchObject({ kind: "open", draft: "next" });
  });
});
