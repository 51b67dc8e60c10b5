import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { contextNames, findings, grown, heldModel, listening, model, pathNames, plant, turns } from "../world/session.js";

// A window that ten turns do not fill, and a tail of about two turns.
const settings = { keep: { recentTokens: 400 }, trigger: { manualMinMessages: 2 } } as const;
const contextWindow = 100_000;

describe("manual compaction", () => {
  test("puts a summary before the kept tail, and changes no other entry", async () => {
    const { store, session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });

    const result = await compactor.compact();

    if (result.kind !== "compacted") throw new TypeError(result.kind);
    expect(await pathNames(session)).toBe(`${before} ${result.entryId}`);
    const names = await contextNames(session);
    expect(names.startsWith(`${result.entryId} ${result.firstKeptEntryId}`)).toBe(true);
    expect(names.endsWith("u10 k10 r10 a10")).toBe(true);
    expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
    expect(await findings(store)).toEqual([]);
  });

  test("stores its trigger, tokens, files, covered range and fidelity", async () => {
    const { session } = await grown(turns(1, 10));
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    const result = await compactor.compact({ instructions: "the parser" });
    if (result.kind !== "compacted") throw new TypeError(result.kind);

    const entry = await session.entry(result.entryId);

    expect(entry).toMatchObject({
      type: "compaction",
      trigger: "manual",
      instructions: "the parser",
      tokensBefore: result.tokensBefore,
      tokensAfter: result.tokensAfter,
      covers: { fromEntryId: "u1" },
      method: "normal",
    });
    const { readFiles } = (entry as unknown as { details: { readFiles: string[] } }).details;
    expect(readFiles).toContain("src/k1.ts");
    expect(readFiles).not.toContain("src/k10.ts");
  });

  test("starts at the first kept entry of the last one, whose summary the model updates", async () => {
    const { session } = await grown(turns(1, 10));
    const { summarizer, asked } = model(({ prompt }) =>
      prompt.includes("FIRST") ? "SECOND summary: src/k12.ts" : "FIRST summary: src/k2.ts",
    );
    const compactor = createCompactor({ session, contextWindow, settings, summarizer });
    const first = await compactor.compact();
    const callsOfFirst = asked.length;
    await plant(session, turns(11, 20));
    const second = await compactor.compact();

    if (first.kind !== "compacted" || second.kind !== "compacted") throw new TypeError(`${first.kind} ${second.kind}`);
    // What the first one kept is summarized now, and what it summarized is not read again.
    const read = asked
      .slice(callsOfFirst)
      .map(({ prompt }) => prompt)
      .join("\n");
    expect(read).toContain(`the a${first.firstKeptEntryId?.slice(1)} word`);
    expect(read).not.toContain("the u1 word");
    expect(read).toContain("FIRST summary");
    expect((await session.context()).messages[0]).toMatchObject({ role: "compactionSummary", summary: expect.stringContaining("SECOND") });
  });

  test.each([
    ["", "too-few-messages"],
    ["u1", "too-few-messages"],
    ["u1 a1", "all-is-kept"],
  ])("a session with '%s' has nothing to compact: %s", async (words, reason) => {
    const { session } = await grown(words);
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    expect(await compactor.compact()).toEqual({ kind: "nothing-to-compact", reason });
  });

  test("twice in a row, the second call has nothing to compact", async () => {
    const { session } = await grown(turns(1, 10));
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    await compactor.compact();
    expect(await compactor.compact()).toEqual({ kind: "nothing-to-compact", reason: "just-compacted" });
  });

  test("without a summarizer the extract is used, and the result reports it", async () => {
    const { session } = await grown(turns(1, 10));
    const result = await createCompactor({ session, contextWindow, settings }).compact();
    expect(result).toMatchObject({ kind: "compacted", method: "extract", summary: expect.stringMatching(/extracted/i) });
  });

  test("ends in a host whose tests stop the clock", async () => {
    const { session } = await grown(turns(1, 10));
    const compactor = createCompactor({ session, contextWindow, settings });
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    expect((await compactor.compact()).kind).toBe("compacted");
  });
});

