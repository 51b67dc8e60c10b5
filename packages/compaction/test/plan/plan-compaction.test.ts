import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CompactionPlan, type KeepRule, keepRuleOf, planCompaction } from "../../src/plan/plan-compaction.js";
import { readSettings } from "../../src/settings/read-settings.js";
import { ids, items } from "./items.js";

const tokens = (count: number): KeepRule => ({ by: "tokens", tokens: count, wholeTurnTokens: 0 });

function planned(words: string, keep: KeepRule, about: { readonly minMessages?: number; readonly inForce?: string } = {}): CompactionPlan {
  return planCompaction({ items: items(words), keep, minMessages: about.minMessages ?? 1, inForce: about.inForce ?? null });
}

/** A plan in one line: what is summarized | the start of a split turn | what is kept. */
function shown(plan: CompactionPlan): string {
  if (plan.kind === "nothing-to-compact") return plan.reason;
  return [ids(plan.summarize), ids(plan.prefix), ids(plan.keep)].join(" | ");
}

describe("the cut by tokens", () => {
  test.each<[string, string, number, string]>([
    ["keeps what fits, in whole turns where they fit", "u1 a1 u2 a2 u3 a3", 20, "u1 a1 u2 a2 |  | u3 a3"],
    ["splits a turn where it does not", "u1 a1 u2 a2 u3 a3", 30, "u1 a1 | u2 | a2 u3 a3"],
    ["never cuts at a tool result: it stays with its reply", "u1 a1 u2 k2 r2 a2", 25, "u1 a1 | u2 k2 r2 | a2"],
    ["takes the newest group, however large", "u1 a1 u2 k2 r2=900", 20, "u1 a1 | u2 | k2 r2"],
    ["keeps parallel results together", "u1 a1 u2 k2 r2 r3 r4 a2", 45, "u1 a1 | u2 k2 r2 r3 r4 | a2"],
    ["nor between a call and its result where somebody spoke meanwhile", "u1 a1 k2 u3 r2 a3", 25, " | u1 a1 k2 u3 r2 | a3"],
    ["which keeps the call where the result is kept", "u1 a1 k2 n2 r2", 15, " | u1 a1 | k2 n2 r2"],
    ["cuts at a command of the person", "u1 a1 s1 u2 a2", 30, "u1 a1 |  | s1 u2 a2"],
    ["cuts at a host's message", "u1 a1 n1 a2", 20, "u1 a1 |  | n1 a2"],
    ["cuts at a branch summary", "u1 a1 b1 a2", 20, "u1 a1 |  | b1 a2"],
    ["pulls settings right before the cut into what is kept", "u1 a1 m1 d1 u2 a2", 20, "u1 a1 |  | m1 d1 u2 a2"],
    ["not beyond a compaction", "u1 a1 c1 m1 u2 a2", 20, "u1 a1 c1 |  | m1 u2 a2"],
    ["nor a message that was omitted", "u1 a1 -u9 m1 u2 a2", 20, "u1 a1 u9 |  | m1 u2 a2"],
    ["keeps a prompt without an answer, whatever it costs", "u1 a1 u2=500", 20, "u1 a1 |  | u2"],
    ["keeps several of them, and what a host put in", "u1 a1 u2=30 n1=30 u3=30", 20, "u1 a1 |  | u2 n1 u3"],
    ["a turn whose start an earlier compaction covers goes into that summary", "k3 r3 a3 k4 r4 a4", 15, "k3 r3 a3 k4 r4 |  | a4"],
  ])("%s", (_name, words, budget, expected) => {
    expect(shown(planned(words, tokens(budget)))).toBe(expected);
  });

  test("counts everything the model reads, a host's messages too", () => {
    expect(shown(planned("u1 a1 n1=100 a2 u3 a3", tokens(50)))).toBe("u1 a1 | n1 | a2 u3 a3");
  });
});

