import { userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import type { Summarizer } from "../../src/summarizers/summarizer.js";
import { contextNames, findings, grown, heldModel, listening, model, pathNames, plant, turns } from "../world/session.js";

const contextWindow = 100_000;

describe("going to an entry", () => {
  test.each([
    ["a prompt: its parent, and its text for editing", "u2", "a1", "u2 the u2"],
    ["the first prompt: before the first entry", "u1", null, "u1 the u1"],
    ["an answer: there", "a1", "a1", null],
    ["a tool call: there", "k1", "k1", null],
    ["a tool result: there", "r1", "r1", null],
  ])("%s", async (_name, chosen, leafId, text) => {
    const { session } = await grown(turns(1, 3));
    const result = await createCompactor({ session, contextWindow }).navigate(chosen);
    expect(result).toMatchObject({ kind: "moved", from: "a3", leafId, summaryEntryId: null });
    expect(session.leafId).toBe(leafId);
    if (result.kind === "moved") expect(text === null ? result.text : result.text?.startsWith(text)).toBe(text === null ? null : true);
  });

  test("a host's message is returned for editing too", async () => {
    const { session } = await grown("u1 a1");
    await session.append({ type: "custom_message", customType: "skill", content: "Use the skill", id: "n1" });
    await plant(session, "a2");
    expect(await createCompactor({ session, contextWindow }).navigate("n1")).toMatchObject({ leafId: "a1", text: "Use the skill" });
  });

  test("the images of a prompt are returned with its text", async () => {
    const { session } = await grown("u1 a1");
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
    await session.append({ ...userMessage([{ type: "text", text: "look" }, image]), id: "u2" });
    await plant(session, "a2");
    expect(await createCompactor({ session, contextWindow }).navigate("u2")).toMatchObject({ text: "look", images: [image] });
  });

  test("the current leaf is not a move", async () => {
    const { session } = await grown(turns(1, 2));
    expect(await createCompactor({ session, contextWindow }).navigate("a2", { summarize: true })).toMatchObject({ kind: "already-there" });
    expect(await session.undoMove()).toBe(false);
  });

  test("reports whether a reply is awaited", async () => {
    const { session } = await grown(turns(1, 2));
    const compactor = createCompactor({ session, contextWindow });
    expect(await compactor.navigate("r1")).toMatchObject({ expectsReply: true });
    expect(await compactor.navigate("a1")).toMatchObject({ expectsReply: false });
  });

  test("an unknown entry moves nothing", async () => {
    const { session } = await grown(turns(1, 2));
    await expect(createCompactor({ session, contextWindow }).navigate("nobody")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    expect(session.leafId).toBe("a2");
  });
});

describe("the events of a branch summary", () => {
  test("report one attempt from start to end, with or without a result", async () => {
    const { session } = await grown(turns(1, 3));
    const heard = listening();
    const usage = { input: 90, output: 3 };
    const summarizer: Summarizer = async ({ onText }) => {
      onText?.("## Goal");
      return { text: "## Goal\nsrc/k2.ts the other way.", usage };
    };
    await createCompactor({ session, contextWindow, summarizer, onEvent: heard.onEvent }).navigate("a1", { summarize: true });
    expect(heard.events[0]).toMatchObject({ type: "branchSummaryStart", fromId: "a3", toId: "a1" });
    expect(heard.events.at(-1)).toMatchObject({ type: "branchSummaryComplete", success: true, method: "normal", usage });
    const ids = heard.events.map((event) => ("attemptId" in event ? event.attemptId : null));
    expect(ids.length).toBeGreaterThan(2);
    expect(new Set(ids).size).toBe(1);
    expect(await session.path()).not.toContainEqual(expect.objectContaining({ id: ids[0] }));

    const failing = { session, contextWindow, settings: "pi", summarizer: async () => Promise.reject(new Error("no")) } as const;
    await createCompactor({ ...failing, onEvent: heard.onEvent }).navigate("u1", { summarize: true });
    expect(heard.events.at(-1)).toMatchObject({ type: "branchSummaryComplete", success: false, error: { code: "SUMMARIZER_CALL" } });
  });
});

describe("leaving a branch with a summary", () => {
  /** Two branches below a1: u2..a3, and u4 a4 where the leaf is going. */
  async function branched() {
    const grownSession = await grown("u1 a1 u4 a4");
    await grownSession.session.moveLeaf("a1");
    await plant(grownSession.session, turns(2, 3));
    return grownSession;
  }

  test("adds a summary of the abandoned branch to the new branch", async () => {
    const { store, session } = await branched();
    const { summarizer, asked } = model("## Goal\nThe other way.");
    const compactor = createCompactor({ session, contextWindow, summarizer });
    const result = await compactor.navigate("a4", { summarize: true, label: "left" });
    if (result.kind !== "moved" || result.summaryEntryId === null) throw new TypeError(result.kind);
    expect(await pathNames(session)).toBe(`u1 a1 u4 a4 ${result.summaryEntryId}`);
    const entry = await session.entry(result.summaryEntryId);
    expect(entry).toMatchObject({
      type: "branch_summary",
      fromId: "a3",
      parentId: "a4",
      details: { readFiles: ["src/k2.ts", "src/k3.ts"], modifiedFiles: [] },
    });
    expect(asked[0]?.prompt).toContain("u2 the u2");
    expect(asked[0]?.prompt).not.toContain("u1 the u1");
    expect(await session.resolve("left")).toBe(result.summaryEntryId);
    expect(await findings(store)).toEqual([]);
  });

  test("is in the next context, and is undone with the move", async () => {
    const { session } = await branched();
    const compactor = createCompactor({ session, contextWindow, summarizer: model("## Goal\nThe other way.").summarizer });
    await compactor.navigate("a4", { summarize: true });
    expect((await session.context()).messages.at(-1)).toMatchObject({
      role: "branchSummary",
      summary: expect.stringContaining("The other way."),
    });
    await session.undoMove();
    expect(session.leafId).toBe("a3");
  });

  test("to a prompt puts the summary at the place of the prompt", async () => {
    const { session } = await grown(turns(1, 3));
    const compactor = createCompactor({ session, contextWindow, summarizer: model("## Goal\nTried.").summarizer });
    const result = await compactor.navigate("u2", { summarize: true });
    if (result.kind !== "moved") throw new TypeError(result.kind);
    expect(result.text?.startsWith("u2 the")).toBe(true);
    expect(await contextNames(session)).toBe(`u1 k1 r1 a1 ${result.summaryEntryId}`);
  });

  test("cancelled, the leaf has not moved and nothing was written", async () => {
    const { session } = await branched();
    const held = heldModel();
    const abort = new AbortController();
    const count = (await session.record()).entryCount;
    const running = createCompactor({ session, contextWindow, summarizer: held.summarizer }).navigate("a4", {
      summarize: true,
      signal: abort.signal,
    });
    await held.asked;
    abort.abort();
    held.give("late");
    expect(await running).toEqual({ kind: "cancelled", by: "signal" });
    expect(session.leafId).toBe("a3");
    expect((await session.record()).entryCount).toBe(count);
  });

  test("failed, the leaf has not moved", async () => {
    const { session } = await branched();
    const broken = async () => {
      throw new TypeError("no model");
    };
    const settings = { summary: { onFailure: "fail", retries: 0 } } as const;
    const compactor = createCompactor({ session, contextWindow, summarizer: broken, settings });
    expect(await compactor.navigate("a4", { summarize: true })).toMatchObject({
      kind: "failed",
      error: { message: expect.stringContaining("no model") },
    });
    expect(session.leafId).toBe("a3");
    expect(await compactor.navigate("a4")).toMatchObject({ kind: "moved" });
  });

  test("an append during the summary moves the leaf, so the summary is not written", async () => {
    const { session } = await branched();
    const held = heldModel();
    const running = createCompactor({ session, contextWindow, summarizer: held.summarizer }).navigate("a4", { summarize: true });
    await held.asked;
    await plant(session, "u9");
    held.give("## Goal\nwithout u9");
    await expect(running).rejects.toMatchObject({ code: "LEAF_MOVED" });
    expect(session.leafId).toBe("u9");
  });

  test("further down the same path there is nothing to summarize", async () => {
    const { session } = await branched();
    await session.moveLeaf("a2");
    const { summarizer, asked } = model();
    expect(await createCompactor({ session, contextWindow, summarizer }).navigate("a3", { summarize: true })).toMatchObject({
      kind: "moved",
      summaryEntryId: null,
    });
    expect(asked).toEqual([]);
  });

  test("the instructions are added to the prompt, or replace it", async () => {
    const { session } = await branched();
    const { summarizer, asked } = model("## Goal\nShort.");
    const compactor = createCompactor({ session, contextWindow, summarizer });
    await compactor.navigate("a4", { summarize: true, instructions: "FOCUS ON ERRORS" });
    await session.undoMove();
    await compactor.navigate("a4", { summarize: true, instructions: "ONLY THIS", replaceInstructions: true });
    expect(asked[0]?.prompt).toContain("FOCUS ON ERRORS");
    expect(asked[1]?.prompt).toContain("ONLY THIS");
    expect(asked[1]?.prompt.length).toBeLessThan(asked[0]?.prompt.length ?? 0);
  });

  test("files and summaries of a compaction on the branch are included", async () => {
    const { session } = await grown("u0 a0");
    await plant(session, turns(1, 10));
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: { keep: { recentTokens: 400 } },
      summarizer: model("## Goal\nCOMPACTED PART").summarizer,
    });
    await compactor.compact();
    const { summarizer, asked } = model("## Goal\nAll of it.");
    const result = await createCompactor({ session, contextWindow, summarizer }).navigate("a0", { summarize: true });
    if (result.kind !== "moved" || result.summaryEntryId === null) throw new TypeError(result.kind);
    expect(asked[0]?.prompt).toContain("COMPACTED PART");
    expect(await session.entry(result.summaryEntryId)).toMatchObject({
      details: { readFiles: expect.arrayContaining(["src/k1.ts", "src/k10.ts"]) },
    });
  });
});

describe("hooks of a navigation", () => {
  test("can cancel it, supply a summary, and observe its result", async () => {
    const { session } = await grown(turns(1, 3));
    let cancel = true;
    const heard: unknown[] = [];
    const compactor = createCompactor({
      session,
      contextWindow,
      hooks: {
        beforeNavigate: ({ abandoned }) =>
          cancel ? { cancel: true } : { summary: { summary: `of ${abandoned.length}`, details: { mine: true } } },
        navigated: (result) => void heard.push(result),
      },
    });
    expect(await compactor.navigate("a1", { summarize: true })).toEqual({ kind: "cancelled", by: "hook" });
    expect(session.leafId).toBe("a3");
    cancel = false;
    const result = await compactor.navigate("a1", { summarize: true });
    if (result.kind !== "moved" || result.summaryEntryId === null) throw new TypeError(result.kind);
    expect(await session.entry(result.summaryEntryId)).toMatchObject({ summary: "of 8", details: { mine: true }, fromHook: true });
    expect(heard).toEqual([result]);
  });
});
