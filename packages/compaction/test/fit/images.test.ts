import type { ContextMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { IMAGE_TOKENS, messageAt, shape } from "./conversation.js";

const image = (bytes: number) => ({ type: "image" as const, data: "A".repeat(bytes), mimeType: "image/png" });
const line = { type: "text", text: "[image/png left out of this request]" };

function pictures(...images: readonly number[][]) {
  const messages = images.map((bytes): ContextMessage => ({ role: "user", content: bytes.map(image) }));
  return { messages, entries: images.map((_, at) => `u${at + 1}`) };
}

describe("images of a request", () => {
  test("stay, the newest of them, up to the bytes that are set; older ones become a line", () => {
    const shaped = shape(pictures([400], [400, 300], [300]), { settings: { imageBytes: 1_000 } });
    expect(messageAt(shaped, "u3")).toMatchObject({ content: [image(300)] });
    expect(messageAt(shaped, "u2")).toMatchObject({ content: [image(400), image(300)] });
    expect(messageAt(shaped, "u1")).toMatchObject({ content: [line] });
    const tokens = IMAGE_TOKENS - line.text.length;
    expect(shaped.changes).toEqual([{ kind: "images", images: 1, bytes: 400, tokens }]);
    expect(shaped.totalTokens).toBe(3 * IMAGE_TOKENS + line.text.length);
  });

  test("inside one message go from the front", () => {
    const shaped = shape(pictures([400, 300]), { settings: { imageBytes: 500 } });
    expect(messageAt(shaped, "u1")).toMatchObject({ content: [line, image(300)] });
  });

  test("older than the first that does not fit go too, though they would", () => {
    const shaped = shape(pictures([10], [900], [300]), { settings: { imageBytes: 1_000 } });
    expect(messageAt(shaped, "u1")).toMatchObject({ content: [line] });
    expect(messageAt(shaped, "u3")).toMatchObject({ content: [image(300)] });
  });

  test("all stay where the setting is 0, and where they fit", () => {
    expect(shape(pictures([400], [400])).changes).toEqual([]);
    expect(shape(pictures([400], [400]), { settings: { imageBytes: 800 } }).changes).toEqual([]);
  });

  test("of tool results and replies count too, and their calls stay", () => {
    const messages: ContextMessage[] = [
      { role: "user", content: "look" },
      { role: "assistant", content: [image(600), { type: "toolCall", id: "c1", name: "shot", arguments: {} }] },
      { role: "toolResult", toolCallId: "c1", isError: false, content: [image(600)] },
    ];
    const shaped = shape({ messages, entries: ["u1", "k1", "r1"] }, { settings: { imageBytes: 600 } });
    expect(messageAt(shaped, "k1")).toMatchObject({ content: [line, { type: "toolCall", id: "c1" }] });
    expect(messageAt(shaped, "r1")).toMatchObject({ content: [image(600)] });
  });
});