describe("the cut by tokens with the message that crosses them", () => {
  const crossing = (count: number, most = 1_000): KeepRule => ({ by: "tokens", tokens: count, wholeTurnTokens: 0, crossingTokens: most });

  test.each<[string, string, KeepRule, string]>([
    ["keeps a reply that crosses", "u1 a1 u2 a2=50 u3 a3", crossing(30), "u1 a1 | u2 | a2 u3 a3"],
    ["keeps a prompt that crosses", "u1 a1 u2=50 a2", crossing(30), "u1 a1 |  | u2 a2"],
    ["and one that reaches the size exactly", "u1 a1 u2 a2", crossing(20), "u1 a1 |  | u2 a2"],
    ["not a result that crosses, whose reply is before it", "u1 a1 u2 k2 r2=50 a2", crossing(30), "u1 a1 | u2 k2 r2 | a2"],
    ["the newest reply with results that alone are larger", "u1 a1 u2 k2 r2=50", crossing(30), "u1 a1 | u2 | k2 r2"],
    ["not a message that makes the tail larger than the window allows", "u1 a1 u2=500 a2", crossing(30, 100), "u1 a1 | u2 | a2"],
    ["everything where the size is not reached", "u1 a1 u2 a2", crossing(100), "all-is-kept"],
  ])("%s", (_name, words, rule, expected) => {
    expect(shown(planned(words, rule))).toBe(expected);
  });
});

describe("other cuts", () => {
  test.each<[string, string, KeepRule, string]>([
    ["nothing is kept", "u1 a1 u2 a2", { by: "nothing" }, "u1 a1 u2 a2 |  | "],
    ["nothing but the prompt that waits", "u1 a1 u2 a2 u3", { by: "nothing" }, "u1 a1 u2 a2 |  | u3"],
    ["so many messages, groups whole", "u1 a1 u2 k2 r2 a2", { by: "messages", messages: 2 }, "u1 a1 | u2 k2 r2 | a2"],
    ["an entry that was chosen, and all behind it", "u1 a1 u2 k2 r2 a2", { by: "entry", entryId: "u2" }, "u1 a1 |  | u2 k2 r2 a2"],
    ["where that is a result, its call too", "u1 a1 u2 k2 r2 a2", { by: "entry", entryId: "r2" }, "u1 a1 | u2 | k2 r2 a2"],
    ["nothing before the first entry", "u1 a1 u2 a2", { by: "entry", entryId: "u1" }, "all-is-kept"],
    ["nothing before one that an earlier compaction covers", "u3 a3 u4 a4", { by: "entry", entryId: "u1" }, "all-is-kept"],
    ["the prompt that waits, though a later entry was chosen", "u1 a1 u2 d1", { by: "entry", entryId: "d1" }, "u1 a1 |  | u2 d1"],
    ["the newest round of a turn", "u1 a1 u2 k2 r2 k3 r3 k4 r4", { by: "rounds", rounds: 1 }, "u1 a1 | u2 k2 r2 k3 r3 | k4 r4"],
    ["two rounds", "u1 a1 u2 k2 r2 k3 r3 k4 r4", { by: "rounds", rounds: 2 }, "u1 a1 | u2 k2 r2 | k3 r3 k4 r4"],
    [
      "two rounds, but no more than so many tokens",
      "u1 a1 u2 k2 r2 k3 r3 k4 r4",
      { by: "rounds", rounds: 2, mostTokens: 39 },
      "u1 a1 | u2 k2 r2 k3 r3 | k4 r4",
    ],
    [
      "so many messages, but no more than so many tokens",
      "u1 a1 u2 k2 r2 a2",
      { by: "messages", messages: 4, mostTokens: 29 },
      "u1 a1 | u2 k2 r2 | a2",
    ],
    ["no more than the turn has", "u1 a1 u2 k2 r2", { by: "rounds", rounds: 5 }, "u1 a1 |  | u2 k2 r2"],
    ["as many rounds as the turn has: its prompt too", "u1 a1 u2 k2 r2", { by: "rounds", rounds: 1 }, "u1 a1 |  | u2 k2 r2"],
    ["the whole newest turn at least", "u1 a1 u2=50 a2=50", { by: "tokens", tokens: 10, wholeTurnTokens: 200 }, "u1 a1 |  | u2 a2"],
    [
      "unless it is too large, so that nothing would be won",
      "u1 a1 u2=50 a2=250",
      { by: "tokens", tokens: 10, wholeTurnTokens: 200 },
      "u1 a1 | u2 | a2",
    ],
    ["unless it is all there is", "u1 a1 a2 a3", { by: "tokens", tokens: 10, wholeTurnTokens: 200 }, " | u1 a1 a2 | a3"],
  ])("%s", (_name, words, keep, expected) => {
    expect(shown(planned(words, keep))).toBe(expected);
  });
});

