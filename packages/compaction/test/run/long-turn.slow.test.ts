import { assistantMessage, type ContextMessage, type Session } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type Compactor, createCompactor } from "../../src/run/compactor.js";
import type { CompactionEvent } from "../../src/run/events.js";
import type { PreparedRequest } from "../../src/run/prepare-request.js";
import type { PresetName } from "../../src/settings/presets.js";
import { openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import { fail, startModelServer } from "../model/model-server.js";
import { findings, grown, listening, plant } from "../world/session.js";

// One prompt and hundreds of rounds of tools, as an agent that works by itself has them; settings as they ship.

const SUMMARY = "<analysis>x</analysis><summary>\n## Goal\nMend the parser.\n\n## Next Steps\n1. Go on\n</summary>";

async function scene(preset: PresetName, contextWindow: number) {
  const { store, session } = await grown("u1");
  const server = await startModelServer();
  server.otherwise(SUMMARY);
  const heard = listening();
  const compactor = createCompactor({
    session,
    contextWindow,
    settings: preset,
    summarizer: openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "loop" }),
    onEvent: heard.onEvent,
    random: () => 0.5,
    sleep: async () => undefined,
  });
  return { store, session, server, compactor, events: heard.events };
}

/** A round of the turn. A background summary is done before the model's own answer has come. */
async function round(session: Session, compactor: Compactor, n: number, result: number): Promise<PreparedRequest> {
  let request = await compactor.prepareRequest();
  const first = request;
  for (let looks = 0; request.done.background === "started" || request.done.background === "running"; looks += 1) {
    if (looks > 2_000) throw new Error("background runs are started again and again for the same context");
    await new Promise((resolve) => setImmediate(resolve));
    request = await compactor.prepareRequest();
  }
  await plant(session, `k${n} r${n}:k${n}`, { result });
  return first;
}

function outcomes(events: readonly CompactionEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "compactionComplete" ? [`${event.outcome} ${event.background}`] : []));
}

function results(messages: readonly ContextMessage[]): readonly string[] {
  return messages.flatMap((message) => (message.role === "toolResult" ? [JSON.stringify(message.content)] : []));
}

describe.each(["balanced", "copilot-cli", "vscode"] as const)("300 rounds of one turn with the preset %s", (preset) => {
  test("are compacted in the background from the first to the last time", async () => {
    const { store, session, compactor, events } = await scene(preset, 10_000);
    for (let n = 1; n <= 300; n += 1) {
      const { use, fits } = await round(session, compactor, n, 120);
      expect([fits, use.totalTokens <= 10_000]).toEqual([true, true]);
    }
    await compactor.close();
    const ended = outcomes(events);
    expect(ended.length).toBeGreaterThan(3);
    expect([...new Set(ended)]).toEqual(["compacted true"]);
    expect(await findings(store)).toEqual([]);
  });
});

describe("a background run that failed", () => {
  test("is restarted in the same turn once the context has grown", async () => {
    const { session, server, compactor, events } = await scene("copilot-cli", 10_000);
    // The live request and the text of the conversation.
    server.reply(fail(400, "no"), fail(400, "no"));
    for (let n = 1; n <= 80 && !outcomes(events).includes("compacted true"); n += 1) await round(session, compactor, n, 120);
    await compactor.close();
    expect(outcomes(events)).toEqual(["failed true", "compacted true"]);
  });

  test("is not restarted for the same context, however often prepareRequest is called", async () => {
    const { session, server, compactor, events } = await scene("copilot-cli", 10_000);
    server.otherwise(fail(400, "no"));
    for (let n = 1; outcomes(events).length === 0; n += 1) await round(session, compactor, n, 120);
    const asked = server.requests.length;
    for (let n = 0; n < 10; n += 1) expect((await compactor.prepareRequest()).done.background).toBe("none");
    await compactor.close();
    expect(server.requests).toHaveLength(asked);
  });

  test("makes few calls if the model fails during a whole long turn, and each request fits", async () => {
    const { session, server, compactor } = await scene("copilot-cli", 10_000);
    server.otherwise(fail(400, "no"));
    for (let n = 1; n <= 300; n += 1) expect((await round(session, compactor, n, 120)).use.totalTokens).toBeLessThanOrEqual(10_000);
    await compactor.close();
    // Ever longer intervals: the context grew to five times the window, by a quarter each time.
    expect(server.requests.length).toBeLessThanOrEqual(12);
  });
});

