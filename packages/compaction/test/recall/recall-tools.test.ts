import type { Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { recallTools } from "../../src/recall/recall-tools.js";
import { createCompactor } from "../../src/run/compactor.js";
import { grown, model, plant, turns } from "../world/session.js";

/** A session of ten turns of which the first ones are summarized, and its tools. */
async function compacted() {
  const { store, session } = await grown(turns(1, 10));
  const tools = recallTools(session);
  const settings = { keep: { recentTokens: 400 } } as const;
  const compactor = createCompactor({
    session,
    contextWindow: 100_000,
    settings,
    summarizer: model("## Goal\nRead ten files.").summarizer,
  });
  const done = await compactor.compact();
  if (done.kind !== "compacted") throw new TypeError(done.kind);
  const call = async (name: string, input: unknown) => {
    const tool = tools.definitions.find((one) => one.name === name);
    if (tool === undefined) throw new TypeError(name);
    return tool.execute(input);
  };
  return { store, session, compactor, done, tools, call };
}

describe("an agent that looks up what was summarized", () => {
  test("finds words in it, with the entry and the summary that covers it", async () => {
    const { call, done } = await compacted();
    const found = await call("recall_search", { query: "u3 word5" });
    expect(found).toMatch(/^\[u3\] user, /);
    expect(found).toMatch(/^1: u3 the u3 word0/m);
    expect(found).toContain(`in summary ${done.entryId}`);
  });

  test("finds parts of words and regular expressions in it, and is told when an expression is none", async () => {
    const { call } = await compacted();
    expect(await call("recall_search", { query: "/^u3 the u3 \\w+0\\b/" })).toMatch(/^\[u3\] user, /);
    expect(await call("recall_search", { query: "src/k2.t", in: ["tool"] })).toContain("src/k2.ts");
    expect(await call("recall_search", { query: "ord12", limit: 1 })).toContain("word12");
    expect(await call("recall_search", { query: "/u3 (/" })).toMatch(
      /^That query cannot be understood: .* at character 4 of the expression\.$/,
    );
  });

  test("does not find what is still in its context", async () => {
    const { call } = await compacted();
    expect(await call("recall_search", { query: "u10" })).toMatch(/^Nothing in what was summarized/);
  });

  test("gets the range of a summary and the requests in it", async () => {
    const { call, done } = await compacted();
    const list = await call("recall_describe", {});
    expect(list).toContain(`${done.entryId}: summary`);
    expect(list).toContain("covers u1 to ");
    const one = await call("recall_describe", { summary: done.entryId });
    expect(one).toContain("- u1: u1 the u1 word0");
    expect(one).toContain("files read: src/k1.ts");
    expect(one).toContain("Read ten files.");
  });

  test("reads entries word for word, tool output included", async () => {
    const { call } = await compacted();
    const read = await call("recall_expand", { from: "u2", to: "a2" });
    for (const said of ["[u2]", "the u2 word12", "(calls read) path: src/k2.ts", "the r2 word12", "the a2 word12"])
      expect(read).toContain(said);
    expect(read).not.toContain("[u3]");
  });

  test("reads around one entry", async () => {
    const { call } = await compacted();
    const read = await call("recall_expand", { from: "r2", around: 1 });
    expect(read).toMatch(/\[k2\][\s\S]*\[r2\][\s\S]*\[a2\]/);
    expect(read).not.toContain("[u2]");
  });

  test("reaches everything of a long range, piece by piece", async () => {
    const { session } = await compacted();
    const tool = recallTools(session, { maxChars: 500 }).definitions.find(({ name }) => name === "recall_expand");
    let [all, offset] = ["", 0];
    for (let pieces = 0; pieces < 100; pieces += 1) {
      const piece = (await tool?.execute({ from: "u1", to: "a4", offset })) ?? "";
      const more = /\n\n\(more: continue with offset (\d+)\)$/.exec(piece);
      all += more === null ? piece : piece.slice(0, more.index);
      if (more === null) break;
      offset = Number(more[1]);
    }
    for (const id of ["u1", "r1", "a2", "r3", "a4"]) expect(all).toContain(`the ${id} word12`);
  });

  test("finds a branch that was left with a summary, and reads it", async () => {
    const { session, compactor, call } = await compacted();
    await compactor.navigate("a9", { summarize: true });
    await plant(session, "u11");
    expect(await call("recall_describe", {})).toContain("summary of a branch that was left");
    expect(await call("recall_search", { query: "u10 word5" })).toMatch(/^\[u10\] /);
    expect(await call("recall_expand", { from: "u10" })).toContain("the u10 word12");
  });

  test("gets nothing about a compaction that was undone", async () => {
    const { compactor, call } = await compacted();
    await compactor.undoCompaction();
    expect(await call("recall_describe", {})).toMatch(/^Nothing on this path has been summarized/);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["an id that is not there", "recall_expand", { from: "nobody" }, /^No entry of this session has the id nobody/],
    ["a range the wrong way round", "recall_expand", { from: "a2", to: "u2" }, /name the earlier entry first/],
    ["a summary that is none", "recall_describe", { summary: "u1" }, /^u1 is no summary on this path/],
    ["an input of the wrong kind", "recall_search", { query: 7 }, /^The input of recall_search is not valid: query /],
    ["no input", "recall_expand", undefined, /^The input of recall_expand is not valid/],
    ["a query that cannot be understood", "recall_search", { query: '"' }, /cannot be understood|Nothing/],
  ])("gets one line for %s", async (_name, tool, input, expected) => {
    const { call } = await compacted();
    expect(await call(tool, input)).toMatch(expected);
  });

  test("reads in the summary its range and how to look it up, once, over any number of compactions", async () => {
    const { session, compactor } = await compacted();
    for (let round = 2; round <= 5; round += 1) {
      await plant(session, turns(round * 10, round * 10 + 9));
      await compactor.compact();
    }
    const [summary] = (await session.context()).messages;
    const said = summary?.role === "compactionSummary" ? summary.summary : "";
    expect(said.match(/recall_expand/g)).toHaveLength(1);
    expect(said.match(/This summary covers/g)).toHaveLength(1);
  });
});

/** A handle that counts the entries and rows that are read through it, also through `session.tree`. */
function counting(session: Session) {
  const read = { entries: 0, rows: 0 };
  const counted = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key, target);
        if (key === "tree" && typeof member === "object" && member !== null) return counted(member);
        if (typeof member !== "function") return member;
        return async (...given: unknown[]) => {
          const answer: unknown = await Reflect.apply(member, target, given);
          if (key === "entry") read.entries += 1;
          if (key === "scan") read.entries += ((answer as { items: unknown[] }).items ?? []).length;
          if (key === "outline") read.rows += (answer as unknown[]).length;
          return answer;
        };
      },
    });
  return { handle: counted(session), read };
}

