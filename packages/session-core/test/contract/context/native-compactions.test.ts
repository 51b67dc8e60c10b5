import { describe, expect, test } from "vitest";
import * as core from "../../../src/index.js";
import { openedStore } from "../../world/stores.js";

const BLOCK = { type: "compaction", content: "They fixed the parser.", signature: "EqQB==", tool_changes: [] };
const ITEM = { type: "compaction", id: "cmp_1", encrypted_content: "gAAAA", created_by: "assistant" };
const OPUS = "claude-opus-5-5";
const GPT = "gpt-6-sol";

async function startedSession(): Promise<core.Session> {
  const session = await (await openedStore()).createSession();
  await session.append(core.userMessage("old question"));
  await session.append(core.fromAnthropic({ model: OPUS, stop_reason: "end_turn", content: [{ type: "text", text: "old answer" }] }));
  return session;
}

function anthropicReply(...content: readonly object[]) {
  return { id: "msg_1", model: OPUS, stop_reason: content.length === 1 ? "compaction" : "end_turn", content };
}

function response(...output: readonly object[]) {
  return { id: "resp_1", object: "response", model: GPT, status: "completed", output };
}

const roles = (messages: readonly { readonly role: string }[]) => messages.map(({ role }) => role).join(" ");

describe("a compaction that Anthropic wrote", () => {
  test("is an entry with the block unchanged, and the summary as its text", async () => {
    const [entry, ...others] = core.fromAnthropic(anthropicReply(BLOCK));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      type: "compaction",
      summary: BLOCK.content,
      firstKeptEntryId: null,
      details: { native: { provider: "anthropic", model: OPUS, items: [BLOCK], readable: true } },
    });
  });

  test("is sent first and unchanged, without the messages before it", async () => {
    const session = await startedSession();
    await session.append(core.fromAnthropic(anthropicReply(BLOCK)));
    await session.append(core.userMessage("next"));
    expect(core.toAnthropic(await session.context()).messages).toEqual([
      { role: "assistant", content: [BLOCK] },
      { role: "user", content: [{ type: "text", text: "next" }] },
    ]);
  });

  test("inside a reply comes back as that reply", async () => {
    const session = await startedSession();
    const content = [BLOCK, { type: "thinking", thinking: "hm", signature: "sig" }, { type: "text", text: "new answer" }];
    const reply = await session.append(core.fromAnthropic(anthropicReply(...content)));
    expect((await session.entry(reply.id)).type).toBe("message");
    await session.append(core.userMessage("next"));
    const { messages } = core.toAnthropic(await session.context());
    expect(messages[0]).toEqual({ role: "assistant", content });
    expect(roles(messages)).toBe("assistant user");
  });

  test("has no empty encrypted content, which the API returns and rejects, and keeps a filled one", async () => {
    const session = await startedSession();
    await session.append(core.fromAnthropic(anthropicReply({ ...BLOCK, encrypted_content: null })));
    expect(core.toAnthropic(await session.context()).messages[0]?.content).toEqual([BLOCK]);
    await session.append(core.fromAnthropic(anthropicReply({ ...BLOCK, encrypted_content: "opaque" })));
    expect(core.toAnthropic(await session.context()).messages[0]?.content).toEqual([{ ...BLOCK, encrypted_content: "opaque" }]);
  });

  test("that failed is no compaction: the whole conversation is sent", async () => {
    const session = await startedSession();
    const failed = { type: "compaction", content: null, encrypted_content: null };
    await session.append(core.fromAnthropic(anthropicReply(failed, { type: "text", text: "new answer" })));
    const context = await session.context();
    expect(context.compaction).toBeNull();
    expect(core.toAnthropic(context).messages.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "old question" }],
      [
        { type: "text", text: "old answer" },
        { type: "text", text: "new answer" },
      ],
    ]);
  });

  test("is the text of its summary for another model, another provider and another API, and itself again on the way back", async () => {
    const session = await startedSession();
    await session.append(core.fromAnthropic(anthropicReply(BLOCK)));
    await session.append({ type: "model_change", provider: "anthropic", modelId: "claude-haiku-5-5" });
    expect(core.toAnthropic(await session.context()).messages[0]).toMatchObject({ role: "user", content: [{ type: "text" }] });
    await session.append({ type: "model_change", provider: "openai", modelId: GPT });
    const { input } = core.toOpenAiResponses(await session.context());
    expect(JSON.stringify(input)).toContain(BLOCK.content);
    expect(roles(core.toOpenAiChat(await session.context()))).toBe("user");
    // The alias that a request names, and the version that its reply names.
    await session.append({ type: "model_change", provider: "anthropic", modelId: `${OPUS}-20260901` });
    expect(core.toAnthropic(await session.context()).messages[0]?.content).toEqual([BLOCK]);
  });

  test("is undone like any other: what it replaced is sent again", async () => {
    const session = await startedSession();
    const { id } = await session.append(core.fromAnthropic(anthropicReply(BLOCK)));
    await session.append({ type: "context_edit", targetId: id, replacement: null });
    await session.append(core.userMessage("next"));
    expect(roles(core.toAnthropic(await session.context()).messages)).toBe("user assistant user");
  });

  test("whose summary was edited is sent as the edited text", async () => {
    const session = await startedSession();
    const { id } = await session.append(core.fromAnthropic(anthropicReply(BLOCK)));
    await session.append({ type: "context_edit", targetId: id, replacement: { content: "They fixed the lexer." } });
    const { messages } = core.toAnthropic(await session.context());
    expect(messages[0]?.role).toBe("user");
    expect(JSON.stringify(messages)).toContain("the lexer");
  });

  test("costs what its iteration cost, and the reply below it what it cost itself", async () => {
    const counts = (input_tokens: number, output_tokens: number) => ({
      input_tokens,
      output_tokens,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
    const usage = {
      ...counts(9, 3),
      iterations: [
        { type: "compaction", ...counts(180_000, 3_500) },
        { type: "message", ...counts(9, 3) },
      ],
    };
    const [compaction, reply] = core.fromAnthropic({ ...anthropicReply(BLOCK, { type: "text", text: "new" }), usage });
    const session = await startedSession();
    await session.append([compaction, reply].filter((entry) => entry !== undefined));
    const { usage: totals } = await session.statistics();
    expect(totals.find(({ model }) => model === OPUS)).toMatchObject({ inputTokens: 180_009, outputTokens: 3_503 });
    expect(core.normalizeUsage(usage)).toMatchObject({ input: 180_009, output: 3_503, contextTokens: 9 });
    const alone = core.fromAnthropic({ ...anthropicReply(BLOCK), usage: { ...counts(0, 0), iterations: [usage.iterations[0]] } });
    expect(alone[0]).toMatchObject({ usage: { input: 180_000, output: 3_500 } });
    await session.append(alone);
    expect((await session.statistics()).usage.find(({ model }) => model === OPUS)).toMatchObject({ inputTokens: 360_009 });
  });
});

