import { describe, expect, test } from "vitest";
import { drop, fail, text } from "../../../compaction/test/model/answer.js";
import { DrivenShell } from "./driven.js";

const KEY_REFUSED = fail(401, { error: { message: "Incorrect API key provided" } });

/** A shell whose model refused the question "Why?". */
async function failed(answer = KEY_REFUSED): Promise<DrivenShell> {
  const shell = await DrivenShell.open({ hasModel: true });
  shell.server.reply(answer);
  return idle(shell.enter("Why?"));
}

const idle = (shell: DrivenShell) => shell.until(() => shell.model.running === 0 && shell.model.reply === null);

async function stored(shell: DrivenShell): Promise<readonly string[]> {
  return (await shell.messages()).map((message) =>
    message.role === "assistant" ? `${message.stopReason}: ${JSON.stringify(message.content)}` : message.role,
  );
}

describe("a reply that failed", () => {
  test("stays in the transcript with its reason, is told how to be retried, and comes again in the next shell", async () => {
    const shell = await failed();
    expect(shell.above).toContain("HTTP 401: Incorrect API key provided");
    expect(shell.shown).toContain("The reply failed. /retry sends the question again.");
    const next = await DrivenShell.open({
      before: async (session) => {
        for (const entry of await (await shell.store.openSession("talk")).path()) await session.append(entry);
      },
    });
    expect(next.above).toContain("HTTP 401: Incorrect API key provided");
  });

  test.each([["/retry"], ["Why?"]])("is requested again by %s, with the question once", async (line) => {
    const shell = await failed();
    shell.server.reply(text("Because."));
    await idle(shell.enter(line));
    expect(shell.server.requests[1]?.body.messages).toEqual([{ role: "user", content: "Why?" }]);
    expect(await stored(shell)).toEqual(["user", "error: []", 'stop: [{"type":"text","text":"Because."}]']);
    expect(shell.above).toContain("The question is sent again; it is stored once.");
  });

  test("in its middle is continued by /retry", async () => {
    const shell = await failed(drop("Because of"));
    expect(shell.above).toContain("The connection broke in the middle of the reply");
    shell.server.reply(text(" the tabs."));
    await idle(shell.enter("/retry"));
    expect(shell.server.requests[1]?.body.messages?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(shell.above).toContain("The model is asked to go on.");
  });

  test("is no obstacle for another question, and one that is repeated after a reply is a new question", async () => {
    const shell = await failed();
    shell.server.reply(text("No."), text("No."));
    await idle(shell.enter("Is it?"));
    await idle(shell.enter("Is it?"));
    expect((await shell.messages()).filter(({ role }) => role === "user")).toHaveLength(3);
  });
});

test("what is retried by itself is told while it waits", async () => {
  const shell = await DrivenShell.open({ hasModel: true });
  shell.server.reply(fail(500, { error: { message: "overloaded" } }, { "retry-after-ms": "40" }), text("Here."));
  const told: string[] = [];
  await shell.enter("Why?").until(() => {
    if (shell.model.reply !== null) told.push(shell.shown);
    return shell.model.running === 0;
  });
  expect(told.join("\n")).toContain("HTTP 500, attempt 2 of 4 in 1 s");
  expect(shell.above).toContain("Here.");
});

test("/retry says so if there is nothing to send again", async () => {
  const shell = await DrivenShell.open({ hasModel: true });
  shell.server.reply(text("Here."));
  await idle(shell.enter("Why?"));
  await idle(shell.enter("/retry"));
  expect(shell.shown).toContain("Nothing to send again: the last question has its reply.");
});
