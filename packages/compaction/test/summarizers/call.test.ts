import { afterEach, describe, expect, test, vi } from "vitest";
import { type CallFailure, SummarizerCallError, SummaryRejectedError } from "../../src/errors/summarizer-errors.js";
import { type CallPolicy, callSummarizer } from "../../src/summarizers/call.js";
import type { Summarizer } from "../../src/summarizers/summarizer.js";
import { fail, hang, rateLimit, startModelServer, text } from "../model/model-server.js";
import { SHIPPED, summaryRequest } from "./shipped.js";

const POLICY: CallPolicy = { retries: 2, timeoutMs: 60_000 };

/** Follows a script call by call: an Error is thrown, anything else is returned. */
function scripted(...script: readonly unknown[]): Summarizer & { readonly calls: () => number } {
  let calls = 0;
  const summarizer = async (): Promise<string> => {
    const step = script[Math.min(calls, script.length - 1)];
    calls += 1;
    if (step instanceof Error) throw step;
    return step as string;
  };
  return Object.assign(summarizer, { calls: () => calls });
}

/** Remembers how long each wait was to be, and does not wait. */
function hands() {
  const waits: number[] = [];
  return { waits, sleep: async (ms: number) => void waits.push(ms) };
}

const failure = (kind: CallFailure, retryAfterMs?: number) => new SummarizerCallError(kind, "x", { retryAfterMs });
const forever: Summarizer = () => new Promise(() => undefined);

afterEach(() => vi.useRealTimers());

describe("a summary is requested", () => {
  test("once, where the first candidate gives it", async () => {
    const second = scripted("b");
    expect(await callSummarizer([scripted("a"), second], summaryRequest(), POLICY)).toEqual({ text: "a", candidate: 0, attempts: 1 });
    expect(second.calls()).toBe(0);
  });

  test("with all fields of the summarizer's result", async () => {
    const reply = { text: "a", usage: { input: 3, output: 1 }, extracted: true, model: "m" };
    expect(await callSummarizer([async () => reply], summaryRequest(), POLICY)).toEqual({ ...reply, candidate: 0, attempts: 1 });
  });
});