describe("a compaction that OpenAI or xAI wrote", () => {
  test("is sent as it came, and the items before it are not", async () => {
    const session = await startedSession();
    const answer = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "new" }],
    };
    await session.append(core.fromOpenAiResponses(response({ type: "reasoning", id: "rs_1", summary: [] }, ITEM, answer)));
    expect(core.toOpenAiResponses(await session.context()).input).toEqual([ITEM, { type: "message", role: "assistant", content: "new" }]);
  });

  test("by /responses/compact is the next input as it stands", async () => {
    const session = await startedSession();
    const output = [
      { type: "message", id: "msg_u", role: "user", status: "completed", content: [{ type: "input_text", text: "old question" }] },
      ITEM,
    ];
    const usage = { input_tokens: 900, output_tokens: 90, total_tokens: 990 };
    const entries = core.fromOpenAiResponses({ id: "c", object: "response.compaction", output, usage }, { model: GPT });
    expect(entries).toMatchObject([{ details: { native: { provider: "openai", model: GPT, items: output, readable: false } } }]);
    await session.append(entries);
    await session.append({ type: "model_change", provider: "openai", modelId: GPT });
    expect(core.toOpenAiResponses(await session.context()).input).toEqual(output);
    expect((await session.statistics()).usage).toContainEqual(
      expect.objectContaining({ provider: "openai", model: GPT, inputTokens: 900, outputTokens: 90 }),
    );
  });

  test("cannot be read: other models get a note and the words of the user that it kept", async () => {
    const session = await startedSession();
    const output = [{ type: "message", role: "user", content: [{ type: "input_text", text: "old question" }] }, ITEM];
    await session.append(core.fromOpenAiResponses({ object: "response.compaction", model: GPT, output }));
    await session.append({ type: "model_change", provider: "anthropic", modelId: OPUS });
    const text = JSON.stringify(core.toAnthropic(await session.context()).messages);
    expect(text).toContain("only openai can read it");
    expect(text).toContain("old question");
    expect(text).not.toContain(ITEM.encrypted_content);
  });

  test("goes to its own provider only", async () => {
    const session = await startedSession();
    await session.append(core.fromOpenAiResponses({ ...response(ITEM), model: "grok-5" }, { provider: "xai" }));
    await session.append({ type: "model_change", provider: "openai", modelId: "grok-5" });
    expect(core.toOpenAiResponses(await session.context()).input).toMatchObject([{ role: "user" }]);
    await session.append({ type: "model_change", provider: "xai", modelId: "grok-5" });
    expect(core.toOpenAiResponses(await session.context()).input).toEqual([ITEM]);
  });
});

