import { describe, expect, test } from "vitest";
import { extractiveSummarizer } from "../../src/extract/extract.js";
import type { SummaryReply, SummaryRequest, SummarySource } from "../../src/summarizers/summarizer.js";
import { summaryRequest } from "../summarizers/shipped.js";
import { summarizerContract } from "../summarizers/summarizer-contract.js";
import { ran, said, user } from "./talk.js";

summarizerContract("extractiveSummarizer", () => extractiveSummarizer());

async function replyOf(request: SummaryRequest, options?: Parameters<typeof extractiveSummarizer>[0]): Promise<SummaryReply> {
  const reply = await extractiveSummarizer(options)(request);
  return typeof reply === "string" ? { text: reply } : reply;
}

function longSource(turns: number): SummarySource {
  const messages = Array.from({ length: turns }, (_one, at) => [
    user(`Please look into the matter of module number ${at}, and never touch module number ${at + 1_000}.`),
    ...ran("edit", { path: `src/module-${at}.ts` }, "Edited. ".repeat(20)),
    said(`Module number ${at} was mended because its table was wrong in row number ${at}.`),
  ]).flat();
  return { messages, kind: "history", previousSummary: null, instructions: null };
}

describe("the extractive summarizer", () => {
  test("marks the text as written without a model", async () => {
    const reply = await replyOf(summaryRequest({ source: longSource(5) }));
    expect(reply.extracted).toBe(true);
    expect(reply.text).toMatch(/^Extracted mechanically; no model wrote this\.\n/);
  });

  test("writes a quarter of its source, and 8,000 characters at most", async () => {
    const { text } = await replyOf(summaryRequest({ source: longSource(400) }));
    expect(text.length).toBeLessThanOrEqual(8_000);
    expect(text.length).toBeGreaterThan(6_000);
  });

  test("writes at most maxChars, and at most three characters for each token of the request's limit", async () => {
    const source = longSource(50);
    expect((await replyOf(summaryRequest({ source }), { maxChars: 500 })).text.length).toBeLessThanOrEqual(500);
    expect((await replyOf(summaryRequest({ source, maxOutputTokens: 200 }))).text.length).toBeLessThanOrEqual(600);
  });

  test("shows what it writes to who listens", async () => {
    const heard: string[] = [];
    const { text } = await replyOf(summaryRequest({ source: longSource(3), onText: (piece) => heard.push(piece) }));
    expect(heard.join("")).toBe(text);
  });

  test("takes a prompt for its source where there is no other", async () => {
    const talk = [
      "[User]: Mend the lexer.",
      ...Array.from({ length: 200 }, (_one, at) => `[Assistant]: step ${at}`),
      "[User]: You must never push.",
    ];
    const { text } = await replyOf(summaryRequest({ prompt: `<conversation>\n${talk.join("\n")}\n</conversation>\n\nSummarize it.` }));
    expect(text).toContain("[User]: Mend the lexer.");
    expect(text).toContain("You must never push.");
    expect(text).not.toContain("Summarize it.");
    expect(text.length).toBeLessThan(1_500);
  });
});
