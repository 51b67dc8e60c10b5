import { expect, test } from "vitest";
import { collected } from "../../../session-core/test/world/stores.js";
import { importedFile, treeLines } from "../world/imported-file.js";
import { call, gemini, header, user } from "./gemini-log.js";

const HISTORY = [
  { role: "user", parts: [{ text: "Read both." }] },
  { role: "model", parts: [{ text: "Reading." }, ...["a", "b"].map((path) => ({ functionCall: { name: "read_file", args: { path } } }))] },
  { role: "user", parts: ["A", "B"].map((output) => ({ functionResponse: { name: "read_file", response: { output } } })) },
];
const TREE = ["user Read both.", "assistant Reading. [read_file call-1] [read_file call-2]", "result call-1 A", "result call-2 B"];

async function plainTree(name: string, content: unknown) {
  const { sessions } = await importedFile(name, JSON.stringify(content, null, 2));
  const lines = await Promise.all(sessions.map(treeLines));
  return lines.flat().map((line) => line.replace(/^.*? < .*?: /, ""));
}

test("a checkpoint of a conversation is a session: calls without ids are paired with their results in order", async () => {
  expect(await plainTree("checkpoint-before.json", { history: HISTORY, authType: "oauth" })).toEqual(TREE);
  expect(await plainTree("checkpoint-old.json", HISTORY)).toEqual(TREE);
  const restore = {
    history: [{ type: "user", text: "Read both." }],
    clientHistory: HISTORY,
    toolCall: { name: "replace", args: {} },
    commitHash: "0",
  };
  expect(await plainTree("2026-a.ts-replace.json", restore)).toEqual(TREE);
});

test("a checkpoint that was saved again extends its session", async () => {
  const { store, sessions } = await importedFile("x/checkpoint-a.json", JSON.stringify({ history: HISTORY.slice(0, 1) }));
  const again = await importedFile("x/checkpoint-a.json", JSON.stringify({ history: HISTORY }), store);
  expect(again.sessions.map(({ id }) => id)).toEqual(sessions.map(({ id }) => id));
});

test("the document of an older version, with a subagent's in the folder of its session", async () => {
  const document = { ...header({ summary: "A talk" }), messages: [user("u", "go"), gemini("g", "", { toolCalls: [call("a", "A")] })] };
  const { sessions } = await importedFile("p/chats/session-1.json", JSON.stringify(document, null, 2));
  const [session] = sessions;
  expect(session && (await collected(session.entries())).map(({ id }) => id)).toEqual(["u", "g", "2:g"]);
  expect((await session?.record())?.title).toBe("A talk");
  const agent = await importedFile("p/chats/parent-id/agent-id.jsonl", [
    header({ sessionId: "agent-id", kind: "subagent" }),
    user("s", "find it"),
  ]);
  expect(await agent.sessions[0]?.record()).toMatchObject({ kind: "subagent", parent: { sessionId: "parent-id" } });
});

test("a log whose first line is torn is read as a log, wherever the line break is and whatever else is damaged", async () => {
  const [first, ...others] = [header(), user("u", "one"), gemini("g", "two")].map((record) => JSON.stringify(record));
  const damaged = others.map((line, at) => (at === 0 ? line.replace('"content"', "content") : line));
  for (const place of ["2026-04-01T10:", '"kind":']) {
    const torn = first?.replace(place, `${place}\n`) ?? "";
    const { store, sessions } = await importedFile("p/chats/torn.jsonl", [torn, ...damaged].join("\n"));
    expect((await store.statistics()).sessions).toBe(1);
    expect(sessions[0] && (await treeLines(sessions[0]))).toEqual(["g < -: assistant two"]);
  }
});