describe("nothing to compact", () => {
  test.each<[string, string, number, Parameters<typeof planned>[2], string]>([
    ["an empty span", "", 20, {}, "too-few-messages"],
    ["settings only", "m1 d1", 20, {}, "too-few-messages"],
    ["fewer messages than the minimum", "u1 a1 u2", 0, { minMessages: 4 }, "too-few-messages"],
    ["everything fits into what is kept", "u1 a1 u2 a2", 100, {}, "all-is-kept"],
    ["a single group that is too large", "u1=500", 20, {}, "no-cut-point"],
    ["right after a compaction", "u2 a2 c1", 10, { inForce: "c1" }, "just-compacted"],
    ["also with settings behind it", "u2 a2 c1 m1 x1", 10, { inForce: "c1" }, "just-compacted"],
  ])("%s", (_name, words, budget, about, expected) => {
    expect(shown(planned(words, tokens(budget), about))).toBe(expected);
  });

  test("an undone compaction is ignored", () => {
    expect(shown(planned("u1 a1 u2 a2 c1 x1", tokens(20)))).toBe("u1 a1 |  | u2 a2 c1 x1");
  });
});

describe("the keep rule of the settings", () => {
  const bounds = { limitTokens: 100_000, mostKeptTokens: 34_000, ratio: 1, trigger: "automatic" } as const;
  const keep = (given: object) => readSettings({ keep: given }).keep;

  test.each<[string, object, object, KeepRule]>([
    ["20,000 tokens", {}, {}, tokens(20_000)],
    ["less where the provider counts more", {}, { ratio: 1.6 }, tokens(12_500)],
    ["not where that is off", { adaptive: false }, { ratio: 1.6 }, tokens(20_000)],
    ["at most what the window has room for", {}, { mostKeptTokens: 4_000 }, tokens(4_000)],
    [
      "a share of the limit, and a turn of as much as may be kept",
      { by: "share", recentShare: 0.1 },
      {},
      { by: "tokens", tokens: 10_000, wholeTurnTokens: 34_000 },
    ],
    [
      "the message that crosses, in what may be kept",
      { crossing: true },
      {},
      { by: "tokens", tokens: 20_000, wholeTurnTokens: 0, crossingTokens: 34_000 },
    ],
    ["messages, at least four", { by: "messages", recentMessages: 1 }, {}, { by: "messages", messages: 4, mostTokens: 34_000 }],
    ["rounds, in the tokens that may be kept", { by: "rounds" }, { ratio: 2 }, { by: "rounds", rounds: 1, mostTokens: 17_000 }],
    ["nothing by hand, where the setting says so", { manual: "nothing" }, { trigger: "manual" }, { by: "nothing" }],
    ["the same by hand, where it does not", {}, { trigger: "manual" }, tokens(20_000)],
  ])("%s", (_name, given, about, expected) => {
    expect(keepRuleOf(keep(given), { ...bounds, ...about })).toEqual(expected);
  });
});

