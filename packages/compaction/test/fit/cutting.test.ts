import type { ContentBlock } from "@bough/session-core";
import { takeEnd, takeStart } from "@bough/session-core/view";
import { describe, expect, test } from "vitest";
import { cutForRequest } from "../../src/fit/cut-message.js";
import { count, IMAGE_TOKENS, messageAt, names, shape, talk, textAt } from "./conversation.js";

/** A text in which each part is identified by its words. */
const numbered = (words: number) => Array.from({ length: words }, (_, at) => `w${at}`).join(" ");

function withResult(content: string | ContentBlock[]) {
  const { messages, entries } = talk("u1 k1(c1)");
  const result = { role: "toolResult" as const, toolCallId: "c1", toolName: "bash", content, isError: false };
  return { messages: [...messages, result], entries: [...entries, "r1"] };
}

const image = (bytes = 4): ContentBlock => ({ type: "image", data: "A".repeat(bytes), mimeType: "image/png" });

describe("a tool result over its share of the window", () => {
  test("loses its middle: 40 % of the rest is the head, and a marker has the number of removed characters", () => {
    const long = numbered(1_000);
    const shaped = shape(withResult(long), { window: 2_000 });
    const text = textAt(shaped, "r1");
    const [head = "", line = "", tail = ""] = text.split("\n");
    expect(text.length).toBeLessThanOrEqual(1_000);
    expect(text.length).toBeGreaterThan(900);
    expect(long.startsWith(head)).toBe(true);
    expect(long.endsWith(tail)).toBe(true);
    expect(head.length / (head.length + tail.length)).toBeCloseTo(0.4, 2);
    expect(line).toBe(`[${long.length - head.length - tail.length} characters left out of this request]`);
    expect(shaped.changes).toEqual([{ kind: "cut-tool-results", results: 1, tokens: long.length - text.length }]);
  });

  test("keeps its call id, its tool and whether it failed", () => {
    const shaped = shape(withResult(numbered(1_000)), { window: 2_000 });
    expect(messageAt(shaped, "r1")).toMatchObject({ role: "toolResult", toolCallId: "c1", toolName: "bash", isError: false });
  });

  test("stays as it is where the share is 0", () => {
    expect(shape(withResult(numbered(1_000)), { window: 2_000, settings: { toolResultShare: 0 } }).changes).toEqual([]);
  });

  test("keeps its images while there is room for them", () => {
    const shaped = shape(withResult([{ type: "text", text: numbered(1_000) }, image()]), { window: 2_000 });
    const message = messageAt(shaped, "r1");
    expect(message).toMatchObject({ content: [{ type: "text" }, image()] });
    expect(count(message)).toBeLessThanOrEqual(1_000);
  });

  test("of images alone that are too many becomes a line", () => {
    const shaped = shape(withResult(Array.from({ length: 20 }, () => image())), { window: 2_000 });
    expect(IMAGE_TOKENS * 20).toBeGreaterThan(1_000);
    expect(messageAt(shaped, "r1")).toMatchObject({
      content: [{ type: "text", text: "[20 images or documents left out of this request]" }],
    });
  });

  test("keeps its short text whole where its images must go", () => {
    const content: ContentBlock[] = [{ type: "text", text: "two pictures" }, ...Array.from({ length: 20 }, () => image())];
    expect(textAt(shape(withResult(content), { window: 2_000 }), "r1")).toBe(
      "two pictures\n[20 images or documents left out of this request]",
    );
  });

  test("is cut by counted tokens, however uneven its token density", () => {
    // Letters z are ten times as dense as others; they are all at the beginning, or in the middle.
    const dense = (message: Parameters<typeof count>[0]) =>
      count(message) + 9 * (message.role === "toolResult" ? (textOf(message.content).match(/z/g)?.length ?? 0) : 0);
    for (const long of ["z".repeat(5_000) + "y".repeat(50_000), `${"y".repeat(30_000)}${"z".repeat(9_000)}${"y".repeat(30_000)}`]) {
      const shaped = shape(withResult(long), { window: 20_000, count: dense });
      const tokens = shaped.tokens[2] ?? 0;
      expect(tokens).toBe(dense(messageAt(shaped, "r1")));
      expect(tokens).toBeLessThanOrEqual(10_000);
      expect(tokens).toBeGreaterThan(7_000);
    }
  });

  test("the output of a command that the person ran is cut the same way", () => {
    const shaped = shape("x1:5000 u1", { window: 2_000 });
    expect(textAt(shaped, "x1").length).toBeLessThanOrEqual(1_000);
    expect(shaped.changes).toMatchObject([{ kind: "cut-tool-results", results: 1 }]);
  });
});

function textOf(content: string | readonly ContentBlock[]): string {
  return typeof content === "string" ? content : content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}