describe("a failure that may pass", () => {
  test.each<CallFailure>(["rate-limit", "overloaded", "timeout", "network"])("is tried again after doubling waits: %s", async (kind) => {
    const { waits, sleep } = hands();
    const reply = await callSummarizer([scripted(failure(kind), failure(kind), "a")], summaryRequest(), POLICY, { sleep });
    expect(reply).toEqual({ text: "a", candidate: 0, attempts: 3 });
    expect(waits).toEqual([1_000, 2_000]);
  });

  test("is retried after the delay that the provider asks for", async () => {
    const { waits, sleep } = hands();
    await callSummarizer([scripted(failure("rate-limit", 250), failure("rate-limit", 0), "a")], summaryRequest(), POLICY, { sleep });
    expect(waits).toEqual([250, 0]);
  });

  test("leads to the next candidate at once if the provider asks for more than the longest delay", async () => {
    const { waits, sleep } = hands();
    const first = scripted(failure("rate-limit", 30_001));
    expect(await callSummarizer([first, scripted("b")], summaryRequest(), POLICY, { sleep })).toMatchObject({
      text: "b",
      candidate: 1,
      attempts: 2,
    });
    expect(waits).toEqual([]);
  });

  test("never waits longer than the longest wait", async () => {
    const { waits, sleep } = hands();
    const policy = { ...POLICY, retries: 7 };
    await expect(callSummarizer([scripted(failure("network"))], summaryRequest(), policy, { sleep })).rejects.toThrow();
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  test("sends to the next candidate when its tries are used up, which has as many of its own", async () => {
    const { waits, sleep } = hands();
    const [first, second] = [scripted(failure("overloaded")), scripted(failure("network"), "b")];
    expect(await callSummarizer([first, second], summaryRequest(), POLICY, { sleep })).toMatchObject({
      text: "b",
      candidate: 1,
      attempts: 5,
    });
    expect(waits).toEqual([1_000, 2_000, 1_000]);
  });

  test("is known in an error of any library", async () => {
    const { waits, sleep } = hands();
    const limited = Object.assign(new Error("429 Too Many Requests"), { status: 429, headers: { "retry-after": "2" } });
    await callSummarizer([scripted(limited, "a")], summaryRequest(), POLICY, { sleep });
    expect(waits).toEqual([2_000]);
  });
});

describe("a failure that will not pass", () => {
  test.each([failure("auth"), failure("bad-request"), new Error("x is not a function")])(
    "sends to the next candidate at once: %s",
    async (error) => {
      const { waits, sleep } = hands();
      const first = scripted(error);
      expect(await callSummarizer([first, scripted("b")], summaryRequest(), POLICY, { sleep })).toMatchObject({ text: "b", candidate: 1 });
      expect([first.calls(), waits]).toEqual([1, []]);
    },
  );

  test("is thrown when there is no other candidate: the last one, typed", async () => {
    const asked = callSummarizer([scripted(failure("auth")), scripted(new Error("no such model"))], summaryRequest(), POLICY);
    await expect(asked).rejects.toMatchObject({
      code: "SUMMARIZER_CALL",
      failure: "bad-request",
      message: expect.stringContaining("no such model"),
    });
  });

  test("is that there is no candidate", async () => {
    await expect(callSummarizer([], summaryRequest(), POLICY)).rejects.toMatchObject({ code: "SUMMARIZER_CALL", failure: "bad-request" });
  });

  test("may be thrown before the first await", async () => {
    const broken = (() => {
      throw new Error("at once");
    }) as Summarizer;
    expect(await callSummarizer([broken, scripted("b")], summaryRequest(), POLICY)).toMatchObject({ candidate: 1 });
  });
});

describe("what only the caller can answer ends it at once", () => {
  test("an overflow of any library", async () => {
    for (const error of [failure("overflow"), new Error("prompt is too long: 2 tokens > 1 maximum")]) {
      const second = scripted("b");
      await expect(callSummarizer([scripted(error), second], summaryRequest(), POLICY)).rejects.toMatchObject({ failure: "overflow" });
      expect(second.calls()).toBe(0);
    }
  });

  test("a reply that is no summary", async () => {
    const second = scripted("b");
    const rejection = new SummaryRejectedError("tool-call");
    await expect(callSummarizer([scripted(rejection), second], summaryRequest(), POLICY)).rejects.toBe(rejection);
    expect(second.calls()).toBe(0);
  });

  test.each([undefined, null, 7, {}, { text: 7 }, []])("a reply that is no text: %s", async (given) => {
    await expect(callSummarizer([scripted(given)], summaryRequest(), POLICY)).rejects.toMatchObject({ reason: "not-a-text" });
  });

  test("a reply that is empty", async () => {
    await expect(callSummarizer([scripted(" \n")], summaryRequest(), POLICY)).rejects.toMatchObject({ reason: "empty" });
  });
});

describe("a call that takes too long", () => {
  test("is left behind although it never settles, and counts as a failure that may pass", async () => {
    vi.useFakeTimers();
    const asked = callSummarizer([forever, scripted("b")], summaryRequest(), { ...POLICY, retries: 1, timeoutMs: 5_000 });
    await vi.advanceTimersByTimeAsync(5_000 + 1_000 + 5_000);
    expect(await asked).toMatchObject({ text: "b", candidate: 1, attempts: 3 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("has its own signal aborted, so that the request is hung up", async () => {
    vi.useFakeTimers();
    const seen: (AbortSignal | undefined)[] = [];
    const heeds: Summarizer = ({ signal }) => {
      seen.push(signal);
      return new Promise(() => undefined);
    };
    const asked = callSummarizer([heeds], summaryRequest(), { ...POLICY, retries: 0, timeoutMs: 5_000 }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(seen[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen[0]?.aborted).toBe(true);
    expect(await asked).toMatchObject({ failure: "timeout", message: expect.stringContaining("5000 ms") });
  });

  test("may fail or answer later without effect", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    let failLate: (error: Error) => void = () => undefined;
    const late: Summarizer = () => new Promise((_, reject) => (failLate = reject));
    const policy = { ...POLICY, retries: 0, timeoutMs: 1 };
    await expect(callSummarizer([late], summaryRequest(), policy)).rejects.toMatchObject({ failure: "timeout" });
    failLate(new Error("late"));
    // Node reports unhandled rejections once the microtasks are done; one turn of the loop is after that.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("a longer time than a timer can take is not 1 ms", async () => {
    const slowly: Summarizer = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return "a";
    };
    expect(await callSummarizer([slowly], summaryRequest(), { ...POLICY, timeoutMs: 2 ** 40 })).toMatchObject({ text: "a" });
  });
});

describe("the caller's abort", () => {
  const reason = new Error("cancelled by the person");

  test("before the call: no candidate is called", async () => {
    const first = scripted("a");
    await expect(callSummarizer([first], summaryRequest({ signal: AbortSignal.abort(reason) }), POLICY)).rejects.toBe(reason);
    expect(first.calls()).toBe(0);
  });

  test("during a call that heeds no signal: at once", async () => {
    const abort = new AbortController();
    const asked = callSummarizer([forever, scripted("b")], summaryRequest({ signal: abort.signal }), POLICY);
    abort.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });

  test("during a wait: at once, and no further try", async () => {
    vi.useFakeTimers();
    const abort = new AbortController();
    const first = scripted(failure("network"));
    const asked = callSummarizer([first], summaryRequest({ signal: abort.signal }), POLICY).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(500);
    abort.abort(reason);
    expect(await asked).toBe(reason);
    expect([first.calls(), vi.getTimerCount()]).toEqual([1, 0]);
  });

  test("during a wait of the test's own that heeds no signal: at once", async () => {
    const abort = new AbortController();
    const sleep = (): Promise<void> => {
      abort.abort(reason);
      return new Promise(() => undefined);
    };
    const asked = callSummarizer([scripted(failure("network"))], summaryRequest({ signal: abort.signal }), POLICY, { sleep });
    await expect(asked).rejects.toBe(reason);
  });

  test("takes precedence over the error that it causes in the summarizer", async () => {
    const abort = new AbortController();
    const throwsItsOwn: Summarizer = async () => {
      abort.abort(reason);
      throw new SummaryRejectedError("empty");
    };
    await expect(callSummarizer([throwsItsOwn], summaryRequest({ signal: abort.signal }), POLICY)).rejects.toBe(reason);
  });

  test("after the reply does nothing", async () => {
    const abort = new AbortController();
    await callSummarizer([scripted("a")], summaryRequest({ signal: abort.signal }), POLICY);
    expect(() => abort.abort()).not.toThrow();
  });
});

describe.each(SHIPPED)("with $name over a server", ({ over }) => {
  test("a busy server is retried until it answers", async () => {
    const server = await startModelServer();
    server.reply(rateLimit("3"), fail(503), text("## Goal"));
    const { waits, sleep } = hands();
    expect(await callSummarizer([over(server)], summaryRequest(), POLICY, { sleep })).toMatchObject({ text: "## Goal", attempts: 3 });
    expect(waits).toEqual([3_000, 2_000]);
    expect(server.requests).toHaveLength(3);
  });

  test("a server that hangs is disconnected, and the next candidate is called", async () => {
    const [first, second] = [await startModelServer(), await startModelServer()];
    first.reply(hang());
    // The clock advances only for the first candidate's time limit, so that the second one may be as slow as it likes.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const asked = callSummarizer([over(first), over(second)], summaryRequest(), { ...POLICY, retries: 0 });
    await first.request(0);
    vi.advanceTimersByTime(POLICY.timeoutMs);
    expect(await asked).toMatchObject({ candidate: 1, attempts: 2 });
    await (await first.request(0)).gone;
  });

  test("a wrong key is not tried twice", async () => {
    const server = await startModelServer();
    server.otherwise(fail(401));
    await expect(callSummarizer([over(server)], summaryRequest(), POLICY)).rejects.toMatchObject({ failure: "auth", status: 401 });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each(SHIPPED.filter(({ chats }) => chats))("with $name and a model that accepts its default temperature only", ({ over }) => {
  const refusal = fail(
    400,
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
  );

  test("the summary is requested again without a temperature, beside the retries", async () => {
    const server = await startModelServer();
    server.reply(refusal, text("## Goal"));
    const asked = callSummarizer([over(server)], summaryRequest({ temperature: 0 }), { ...POLICY, retries: 0 });
    expect(await asked).toMatchObject({ text: "## Goal", attempts: 2 });
    expect(server.requests.map(({ body }) => body["temperature"])).toEqual([0, undefined]);
  });

  test("the call fails where the request has no temperature", async () => {
    const server = await startModelServer();
    server.otherwise(refusal);
    await expect(callSummarizer([over(server)], summaryRequest(), POLICY)).rejects.toMatchObject({ failure: "bad-request" });
    expect(server.requests).toHaveLength(1);
  });
});
