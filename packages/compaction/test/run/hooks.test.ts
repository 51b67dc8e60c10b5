import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { contextNames, grown, heldModel, listening, model, pathNames, turns } from "../world/session.js";

const settings = { keep: { recentTokens: 400 } } as const;
const contextWindow = 100_000;

describe("the hook beforeCompact", () => {
  test("receives the plan of the compaction", async () => {
    const { session } = await grown(turns(1, 10));
    const told: unknown[] = [];
    const compactor = createCompactor({
      session,
      contextWindow,
      settings,
      summarizer: model().summarizer,
      hooks: {
        beforeCompact: (about) => {
          told.push({ ...about, plan: about.plan.kind, signal: about.signal.aborted });
          return undefined;
        },
      },
    });
    const result = await compactor.compact({ instructions: "tabs" });
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    expect(told).toEqual([
      {
        sessionId: session.id,
        trigger: "manual",
        instructions: "tabs",
        plan: expect.stringMatching(/turn/),
        previousSummary: null,
        tokensBefore: result.tokensBefore,
        signal: false,
      },
    ]);
  });

  test("cancels", async () => {
    const { session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const { summarizer, asked } = model();
    const compactor = createCompactor({
      session,
      contextWindow,
      settings,
      summarizer,
      hooks: { beforeCompact: () => ({ cancel: true }) },
    });
    expect(await compactor.compact()).toEqual({ kind: "cancelled", by: "hook" });
    expect(asked).toEqual([]);
    expect(await pathNames(session)).toBe(before);
  });

  test("can supply a summary with its own cut and details, and no model is called", async () => {
    const { session } = await grown(turns(1, 10));
    const { summarizer, asked } = model();
    const compaction = { summary: "Mine.", firstKeptEntryId: "u5", details: { mine: 1 }, title: "By hook" };
    const compactor = createCompactor({ session, contextWindow, settings, summarizer, hooks: { beforeCompact: () => ({ compaction }) } });
    const result = await compactor.compact();
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    expect(asked).toEqual([]);
    expect(await session.entry(result.entryId)).toMatchObject({
      ...compaction,
      fromHook: true,
      method: "hook",
      covers: { fromEntryId: "u1", toEntryId: "a4" },
    });
    expect((await contextNames(session)).startsWith(`${result.entryId} u5 k5`)).toBe(true);
  });

  test.each([
    ["a summary that is empty", { summary: " " }],
    ["a summary that is no text", { summary: 7 }],
    ["a first kept entry that is not there", { summary: "x", firstKeptEntryId: "nobody" }],
    ["a first kept entry that is no id", { summary: "x", firstKeptEntryId: 7 }],
    ["details that JSON cannot hold", { summary: "x", details: { big: 1n } }],
  ])("that supplies %s makes a typed failure, and nothing is written", async (_name, compaction) => {
    const { session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const hooks = { beforeCompact: () => ({ compaction: compaction as never }) };
    const result = await createCompactor({ session, contextWindow, settings, hooks }).compact();
    expect(result).toMatchObject({ kind: "failed", error: { code: expect.stringMatching(/HOOK_RESULT|UNSERIALIZABLE_VALUE/) } });
    expect(await pathNames(session)).toBe(before);
  });

  test("that throws is reported and ignored", async () => {
    const { session } = await grown(turns(1, 10));
    const heard = listening();
    const hooks = {
      beforeCompact: () => {
        throw new TypeError("broken hook");
      },
      compacted: async () => {
        throw new TypeError("broken too");
      },
    };
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer, hooks, onEvent: heard.onEvent });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted" });
    expect(heard.events.filter(({ type }) => type === "hookFailed")).toMatchObject([{ hook: "beforeCompact" }, { hook: "compacted" }]);
  });
});

describe("the hook compacting", () => {
  test("can supply the prompt, context lines, and data to keep", async () => {
    const { session } = await grown(turns(1, 10));
    const { summarizer, asked } = model();
    const hooks = { compacting: () => ({ prompt: "SAY IT SHORTLY", context: ["The build is green."], preserveData: { handle: "h1" } }) };
    const result = await createCompactor({ session, contextWindow, settings, summarizer, hooks }).compact();
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    expect(asked[0]?.prompt).toContain("SAY IT SHORTLY");
    expect(asked[0]?.prompt).toContain("The build is green.");
    expect(await session.entry(result.entryId)).toMatchObject({ preserveData: { handle: "h1" } });
  });
});