test("reasoning that xAI encrypted goes to xAI, and not to OpenAI, whose API has the same items", async () => {
  const session = await startedSession();
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "of xAI" };
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}" };
  await session.append(core.fromOpenAiResponses({ ...response(reasoning, call), model: "grok-5" }, { provider: "xai" }));
  await session.append(core.toolResult("call_1", "text", { toolName: "read" }));
  const itemsFor = async (provider: string) => {
    const { input } = core.toOpenAiResponses({ ...(await session.context()), model: { provider, modelId: "m" } });
    return input.slice(2, -1);
  };
  expect(await itemsFor("xai")).toEqual([reasoning, call]);
  expect(await itemsFor("xai.responses")).toEqual([reasoning, call]);
  const { id: _id, ...bare } = call;
  for (const provider of ["openai", "azure-openai-responses"]) expect(await itemsFor(provider)).toEqual([bare]);
});

describe("the entry of a provider's compaction", () => {
  test.each([
    { native: "text" },
    { native: { provider: "anthropic", items: [], readable: true } },
    { native: { provider: "anthropic", items: ["text"], readable: true } },
    { native: { items: [BLOCK], readable: true } },
  ])("is rejected if it has not the members that the converters need: %j", async (details) => {
    const session = await startedSession();
    const entry = { type: "compaction" as const, summary: "s", firstKeptEntryId: null, details };
    await expect(session.append(entry)).rejects.toThrow(core.InvalidEntryError);
  });
});

describe("a list of entries", () => {
  test("is appended in one transaction, each entry below the one before it", async () => {
    const session = await startedSession();
    const before = session.leafId;
    await expect(session.append([core.userMessage("a"), { type: "message" } as unknown as core.EntryInput])).rejects.toThrow();
    expect(session.leafId).toBe(before);
    const last = await session.append([core.userMessage("a"), core.userMessage("b")]);
    expect(session.leafId).toBe(last.id);
    expect((await session.context()).messages.map((message) => "content" in message && message.content).slice(-2)).toEqual(["a", "b"]);
  });

  test("below another entry leaves the leaf where it is", async () => {
    const session = await startedSession();
    const { leafId } = session;
    const first = (await session.context()).entries[0] ?? "";
    const last = await session.append([core.userMessage("a"), core.userMessage("b")], { parentId: first });
    expect(session.leafId).toBe(leafId);
    expect((await session.context({ leafId: last.id })).messages).toHaveLength(3);
  });

  test("must not be empty", async () => {
    await expect((await startedSession()).append([])).rejects.toThrow(core.InvalidArgumentError);
  });
});
