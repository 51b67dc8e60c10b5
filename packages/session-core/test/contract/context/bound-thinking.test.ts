// Newer models bind signed thinking to what stands before it. A block is sent only behind the messages that it was produced behind.
import { describe, expect, test } from "vitest";
import { bindsThinking } from "../../../src/context/bound-thinking.js";
import type { SessionContext } from "../../../src/context/context.js";
import { toAiSdk } from "../../../src/context/converters/ai-sdk.js";
import { toAnthropic } from "../../../src/context/converters/anthropic.js";
import type { AnthropicAssistantBlock, AnthropicUserBlock } from "../../../src/context/converters/anthropic-messages.js";
import { fromAnthropic } from "../../../src/context/converters/from-anthropic.js";
import { assistantMessage, userMessage } from "../../../src/entry/builders.js";
import type { Session } from "../../../src/session/session.js";
import { grow, plant } from "../../world/grow.js";

function blocksOf(context: SessionContext): readonly (AnthropicUserBlock | AnthropicAssistantBlock)[] {
  return toAnthropic(context).messages.flatMap((message): readonly (AnthropicUserBlock | AnthropicAssistantBlock)[] => message.content);
}

/** The replies whose thinking a request has. */
function thinkingSent(context: SessionContext): string {
  return blocksOf(context)
    .flatMap((block) => (block.type === "thinking" ? [String(block.signature).replace("signed ", "")] : []))
    .join(" ");
}

async function sentBy(session: Session, leafId?: string): Promise<string> {
  return thinkingSent(await session.context(leafId === undefined ? {} : { leafId }));
}

