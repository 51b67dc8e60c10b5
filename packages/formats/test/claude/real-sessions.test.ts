import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { realSession } from "../../../../.ci/real-sessions.mjs";
import { branchPoints, type Imported, importAll, messageOf, pathOf, payloadOf } from "./imported.js";

const folder = realSession("claude");
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];

function named(start: string): readonly Imported[] {
  return importAll(join(folder, files.find((name) => name.startsWith(start)) ?? ""));
}

const main = (start: string): Imported => {
  const [session] = named(start);
  if (session === undefined) throw new RangeError(`no session ${start}`);
  return session;
};

describe.runIf(existsSync(folder))("real sessions", () => {
  test.each(["30530d66", "98b76fb9", "b3a7bd3c"])("%s has no problem and no branch, and the path holds every entry", (start) => {
    for (const session of named(start)) {
      expect([session.problems, session.missing, branchPoints(session).size]).toEqual([[], [], 0]);
      expect(pathOf(session)).toHaveLength(session.entries.length);
    }
  });

  test.each(["30530d66", "98b76fb9", "b3a7bd3c"])("%s has each tool result after its call", (start) => {
    for (const session of named(start)) expect(resultsBeforeTheirCall(session)).toEqual([]);
  });

  test("the compaction stands under the last record before it, and the conversation goes on behind it", () => {
    const session = main("98b76fb9");
    const at = session.entries.findIndex(({ payload }) => payload.type === "compaction");
    expect(session.entries[at]?.id).toMatch(/^8684e586/);
    expect(session.entries[at]?.parentId).toMatch(/^229519d9/);
    expect(payloadOf(session, session.entries[at]?.id ?? "")).toMatchObject({
      trigger: "manual",
      tokensBefore: 26634,
      firstKeptEntryId: null,
    });
    expect(session.entries.slice(at + 1)).toHaveLength(6);
  });

  test("four agents started by one reply are linked to their calls, whichever file is given", () => {
    const [session, ...agents] = named("b3a7bd3c");
    const started =
      session === undefined
        ? ""
        : (session.entries.find(({ payload }) => payload.type === "message" && payload.message.role === "assistant")?.id ?? "");
    expect(agents.map(({ header }) => header.parent?.entryId)).toEqual([started, started, started, started]);
    expect(new Set(agents.map(({ header }) => header.parent?.toolCallId)).size).toBe(4);
    const subagents = join(folder, session?.header.sessionId ?? "", "subagents");
    expect(
      readdirSync(subagents)
        .sort()
        .flatMap((name) => importAll(join(subagents, name))),
    ).toEqual(agents);
  });

  test("what a person said reads as they said it", () => {
    const session = main("b3a7bd3c");
    const first = session.entries.find(({ payload }) => payload.type === "message");
    expect(messageOf(session, first?.id ?? "")).toMatchObject({
      role: "user",
      content: [{ text: expect.stringMatching(/^Run 4 subagents/) }],
    });
  });
});

function resultsBeforeTheirCall(session: ReturnType<typeof main>): readonly string[] {
  const called = new Set<string>();
  const early: string[] = [];
  for (const { payload } of session.entries) {
    if (payload.type !== "message") continue;
    const { message } = payload;
    if (message.role === "toolResult" && !called.has(message.toolCallId)) early.push(message.toolCallId);
    if (message.role === "assistant") for (const call of message.content) if (call.type === "toolCall") called.add(call.id);
  }
  return early;
}