describe("a cut", () => {
  const faces = "😀".repeat(50);

  test.each([1, 2, 3, 50, 51, 99])("after %i units never parts a surrogate pair", (length) => {
    expect(takeStart(faces, length).isWellFormed()).toBe(true);
    expect(takeEnd(faces, length).isWellFormed()).toBe(true);
    expect(cutForRequest(faces, length, 0.4, 0).isWellFormed()).toBe(true);
    expect(length - takeStart(faces, length).length).toBe(length % 2);
  });

  test("leaves half a pair that was there already where it is", () => {
    const broken = `\ud83d${"x".repeat(20)}\ude00`;
    expect(cutForRequest(broken, 10, 0.5, 0)).toBe("\ud83dxxxx\n[12 characters left out of this request]\nxxxx\ude00");
  });

  test("takes all of a head, or all of a tail", () => {
    expect(cutForRequest("abcdef", 2, 1, 0)).toBe("ab\n[4 characters left out of this request]");
    expect(cutForRequest("abcdef", 2, 0, 0)).toBe("[4 characters left out of this request]\nef");
  });
});

describe("what cannot be left out is too long", () => {
  test("the results of the newest round share the room: small ones stay whole", () => {
    const shaped = shape("u1 k1(c1,c2,c3) r1(c1):5000 r2(c2):100 r3(c3):9000", { limit: 2_000 });
    expect(names(shaped)).toBe("u1 k1 r1 r2 r3");
    expect(shaped.fits).toBe(true);
    expect(textAt(shaped, "r2")).toBe("x".repeat(100));
    // Target 1900, less prompt, reply and r2 (120): 890 for each of the two.
    for (const name of ["r1", "r3"]) {
      expect(textAt(shaped, name).length).toBeLessThanOrEqual(890);
      expect(textAt(shaped, name).length).toBeGreaterThan(800);
    }
    expect(shaped.changes).toMatchObject([{ kind: "cut-tool-results", results: 2 }]);
  });

  test("summaries go only when cutting results is not enough", () => {
    const kept = shape("s:500 u1 k1(c1) r1(c1):5000", { limit: 1_000 });
    expect(names(kept)).toBe("s u1 k1 r1");
    expect(textAt(kept, "s")).toBe("x".repeat(500));
    const gone = shape("s:500 b:300 u1 k1(c1) r1(c1):5000", { limit: 900 });
    expect(names(gone)).toBe("u1 k1 r1");
    expect(gone.changes).toMatchObject([
      { kind: "removed-messages", pass: "summaries", messages: 2, tokens: 800 },
      { kind: "cut-tool-results", results: 1 },
    ]);
  });

  test("the newest round is dropped when its call alone is too long", () => {
    const shaped = shape("u1 k1(c1):5000 r1(c1)", { limit: 1_000 });
    expect(names(shaped)).toBe("u1");
    expect(shaped.changes).toEqual([{ kind: "removed-messages", pass: "all-but-prompt", messages: 2, tokens: 5_010 }]);
  });

  test("a prompt larger than the window loses its middle, as the very last thing, and what hangs on it stays", () => {
    const shaped = shape("s u1:9000 k1(c1) r1(c1)", { limit: 1_000 });
    expect(names(shaped)).toBe("s u1 k1 r1");
    expect(shaped.fits).toBe(true);
    expect(textAt(shaped, "u1")).toMatch(/^x+\n\[\d+ characters left out of this request\]\nx+$/);
    expect(shaped.changes).toMatchObject([{ kind: "cut-prompt" }]);
  });

  test("the prompt is not cut where the host wants an error", () => {
    const shaped = shape("u0 a0 u1:9000", { limit: 1_000, settings: { failWhenTooLarge: true } });
    expect(names(shaped)).toBe("u1");
    expect(textAt(shaped, "u1")).toBe("x".repeat(9_000));
    expect(shaped.fits).toBe(false);
  });

  test("if the system message fills the window, the smallest request is returned with fits: false", () => {
    const shaped = shape("s u0 a0 u1:9000 k1(c1) r1(c1)", { limit: 1_000, system: 1_200 });
    expect(names(shaped)).toBe("u1");
    // Two hundred characters and the line between them.
    expect(textAt(shaped, "u1").length).toBeLessThan(300);
    expect(shaped).toMatchObject({ fits: false, totalTokens: textAt(shaped, "u1").length });
  });

  test("a short prompt is never cut", () => {
    const shaped = shape("u1:250", { limit: 100 });
    expect(textAt(shaped, "u1")).toBe("x".repeat(250));
    expect(shaped).toMatchObject({ fits: false, changes: [] });
  });

  test("a request of replies alone keeps the newest", () => {
    expect(names(shape("k1(c1) r1(c1) k2(c2) r2(c2)", { limit: 25 }))).toBe("k2 r2");
    expect(names(shape("k1(c1) r1(c1)", { limit: 5 }))).toBe("k1 r1");
  });

  test("no messages are no messages", () => {
    expect(shape({ messages: [], entries: [] }, { limit: 5, system: 10 })).toMatchObject({ messages: [], totalTokens: 0, fits: false });
  });
});