describe("signed thinking of a model that binds it", () => {
  test.each<[what: string, words: string, sent: string]>([
    ["stays while entries are only appended", "s1 u1 t1:k1 r1:k1 t2 u2 t3", "t1 t2 t3"],
    ["stays before an entry that is edited, and goes behind it", "u1 t1 u2 t2 y1:u2 u3 t3", "t1 t3"],
    ["goes with the reply that is edited", "u1 t1 u2 t2 y1:t1 u3 t3", "t3"],
    ["goes behind an entry that is omitted", "u1 t1 x1:u1 u2 t2", "t2"],
    ["goes behind a pruned result, and stays before it", "u1 t1:k1 r1:k1 t2 y1:r1 t3", "t1 t3"],
    ["stays after an edit of what comes later", "u1 t1 u2 y1:u2 t2", "t1 t2"],
    ["goes behind a summary", "u1 t1 u2 t2 c1:u2 u3 t3", "t3"],
    ["goes behind each of two summaries", "u1 t1 u2 t2 c1:u2 u3 t3 c2:u3 u4 t4", "t4"],
    ["is back where it stood when the summary is undone at once", "u1 t1 u2 t2 c1:u2 x1:c1 u3 t3", "t1 t2 t3"],
    ["of a reply behind a summary goes when that is undone", "u1 t1 u2 t2 c1:u2 u3 t3 x1:c1 u4 t4", "t1 t2 t4"],
    ["is left out of every request after a change, also when the same content returns", "u1 t1 y1:u1 u2 t2 y2:u1 u3 t3", "t3"],
    ["goes when the system message changes", "s1 u1 t1 s2 u2 t2", "t2"],
    ["stays when the same system message is set again", "s1 u1 t1 u2 t2", "t1 t2"],
    ["goes behind a result that arrived after the next reply", "u1 t1:k1 u2 t2 r1:k1 u3 t3", "t1 t3"],
    ["stays behind results in another order", "u1 t1:k1,k2 r2:k2 r1:k1 t2", "t1 t2"],
    ["stays behind a note, data and another thinking level", "u1 t1 n1 d1 h1 u2 t2", "t1 t2"],
  ])("%s", async (_what, words, sent) => {
    const { session, store } = await grow(words);
    expect(await sentBy(session)).toBe(sent);
    expect(await sentBy(await store.openSession(session.id))).toBe(sent);
  });

  test("is the same whether a context grew entry by entry or is read at once", async () => {
    const { session, store } = await grow("s1 u1");
    for (const word of "t1:k1 r1:k1 t2 u2 t3 y1:u2 t4 s2 u3 t5 c1:u3 u4 t6".split(" ")) {
      await session.context();
      await plant(session, word);
      expect(await sentBy(session), word).toBe(await sentBy(await store.openSession(session.id)));
    }
  });

  test("keeps its prefix on a branch, after a move and back, in a fork, and below the summary of a branch at the leaf", async () => {
    const { session, store } = await grow("u1 t1 u2 t2 u3 t3 @t1 b1:t3 u4 t4");
    expect(await sentBy(session)).toBe("t1 t4");
    expect(await sentBy(await store.forkSession(session.id))).toBe("t1 t4");
    await session.moveLeaf("t3");
    expect(await sentBy(session)).toBe("t1 t2 t3");
    await session.moveLeaf("t4");
    expect(await sentBy(session)).toBe("t1 t4");
    await session.moveLeaf("t2");
    await plant(session, "y1:u1 t5");
    expect(await sentBy(session)).toBe("t5");
    expect(await sentBy(session, "t3")).toBe("t1 t2 t3");
  });

  test("is left out of the request of another model, and back for its own", async () => {
    const { session } = await grow("u1 t1 u2");
    const other = { type: "thinking", thinking: "mine", thinkingSignature: "signed opus" } as const;
    await session.append({ type: "model_change", provider: "anthropic", modelId: "claude-opus-5-5" });
    expect(await sentBy(session)).toBe("");
    await session.append(assistantMessage([other, { type: "text", text: "a" }], { provider: "anthropic", model: "claude-opus-5-5" }));
    expect(await sentBy(session)).toBe("opus");
    await plant(session, "u3 t2 u4 t3");
    expect(await sentBy(session)).toBe("t1 t2 t3");
    expect(thinkingSent({ ...(await session.context()), model: { provider: "anthropic", modelId: "claude-sonnet-4-5" } })).toBe(
      "opus".slice(4),
    );
  });

  test("of the reply to a request that was not the context of its path is never sent again", async () => {
    const { session } = await grow("u1 t1 u2");
    await session.append({ type: "custom", customType: "bough.changed-request", data: {} });
    await plant(session, "t2 u3 t3");
    expect(await sentBy(session)).toBe("t1 t3");
  });

  test("is sent as it stands by an older model, and by any model where the caller says so", async () => {
    const { session } = await grow("u1 t1 y1:u1 u2 t2");
    const context = await session.context();
    expect(thinkingSent(context)).toBe("t2");
    const messages = (options: object) => JSON.stringify(toAnthropic(context, options).messages).match(/signed t\d/g);
    expect(messages({ boundThinking: "never" })).toEqual(["signed t1", "signed t2"]);
    const old = { ...context, model: { provider: "anthropic", modelId: "claude-next" } };
    expect(JSON.stringify(toAnthropic(old, { model: { modelId: "claude-fable-5-1", provider: "anthropic" } }))).not.toMatch("signed t1");
  });

  test("is left out of the messages of the AI SDK in the same way", async () => {
    const { session } = await grow("u1 t1 u2 t2 y1:u2 u3 t3");
    expect(JSON.stringify(toAiSdk(await session.context())).match(/signed t\d/g)).toEqual(["signed t1", "signed t3"]);
  });
});

test.each([
  ["claude-fable-5-1", true],
  ["claude-fable-5-2-20261001", true],
  ["anthropic/claude-mythos-5.1", true],
  ["us.anthropic.claude-opus-5-5-20260901-v1:0", true],
  ["claude-sonnet-5-5@20260901", true],
  ["claude-haiku-5-5", true],
  ["claude-opus-6", true],
  ["claude-opus-5-20260101", false],
  ["claude-opus-4-5-20251101", false],
  ["claude-3-5-sonnet-20241022", false],
  ["claude-fable-5", false],
  ["gpt-5.5", false],
])("the table of models: %s binds its thinking: %s", (modelId, binds) => {
  expect(bindsThinking({ modelId })).toBe(binds);
});

