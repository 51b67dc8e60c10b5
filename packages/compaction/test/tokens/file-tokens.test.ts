import { Buffer } from "node:buffer";
import type { FileBlock } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { fileTokens, pdfPages } from "../../src/tokens/file-tokens.js";
import { messageTokens } from "../../src/tokens/message-tokens.js";
import type { TokenCounter } from "../../src/tokens/token-counter.js";

/** Counts words: what is expected can be counted by eye. */
const words: TokenCounter = { name: "words", count: (text) => text.split(/\s+/).filter((word) => word !== "").length };
/** The words of `a (type/subtype)`, which names each file below. */
const NAME = 2;

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString("base64");
const file = (mediaType: string, content?: string | Uint8Array): FileBlock =>
  content === undefined
    ? { type: "file", mediaType, url: "https://example.org/a", filename: "a" }
    : { type: "file", mediaType, data: base64(content), filename: "a" };

const RULES = ["anthropic", "openai", "gemini", "largest"] as const;
const tokensByRule = (block: FileBlock) => RULES.map((rule) => fileTokens(words, block, rule) - NAME);

const pdf = (pages: string) => `%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n${pages}\n%%EOF`;

describe("the pages of a PDF", () => {
  test.each([
    ["the count of its tree", pdf("2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 12 >>\nendobj"), 12],
    ["the count of its tree before the type", pdf("2 0 obj\n<</Count 7/Kids[3 0 R]/Type/Pages>>\nendobj"), 7],
    ["the largest count of several trees", pdf("<</Type/Pages/Count 3>>endobj <</Type/Pages/Count 9>>endobj"), 9],
    ["its page objects", pdf("<</Type/Page>>endobj <</Type /Page /Parent 2 0 R>>endobj"), 2],
    [
      "its page objects beside a list of children that is long",
      pdf(`<</Type/Pages/Kids[${"3 0 R ".repeat(200)}]>>endobj${"<</Type/Page>>".repeat(200)}`),
      200,
    ],
    ["its size, where both are compressed", "x".repeat(160_000), 4],
    ["one at least", "", 1],
  ])("are %s", (_what, content, pages) => {
    expect(pdfPages(base64(content))).toBe(pages);
  });
});

describe("tokens of a file", () => {
  test("of a PDF are those of its pages, by the rule of the provider", () => {
    expect(tokensByRule(file("application/pdf", pdf("<</Type/Pages/Count 2>>endobj")))).toEqual([6_000, 4_000, 1_120, 6_000]);
    expect(tokensByRule(file("application/pdf"))).toEqual([30_000, 20_000, 5_600, 30_000]);
  });

  test("of a sound are those of its seconds", () => {
    const wave = Buffer.alloc(160_000);
    wave.write("RIFF", 0, "latin1");
    wave.write("WAVE", 8, "latin1");
    wave.writeUInt32LE(16_000, 28);
    expect(tokensByRule(file("audio/wav", wave))).toEqual([0, 100, 320, 320]);
    expect(tokensByRule(file("audio/mpeg", Buffer.alloc(80_000)))).toEqual([0, 100, 320, 320]);
    expect(tokensByRule(file("audio/mpeg"))).toEqual([0, 600, 1_920, 1_920]);
  });

  test("of a video are those of its seconds, where a provider takes it", () => {
    expect(tokensByRule(file("video/mp4", Buffer.alloc(1_250_000)))).toEqual([0, 0, 2_900, 2_900]);
  });

  test("of a text are those of its words", () => {
    expect(tokensByRule(file("text/markdown", "one two three"))).toEqual([3, 3, 3, 3]);
    expect(tokensByRule(file("application/json", '{ "a": 1 }'))).toEqual([4, 4, 4, 4]);
  });

  test("of another type are a third of its bytes", () => {
    expect(tokensByRule(file("application/zip", Buffer.alloc(300)))).toEqual([100, 100, 100, 100]);
  });

  test("are not those of its base64 as text, and are part of the message", () => {
    const message = {
      role: "user",
      content: [file("application/pdf", pdf("<</Type/Pages/Count 1>>endobj") + "x".repeat(1_000_000))],
    } as const;
    expect(messageTokens(words, { ...message, content: [...message.content] }, { modelId: "claude-x" })).toBeLessThan(3_100);
  });
});

test("tokens of hidden reasoning are those of its encrypted content", () => {
  const thinking = {
    type: "thinking",
    thinking: "",
    providerOptions: { openai: { itemId: "rs_1", reasoningEncryptedContent: "x".repeat(400) } },
  } as const;
  const bare = messageTokens(words, { role: "assistant", content: [] });
  expect(messageTokens(words, { role: "assistant", content: [thinking] }) - bare).toBe(100);
});
