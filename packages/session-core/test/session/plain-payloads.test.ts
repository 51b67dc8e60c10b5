import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { type EntryPayload, entryPayloadSchema } from "../../src/entry/entry.js";
import { isPlainPayload, validateEntry } from "../../src/entry/validate.js";

const text = fc.oneof({ weight: 6, arbitrary: fc.constantFrom("x", "") }, fc.constantFrom(null, undefined, 3));
const count = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0, 3, 0.5, undefined) }, fc.constantFrom(null, "3", -1));
const flag = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(true, false) }, fc.constantFrom(undefined, null, "true"));
const partly = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof({ weight: 3, arbitrary: fc.record(fields) }, fc.record(fields, { requiredKeys: [] }));

const block = fc.oneof(
  partly({ type: fc.constant("text"), text, other: fc.jsonValue() }),
  partly({ type: fc.constant("thinking"), thinking: text, thinkingSignature: text, redacted: flag }),
  partly({ type: fc.constant("toolCall"), id: text, name: text, arguments: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), text) }),
  partly({ type: fc.constant("image"), data: text, mimeType: fc.constantFrom("image/png", "text/plain") }),
  partly({ type: fc.constant("foreign"), originalType: text, raw: fc.jsonValue() }),
  fc.jsonValue(),
);
const usage = fc.oneof(
  partly({ input: count, output: count, cacheRead: count, cacheWrite: count, totalTokens: count, cost: partly({ total: count }) }),
  text,
);
const message = partly({
  role: fc.constantFrom("system", "user", "assistant", "toolResult", "bashExecution", "custom", "other"),
  content: fc.oneof({ weight: 4, arbitrary: fc.array(block, { maxLength: 3 }) }, text),
  provider: text,
  model: text,
  usage,
  stopReason: text,
  errorMessage: text,
  toolCallId: text,
  toolName: text,
  isError: flag,
  details: fc.jsonValue(),
});
const payload = partly({ type: fc.constantFrom("message", "foreign", "custom"), message, originalType: text, raw: fc.jsonValue() });

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null");

describe("a payload that is recognized as plain", () => {
  test("is accepted by the schema, which returns it unchanged", () => {
    let recognized = 0;
    fc.assert(
      fc.property(payload, (given) => {
        if (!isPlainPayload(given)) return;
        recognized += 1;
        expect(asJson(entryPayloadSchema.parse(given))).toEqual(asJson(given));
      }),
      { numRuns: runs(5000) },
    );
    expect(recognized).toBeGreaterThan(100);
  });

  test.each<EntryPayload>([
    { type: "message", message: { role: "user", content: "x" } },
    { type: "message", message: { role: "user", content: [{ type: "text", text: "x" }] } },
    { type: "message", message: { role: "system", content: "x" } },
    { type: "message", message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "read", arguments: {} }], model: "m" } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", content: "x", isError: false, details: { lines: 3 } } },
    { type: "foreign", originalType: "progress", raw: { type: "progress" } },
  ])("is the usual one: %j", (given) => {
    expect(isPlainPayload(given)).toBe(true);
    expect(validateEntry(given).payload).toBe(given);
  });
});

describe("a payload with members that JSON.stringify leaves out", () => {
  const hidden = (object: object, name: string, value: unknown): object => Object.defineProperty(object, name, { value });

  test.each([
    ["a hidden role", { type: "message", message: hidden({ content: "x" }, "role", "user") }],
    ["a hidden text", { type: "message", message: { role: "user", content: [hidden({ type: "text" }, "text", "x")] } }],
    ["inherited members", { type: "message", message: Object.create(Object.assign(Object.create(null), { role: "user", content: "x" })) }],
  ])("is stored with them: %s", (_what, given) => {
    const { payload } = validateEntry(given);
    expect(entryPayloadSchema.safeParse(asJson(payload)).success).toBe(true);
  });
});
