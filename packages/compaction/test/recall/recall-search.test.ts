import { assistantMessage, InvalidQueryError, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { RecallInputError } from "../../src/errors/compaction-errors.js";
import { recallRead } from "../../src/recall/read.js";
import { recallSearch } from "../../src/recall/search.js";
import { searchHidden } from "../../src/recall/search-hidden.js";
import { grown } from "../world/session.js";

/** A session with a call of two tools, a private command and a summary, all with the word zebra. */
async function zebras() {
  const { store, session } = await grown("");
  const hidden = { role: "bashExecution", command: "echo zebra", output: "zebra", excludeFromContext: true } as const;
  const call = (id: string, name: string, args: Record<string, unknown>) =>
    assistantMessage([{ type: "toolCall", id, name, arguments: args }]);
  await session.append({ ...userMessage("find the zebra"), id: "u1" });
  await session.append({ ...call("c1", "grep", { pattern: "zebra", path: "src" }), id: "g1" });
  await session.append({ ...toolResult("c1", "src/zoo.ts:4: the zebra", { toolName: "grep" }), id: "g2" });
  await session.append({ ...call("c2", "edit", { path: "src/zoo.ts", old_string: "zebra\none", new_string: "zebra\ntwo" }), id: "e1" });
  await session.append({ ...toolResult("c2", "edited the zebra", { toolName: "edit" }), id: "e2" });
  await session.append({ type: "message", message: hidden, id: "p1" });
  await session.append({ type: "branch_summary", summary: "about the zebra", fromId: null, id: "s1" });
  return { store, session };
}

const ids = ({ data }: Awaited<ReturnType<typeof recallSearch>>) => data.hits.map(({ entryId }) => entryId).sort();

describe("a search of recall", () => {
  test("leaves out summaries and private commands unless they are asked for", async () => {
    const { session } = await zebras();
    expect(ids(await recallSearch(session, { query: "zebra" }))).toEqual(["e1", "e2", "g1", "g2", "u1"]);
    expect(ids(await recallSearch(session, { query: "zebra", summaries: true }))).toContain("s1");
    const { text } = await recallSearch(session, { query: "zebra", roles: ["bashExecution"] }, { includePrivate: true });
    expect(text).toMatch(/^\[p1\] bashExecution, .*, private\n1: \$ echo zebra/);
  });

  test("finds an entry by its label, and says so", async () => {
    const { store, session } = await zebras();
    await session.labels.set("u1", "golden moment");
    for (const target of [store, session]) {
      for (const query of ["golden moment", "when was the golden moment of the lexer?"]) {
        const { data, text } = await recallSearch(target, { query });
        expect(data.hits.map(({ entryId, label }) => [entryId, label])).toEqual([["u1", "golden moment"]]);
        expect(text).toContain('labelled "golden moment"');
      }
    }
  });

  test("finds by tool and by role, with words and without", async () => {
    const { session } = await zebras();
    expect(ids(await recallSearch(session, { query: "zebra", tool: "Grep" }))).toEqual(["g1", "g2"]);
    expect((await recallSearch(session, { tool: "edit" })).data.hits.map(({ entryId }) => entryId)).toEqual(["e2", "e1"]);
    expect(ids(await recallSearch(session, { roles: ["user"] }))).toEqual(["u1"]);
    expect(ids(await recallSearch(session, { path: "zoo.ts" }))).toEqual(["e1", "e2"]);
  });

  test("finds parts of words, exact texts and regular expressions, and shows the lines with them", async () => {
    const { session } = await zebras();
    expect(ids(await recallSearch(session, { query: "ebr" }))).toEqual(["e1", "e2", "g1", "g2", "u1"]);
    expect(ids(await recallSearch(session, { query: "zoo.ts:4" }))).toEqual(["g2"]);
    const { text } = await recallSearch(session, { query: "/^zebra$/", in: ["code"] });
    expect(text).toMatch(/^\[e1\] assistant, /);
    expect(text).toContain(": zebra\n");
    const slow = recallSearch(session, { query: "/the (/" });
    await expect(slow).rejects.toMatchObject({ code: "INVALID_EXPRESSION", position: 5 });
  });

  test("finds in prose, in code or in tool calls only", async () => {
    const { session } = await zebras();
    expect(ids(await recallSearch(session, { query: "zebra", in: ["prose"] }))).toEqual(["u1"]);
    expect(ids(await recallSearch(session, { query: "zebra", in: ["code"] }))).toEqual(["e1"]);
    expect(ids(await recallSearch(session, { query: "zebra", in: ["tool"] }))).toEqual(["e1", "e2", "g1", "g2"]);
  });

  test("with a tool, looks through all entries and counts them", async () => {
    const { store } = await grown("");
    const result = (tool: string, id: string) =>
      ({ kind: "entry", entry: { ...toolResult(id, "a needle", { toolName: tool }), id } }) as const;
    const others = Array.from({ length: 2_100 }, (_, at) => result("other", `other${at}`));
    const session = await store.createSession({}, { writes: [result("probe", "first"), ...others] });
    const { data } = await recallSearch(session, { query: "needle", tool: "probe" });
    expect([data.hits.map(({ entryId }) => entryId), data.total]).toEqual([["first"], 1]);
  });

  test("shows the entries around a hit, except private ones", async () => {
    const { session } = await zebras();
    const { data, text } = await recallSearch(session, { query: "edited", around: 1 });
    expect(data.hits[0]?.around.map(({ distance, entryId }) => [distance, entryId])).toEqual([[-1, "e1"]]);
    expect(text).toContain("(before: [e1] assistant: [edit src/zoo.ts])");
    expect(text).not.toContain("p1");
  });

  test("shows the new text of an edit before the old one, with line breaks", async () => {
    const { session } = await zebras();
    const { text } = await recallRead(session, { entries: ["e1"] });
    expect(text).toContain("(calls edit) path: src/zoo.ts\nnew_string:\nzebra\ntwo\nold_string:\nzebra\none");
  });

  test("puts entries with fewer words after those with all, and says so", async () => {
    const { session } = await zebras();
    const { text } = await recallSearch(session, { query: "edited zebra" });
    expect(text).toMatch(/^\[e2\][\s\S]*\n\nNot all words, at least 1 of 2:\n\n\[/);
  });

  test("corrects a word that is nowhere, and says so", async () => {
    const { session } = await zebras();
    expect((await recallSearch(session, { query: "zebar" })).text).toMatch(/^Not the word zebar, but zebra:\n\n\[/);
  });

  test("in a store names the session of each hit, and titles", async () => {
    const { store, session } = await zebras();
    await store.renameSession(session.id, "The zoo");
    const found = await recallSearch(store, { query: "zoo" });
    expect(found.data.titles).toEqual([{ sessionId: session.id, title: "The zoo" }]);
    expect(found.text).toContain(`in session ${session.id} "The zoo"`);
  });

  test("is cut to a budget, and continues where it was cut", async () => {
    const { session } = await grown("");
    for (let at = 0; at < 12; at += 1) await session.append({ ...userMessage(`needle ${"x".repeat(150)}`), id: `n${at}` });
    const seen: string[] = [];
    for (let next: number | null = 0; next !== null; ) {
      const { data, text }: Awaited<ReturnType<typeof recallSearch>> = await recallSearch(
        session,
        { query: "needle", next },
        { maxChars: 800 },
      );
      expect(text.length).toBeLessThan(1_000);
      for (const { entryId } of data.hits) seen.push(entryId);
      next = data.next;
    }
    expect(seen).toHaveLength(12);
    expect(new Set(seen).size).toBe(12);
  });

  test.each([[{ limit: 0 }], [{ query: "x", roles: ["robot"] }], [{ query: "x", page: 2 }]])("refuses %j in one line", async (input) => {
    const { session } = await zebras();
    await expect(recallSearch(session, input as { query: string })).rejects.toThrow(RecallInputError);
  });

  test("refuses a query with nothing to look for", async () => {
    const { session } = await zebras();
    await expect(recallSearch(session, { query: '""' })).rejects.toThrow(InvalidQueryError);
  });
});

describe("reading with recall", () => {
  async function long() {
    const { session } = await grown("");
    const text = Array.from({ length: 500 }, (_, at) => `line ${at + 1}${at === 419 ? " has the needle" : ""}`).join("\n");
    await session.append({ ...userMessage(text), id: "long" });
    await session.append({ ...userMessage("short"), id: "short" });
    return session;
  }

  test("shows lines of a large entry, or those that match a pattern", async () => {
    const session = await long();
    expect((await recallRead(session, { entries: ["long"], lines: "419-421" })).text).toMatch(
      /\n419: line 419\n420: line 420 has the needle\n421: line 421$/,
    );
    expect((await recallRead(session, { entries: ["long"], grep: "NEEDLE$" })).text).toMatch(/user\n420: line 420 has the needle$/);
    expect((await recallRead(session, { entries: ["long"], lines: "1-10", grep: "needle" })).text).toContain("(no line matches)");
  });

  test("reads several entries in one call, in the order that they were asked for", async () => {
    const session = await long();
    const { data, text } = await recallRead(session, { entries: ["short", "long"], lines: "1" });
    expect(data.entries.map(({ entryId, lines }) => [entryId, lines])).toEqual([
      ["short", 1],
      ["long", 500],
    ]);
    expect(text).toMatch(/^\[short\][\s\S]*1: short\n\n\[long\][\s\S]*1: line 1$/);
  });

  test.each([
    ["a pattern that is none", { entries: ["long"], grep: "(" }, /no regular expression/],
    ["a pattern without end", { entries: ["slow"], grep: "(a|a)*$" }, /takes too long/],
    ["lines that are none", { entries: ["long"], lines: "x" }, /must be A-B/],
    ["entries and a range", { entries: ["long"], from: "long" }, /either entries or from/],
  ])("refuses %s", async (_what, input, problem) => {
    const session = await long();
    await session.append({ ...userMessage(`${"a".repeat(200)}!`), id: "slow" });
    await expect(recallRead(session, input)).rejects.toThrow(problem);
  });
});

describe("a search of what a compaction has hidden", () => {
  async function hidden() {
    const { session } = await grown("");
    await session.append({ ...userMessage("/model"), id: "u0" });
    await session.append({ ...userMessage("count the animals of the zoo"), id: "u1" });
    await session.append({ ...assistantMessage("There are twelve."), id: "a1" });
    await session.append({ ...userMessage("now paint the fence green"), id: "u2" });
    await session.append({ ...assistantMessage("It is green."), id: "a2" });
    await session.append({ ...userMessage("thanks"), id: "u3" });
    await session.append({ type: "compaction", summary: "All of it.", firstKeptEntryId: null });
    await session.append({ ...userMessage("go on"), id: "u4" });
    return session;
  }

  test("ends the answer to a question with the first and the last request and the last reply", async () => {
    const { text } = await searchHidden(await hidden(), { query: "what was I asked for at the start?" });
    expect(text.split("\n").slice(-3)).toEqual([
      "(The first request there: [u1] count the animals of the zoo)",
      "(The last request there: [u2] now paint the fence green)",
      "(The last reply there: [a2] It is green.)",
    ]);
  });

  test("does not add them to other queries, nor to the hits after the first ones", async () => {
    const session = await hidden();
    expect((await searchHidden(session, { query: "fence" })).text).not.toContain("request there");
    expect((await searchHidden(session, { query: "who painted the fence green there?", next: 1 })).text).not.toContain("request there");
  });
});
