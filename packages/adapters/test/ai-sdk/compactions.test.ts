import { fromAiSdk, stepEntries } from "@bough/adapters/ai-sdk";
import { openStore, toAiSdk, toAnthropic, userMessage } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";

// As `@ai-sdk/anthropic` gives a compaction block of Anthropic's API.
const part = { type: "text", text: "They fixed the parser.", providerMetadata: { anthropic: { type: "compaction" } } };
const counts = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens, cache_read_input_tokens: 0 });

function step(...content: readonly { readonly type: string; readonly text?: string }[]) {
  const iterations = [
    { type: "compaction", ...counts(180_000, 3_500) },
    { type: "message", ...counts(9, 3) },
  ];
  return {
    content,
    finishReason: content.length === 1 ? "other" : "stop",
    rawFinishReason: content.length === 1 ? "compaction" : "end_turn",
    usage: { inputTokens: 180_009, outputTokens: 3_503, raw: { ...counts(9, 3), iterations } },
    model: { provider: "anthropic.messages", modelId: "claude-opus-5-5" },
    response: { modelId: "claude-opus-5-5" },
  };
}

describe("a compaction that Anthropic wrote, by the AI SDK", () => {
  test("is a compaction entry and the reply below it, each with its own usage, and is sent as the SDK sends it", async () => {
    const store = await openStore({ path: ":memory:" });
    onTestFinished(() => store.close());
    const session = await store.createSession();
    await session.append(userMessage("old question"));
    const entries = stepEntries(step(part, { type: "text", text: "new answer" }));
    expect(entries).toMatchObject([
      { type: "compaction", summary: part.text, usage: { input: 180_000, output: 3_500 }, details: { native: { readable: true } } },
      { type: "message", message: { content: [{ type: "text", text: "new answer" }], usage: { input: 9, output: 3 } } },
    ]);
    await session.append(entries);
    const { messages } = toAiSdk(await session.context());
    expect(messages[0]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: part.text, providerOptions: { anthropic: { type: "compaction" } } }],
    });
    expect(messages).toHaveLength(2);
    expect(toAnthropic(await session.context()).messages[0]?.content[0]).toEqual({ type: "compaction", content: part.text });
  });

  test("that ends the step is a compaction alone", () => {
    expect(stepEntries(step(part))).toMatchObject([{ type: "compaction", usage: { input: 180_000 } }]);
  });

  test("in messages is a compaction entry too", () => {
    const { providerMetadata: providerOptions, text } = part;
    const content = [
      { type: "text" as const, text, providerOptions },
      { type: "text" as const, text: "new answer" },
    ];
    expect(fromAiSdk([{ role: "assistant", content }]).map(({ type }) => type)).toEqual(["compaction", "message"]);
  });
});