test.each([
  ["amazon-bedrock", "us.anthropic.claude-fable-5-1-v1:0", "eu.anthropic.claude-fable-5-1-20260901-v1:0", "t"],
  ["google-vertex-anthropic", "claude-fable-5-1@20260901", "claude-fable-5-1", "t"],
  ["anthropic", "claude-fable-5-1-20260901", "claude-fable-5-1", "t"],
  ["anthropic", "claude-fable-5-1", "claude-fable-5-2", ""],
])("thinking by way of %s of %s is sent to %s: %s", async (provider, written, asked, sent) => {
  const { session } = await grow("");
  await session.append(userMessage("u"));
  const blocks = [{ type: "thinking", thinking: "x", thinkingSignature: "signed t" } as const, { type: "text", text: "a" } as const];
  await session.append(assistantMessage(blocks, { provider, model: written }));
  await session.append(userMessage("u"));
  const context = { ...(await session.context()), model: { provider, modelId: asked } };
  expect(thinkingSent(context)).toBe(sent);
});

describe("a reply of Anthropic's API", () => {
  test("is sent back with members that Bough does not know, empty thinking, and its blocks in their order", async () => {
    const { session } = await grow("u1");
    const content = [
      { type: "thinking", thinking: "", signature: "S1" },
      { type: "text", text: "I look.", citations: null },
      { type: "redacted_thinking", data: "hidden" },
      { type: "tool_use", id: "toolu_1", name: "bash", input: { b: 1, a: 2 }, caller: { type: "direct" }, new_member: [1] },
    ];
    await session.append(fromAnthropic({ id: "m1", model: "claude-fable-5-1", content, stop_reason: "tool_use" }));
    expect(toAnthropic(await session.context()).messages[1]?.content).toEqual(content);
  });

  test("that was paused is sent back as it came to be continued, then and behind its rest", async () => {
    const { session } = await grow("u1");
    const search = (id: string) => ({ type: "server_tool_use", id, name: "web_search", input: { query: "q" } });
    const found = (id: string) => ({ type: "web_search_tool_result", tool_use_id: id, content: [] });
    const first = [
      { type: "thinking", thinking: "", signature: "S1" },
      { type: "text", text: "I search. " },
      search("srv_1"),
      found("srv_1"),
      search("srv_2"),
    ];
    const rest = [found("srv_2"), { type: "thinking", thinking: "", signature: "S2" }, { type: "text", text: "It is so." }];
    await session.append(fromAnthropic({ id: "m1", model: "claude-fable-5-1", content: first, stop_reason: "pause_turn" }));
    expect(toAnthropic(await session.context()).messages.at(-1)).toEqual({ role: "assistant", content: first });
    await session.append(fromAnthropic({ id: "m2", model: "claude-fable-5-1", content: rest, stop_reason: "end_turn" }));
    await session.append(userMessage("next"));
    expect(toAnthropic(await session.context()).messages[1]).toEqual({ role: "assistant", content: [...first, ...rest] });
  });

  test("that was paused and never continued is sent without the call of the server's tool that has no result", async () => {
    const { session } = await grow("u1");
    const content = [
      { type: "thinking", thinking: "", signature: "S1" },
      { type: "text", text: "I search." },
      { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
    ];
    await session.append(fromAnthropic({ id: "m1", model: "claude-fable-5-1", content, stop_reason: "pause_turn" }));
    await session.append(userMessage("Never mind."));
    expect(toAnthropic(await session.context()).messages[1]).toEqual({ role: "assistant", content: content.slice(0, 2) });
  });

  test.each<[what: string, blocks: readonly object[], sent: readonly string[]]>([
    ["a text that ended with white space", [{ type: "text", text: "Half " }], ["Half", "Rest"]],
    ["thinking alone", [{ type: "thinking", thinking: "Hm", signature: "S" }], ["Rest"]],
  ])("that was interrupted after %s is sent in the same form when another reply follows", async (_what, content, sent) => {
    const { session } = await grow("u1");
    await session.append(fromAnthropic({ id: "m1", model: "claude-fable-5-1", content, stop_reason: "aborted" }));
    const first = blocksOf(await session.context());
    await session.append(fromAnthropic({ id: "m2", model: "claude-fable-5-1", content: [{ type: "text", text: "Rest" }] }));
    const later = blocksOf(await session.context());
    expect(later.slice(0, first.length)).toEqual(first);
    expect(later.flatMap((block) => ("text" in block ? [block["text"]] : ["?"])).slice(1)).toEqual(sent);
  });
});
