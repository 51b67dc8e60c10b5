import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { tokenizerOf } from "../../src/tokens/known-models.js";
import { loadCounter } from "../../src/tokens/load-counter.js";
import { roughCounter } from "../../src/tokens/token-counter.js";
import { counterContract } from "./counter-contract.js";
import { REFERENCES } from "./references.js";

counterContract("o200k_base", () => loadCounter("o200k_base"));
counterContract("cl100k_base", () => loadCounter("cl100k_base"));
counterContract("the rough counter", async () => roughCounter);

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

/** Texts as sessions hold them. */
const SAMPLES: Readonly<Record<string, string>> = {
  "TypeScript source": read("../../src/tokens/tiktoken/bpe-counter.ts") + read("./counters.test.ts"),
  JSON: read("../../../cli/demo/sample.jsonl"),
  Markdown: read("../../../../docs/compaction.md"),
  "a lock file": read("../../../../pnpm-lock.yaml").slice(0, 60_000),
  Chinese: "在人工智能代理的会话中，每一条消息都是一个条目；回到过去并从那里继续，只是一行。什么都不会被覆盖。".repeat(30),
  Japanese: "セッションは木として保存されます。どの発言にも戻れます。カタカナとひらがなと漢字。".repeat(30),
  Russian: "Сессия хранится как дерево, и ничего не теряется: можно вернуться к любой записи.\n".repeat(30),
  Arabic: "تُحفظ الجلسة كشجرة، ولا يضيع شيء: يمكنك العودة إلى أي رسالة.\n".repeat(30),
  "Hindi with marks": "सत्र एक पेड़ की तरह रखा जाता है, और कुछ भी नहीं खोता है।\n".repeat(30),
  emoji: "👩‍👩‍👧‍👦 🙂🙃 🇩🇪🇫🇷 ✈️ 👍🏽 ok ".repeat(60),
  whitespace: `a${" ".repeat(700)}b\n\n\n\t\t\t  c \r\n \r\n${" \t".repeat(300)}\nd`,
  base64: Buffer.from(Array.from({ length: 6_000 }, (_one, at) => (at * at * 31 + at * 7) & 255)).toString("base64"),
  contractions: "I'll we've IT'S don'T they'RE 'tis ''''s l'l ".repeat(80),
};

describe.each(REFERENCES)("%s", (encoding, reference) => {
  test.each(Object.entries(SAMPLES))("counts %s as js-tiktoken does", async (_name, text) => {
    expect((await loadCounter(encoding)).count(text)).toBe(reference(text));
  });
});

describe("the rough counter", () => {
  test.each(["TypeScript source", "JSON", "Markdown", "Chinese", "Japanese", "base64"])(
    "is within a third of o200k_base on %s",
    async (name) => {
      const text = SAMPLES[name] ?? "";
      const ratio = roughCounter.count(text) / (await loadCounter("o200k_base")).count(text);
      expect(ratio).toBeGreaterThan(2 / 3);
      expect(ratio).toBeLessThan(1.5);
    },
  );
});

describe("loading a counter", () => {
  test("is done once for all callers", async () => {
    const [one, other] = await Promise.all([loadCounter("o200k_base"), loadCounter("o200k_base")]);
    expect(one).toBe(other);
  });
});

describe("the tokenizer of a model", () => {
  test.each([
    ["gpt-4o-mini", "o200k_base"],
    ["gpt-4.1", "o200k_base"],
    ["gpt-5-codex", "o200k_base"],
    ["o3", "o200k_base"],
    ["claude-sonnet-4-5", "o200k_base"],
    ["gpt-4", "cl100k_base"],
    ["gpt-4-turbo-2024-04-09", "cl100k_base"],
    ["gpt-3.5-turbo", "cl100k_base"],
    ["text-embedding-3-small", "cl100k_base"],
    [undefined, "o200k_base"],
  ])("%s: %s", (model, encoding) => {
    expect(tokenizerOf(model)).toBe(encoding);
  });
});
