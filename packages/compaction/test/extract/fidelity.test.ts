import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FACT_KINDS, FACT_WEIGHTS, type Fact, type FactKind, scoreFidelity } from "../../src/extract/facts.js";

function fact(kind: FactKind, text: string, at = 0): Fact {
  return { kind, text, at };
}

function isSaid(kind: FactKind, text: string, summary: string): boolean {
  return scoreFidelity([fact(kind, text)], summary).inSummary[kind] === 1;
}

describe("a fact is in a summary", () => {
  test.each<[FactKind, string, string]>([
    ["file", "packages/app/src/lexer.ts", "Changed packages/app/src/lexer.ts."],
    ["file", "packages/app/src/lexer.ts", "Changed `src/lexer.ts`"],
    ["file", "packages/app/src/lexer.ts", "- lexer.ts: done"],
    ["file", "README.md", "the readme.md"],
    ["command", "npm run  check", "ran `npm run check`"],
    ["command", `node tool.mjs ${"--flag ".repeat(20)}`, `node tool.mjs ${"--flag ".repeat(10)}`],
    [
      "error",
      "src/a.ts(5,1): error TS2305: Module has no exported member 'Theme'.",
      "src/a.ts:5: TS2305, module has no exported member `Theme`",
    ],
    ["error", "TypeError: x is undefined", "It failed with typeerror: X is   undefined."],
    ["identifier", "readEach", "`readEach()` replaces it"],
    ["identifier", "#8abeb7", "the color is #8abeb7"],
    ["number", "16,384 tokens", "a reserve of 16384 tokens"],
    ["number", "42ms", "42 ms"],
    ["number", "14 tests", "14 tests pass"],
    ["rule", "Never push to main.", "- Do not push to the main branch"],
    ["rule", "always run the linter before you commit", "Run the linter before\neach commit, without exception"],
    ["request", "Now write tests for tabs.", "The user wants tests of tabs to be written."],
    ["rule", "必须先运行测试", "规则：必须先运行测试。"],
  ])("a %s: %j in %j", (kind, text, summary) => {
    expect(isSaid(kind, text, summary)).toBe(true);
  });

  test.each<[FactKind, string, string]>([
    ["file", "src/lexer.ts", "src/old-lexer.ts"],
    ["file", "src/lexer.ts", "lexer.tsx"],
    ["file", "src/lexer.ts", "the lexer"],
    ["command", "npm test", "npm run test"],
    ["error", "TypeError: x is undefined", "There was an error."],
    ["identifier", "read", "readEach"],
    ["identifier", "Text", "some text"],
    ["number", "42ms", "142ms"],
    ["number", "14 tests", "14 files, tests"],
    ["rule", "Never push to main.", "I pushed to main."],
    ["rule", "Never push to main.", ""],
    ["request", "Now write tests for tabs.", "The lexer was fixed."],
  ])("but not a %s: %j in %j", (kind, text, summary) => {
    expect(isSaid(kind, text, summary)).toBe(false);
  });

  test("by its name if no other file has it; otherwise with the folders that distinguish them", () => {
    const facts = [fact("file", "a/src/index.ts"), fact("file", "b/src/index.ts")];
    expect(scoreFidelity(facts, "index.ts, src/index.ts").inSummary.file).toBe(0);
    expect(scoreFidelity(facts, "b/src/index.ts").byRecallOnly).toEqual([facts[0]]);
  });
});

describe("the score", () => {
  test("is 1 where nothing was found, and where all is there", () => {
    expect(scoreFidelity([], "").score).toBe(1);
    expect(scoreFidelity([fact("file", "a/b.ts"), fact("request", "Fix b.ts")], "Fix a/b.ts").score).toBe(1);
  });

  test("is 0 where nothing is there", () => {
    expect(scoreFidelity([fact("file", "a/b.ts"), fact("identifier", "abc")], "nothing").score).toBe(0);
  });

  test("weighs a kind, however many there are of it", () => {
    const files = Array.from({ length: 30 }, (_one, at) => fact("file", `src/f${at}.ts`));
    const { score, total, found, inSummary } = scoreFidelity([fact("request", "Remove the cache"), ...files], "Goal: remove the cache.");
    expect(score).toBe(FACT_WEIGHTS.request / (FACT_WEIGHTS.request + FACT_WEIGHTS.file));
    expect({ total, request: inSummary.request, files: found.file, said: inSummary.file }).toEqual({
      total: 31,
      request: 1,
      files: 30,
      said: 0,
    });
  });

  test("does not fall when the summary contains one more fact", () => {
    const facts = fc.uniqueArray(fc.tuple(fc.constantFrom(...FACT_KINDS), fc.stringMatching(/^[a-z]{4,9}$/)), {
      selector: ([, word]) => word,
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(facts, fc.nat(), (given, pick) => {
        const list = given.map(([kind, word]) => fact(kind, kind === "number" ? `${word.length} tokens` : `must ${word}`));
        const one = list[pick % list.length]?.text ?? "";
        const before = scoreFidelity(list, "a summary").score;
        expect(scoreFidelity(list, `a summary\n${one}`).score).toBeGreaterThanOrEqual(before);
      }),
    );
  });
});

describe("what can be had by recall only", () => {
  test("is named with the most important first, every kind in its turn", () => {
    const facts = [
      fact("request", "Remove the cache"),
      fact("rule", "Never push."),
      fact("rule", "Always lint."),
      ...[1, 2, 3].map((at) => fact("file", `src/f${at}.ts`)),
      fact("identifier", "abc"),
    ];
    const named = scoreFidelity(facts, "").byRecallOnly;
    expect(named.slice(0, 2).map(({ kind }) => kind)).toEqual(["request", "rule"]);
    expect(named).toHaveLength(facts.length);
    expect(named.at(-1)).toEqual(fact("identifier", "abc"));
  });

  test("is bounded by the room it takes, and by number", () => {
    const long = Array.from({ length: 50 }, (_one, at) => fact("rule", `${at} ${"規".repeat(200)}`));
    const short = Array.from({ length: 50 }, (_one, at) => fact("rule", `rule ${at}`));
    expect(JSON.stringify(scoreFidelity(long, "").byRecallOnly).length).toBeLessThan(3_000);
    expect(new TextEncoder().encode(JSON.stringify(scoreFidelity(long, ""))).length).toBeLessThan(4_096);
    expect(scoreFidelity(short, "").byRecallOnly).toHaveLength(30);
  });

  test("is less than 4 KB of JSON for any facts, and survives a round trip", () => {
    const texts = fc.array(fc.tuple(fc.constantFrom(...FACT_KINDS), fc.string({ unit: "grapheme", minLength: 1, maxLength: 400 })), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(texts, (given) => {
        const fidelity = scoreFidelity(
          given.map(([kind, text], at) => fact(kind, text, at)),
          "nothing",
        );
        const json = JSON.stringify(fidelity);
        expect(new TextEncoder().encode(json).length).toBeLessThan(4_096);
        expect(JSON.parse(json)).toEqual(fidelity);
      }),
    );
  });
});
