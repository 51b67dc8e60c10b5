import { toAiSdk } from "@bough/session-core";
import type { ModelMessage } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { openedStore } from "../../../../session-core/test/world/stores.js";
import { fromAiSdk } from "../../../src/ai-sdk/from-ai-sdk.js";

const PIXEL = "iVBORw0KGgo=";

/** What a request sends of messages that were stored. */
async function sentAgain(messages: readonly ModelMessage[]) {
  const session = await (await openedStore()).createSession({});
  await session.write(fromAiSdk(messages).map((entry) => ({ kind: "entry", entry })));
  return toAiSdk(await session.context());
}

const words = fc.string({ minLength: 1 }).map((text) => `${text}.`);
const data = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as null);

/** A part, sometimes with options of a provider. */
function optioned<T extends object>(part: fc.Arbitrary<T>): fc.Arbitrary<T> {
  const signed = fc.constantFrom({ google: { thoughtSignature: "dGhv" } }, { openai: { itemId: "i_1", reasoningEncryptedContent: null } });
  return fc.oneof(
    part,
    fc.tuple(part, signed).map(([one, providerOptions]) => ({ ...one, providerOptions })),
  );
}

const text = optioned(words.map((said) => ({ type: "text" as const, text: said })));
const image = optioned(
  fc
    .tuple(data, fc.constantFrom("image/png", "image/jpeg", "image/gif", "image/webp"))
    .map(([bytes, mediaType]) => ({ type: "image" as const, image: bytes, mediaType })),
);
const file = optioned(
  fc.oneof(
    fc.tuple(data, words).map(([bytes, filename]) => ({ type: "file" as const, data: bytes, mediaType: "application/pdf", filename })),
    fc.constant({ type: "file" as const, data: new URL("https://a.example/a.wav"), mediaType: "audio/wav" }),
  ),
);
const reasoning = fc.oneof(
  optioned(words.map((thought) => ({ type: "reasoning" as const, text: thought }))),
  words.map((thought) => ({ type: "reasoning" as const, text: thought, providerOptions: { anthropic: { signature: "c2ln" } } })),
  fc.constant({ type: "reasoning" as const, text: "", providerOptions: { anthropic: { redactedData: "cmVk" } } }),
);

const outputPart = optioned(
  fc.oneof(
    words.map((said) => ({ type: "text" as const, text: said })),
    data.map((bytes) => ({ type: "file-data" as const, data: bytes, mediaType: "application/pdf", filename: "a.pdf" })),
    fc.constant({ type: "image-url" as const, url: "https://a.example/a.png" }),
    fc.constant({ type: "file-url" as const, url: "https://a.example/a.pdf" }),
  ),
);
const output = fc.oneof(
  words.map((value) => ({ type: "text" as const, value })),
  words.map((value) => ({ type: "error-text" as const, value })),
  words.map((reason) => ({ type: "execution-denied" as const, reason })),
  json.map((value) => ({ type: "json" as const, value })),
  json.map((value) => ({ type: "error-json" as const, value })),
  fc.array(outputPart, { maxLength: 3 }).map((parts) => ({
    type: "content" as const,
    value: [...parts, { type: "image-data" as const, data: PIXEL, mediaType: "image/png" }],
  })),
);

/** A call with its result; the ids are set where they stand. */
const ran = fc.tuple(
  fc.dictionary(fc.string(), json, { noNullPrototype: true, maxKeys: 3 }),
  optioned(fc.constant({})),
  output,
  fc.boolean(),
);

type Turn = (at: number) => ModelMessage[];
const said = fc.array(fc.oneof(text, image, file), { minLength: 1, maxLength: 4 }).map(
  (content): Turn =>
    () => [{ role: "user", content }],
);
const reply = fc.tuple(fc.array(fc.oneof(reasoning, text, file), { maxLength: 4 }), text, fc.array(ran, { maxLength: 3 }));
type Reply = typeof reply extends fc.Arbitrary<infer R> ? R : never;
const answered = reply.map(
  (parts): Turn =>
    (at) =>
      replyMessages(parts, at),
);

const conversation = fc
  .array(fc.oneof(said, answered), { minLength: 1, maxLength: 5 })
  .map((turns) => turns.flatMap((turn, at) => turn(at)));

function replyMessages([before, last, runs]: Reply, at: number): ModelMessage[] {
  const parts = runs.map(([input, options, result, byProvider], n) => {
    const shared = { toolCallId: `call_${at}_${n}`, toolName: "read" };
    const call = { type: "tool-call" as const, ...shared, input, ...options, ...(byProvider ? { providerExecuted: true } : {}) };
    return { call, answer: { type: "tool-result" as const, ...shared, output: result }, byProvider };
  });
  const results = parts.flatMap(({ answer, byProvider }) => (byProvider ? [] : [answer]));
  const inside = parts.flatMap(({ call, answer, byProvider }) => (byProvider ? [call, answer] : [call]));
  const message: ModelMessage = { role: "assistant", content: [...before, last, ...inside] };
  return results.length === 0 ? [message] : [message, { role: "tool", content: results }];
}

test("messages that were stored are sent as they were, with any parts", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (messages) => {
      expect((await sentAgain(messages)).messages).toEqual(messages);
    }),
    { numRuns: runs(150) },
  );
});

describe("a message in another form is sent in the usual one", () => {
  test("content that is a text", async () => {
    const given: ModelMessage[] = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
    ];
    expect(await sentAgain(given)).toEqual({
      system: "Be brief.",
      messages: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        { role: "assistant", content: [{ type: "text", text: "hello" }] },
      ],
    });
  });

  test.each([
    ["bytes", new Uint8Array(Buffer.from(PIXEL, "base64"))],
    ["a data URL", new URL(`data:image/png;base64,${PIXEL}`)],
    ["base64 without a type", PIXEL],
  ])("an image as %s", async (_form, given) => {
    const { messages } = await sentAgain([{ role: "user", content: [{ type: "image", image: given }] }]);
    expect(messages).toEqual([{ role: "user", content: [{ type: "image", image: PIXEL, mediaType: "image/png" }] }]);
  });

  test("a call without a result gets one", async () => {
    const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "read", input: {} };
    const { messages } = await sentAgain([{ role: "assistant", content: [call] }]);
    expect(messages[1]).toMatchObject({ role: "tool", content: [{ toolCallId: "c1", output: { type: "error-text" } }] });
  });
});

test.each([
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0x61]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46, 0x00, 0x00]],
])("an image without a type has that of its first bytes: %s", async (mediaType, bytes) => {
  for (const image of [new Uint8Array(bytes), Buffer.from(bytes).toString("base64")]) {
    const { messages } = await sentAgain([{ role: "user", content: [{ type: "image", image }] }]);
    expect(messages).toMatchObject([{ content: [{ mediaType }] }]);
  }
});

test("something that is no list of messages is refused in one line", () => {
  expect(() => fromAiSdk([{ content: "hi" }] as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});
