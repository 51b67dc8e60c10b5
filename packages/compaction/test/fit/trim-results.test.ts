import type { ContentBlock, ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { messageAt, shape, talk, textAt } from "./conversation.js";

const settings = { trimChars: 2_000 };

function withOldResult(content: string | ContentBlock[]) {
  const { messages, entries } = talk("u1 k1(c1)");
  const result: ContextMessage = { role: "toolResult", toolCallId: "c1", toolName: "read", content, isError: true };
  const rest = talk("a1 u2");
  return { messages: [...messages, result, ...rest.messages], entries: [...entries, "r1", ...rest.entries] };
}

describe("a tool result of an earlier turn", () => {
  test("is cut to the configured number of characters, marker included", () => {
    const long = "a".repeat(1_000) + "b".repeat(4_000);
    const text = textAt(shape(withOldResult(long), { settings }), "r1");
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.length).toBeGreaterThan(1_990);
    const [head = "", line = ""] = text.split("\n");
    expect(long.startsWith(head)).toBe(true);
    expect(line).toBe(`[${5_000 - head.length} characters left out of this request]`);
  });

  test("keeps its tool, its call id and that it failed", () => {
    expect(messageAt(shape(withOldResult("x".repeat(5_000)), { settings }), "r1")).toMatchObject({
      toolCallId: "c1",
      toolName: "read",
      isError: true,
    });
  });

  test("of exactly so many characters stays", () => {
    expect(shape(withOldResult("x".repeat(2_000)), { settings }).changes).toEqual([]);
    expect(shape(withOldResult("x".repeat(2_001)), { settings }).changes).toMatchObject([{ kind: "trimmed", results: 1 }]);
  });

  test("of JSON is measured and cut as its text", () => {
    const raw = { type: "json", rows: Array.from({ length: 1_000 }, (_, at) => at) };
    const shaped = shape(withOldResult([{ type: "foreign", originalType: "json", raw }]), { settings });
    expect(textAt(shaped, "r1").startsWith('{"type":"json","rows":[0,1,2')).toBe(true);
    expect(textAt(shaped, "r1").length).toBeLessThanOrEqual(2_000);
    const small = { type: "foreign" as const, originalType: "json", raw: { rows: [1] } };
    expect(shape(withOldResult([small]), { settings }).changes).toEqual([]);
  });

  test("keeps its images", () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const shaped = shape(withOldResult([image, { type: "text", text: "x".repeat(3_000) }]), { settings });
    expect(messageAt(shaped, "r1")).toMatchObject({ content: [{ type: "text" }, image] });
  });

  test("is never cut inside a surrogate pair", () => {
    for (const long of ["😀".repeat(3_000), `x${"😀".repeat(3_000)}`]) {
      expect(textAt(shape(withOldResult(long), { settings }), "r1").isWellFormed()).toBe(true);
    }
  });

  test("is untouched where the setting is 0, as it is by default", () => {
    expect(shape(withOldResult("x".repeat(50_000))).changes).toEqual([]);
  });
});

describe("a tool result of the newest turn", () => {
  test("is untouched, however long", () => {
    const shaped = shape("u1 k1(c1) r1(c1):5000 u2 k2(c2) r2(c2):5000", { settings });
    expect(textAt(shaped, "r1").length).toBeLessThanOrEqual(2_000);
    expect(textAt(shaped, "r2")).toBe("x".repeat(5_000));
  });
});
