import { assistantMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type Compactor, createCompactor } from "../../src/run/compactor.js";
import type { PreparedRequest } from "../../src/run/prepare-request.js";
import { grown, heldModel, listening, model, pathNames, plant, turns } from "../world/session.js";

const contextWindow = 3_000;
const settings = {
  trigger: { reserveTokens: 300, reserveShare: 0 },
  keep: { recentTokens: 500 },
  prune: { enabled: false },
  background: { start: null },
} as const;
const early = { ...settings, background: { start: 0.3, jitterShare: 0, minShareToApply: 0 } } as const;

/** Never settles. */
const never = () => new Promise<never>(() => undefined);

describe("a hook that never returns", () => {
  test.each(["beforeCompact", "compacting"] as const)("%s ends with the signal, and the session is free again", async (name) => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const abort = new AbortController();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer, hooks: { [name]: never } });
    const before = await pathNames(session);
    const result = compactor.compact({ signal: abort.signal });
    abort.abort();
    expect(await result).toEqual({ kind: "cancelled", by: "signal" });
    expect(await pathNames(session)).toBe(before);
    const other = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer });
    expect((await other.compact()).kind).toBe("compacted");
  });

  test("beforeNavigate and hostState too", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const abort = new AbortController();
    const compactor = createCompactor({ session, contextWindow, settings, hooks: { beforeNavigate: never } });
    const moved = compactor.navigate("a1", { signal: abort.signal });
    abort.abort();
    expect((await moved).kind).toBe("cancelled");
    const second = new AbortController();
    const withState = createCompactor({ session, contextWindow, settings, summarizer: model().summarizer, hostState: never });
    const result = withState.compact({ signal: second.signal });
    second.abort();
    expect((await result).kind).toBe("cancelled");
  });

  test("a request that waits for it ends by its own signal", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    const compactor = createCompactor({ session, contextWindow, settings, summarizer: held.summarizer });
    const byHand = compactor.compact();
    await held.asked;
    const abort = new AbortController();
    const request = compactor.prepareRequest({ signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(request).rejects.toThrow("enough");
    held.give("## Goal\nshort");
    expect((await byHand).kind).toBe("compacted");
  });
});

describe("calls from inside the compactor", () => {
  test("a hook of a background run that prepares a request does not wait for that run", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    let cameBack: () => void = () => undefined;
    const back = new Promise<void>((resolve) => {
      cameBack = resolve;
    });
    const compactor: ReturnType<typeof createCompactor> = createCompactor({
      session,
      contextWindow,
      settings: early,
      summarizer: model().summarizer,
      hooks: {
        beforeCompact: async () => {
          await plant(session, turns(20, 24));
          await compactor.prepareRequest();
          cameBack();
          return undefined;
        },
      },
    });
    await compactor.prepareRequest();
    await back;
    expect((await compactor.prepareRequest()).fits).toBe(true);
  });

  test("that starts the rest of a turn leaves it to wait for the next compaction, like any other caller", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let rest: Promise<PreparedRequest> | undefined;
    const compacted = () => {
      rest ??= released.then(() => compactor.prepareRequest());
    };
    const first = model("## Goal\nthe first");
    const summarizer = { manual: held.summarizer, automatic: first.summarizer };
    const compactor: Compactor = createCompactor({ session, contextWindow, settings, summarizer, hooks: { compacted } });
    expect((await compactor.memoryPressure())?.kind).toBe("compacted");
    await plant(session, `a10 ${turns(11, 13)} u14`);
    const second = compactor.compact();
    await held.asked;
    release();
    for (let tick = 0; tick < 20; tick += 1) await new Promise(setImmediate);
    held.give("## Goal\nthe second");
    expect((await second).kind).toBe("compacted");
    expect((await rest)?.messages[0]).toMatchObject({ summary: expect.stringContaining("the second") });
  });

  test("hostState that prepares a request returns", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const compactor: ReturnType<typeof createCompactor> = createCompactor({
      session,
      contextWindow,
      settings,
      summarizer: model().summarizer,
      hostState: async () => {
        await compactor.prepareRequest();
        return {};
      },
    });
    expect((await compactor.compact()).kind).toBe("compacted");
  });

  test("a listener that starts a compaction gets no second one during the first", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const held = heldModel();
    let second: Promise<unknown> | undefined;
    const compactor: ReturnType<typeof createCompactor> = createCompactor({
      session,
      contextWindow,
      settings: early,
      summarizer: held.summarizer,
      onEvent: (event) => {
        if (event.type === "compactionComplete" && !event.success) second ??= compactor.compact().catch((error: unknown) => error);
      },
    });
    await compactor.prepareRequest();
    await held.asked;
    const first = compactor.compact();
    held.give("## Goal\nshort");
    expect((await first).kind).toBe("compacted");
    expect(await second).toMatchObject({ code: "COMPACTOR_BUSY" });
  });
});