describe("hooks after a compaction", () => {
  test("compacted receives the result and reads the session after the append", async () => {
    const { session } = await grown(turns(1, 10));
    const seen: unknown[] = [];
    const hooks = { compacted: async (done: { entryId: string }) => void seen.push([done, (await session.context()).compaction?.entryId]) };
    const result = await createCompactor({ session, contextWindow, settings, summarizer: model().summarizer, hooks }).compact();
    if (result.kind !== "compacted") throw new TypeError(result.kind);
    expect(seen).toEqual([[result, result.entryId]]);
  });

  test("compactFailed is called after a failure, not after a cancellation", async () => {
    const { session } = await grown(turns(1, 10));
    const failures: unknown[] = [];
    const held = heldModel();
    const hooks = { compactFailed: (failure: { readonly error: Error }) => void failures.push(failure.error.message) };
    const failing = { ...settings, summary: { onFailure: "fail", retries: 0 } } as const;
    const abort = new AbortController();
    const cancelled = createCompactor({ session, contextWindow, settings: failing, summarizer: held.summarizer, hooks }).compact({
      signal: abort.signal,
    });
    await held.asked;
    abort.abort();
    held.give("late");
    await cancelled;
    expect(failures).toEqual([]);
    const broken = async () => {
      throw new TypeError("no model");
    };
    await createCompactor({ session, contextWindow, settings: failing, summarizer: broken, hooks }).compact();
    expect(failures).toEqual([expect.stringContaining("no model")]);
  });

  test("a listener that throws does not stop the compaction", async () => {
    const { session } = await grown(turns(1, 10));
    const onEvent = () => {
      throw new TypeError("the screen is gone");
    };
    expect(await createCompactor({ session, contextWindow, settings, summarizer: model().summarizer, onEvent }).compact()).toMatchObject({
      kind: "compacted",
    });
  });
});

describe("calls from inside a hook", () => {
  test("do not wait for the operation that awaits the hook", async () => {
    const { session } = await grown(turns(1, 10));
    const heard = listening();
    const seen: unknown[] = [];
    const compactor = createCompactor({
      session,
      contextWindow,
      settings,
      summarizer: model().summarizer,
      onEvent: heard.onEvent,
      hooks: {
        beforeCompact: async () => {
          seen.push((await compactor.prepareRequest()).fits);
          return undefined;
        },
        compacted: async () => void seen.push((await compactor.compact()).kind),
      },
    });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted" });
    expect(seen).toEqual([true]);
    // Another compaction inside of one is refused, and the hook that asked for it has failed.
    expect(heard.events.filter(({ type }) => type === "hookFailed")).toMatchObject([
      { hook: "compacted", error: { code: "COMPACTOR_BUSY" } },
    ]);
  });
});

describe("several handlers of a hook", () => {
  const supplied = (summary: string) => () => ({ compaction: { summary } });

  test("the first supplied summary is used, and no model is called", async () => {
    const { session } = await grown(turns(1, 10));
    const { summarizer, asked } = model();
    const beforeCompact = [() => undefined, supplied("the first"), supplied("the second")];
    const compactor = createCompactor({ session, contextWindow, settings, summarizer, hooks: { beforeCompact } });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", summary: "the first", method: "hook" });
    expect(asked).toEqual([]);
  });

  test("any of them can cancel, even after one that supplied a summary; one that throws is ignored", async () => {
    const { session } = await grown(turns(1, 10));
    const heard = listening();
    const failing = () => {
      throw new Error("no");
    };
    const beforeCompact = [failing, supplied("the first"), () => ({ cancel: true })];
    const compactor = createCompactor({ session, contextWindow, settings, hooks: { beforeCompact }, onEvent: heard.onEvent });
    expect(await compactor.compact()).toEqual({ kind: "cancelled", by: "hook" });
    expect(heard.types()).toContain("hookFailed");
  });
});

describe("abortCompaction", () => {
  test("ends an awaited compaction and writes nothing", async () => {
    const { session } = await grown(turns(1, 10));
    const before = await pathNames(session);
    const { summarizer, asked } = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer });
    expect(compactor.abortCompaction()).toBe(false);
    const running = compactor.compact();
    await asked;
    expect(compactor.abortCompaction()).toBe(true);
    expect(await running).toEqual({ kind: "cancelled", by: "signal" });
    expect(await pathNames(session)).toBe(before);
    expect(compactor.abortCompaction()).toBe(false);
  });

  test("ends a background run too", async () => {
    const { session } = await grown(`${turns(1, 15)} u16`);
    const { summarizer, asked } = heldModel();
    const heard = listening();
    const early = { ...settings, background: { start: 0.5 } };
    const compactor = createCompactor({ session, contextWindow: 6_000, settings: early, summarizer, onEvent: heard.onEvent });
    await compactor.prepareRequest();
    await asked;
    expect(compactor.abortCompaction()).toBe(true);
    expect(heard.events.at(-1)).toMatchObject({ type: "compactionComplete", background: true, success: false });
  });

  test("is what close does, so that nobody waits for a model any more", async () => {
    const { session } = await grown(turns(1, 10));
    const { summarizer, asked } = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer });
    const running = compactor.compact();
    await asked;
    await compactor.close();
    expect(await running).toEqual({ kind: "cancelled", by: "signal" });
  });
});
