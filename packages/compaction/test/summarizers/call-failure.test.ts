import { describe, expect, test } from "vitest";
import { type CallFailure, SummarizerCallError } from "../../src/errors/summarizer-errors.js";
import { toCallError } from "../../src/summarizers/call-failure.js";

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

const TABLE: readonly (readonly [what: string, error: unknown, failure: CallFailure])[] = [
  ["401", { status: 401 }, "auth"],
  ["402", { status: 402 }, "auth"],
  ["403", { status: 403 }, "auth"],
  ["404", { status: 404 }, "bad-request"],
  ["408", { status: 408 }, "timeout"],
  ["409", { status: 409 }, "overloaded"],
  ["413", { status: 413 }, "overflow"],
  ["a 413 about tokens per minute", { status: 413, message: "on tokens per minute (TPM): Limit 6000" }, "rate-limit"],
  ["422", { status: 422 }, "bad-request"],
  ["429", { status: 429 }, "rate-limit"],
  ["a 429 of an empty account", { status: 429, message: "insufficient_quota" }, "auth"],
  ["a 429 that sounds like an overflow", { status: 429, message: "prompt is too long" }, "rate-limit"],
  ["500", { status: 500 }, "overloaded"],
  ["502", { status: 502 }, "overloaded"],
  ["503", { status: 503 }, "overloaded"],
  ["504", { status: 504 }, "timeout"],
  ["529", { status: 529 }, "overloaded"],
  ["a bare 400", new Error("400 status code (no body)"), "bad-request"],
  [
    "a 400 that throttles",
    { status: 400, message: "ThrottlingException: Too many tokens, please wait before trying again." },
    "rate-limit",
  ],
  ["a 400 that overflows", { status: 400, message: "prompt is too long: 2 tokens > 1 maximum" }, "overflow"],
  ["a 500 that overflows", { status: 500, message: "exceed_context_size_error" }, "overflow"],
  ["an output limit", { status: 400, message: "max_tokens is too large: 100000." }, "bad-request"],
  ["overload in words", new Error("Overloaded"), "overloaded"],
  ["a wrong key in words", new Error("Incorrect API key provided"), "auth"],
  ["Google's exhausted resource", { error: { status: "RESOURCE_EXHAUSTED", code: 429 } }, "rate-limit"],
  ["a refused connection", new TypeError("fetch failed", { cause: coded("connect ECONNREFUSED 127.0.0.1:1", "ECONNREFUSED") }), "network"],
  ["a broken stream", new TypeError("terminated", { cause: coded("other side closed", "UND_ERR_SOCKET") }), "network"],
  ["an unknown host", coded("getaddrinfo ENOTFOUND api.example", "ENOTFOUND"), "network"],
  ["a socket's timeout", coded("Headers Timeout Error", "UND_ERR_HEADERS_TIMEOUT"), "timeout"],
  ["a timeout of AbortSignal", new DOMException("The operation timed out.", "TimeoutError"), "timeout"],
  ["an abort that nobody asked for", new DOMException("This operation was aborted", "AbortError"), "network"],
  ["one of ours", new SummarizerCallError("overflow", "x"), "overflow"],
  ["a mistake in a program", new TypeError("x is not a function"), "bad-request"],
  ["a text", "nope", "bad-request"],
  ["nothing", undefined, "bad-request"],
];

describe("the kind of a failure", () => {
  test.each(TABLE)("%s", (_what, error, failure) => {
    expect(toCallError(error).failure).toBe(failure);
  });
});

describe("an error of a call", () => {
  const at = Date.parse("2026-01-01T00:00:00Z");

  test.each<[string, object, number | undefined]>([
    ["retry-after in seconds", { responseHeaders: { "retry-after": "7" } }, 7_000],
    ["Retry-After as a date", { headers: new Headers({ "Retry-After": "Thu, 01 Jan 2026 00:00:12 GMT" }) }, 12_000],
    ["a date that is past", { headers: { "Retry-After": "Wed, 31 Dec 2025 00:00:00 GMT" } }, 0],
    ["retry-after-ms first", { responseHeaders: { "retry-after": "7", "retry-after-ms": "250" } }, 250],
    ["Google's retryDelay", { responseBody: '{"error":{"details":[{"retryDelay":"34s"}]}}' }, 34_000],
    ["OpenAI's sentence", { message: "Rate limit reached. Please try again in 6.5s." }, 6_500],
    ["no wish", { responseHeaders: {} }, undefined],
    ["nonsense", { responseHeaders: { "retry-after": "soon" } }, undefined],
  ])("knows how long the provider asked to wait: %s", (_what, said, expected) => {
    expect(toCallError({ statusCode: 429, ...said }, { nowMs: at }).retryAfterMs).toBe(expected);
  });

  test("keeps status and cause, and quotes the server's message", () => {
    const cause = { statusCode: 503, message: "The engine is cold" };
    const error = toCallError(cause);
    expect(error).toMatchObject({ code: "SUMMARIZER_CALL", failure: "overloaded", status: 503, cause });
    expect(error.message).toContain("503 The engine is cold");
  });

  test("is one short line without control characters for any response", () => {
    const { message } = toCallError(new Error(`\u001b[31m${"😀".repeat(5_000)}\nsecond line`));
    expect(message.length).toBeLessThan(600);
    expect(message).not.toMatch(/[\u0000-\u001f]/);
    expect(message.isWellFormed()).toBe(true);
  });

  test("never holds a secret, nor a cause that does", () => {
    const error = toCallError(new Error("Incorrect API key provided: sk-very-secret"), { secrets: ["sk-very-secret"] });
    expect(error.message).toContain("[hidden]");
    expect(JSON.stringify([error.message, String(error.cause), error.stack])).not.toContain("sk-very-secret");
  });

  test.each([
    ["encoded for a URL", encodeURIComponent("key/with+signs")],
    ["in Base64", Buffer.from("Bearer key/with+signs").toString("base64")],
    ["where the line is cut", `${"x".repeat(390)}key/with+signs`],
  ])("never holds a secret: %s", (_how, repeated) => {
    const error = toCallError(new Error(`No ${repeated}`), { secrets: ["key/with+signs"] });
    expect(error.message).not.toMatch(/key.{0,3}wi|a2V5|tleS9/);
    expect(error.cause).toBeUndefined();
  });

  test("is the same object if it is a SummarizerCallError already", () => {
    const ours = new SummarizerCallError("network", "x");
    expect(toCallError(ours)).toBe(ours);
  });
});