describe("errors after the append of the entry", () => {
  test("do not fail the compaction: hostState", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    await session.append({ ...assistantMessage("cut", { stopReason: "length" }), id: "a14" });
    let calls = 0;
    const hostState = () => {
      calls += 1;
      if (calls > 1) throw new Error("the file of todos is gone");
      return {};
    };
    const heard = listening();
    const compactor = createCompactor({
      session,
      contextWindow,
      settings,
      summarizer: model().summarizer,
      hostState,
      onEvent: heard.onEvent,
    });
    expect((await compactor.turnEnded())?.kind).toBe("compacted");
    expect(heard.events.find(({ type }) => type === "compactionComplete")).toMatchObject({ success: true });
  });

  test("do not fail the compaction: settings that became invalid", async () => {
    const { session } = await grown(`${turns(1, 13)} u14`);
    let isBroken = false;
    const answer = () => {
      isBroken = true;
      return "## Goal\nshort";
    };
    const compactor = createCompactor({
      session,
      contextWindow,
      settings: () => (isBroken ? { keep: { recentTokens: -1 } } : settings),
      summarizer: model(answer).summarizer,
    });
    const before = await pathNames(session);
    const result = await compactor.compact().catch((error: unknown) => error);
    const isThere = (await pathNames(session)) !== before;
    expect([isThere, (result as { kind?: string }).kind === "compacted"]).toEqual([isThere, isThere]);
  });
});

describe("what a summarizer throws", () => {
  test.each<[string, unknown]>([
    ["an object without a prototype", Object.create(null)],
    ["null", null],
    ["a number", 7],
    ["something whose text throws", { toString: () => Reflect.get({}, "x").y }],
  ])("%s is a failure with a typed end, in the foreground and in the background", async (_name, thrown) => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const summarizer = async () => {
      throw thrown;
    };
    const failing = { ...settings, summary: { onFailure: "fail" } } as const;
    const compactor = createCompactor({ session, contextWindow, settings: failing, summarizer });
    const result = await compactor.compact();
    expect([result.kind, result.kind === "failed" && result.error instanceof Error]).toEqual(["failed", true]);
    const heard = listening();
    const background = createCompactor({
      session,
      contextWindow,
      settings: { ...early, summary: { onFailure: "fail" } },
      summarizer,
      onEvent: heard.onEvent,
    });
    await background.prepareRequest();
    for (let tries = 0; tries < 100 && !heard.types().includes("compactionComplete"); tries += 1) await new Promise(setImmediate);
    expect(heard.events.find(({ type }) => type === "compactionComplete")).toMatchObject({ success: false, outcome: "failed" });
  });
});

describe("a compaction that a hook supplies", () => {
  test.each<[string | null, RegExp]>([
    ["r5", /is not a cut point/],
    ["u1", /nothing to summarize/],
    [null, /has not answered/],
    ["zz", /not on the part of the path/],
  ])("must not be cut at %s", async (firstKeptEntryId, why) => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const before = await pathNames(session);
    const hooks = { beforeCompact: () => ({ compaction: { summary: "Mine.", firstKeptEntryId } }) };
    const result = await createCompactor({ session, contextWindow: 100_000, settings, hooks }).compact();
    if (result.kind !== "failed") throw new TypeError(result.kind);
    expect(result.error).toMatchObject({ code: "HOOK_RESULT", message: expect.stringMatching(why) });
    expect(await pathNames(session)).toBe(before);
  });

  test("that cannot be used is not counted against the model, which is called the next time", async () => {
    const { session } = await grown(`${turns(1, 9)} u10`);
    const { summarizer, asked } = model();
    let isBad = true;
    const hooks = { beforeCompact: () => (isBad ? { compaction: { summary: "" } } : undefined) };
    const compactor = createCompactor({ session, contextWindow, settings, summarizer, hooks });
    for (let tries = 0; tries < 3; tries += 1) expect((await compactor.compact()).kind).toBe("failed");
    isBad = false;
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "normal" });
    expect(asked.length).toBeGreaterThan(0);
  });
});
