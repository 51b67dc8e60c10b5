import {
  assistantMessage,
  fromOpenAiResponses,
  nativeCompactionOf,
  openStore,
  type Session,
  toAnthropic,
  toOpenAiResponses,
  userMessage,
} from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCompactor, type NativeSummarizer } from "../../src/index.js";

const GPT = { provider: "openai", modelId: "gpt-6-sol" };
const CLAUDE = { provider: "anthropic", modelId: "claude-opus-5-5" };
const ITEM = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAA" };

async function startedSession(): Promise<Session> {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const session = await store.createSession();
  for (const [at, file] of ["lexer.ts", "parser.ts", "printer.ts"].entries()) {
    await session.append(userMessage(`Please mend src/${file}: it fails on tabs. ${"It must keep comments. ".repeat(40)}`));
    await session.append(assistantMessage(`Mended src/${file}; ${at + 1} tests pass.`, { provider: GPT.provider, model: GPT.modelId }));
  }
  return session;
}

describe("a compaction that OpenAI encrypted and that was recorded without an extract", () => {
  async function recorded() {
    const session = await startedSession();
    await session.append(fromOpenAiResponses({ model: GPT.modelId, status: "completed", output: [ITEM] }));
    await session.append(userMessage("Go on."));
    return { session, compactor: createCompactor({ session, contextWindow: 200_000 }) };
  }

  test("goes to its model as it came", async () => {
    const { compactor } = await recorded();
    expect(toOpenAiResponses((await compactor.prepareRequest()).context).input[0]).toEqual(ITEM);
  });

  test("is an extract of what it replaced for another model, the same one in each request, and the session is not changed", async () => {
    const { session, compactor } = await recorded();
    await session.append({ type: "model_change", ...CLAUDE });
    const { leafId } = session;
    const first = toAnthropic((await compactor.prepareRequest()).context).messages;
    expect(JSON.stringify(first[0])).toContain("src/lexer.ts");
    expect(JSON.stringify(first)).not.toContain(ITEM.encrypted_content);
    expect(toAnthropic((await compactor.prepareRequest()).context).messages).toEqual(first);
    expect(session.leafId).toBe(leafId);
    await session.append({ type: "model_change", ...GPT });
    expect(toOpenAiResponses((await compactor.prepareRequest()).context).input[0]).toEqual(ITEM);
  });
});

describe("a summarizer that compacts at the provider", () => {
  const native = { provider: "openai", model: GPT.modelId, items: [ITEM], readable: false };
  /** Answers with an item, and records the messages that it is asked to compact. */
  function provider(asked: number[], answer: () => typeof native = () => native): NativeSummarizer {
    const summarize = async ({ context }: { readonly context?: { readonly messages: readonly unknown[] } | undefined }) => {
      asked.push(context?.messages.length ?? 0);
      return { text: "encrypted", native: answer(), usage: { input: 900, output: 90 } };
    };
    return Object.assign(summarize, { isNative: true as const });
  }

  test("gets exactly what is replaced, is asked once, and its usage counts for its model", async () => {
    const session = await startedSession();
    const asked: number[] = [];
    const compactor = createCompactor({ session, contextWindow: 200_000, model: GPT, summarizer: provider(asked) });
    const keepFrom = (await session.context()).entries[4] ?? "";
    const done = await compactor.compact({ keepFrom });
    expect(done).toMatchObject({ kind: "compacted", method: "native", firstKeptEntryId: keepFrom });
    expect(asked).toEqual([4]);
    const { compaction } = await session.context();
    expect(nativeCompactionOf(compaction?.payload ?? {})).toEqual(native);
    expect(compaction?.payload.summary).toContain("src/lexer.ts");
    expect((await session.statistics()).usage).toContainEqual(expect.objectContaining({ model: GPT.modelId, inputTokens: 900 }));
    // The next one starts with the item of this one.
    await session.append(userMessage("Go on."));
    await session.append(assistantMessage("Done.", { provider: GPT.provider, model: GPT.modelId }));
    await compactor.compact({ keepFrom: session.leafId ?? "" });
    expect(asked).toEqual([4, 4]);
    expect(await compactor.undoCompaction()).toMatchObject({ kind: "undone" });
    expect(nativeCompactionOf((await session.context()).compaction?.payload ?? {})).toEqual(native);
  });

  test("that fails, or whose items are no smaller than what they replace, leaves the summary to the next one", async () => {
    const session = await startedSession();
    const large = { ...native, items: [{ ...ITEM, encrypted_content: "A".repeat(50_000) }] };
    const summarizer = [provider([], () => large), async () => "## Goal\nMend src/lexer.ts, src/parser.ts and src/printer.ts: tabs."];
    const done = await createCompactor({ session, contextWindow: 200_000, model: GPT, summarizer }).compact({
      keepFrom: (await session.context()).entries[4] ?? "",
    });
    expect(done).toMatchObject({ kind: "compacted", failures: [{ code: "SUMMARY_REJECTED", reason: "larger-than-source" }] });
    expect(nativeCompactionOf((await session.context()).compaction?.payload ?? {})).toBeUndefined();
  });
});
