import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { answer, call, directory, fileOf, type Line, progress, reply, result, SESSION, sidechain, text, user } from "./claude-file.js";
import { branchPoints, importAll, pathOf } from "./imported.js";

const task = call("t1", "Task", { description: "Look around", prompt: "find it" });
const asked = [user("u1", null, "go"), reply("a1", "u1", "m1", [text("on it")]), reply("a2", "a1", "m1", [task])];
const done = (agentId: string) => user("r1", "a2", [answer("t1")], { toolUseResult: { agentId } });
const agent = (agentId: string | undefined, prompt = "find it"): readonly Line[] =>
  [user("su", null, prompt), reply("sa", "su", "sm", [text("found")])].map((line) => sidechain(line, agentId));

describe("an agent inside the session's file", () => {
  test("is a session of its own, after the conversation, linked to the call by its result", () => {
    const [main, child, ...others] = importAll(fileOf([...asked, ...agent("x7", "another text"), done("x7")]));
    expect(others).toEqual([]);
    expect(main === undefined ? [] : pathOf(main)).toEqual(["u1", "a1", "r1"]);
    expect(child === undefined ? [] : pathOf(child)).toEqual(["su", "sa"]);
    expect(child?.header).toMatchObject({
      sessionId: `${SESSION}.x7`,
      kind: "subagent",
      title: "Look around",
      parent: { sessionId: SESSION, entryId: "a1", toolCallId: "t1" },
    });
  });

  test("is linked by what a progress record says", () => {
    const told = progress("p1", "a2", { parentToolUseID: "t1", data: { type: "agent_progress", agentId: "x7" } });
    const [, child] = importAll(fileOf([...asked, ...agent("x7", "another text"), told]));
    expect(child?.header.parent).toEqual({ sessionId: SESSION, entryId: "a1", toolCallId: "t1" });
  });

  test("has the uuid of its first record as its name where it has no other, and is linked by its prompt", () => {
    const [, child] = importAll(fileOf([...asked, ...agent(undefined), result("r1", "a2", "t1")]));
    expect(child?.header).toMatchObject({ sessionId: `${SESSION}.su`, parent: { entryId: "a1", toolCallId: "t1" } });
  });

  test("that no call is known for belongs to the conversation all the same", () => {
    const [, child] = importAll(fileOf([...asked, ...agent("x7", "Warmup")]));
    expect(child?.header.parent).toEqual({ sessionId: SESSION });
  });

  test("does not touch the conversation, where the records are mixed", () => {
    const [first, second] = agent("x7");
    const [third] = [sidechain(user("s3", "sa", "more"), "x7")];
    const lines = [asked[0], first, asked[1], second, asked[2], third, done("x7")].filter((line) => line !== undefined);
    const [main, child] = importAll(fileOf(lines));
    expect(main === undefined ? [] : [pathOf(main), [...branchPoints(main)]]).toEqual([["u1", "a1", "r1"], []]);
    expect(child === undefined ? [] : pathOf(child)).toEqual(["su", "sa", "s3"]);
  });

  test("may name the call that started it as its parent, and begins its own session all the same", () => {
    const [, child] = importAll(fileOf([...asked, sidechain(user("su", "a2", "find it"), "x7"), done("x7")]));
    expect([child?.missing, child === undefined ? [] : pathOf(child)]).toEqual([[], ["su"]]);
  });

  test("leaves a record of the conversation that hangs on it with a missing parent", () => {
    const [main] = importAll(fileOf([...asked, ...agent("x7"), user("u2", "sa", "next")]));
    expect([main?.missing, main === undefined ? [] : pathOf(main)]).toEqual([["sa"], ["u1", "a1", "u2"]]);
  });

  test("shares no reply with the conversation, whatever the ids", () => {
    const lost = sidechain(reply("sx", "gone", "m1", [text("mine")]), "x7");
    const [main, child] = importAll(fileOf([...asked, lost]));
    expect([main?.entries.length, child?.entries.length]).toEqual([2, 1]);
  });

  test("is not started by itself, although it passes its prompt on", () => {
    const own = sidechain(reply("sa", "su", "sm", [task]), "x7");
    const [child] = importAll(fileOf([sidechain(user("su", null, "find it"), "x7"), own]));
    expect(child?.header.parent).toEqual({ sessionId: SESSION });
  });
});