describe("a compaction without a result writes nothing", () => {
  test("cancelled before it started", async () => {
    const { session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const { summarizer, asked } = model();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer });
    expect(await compactor.compact({ signal: AbortSignal.abort() })).toEqual({ kind: "cancelled", by: "signal" });
    expect(asked).toEqual([]);
    expect(await pathNames(session)).toBe(before);
  });

  test("cancelled while the model writes, even if the model still answers", async () => {
    const { session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const held = heldModel();
    const abort = new AbortController();
    const running = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer }).compact({ signal: abort.signal });
    await held.asked;
    abort.abort();
    held.give("## Goal\ntoo late");
    expect(await running).toEqual({ kind: "cancelled", by: "signal" });
    expect(await pathNames(session)).toBe(before);
  });

  test("a model that throws, with settings that allow no extract", async () => {
    const { session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const heard = listening();
    const broken = async () => {
      throw new TypeError("the model is gone");
    };
    const compactor = createCompactor({
      session,
      contextWindow,
      summarizer: broken,
      settings: { ...settings, summary: { onFailure: "fail", retries: 0 } },
      onEvent: heard.onEvent,
    });
    expect(await compactor.compact()).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("the model is gone") } });
    expect(await pathNames(session)).toBe(before);
    expect(heard.events.at(-1)).toMatchObject({ type: "compactionComplete", success: false, outcome: "failed" });
    // It is over, and not "compacting" for ever.
    expect(await createCompactor({ session, contextWindow, settings, summarizer: model().summarizer }).compact()).toMatchObject({
      kind: "compacted",
    });
  });

  test("the leaf has moved to another branch", async () => {
    const { session } = await grown(turns(1, 10));
    const held = heldModel();
    const running = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer }).compact();
    await held.asked;
    await session.moveLeaf("a2");
    held.give("## Goal\nof a branch nobody is on");
    expect(await running).toEqual({ kind: "superseded" });
    expect(await contextNames(session)).toBe("u1 k1 r1 a1 u2 k2 r2 a2");
  });

  test("another process has moved the leaf", async () => {
    const { store, session } = await grown(turns(1, 10));
    const other = await store.openSession(session.id);
    const held = heldModel();
    const running = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer }).compact();
    await held.asked;
    await plant(other, "u11");
    held.give("## Goal\nlate");
    expect(await running).toEqual({ kind: "superseded" });
    expect((await other.path()).filter(({ type }) => type === "compaction")).toEqual([]);
  });
});

describe("while the model writes", () => {
  test("the agent continues, and its messages follow the summary", async () => {
    const { store, session } = await grown(turns(1, 10));
    const held = heldModel();
    const running = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer }).compact();
    await held.asked;
    await plant(session, "u11 k11 r11:k11");
    held.give("## Goal\nall of it");
    const result = await running;
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    const names = await contextNames(session);
    expect(names.startsWith(result.entryId)).toBe(true);
    expect(names.endsWith("u10 k10 r10 a10 u11 k11 r11")).toBe(true);
    expect(await findings(store)).toEqual([]);
  });

  test("a second compaction is rejected", async () => {
    const { session } = await grown(turns(1, 10));
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer });
    const running = compactor.compact();
    await held.asked;
    await expect(compactor.compact()).rejects.toMatchObject({ code: "COMPACTOR_BUSY" });
    await expect(compactor.navigate("u1")).rejects.toMatchObject({ code: "COMPACTOR_BUSY" });
    held.give("## Goal\nshort");
    expect(await running).toMatchObject({ kind: "compacted" });
  });
});

describe("undoing a compaction", () => {
  test("restores the context, with later entries, on this path only", async () => {
    const { session } = await grown(turns(1, 10));
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    const before = await contextNames(session);
    const result = await compactor.compact();
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    await plant(session, "u11 a11");
    expect(await compactor.undoCompaction()).toMatchObject({ kind: "undone", compactionId: result.entryId });
    expect(await contextNames(session)).toBe(`${before} u11 a11`);
    await session.moveLeaf(result.entryId);
    expect(await contextNames(session)).not.toContain("u1 k1");
  });

  test("puts the previous one in force again", async () => {
    const { session } = await grown(turns(1, 10));
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    const first = await compactor.compact();
    await plant(session, turns(11, 20));
    await compactor.compact();
    await compactor.undoCompaction();
    if (first.kind !== "compacted") throw new TypeError(first.kind);
    expect((await contextNames(session)).startsWith(`${first.entryId} ${first.firstKeptEntryId}`)).toBe(true);
    expect(await compactor.undoCompaction()).toMatchObject({ kind: "undone" });
    expect(await compactor.undoCompaction()).toEqual({ kind: "nothing-to-undo" });
  });
});
