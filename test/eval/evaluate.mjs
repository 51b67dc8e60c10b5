import { createCompactor } from "@bough/compaction";

/** Share of the messages that stay word for word. */
const KEPT = 0.25;
/** Fewer cannot be kept. */
const LEAST_KEPT = 4;

/** Compacts a session by hand and tells what came of it. Times are in milliseconds, tokens as the compactor counts them. */
export async function evaluate(session, { summarizer, contextWindow }) {
  const { messages } = await session.context();
  const { entryCount: entries } = await sizeOf(session);
  const recentMessages = Math.max(LEAST_KEPT, Math.ceil(messages.length * KEPT));
  const compactor = createCompactor({ session, summarizer, contextWindow, settings: { keep: { by: "messages", recentMessages } } });
  // Counting is not what is timed: the tables of the tokenizer are loaded, and counts are cached in the store.
  const { totalTokens } = await compactor.usage();
  const start = performance.now();
  const result = await compactor.compact();
  const ms = performance.now() - start;
  await compactor.close();
  const base = { entries, messages: messages.length, tokensBefore: totalTokens, ms };
  if (result.kind !== "compacted") {
    const why = result.kind === "failed" ? result.error.message : (result.reason ?? "");
    return { ...base, tokensAfter: null, fidelity: null, summary: null, method: null, outcome: `${result.kind}: ${why}` };
  }
  const { tokensBefore, tokensAfter, fidelity, summary, method } = result;
  return { ...base, tokensBefore, tokensAfter, fidelity, summary, method, outcome: "compacted" };
}

async function sizeOf(session) {
  let entryCount = 0;
  for await (const _entry of session.walk()) entryCount += 1;
  return { entryCount };
}