describe.each([
  ["in the session's folder", join(SESSION, "subagents", "agent-x7.jsonl")],
  ["beside the session's file", "agent-x7.jsonl"],
])("the file of an agent %s", (_, name) => {
  function files(): { readonly main: string; readonly agent: string } {
    const folder = directory();
    const main = fileOf([...asked, done("x7")], `${SESSION}.jsonl`, folder);
    return { main, agent: fileOf(agent("x7"), name, folder) };
  }

  test("is read after the conversation", () => {
    const sessions = importAll(files().main);
    expect(sessions.map(({ header }) => header.sessionId)).toEqual([SESSION, `${SESSION}.x7`]);
    expect(sessions[1]?.header).toMatchObject({ kind: "subagent", parent: { sessionId: SESSION, entryId: "a1", toolCallId: "t1" } });
  });

  test("is the same session with the same parent when it is given alone", () => {
    const { main, agent: alone } = files();
    const [, child] = importAll(main);
    expect(importAll(alone)).toEqual([child]);
  });

  test("is known by its session where the conversation's file is gone", () => {
    const sessions = importAll(fileOf(agent("x7"), name));
    expect(sessions.map(({ header }) => [header.sessionId, header.parent])).toEqual([[`${SESSION}.x7`, { sessionId: SESSION }]]);
  });

  test("takes along what is written beside it", () => {
    const { agent: alone } = files();
    writeFileSync(alone.replace(".jsonl", ".meta.json"), '{"agentType":"Explore"}');
    expect(importAll(alone)[0]?.header.metadata).toMatchObject({ agentId: "x7", agent: { agentType: "Explore" } });
  });
});

test("an agent in the folder of a resumed session is that session's, whatever its records name", () => {
  const folder = directory();
  const records = agent("x7").map((line) => ({ ...line, sessionId: "99999999-2222-4333-8444-555555555555" }));
  const main = fileOf([...asked, done("x7")], `${SESSION}.jsonl`, folder);
  const alone = fileOf(records, join(SESSION, "subagents", "agent-x7.jsonl"), folder);
  expect(importAll(alone)).toEqual(importAll(main).slice(1));
  expect(importAll(alone)[0]?.header.sessionId).toBe(`${SESSION}.x7`);
});

test("agents of other sessions beside the file are left to those", () => {
  const folder = directory();
  const main = fileOf(asked, `${SESSION}.jsonl`, folder);
  fileOf(
    agent("x9").map((line) => ({ ...line, sessionId: "other" })),
    "agent-x9.jsonl",
    folder,
  );
  expect(importAll(main)).toHaveLength(1);
});

describe("the id of a session", () => {
  test("is the name of its file, and the id in its records is kept where it differs", () => {
    const [main] = importAll(fileOf(asked.map((line) => ({ ...line, sessionId: "before" }))));
    expect(main?.header).toMatchObject({
      sessionId: SESSION,
      metadata: { recordedSessionId: "before", version: "2.1.44", gitBranch: "main" },
    });
  });

  test("is that of its records where the name is none", () => {
    const [main] = importAll(fileOf(asked, "my export.jsonl"));
    expect(main?.header).toMatchObject({ sessionId: SESSION, cwd: "/work", kind: "conversation" });
    expect(main?.header.metadata).not.toHaveProperty("recordedSessionId");
  });
});

test("a file with side records only has no session", () => {
  expect(importAll(fileOf([{ type: "summary", summary: "x", leafUuid: "y" }]))).toEqual([]);
});

test("a folder without agents is no fault", () => {
  const main = fileOf(asked);
  mkdirSync(join(dirname(main), SESSION));
  expect(importAll(main)).toHaveLength(1);
});

test("an agent's file that cannot be opened is reported, and the rest is read", () => {
  const folder = directory();
  const main = fileOf([...asked, done("x7")], `${SESSION}.jsonl`, folder);
  fileOf(agent("x7"), join(SESSION, "subagents", "agent-x7.jsonl"), folder);
  symlinkSync(join(folder, "nowhere"), join(folder, SESSION, "subagents", "agent-x8.jsonl"));
  const sessions = importAll(main);
  expect(sessions.map(({ header }) => header.sessionId)).toEqual([SESSION, `${SESSION}.x7`]);
  expect(sessions[0]?.problems).toMatchObject([{ code: "unreadable-file", line: null }]);
});

test("an agent that an agent started is linked to that one", () => {
  const inner = call("t2", "Task", { description: "Deeper", prompt: "dig" });
  const outer = [user("su", null, "find it"), reply("sa", "su", "sm", [inner])].map((line) => sidechain(line, "x7"));
  const deeper = sidechain(user("du", null, "dig"), "x8");
  const sessions = importAll(fileOf([...asked, ...outer, deeper]));
  expect(sessions.map(({ header }) => header.parent)).toEqual([
    undefined,
    { sessionId: SESSION, entryId: "a1", toolCallId: "t1" },
    { sessionId: `${SESSION}.x7`, entryId: "sa", toolCallId: "t2" },
  ]);
});
