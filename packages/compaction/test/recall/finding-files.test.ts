import { assistantMessage, openStore, toolResult, userMessage } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { recallFile } from "../../src/recall/file-state.js";
import { recallRead } from "../../src/recall/read.js";
import { recallTools } from "../../src/recall/recall-tools.js";
import { recallSearch } from "../../src/recall/search.js";

async function newSession() {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  return store.createSession({ cwd: "/work" });
}

/** Reads of two files side by side, and a word in one of the results. */
async function withReads() {
  const session = await newSession();
  await session.append({ ...userMessage("look at the renderer"), id: "ask" });
  const read = (id: string, path: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { path } });
  await session.append({ ...assistantMessage([read("c1", "src/renderer.ts"), read("c2", "src/lexer.ts")]), id: "calls" });
  await session.append({ ...toolResult("c1", "const queuedMessages = [];\nlet a;\nlet b;", { toolName: "read" }), id: "r1" });
  await session.append({ ...toolResult("c2", "const queuedTokens = [];", { toolName: "read" }), id: "r2" });
  return session;
}

test("a search by path finds the results of its calls, and names their file", async () => {
  const session = await withReads();
  const { data, text } = await recallSearch(session, { query: "queuedMessages", path: "renderer.ts" });
  expect(data.hits.map(({ entryId }) => entryId)).toEqual(["r1"]);
  expect(text).toContain("[r1] result of read src/renderer.ts, ");
  expect((await recallSearch(session, { query: "queuedTokens", path: "renderer.ts" })).data.hits).toEqual([]);
});

test("what found nothing because of a condition says which, and how many hits there are without it", async () => {
  const session = await withReads();
  const { data, text } = await recallSearch(session, { query: "queuedTokens", path: "renderer.ts", roles: ["toolResult"] });
  expect(data.withoutFilters).toEqual(["without path there is 1 hit", "without path, roles there is 1 hit"]);
  expect(text).toBe(`No entry with these conditions has any of these words: ${data.withoutFilters.join("; ")}.`);
  expect((await recallSearch(session, { query: "unicorn", path: "renderer.ts" })).text).toBe("No entry has any of these words.");
});

test("entries are read by several ranges of lines, and by lines around each that matches", async () => {
  const session = await newSession();
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`);
  await session.append({ ...userMessage(lines.join("\n")), id: "long" });
  const read = async (input: object) => (await recallRead(session, { entries: ["long"], ...input })).text.split("\n").slice(1).join(" ");
  expect(await read({ lines: "2-3,9, 29-" })).toBe("2: line 2 3: line 3 9: line 9 29: line 29 30: line 30");
  expect(await read({ grep: "line 1[05]", context: 1 })).toBe("9: line 9 10: line 10 11: line 11 14: line 14 15: line 15 16: line 16");
  expect(await read({ lines: "1-12", grep: "line 1[05]" })).toBe("10: line 10");
  await expect(recallRead(session, { entries: ["long"], lines: "1;2" })).rejects.toThrow("several with commas");
});

test("a file tells its number of lines, and is searched by an expression", async () => {
  const session = await newSession();
  const write = { type: "toolCall" as const, id: "w", name: "write", arguments: { path: "a.ts", content: "one\ntwo\nthree\nfour" } };
  await session.append({ ...assistantMessage([write]), id: "w" });
  await session.append({ ...toolResult("w", "ok"), id: "done" });
  const { data, text } = await recallFile(session, { path: "a.ts", grep: "^t", context: 0 });
  expect([data.lines, text.split("\n").slice(1)]).toEqual([4, ["2: two", "3: three"]]);
  expect(text.split("\n")[0]).toMatch(/; 4 lines$/);
});

test("requests of which a description shows only the beginning are read by one call that it names", async () => {
  const session = await newSession();
  await session.append({ ...userMessage(`a long request ${"and more ".repeat(100)}`), id: "q1" });
  await session.append({ ...userMessage("a short one"), id: "q2" });
  await session.append({ ...userMessage(`another ${"and more ".repeat(100)}`), id: "q3" });
  await session.append({ type: "compaction", summary: "All.", firstKeptEntryId: null });
  const describe = recallTools(session).definitions.find(({ name }) => name === "recall_describe");
  const call = /recall_expand (\{.*\})/.exec((await describe?.execute({ summary: 1 })) ?? "")?.[1] ?? "";
  expect(JSON.parse(call)).toEqual({ entries: ["q1", "q3"] });
  const { text } = await recallRead(session, JSON.parse(call));
  expect(text).toContain("and more and more");
});