describe("VS Code's start", () => {
  test("waits for 90 % before the first round of tools of a turn, and for 80 % once there was one", async () => {
    const { session, compactor } = await scene("vscode", 10_000);
    await plant(session, "a1 u2");
    const { messageTokens } = await compactor.usage();
    const at85 = { systemTokens: 8_500 - messageTokens, toolTokens: 0 };
    expect((await compactor.prepareRequest(at85)).done.background).toBe("none");
    await plant(session, "k2 r2:k2");
    expect((await compactor.prepareRequest(at85)).done.background).toBe("started");
    await compactor.close();
  });
});

describe("old tool output of a running turn", () => {
  test("is pruned before any summary, except for its newest 40,000 tokens (pi)", async () => {
    const { session, server, compactor, events } = await scene("oh-my-pi", 128_000);
    let request: PreparedRequest | undefined;
    for (let n = 1; request === undefined || request.done.pruned === 0; n += 1) request = await round(session, compactor, n, 1_500);
    const { context } = await compactor.prepareRequest();
    const whole = results(context.messages).map((text) => !text.includes("[Output truncated - "));
    const oldestWhole = whole.indexOf(true);
    expect(oldestWhole).toBeGreaterThan(0);
    expect(whole.slice(oldestWhole)).not.toContain(false);
    // Each result has about 1,900 tokens, so twenty to twenty-two of them are the newest 40,000.
    const perResult = (events.find((event) => event.type === "pruned")?.savedTokens ?? 0) / oldestWhole;
    expect(Math.abs((whole.length - oldestWhole) * perResult - 40_000)).toBeLessThanOrEqual(2 * perResult);
    expect(server.requests).toEqual([]);
  });

  test("is unchanged in the store; the unanswered round is never pruned", async () => {
    const { session } = await scene("oh-my-pi", 10_000);
    const prune = { protectTokens: 0, minSavingsTokens: 0 };
    const compactor = createCompactor({ session, contextWindow: 2_000, settings: { preset: "oh-my-pi", prune } });
    await plant(session, "k1 r1:k1 k2 r2:k2 k3 r3:k3", { result: 500 });
    const { context, done } = await compactor.prepareRequest();
    const [first, second, third] = results(context.messages);
    expect([done.pruned, done.compaction]).toEqual([2, null]);
    expect([first, second].map((text) => text?.includes("[Output truncated - "))).toEqual([true, true]);
    expect(third).toContain("the r3 word124");
    expect(JSON.stringify(await session.entry("r1"))).toContain("the r1 word124");
  });

  test("is trimmed in each request except for the newest round, with the preset co-cli", async () => {
    const { session, compactor } = await scene("co-cli", 200_000);
    for (let n = 1; n <= 8; n += 1) await plant(session, `k${n} r${n}:k${n}`, { result: 2_000 });
    const lengths = results((await compactor.prepareRequest()).context.messages).map((text) => text.length);
    expect(lengths.slice(0, 7).every((length) => length <= 2_100)).toBe(true);
    expect(lengths[7]).toBeGreaterThan(7_000);
  });
});

describe("a provider that counts more than we do", () => {
  test("reduces the kept tail in proportion", async () => {
    const kept: number[] = [];
    for (const factor of [1, 2]) {
      const { session, compactor } = await scene("oh-my-pi", 100_000);
      for (let n = 2; n <= 45; n += 1) await plant(session, `u${n} a${n}`, { user: 300, reply: 300 });
      const known = { systemTokens: 100, toolTokens: 0 };
      const { totalTokens } = await compactor.usage(known);
      const usage = { input: factor * totalTokens, output: 10 };
      await session.append({ ...assistantMessage("so it is", { usage }), id: "a99" });
      await compactor.prepareRequest(known);
      const result = await compactor.compact();
      if (result.kind !== "compacted") throw new Error(`it was ${result.kind}`);
      kept.push(result.messagesAfter);
    }
    const [same = 0, twice = 0] = kept;
    expect(twice).toBeLessThan(0.6 * same);
  });
});
