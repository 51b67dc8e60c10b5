import type { ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { callSummarizer } from "../../src/summarizers/call.js";
import type { Summarizer, SummaryReply, SummarySource } from "../../src/summarizers/summarizer.js";
import { summaryRequest } from "./shipped.js";

const WORDS = "The parser must never read past the end of src/parse.ts. ".repeat(40);
const HALF_A_PAIR = "\ud83d";

/** A conversation to summarize, as the engine hands it to a summarizer that needs no model. */
function source(kind: SummarySource["kind"] = "history"): SummarySource {
  const messages: ContextMessage[] = [
    { role: "user", content: `Build a parser. ${WORDS}` },
    { role: "assistant", content: [{ type: "text", text: `I will start with the lexer. ${HALF_A_PAIR} ${WORDS}` }] },
    { role: "user", content: "Now write the tests." },
  ];
  return { messages, kind, previousSummary: null, instructions: null };
}

const POLICY = { retries: 0, timeoutMs: 60_000 };

function replyOf(given: string | SummaryReply): SummaryReply {
  return typeof given === "string" ? { text: given } : given;
}

/** What any implementation of the port must do, with a model or without. `make` is called within a test. */
export function summarizerContract(name: string, make: () => Summarizer | Promise<Summarizer>): void {
  describe(`the summarizer ${name}`, () => {
    test.each(["history", "turn-prefix", "branch"] as const)("returns a complete text, of kind %s", async (kind) => {
      const summarizer = await make();
      const { text } = replyOf(await summarizer(summaryRequest({ source: source(kind) })));
      expect(text.trim()).not.toBe("");
      expect(text.isWellFormed()).toBe(true);
    });

    test("gives less than it was given", async () => {
      const summarizer = await make();
      const given = source();
      const { text } = replyOf(await summarizer(summaryRequest({ source: given })));
      expect(text.length).toBeLessThan(JSON.stringify(given.messages).length);
    });

    test("needs no source", async () => {
      const summarizer = await make();
      const { text } = replyOf(await summarizer(summaryRequest({ prompt: `User: build a parser. ${WORDS}` })));
      expect(text.trim()).not.toBe("");
    });

    test("gives nothing when its signal was aborted before, but the signal's reason", async () => {
      const summarizer = await make();
      const reason = new Error("changed my mind");
      await expect(summarizer(summaryRequest({ source: source(), signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    });

    test("leaves request and source as they were", async () => {
      const summarizer = await make();
      const request = summaryRequest({ source: source(), maxOutputTokens: 400 });
      await summarizer(Object.freeze(request));
      expect(request).toEqual(summaryRequest({ source: source(), maxOutputTokens: 400 }));
    });

    test("answers several calls at once", async () => {
      const summarizer = await make();
      const replies = await Promise.all([1, 2, 3].map(() => summarizer(summaryRequest({ source: source() }))));
      for (const reply of replies) expect(replyOf(reply).text.trim()).not.toBe("");
    });

    test("passes the gate that every reply passes", async () => {
      const summarizer = await make();
      const reply = await callSummarizer([summarizer], summaryRequest({ source: source() }), POLICY);
      expect(reply).toMatchObject({ candidate: 0, attempts: 1 });
    });
  });
}
