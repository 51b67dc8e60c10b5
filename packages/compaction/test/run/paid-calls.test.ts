import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import type { SummaryRequest } from "../../src/summarizers/summarizer.js";
import { faithful, grown, model, plant, prose, turns } from "../world/session.js";

const SUMMARY = `<analysis>x</analysis><summary>\n## Goal\nshort\n</summary>`;
const isStrict = ({ prompt }: SummaryRequest) => prompt.includes("An earlier answer could not be used");

describe("a summary in pieces whose last answer is thin", () => {
  test("repeats the last piece with the notes on the earlier ones, and no other", async () => {
    const { session } = await grown(turns(1, 60), { result: 2_500, user: 1_500 });
    const settings = { preset: "pi", summary: { windowTokens: 32_000, toolResultChars: 0 } } as const;
    let pieces = 0;
    const counting = createCompactor({
      session,
      contextWindow: 200_000,
      settings,
      summarizer: async (request) => {
        pieces += 1;
        return faithful("## Goal\nnotes", request);
      },
    });
    expect(await counting.compact()).toMatchObject({ kind: "compacted", method: "normal" });
    await counting.undoCompaction();
    expect(pieces).toBeGreaterThan(5);

    const asked: SummaryRequest[] = [];
    const compactor = createCompactor({
      session,
      contextWindow: 200_000,
      settings,
      summarizer: async (request) => {
        asked.push(request);
        return asked.length === pieces ? "The work is going on and nothing more is to be said." : faithful("## Goal\nnotes", request);
      },
    });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "strict" });
    expect(asked.map(isStrict)).toEqual([...Array.from({ length: pieces }, () => false), true]);
    const [last, again] = asked.slice(-2);
    expect(again?.source?.previousSummary).toBe(last?.source?.previousSummary);
    expect(again?.source?.previousSummary).toContain("Files: ");
    expect(again?.source?.messages).toEqual(last?.source?.messages);
  });
});

describe("a source in which the sections of a summary have no room", () => {
  test.each(["balanced", "pi", "oh-my-pi", "copilot-cli", "vscode", "co-cli"] as const)(
    "is extracted without a call with the preset %s, and that is no failure of the model",
    async (preset) => {
      const { session } = await grown("u1 a1 u2 a2", { user: 30, reply: 30 });
      const { summarizer, asked } = model(SUMMARY);
      const settings = { preset, keep: { by: "nothing", manual: "same" }, breaker: { failures: 1, maxIneffective: 0 } } as const;
      const compactor = createCompactor({ session, contextWindow: 128_000, settings, summarizer });
      const result = await compactor.compact();
      expect([result.kind, asked.length]).toEqual([result.kind === "compacted" ? "compacted" : "nothing-to-compact", 0]);
      if (result.kind === "compacted") expect(result).toMatchObject({ method: "extract", failures: [] });
      await plant(session, turns(3, 8));
      expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "normal" });
      expect(asked.length).toBe(1);
    },
  );

  test("is asked about if the host has a prompt of its own", async () => {
    const { session } = await grown("u1 a1 u2 a2", { user: 30, reply: 30 });
    const { summarizer, asked } = model("Files were read, in short.");
    const settings = { keep: { by: "nothing" }, summary: { customPrompt: "One line, please.", fidelityFloor: 0 } } as const;
    await createCompactor({ session, contextWindow: 128_000, settings, summarizer }).compact();
    expect(asked.length).toBe(1);
  });
});

describe("a branch summary", () => {
  test.each([200_000, 65_536, 32_768, 26_000])("in a window of %i reads every round of results that it cuts", async (contextWindow) => {
    const { session } = await grown("u1 a1 u2");
    const rounds = Array.from({ length: 12 }, (_one, at) => `k${at + 1} r${at + 1}:k${at + 1}`).join(" ");
    await plant(session, rounds, { result: 4_000 });
    await plant(session, "a2");
    const { summarizer, asked } = model(`## Goal\n${prose("branch", 60)}`);
    const compactor = createCompactor({ session, contextWindow, settings: "pi", summarizer });
    expect(await compactor.navigate("a1", { summarize: true })).toMatchObject({ kind: "moved", method: "normal" });
    const read = asked.map(({ prompt }) => prompt).join("\n");
    expect(Array.from({ length: 12 }, (_one, at) => read.includes(`src/k${at + 1}.ts`))).not.toContain(false);
    expect(read).toContain("the u2 word0");
  });
});