describe("any plan", () => {
  const word = fc.record({ kind: fc.constantFrom(..."uaakkrrrnsbmdx"), size: fc.nat(60) });
  const words = fc.array(word, { maxLength: 40 }).map((all) => all.map(({ kind, size }, at) => `${kind}${at}=${size}`).join(" "));
  const rules: fc.Arbitrary<KeepRule> = fc.oneof(
    fc.record({ by: fc.constant("tokens" as const), tokens: fc.nat(300), wholeTurnTokens: fc.nat(300) }),
    fc.record({
      by: fc.constant("messages" as const),
      messages: fc.integer({ min: 1, max: 20 }),
      mostTokens: fc.option(fc.nat(300), { nil: undefined }),
    }),
    fc.record({
      by: fc.constant("rounds" as const),
      rounds: fc.integer({ min: 1, max: 5 }),
      mostTokens: fc.option(fc.nat(300), { nil: undefined }),
    }),
    fc.constant({ by: "nothing" as const }),
  );

  test("has every item in exactly one part, in order", () => {
    fc.assert(
      fc.property(words, rules, (all, keep) => {
        const plan = planned(all, keep);
        if (plan.kind === "nothing-to-compact") return;
        expect(ids([...plan.summarize, ...plan.prefix, ...plan.keep])).toBe(ids(items(all)));
        expect(plan.keep[0]?.id ?? null).toBe(plan.firstKeptEntryId);
      }),
    );
  });

  test("summarizes something, and keeps no result without the earlier items of its group", () => {
    fc.assert(
      fc.property(words, rules, (all, keep) => {
        const plan = planned(all, keep);
        if (plan.kind === "nothing-to-compact") return;
        expect([...plan.summarize, ...plan.prefix].some(({ messages }) => messages.length > 0)).toBe(true);
        expect(plan.keep.find(({ messages }) => messages.length > 0)?.messages[0]?.role).not.toBe("toolResult");
      }),
    );
  });

  test("keeps no more tokens than the budget, except for the newest group and unanswered input", () => {
    fc.assert(
      fc.property(words, fc.nat(300), (all, budget) => {
        const plan = planned(all, tokens(budget));
        if (plan.kind === "nothing-to-compact") return;
        const kept = plan.keep.reduce((sum, item) => sum + item.tokens, 0);
        const cuts = plan.keep.filter(({ messages }) => messages[0] !== undefined && messages[0].role !== "toolResult");
        const waiting = cuts.every(({ messages }) => ["user", "custom", "bashExecution"].includes(messages[0]?.role ?? ""));
        if (cuts.length > 1 && !waiting) expect(kept).toBeLessThanOrEqual(budget + waitingTokens(plan));
      }),
    );
  });

  test("is the same for the same input", () => {
    fc.assert(
      fc.property(words, rules, (all, keep) => {
        expect(planned(all, keep)).toEqual(planned(all, keep));
      }),
    );
  });

  test("splits a turn only after its start", () => {
    fc.assert(
      fc.property(words, rules, (all, keep) => {
        const plan = planned(all, keep);
        if (plan.kind !== "split-turn") return;
        expect(["user", "custom", "bashExecution", "branchSummary"]).toContain(plan.prefix[0]?.messages[0]?.role);
      }),
    );
  });

  test("of 50,000 items is made", () => {
    const many = Array.from({ length: 50_000 }, (_one, at) => (at % 4 === 0 ? `u${at}` : at % 4 === 2 ? `r${at}` : `k${at}`)).join(" ");
    expect(planned(many, tokens(20_000)).kind).not.toBe("nothing-to-compact");
  });
});

/** Tokens of the input at the end that no reply followed. */
function waitingTokens(plan: CompactionPlan): number {
  if (plan.kind === "nothing-to-compact") return 0;
  let sum = 0;
  for (const item of plan.keep.toReversed()) {
    const role = item.messages[0]?.role;
    if (role === "assistant" || role === "toolResult" || role === "branchSummary") break;
    sum += item.tokens;
  }
  return sum;
}
