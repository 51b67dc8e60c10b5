import { assistantMessage, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { world } from "../../world.js";

/** A store with one session: a long answer, a call that writes a file, a command that was kept out of the conversation. */
async function zoo() {
  const here = world();
  const long = Array.from({ length: 200 }, (_, at) => `line ${at + 1}${at === 149 ? " feeds the zebra" : ""}`).join("\n");
  const call = { type: "toolCall", id: "c", name: "write", arguments: { path: "src/zoo.ts", content: "one\ntwo" } } as const;
  const message = { role: "bashExecution", command: "echo secretzebra", output: "secretzebra", excludeFromContext: true } as const;
  await here.withStore(async (store) => {
    const session = await store.createSession({ id: "zoo-session-1", title: "Zoo", cwd: here.folder });
    await session.append({ ...userMessage("who feeds the zebra?"), id: "user1" });
    await session.append({ ...assistantMessage([{ type: "text", text: long }]), id: "asst1" });
    await session.append({ ...assistantMessage([call]), id: "call1" });
    await session.append({ ...toolResult("c", "written", { toolName: "write" }), id: "res1" });
    await session.append({ type: "message", message, id: "bash1" });
  });
  return here;
}

describe("bough search", () => {
  test("leaves out what was kept out of the conversation, and marks it with --private", async () => {
    const here = await zoo();
    expect((await here.run(["search", "secretzebra", "--exact"])).out).toContain("No matches.");
    expect((await here.run(["search", "secretzebra", "--private"])).out).toMatch(/bash.*private/);
    expect((await here.run(["search", "secretzebra", "--passages", "--private"])).out).toMatch(
      /\[bash1\].*private\n1: \$ echo secretzebra/,
    );
  });

  test("says that no entry has all the words, and --exact finds none", async () => {
    const here = await zoo();
    const { out } = await here.run(["search", "zebra", "feeds", "tomorrow"]);
    expect(out).toContain("No entry has all 3 words; these have at least 2.");
    expect((await here.run(["search", "zebar"])).out).toContain('No entry has "zebar"; these have "zebra".');
    expect((await here.run(["search", "zebar", "--exact"])).out).toContain("No matches.");
  });

  test("prints passages with line numbers and the entries around", async () => {
    const here = await zoo();
    const { out } = await here.run(["search", "zebra", "--passages", "--around", "1"]);
    expect(out).toContain("150: line 150 feeds the zebra");
    expect(out).toContain("(before: [user1] user: who feeds the zebra?)");
  });

  test("finds the calls of a tool without words", async () => {
    const here = await zoo();
    const found = await here.json("search", "--tool", "write", "--session", "zoo");
    expect(found).toMatchObject({ hits: [{ entryId: "res1" }, { entryId: "call1" }], next: null });
    expect((await here.run(["search", "--tool", "write", "--limit", "1"])).out).toContain("2 matches, the best 1 printed");
    const passages = await here.run(["search", "--tool", "write", "--limit", "1", "--passages"]);
    expect(passages.out).toContain("2 match: --limit prints up to 50.");
    expect(await here.run(["search"])).toMatchObject({ exit: 2, code: "INVALID_QUERY", out: "" });
  });
});

describe("bough show", () => {
  test("prints parts of a long entry, and several entries", async () => {
    const here = await zoo();
    expect((await here.run(["show", "zoo", "asst1", "--grep", "ZEBRA"])).out).toContain("\n150: line 150 feeds the zebra\n");
    expect((await here.run(["show", "zoo", "asst1", "--lines", "2-3"])).out).toMatch(/\n2: line 2\n3: line 3\n$/);
    expect((await here.run(["show", "zoo", "user1", "res1"])).out).toMatch(/^\[user1\][\s\S]*\n\n\[res1\]/);
  });

  test("prints the state of a file", async () => {
    const here = await zoo();
    expect((await here.run(["show", "zoo", "--file", "zoo.ts"])).out).toMatch(/^src\/zoo\.ts: as the calls .*\n1: one\n2: two\n$/);
    expect(await here.json("show", "zoo", "--file", "zoo.ts")).toMatchObject({ state: "known", content: "one\ntwo" });
    expect((await here.run(["show", "zoo", "--file", "zoo.ts", "--grep", "TWO"])).out).toMatch(/^src\/zoo\.ts: .*\n2: two\n$/);
  });

  test.each([
    [["show", "zoo", "asst1", "--lines", "x"], 2, "must be A-B"],
    [["show", "zoo", "asst1", "--grep", "("], 2, "no regular expression"],
    [["show", "zoo", "--lines", "1"], 2, "need an entry"],
    [["search", "x", "--around", "9"], 2, "around"],
  ])("refuses %j with %i", async (args, code, problem) => {
    const { exit, err, out } = await (await zoo()).run(args);
    expect({ exit, out }).toEqual({ exit: code, out: "" });
    expect(err).toContain(problem);
  });
});
