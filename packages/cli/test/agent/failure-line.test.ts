import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failureLine } from "../../src/agent/turn.js";

const KEY = 'ab/cd+ef&gh="ij<kl>mn';

describe("a key that a server repeats", () => {
  test.each([
    ["as it is", KEY],
    ["in JSON", JSON.stringify(KEY)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(KEY))],
    ["in JSON with escaped slashes", KEY.replaceAll("/", "\\/")],
    ["in JSON with code points", [...KEY].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")],
    ["in a URL", encodeURIComponent(KEY)],
    ["in a URL in a URL", encodeURIComponent(encodeURIComponent(KEY))],
    ["in a URL with small digits", encodeURIComponent(KEY).toLowerCase()],
    ["in a form", new URLSearchParams({ key: KEY }).toString()],
    ["in HTML", KEY.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")],
    ["in HTML with numbers", [...KEY].map((one) => `&#${one.charCodeAt(0)};`).join("")],
    ["in HTML with hexadecimal numbers", [...KEY].map((one) => `&#x${one.charCodeAt(0).toString(16)};`).join("")],
    ["in Base64", Buffer.from(KEY).toString("base64")],
    ["in Base64 for URLs", Buffer.from(KEY).toString("base64url")],
    ["in Base64 behind a name", Buffer.from(`me:${KEY}`).toString("base64")],
    ["in Base64 between other words", Buffer.from(`Bearer ${KEY} is wrong`).toString("base64")],
  ])("is hidden %s", (_how, repeated) => {
    const line = failureLine(new Error(`Wrong key: ${repeated}. Try again.`), [KEY]);
    expect(line).toContain("[hidden]");
    expect(line).not.toMatch(/ab.{0,6}cd|YWIv|FiL2|hYi9/i);
  });

  test("of any characters is hidden in every spelling", () => {
    const key = fc.string({ minLength: 6, unit: "grapheme" }).filter((text) => text.isWellFormed() && !/\s/.test(text));
    const spelt = [(text: string) => text, encodeURIComponent, (text: string) => JSON.stringify(text).slice(1, -1)];
    fc.assert(
      fc.property(key, fc.constantFrom(...spelt), (secret, spell) => {
        expect(failureLine(`No: ${spell(secret)} .`, [secret])).toBe("No: [hidden] .");
      }),
    );
  });

  test("at the end of a long page is not shown in part", () => {
    const page = `${" ".repeat(99_990)}${KEY} and so on`;
    const error = Object.assign(new Error("Bad"), { statusCode: 500, responseBody: page });
    expect(failureLine(error, [KEY])).toBe("HTTP 500: Bad:");
  });
});

describe("the error message of a server", () => {
  // A quadratic time would be hours.
  test.each([
    ["<", 3_000_000],
    ["<a", 3_000_000],
    [" ", 3_000_000],
    ["sk-", 1_000_000],
    ["Bearer a", 1_000_000],
    ["ab/", 1_000_000],
  ])("of any length becomes a line: %j", (piece, times) => {
    const text = piece.repeat(times);
    const error = Object.assign(new Error("Bad Gateway"), { statusCode: 502, responseBody: text });
    expect(failureLine(error, [KEY]).length).toBeLessThanOrEqual(400);
    expect(failureLine(text, [KEY]).length).toBeLessThanOrEqual(400);
  });

  test.each([
    ["terminated", "The connection broke in the middle of the reply: read ECONNRESET"],
    ["Failed to process successful response", "The connection broke in the middle of the reply: read ECONNRESET"],
    ["Invalid JSON response", "Invalid JSON response (read ECONNRESET)"],
  ])("in the middle of an answer is told by its cause: %s", (message, says) => {
    const error = Object.assign(new Error(message, { cause: new Error("read ECONNRESET") }), { statusCode: 200 });
    expect(failureLine(error, [])).toBe(says);
  });
});