describe("what an agent looks up in a long session", () => {
  test("costs the entries that it reads, and no outline of the others", async () => {
    const { session } = await grown(turns(1, 200));
    const { handle, read } = counting(session);
    const [, , expand] = recallTools(handle).definitions;
    expect(await expand?.execute({ from: "u150", to: "a150", around: 1 })).toMatch(/^\[a149\][\s\S]*\n\[u151\] /);
    expect(read).toEqual({ entries: 6, rows: 0 });
    await expand?.execute({ from: "u1", to: "a200" });
    expect(read.entries).toBeLessThan(200);
  });

  test("reads the outline once, and then what is new", async () => {
    const { session } = await grown(turns(1, 200));
    await session.append({ type: "compaction", summary: "of all", firstKeptEntryId: "u200", id: "c1" });
    const { handle, read } = counting(session);
    const [, describing] = recallTools(handle).definitions;
    await describing?.execute({});
    expect(read.rows).toBe(801);
    await plant(session, turns(201, 202));
    read.rows = 0;
    expect(await describing?.execute({})).toContain("c1: summary 1");
    // Two turns of four entries.
    expect(read.rows).toBe(8);
  });

  test("is not that of a session that was written under the id of a deleted one", async () => {
    const { store, session } = await grown(turns(1, 20));
    await session.append({ type: "compaction", summary: "of all", firstKeptEntryId: "u20", id: "c1" });
    const [, describing] = recallTools(session).definitions;
    expect(await describing?.execute({})).toContain("c1: summary 1");
    await store.deleteSession(session.id);
    await plant(await store.createSession({ id: session.id }), turns(1, 2));
    await expect(describing?.execute({})).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});
