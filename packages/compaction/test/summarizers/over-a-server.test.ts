import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import type { CallFailure, RejectedBecause } from "../../src/errors/summarizer-errors.js";
import {
  type Answer,
  drop,
  fail,
  gate,
  hang,
  overflow,
  rateLimit,
  raw,
  refusal,
  slow,
  startModelServer,
  text,
  toolCall,
} from "../model/model-server.js";
import { KEY, SHIPPED, summaryRequest } from "./shipped.js";

const rejected = (reason: RejectedBecause) => expect.objectContaining({ code: "SUMMARY_REJECTED", reason });
const failed = (failure: CallFailure, more: object = {}) => expect.objectContaining({ code: "SUMMARIZER_CALL", failure, ...more });

/** What was thrown; fails when nothing was. */
async function thrownBy(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`no Error was thrown, but ${String(error)}`);
  }
  throw new Error("nothing was thrown");
}

describe.each(SHIPPED)("$name", ({ over, chats }) => {
  test("returns the model's text and usage with one request", async () => {
    const server = await startModelServer();
    server.reply(text("## Goal\nA parser.\n"));
    const reply = await over(server)(summaryRequest());
    // 19 characters are 5 tokens on this server.
    expect(reply).toMatchObject({ text: "## Goal\nA parser.", usage: { input: server.requests[0]?.tokens, output: 5 } });
    expect(server.requests).toHaveLength(1);
  });

  test("sends the instructions and the task, and the key as a bearer", async () => {
    const server = await startModelServer();
    await over(server)(summaryRequest({ system: "Be short.", prompt: "All of it." }));
    const [request] = server.requests;
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    const { messages, systemPrompt, prompt, tools } = request?.body ?? {};
    expect(messages ?? [systemPrompt, prompt]).toEqual(
      chats
        ? [
            { role: "system", content: "Be short." },
            { role: "user", content: "All of it." },
          ]
        : ["Be short.", "All of it."],
    );
    expect(tools).toBeUndefined();
  });

  test("works if the server reports no usage", async () => {
    const server = await startModelServer();
    server.reply(text("## Goal", { usage: false }));
    expect(await over(server)(summaryRequest())).toMatchObject({ text: "## Goal" });
  });

  test("takes leading thoughts out of the text", async () => {
    const server = await startModelServer();
    server.reply(text("<think>\nhm\n</think>\n\n## Goal"));
    expect(await over(server)(summaryRequest())).toMatchObject({ text: "## Goal" });
  });

  test("keeps characters of every length whole", async () => {
    const server = await startModelServer();
    const said = "ü 漢 😀 𝒳 ".repeat(50).trim();
    server.reply(text(said));
    expect(await over(server)(summaryRequest())).toMatchObject({ text: said });
  });

  test.each<[string, Answer, RejectedBecause]>([
    ["an empty text", text(""), "empty"],
    ["white space", text(" \n "), "empty"],
    ["nothing but thought", text("<think>hm</think>"), "empty"],
    ["a call left in the text", text('<tool_call>{"name":"x"}</tool_call>'), "tool-call"],
  ])("rejects %s", async (_what, answer, reason) => {
    const server = await startModelServer();
    server.reply(answer);
    await expect(over(server)(summaryRequest())).rejects.toEqual(rejected(reason));
  });

  test.each<[string, Answer, CallFailure, object]>([
    ["an overflow", overflow(1_000, 2_000), "overflow", { status: 400 }],
    ["413", fail(413), "overflow", { status: 413 }],
    ["a rate limit, with the wait asked for", rateLimit("7"), "rate-limit", { status: 429, retryAfterMs: 7_000 }],
    ["500", fail(500, "boom"), "overloaded", { status: 500 }],
    ["503", fail(503, { error: { message: "Loading model" } }), "overloaded", { status: 503 }],
    ["529", fail(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }), "overloaded", { status: 529 }],
    ["401", fail(401, { error: { message: "Incorrect API key provided" } }), "auth", { status: 401 }],
    ["404", fail(404, { error: { message: "model not found" } }), "bad-request", { status: 404 }],
    ["a bare 400", fail(400), "bad-request", { status: 400 }],
    ["a page that is no answer", fail(502, "<html>Bad gateway</html>", { "content-type": "text/html" }), "overloaded", { status: 502 }],
  ])("says which failure %s is, and asks once", async (_what, answer, failure, more) => {
    const server = await startModelServer();
    server.reply(answer);
    await expect(over(server)(summaryRequest())).rejects.toEqual(failed(failure, more));
    expect(server.requests).toHaveLength(1);
  });

  test("reports an overflow of a server that counts tokens, and only then", async () => {
    const server = await startModelServer({ limitTokens: 100 });
    const summarizer = over(server);
    await expect(summarizer(summaryRequest({ prompt: "word ".repeat(100) }))).rejects.toEqual(failed("overflow"));
    server.limit(1_000);
    expect(await summarizer(summaryRequest({ prompt: "word ".repeat(100) }))).toMatchObject({ text: "A summary of the conversation." });
  });

  test("reports an unreachable server", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const at = `http://127.0.0.1:${port}`;
    await expect(over({ baseURL: `${at}/v1`, summarizeURL: at })(summaryRequest())).rejects.toEqual(failed("network"));
  });

  test("never shows the key, also where the server repeats it", async () => {
    const server = await startModelServer();
    server.reply(fail(401, { error: { message: `Incorrect API key provided: ${KEY}.` } }), raw(`not JSON: ${KEY}`));
    const summarizer = over(server);
    for (const error of [await thrownBy(summarizer(summaryRequest())), await thrownBy(summarizer(summaryRequest()))]) {
      expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain(KEY);
    }
  });

  test("does nothing when its signal was aborted before", async () => {
    const server = await startModelServer();
    const reason = new Error("changed my mind");
    await expect(over(server)(summaryRequest({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
  });

  test.each<[string, () => Answer]>([
    ["has not begun", hang],
    ["waits", () => slow("late", gate())],
  ])("ends at once when its signal aborts while the answer %s, and hangs up", async (_what, answer) => {
    const server = await startModelServer();
    server.reply(answer());
    const abort = new AbortController();
    const asked = over(server)(summaryRequest({ signal: abort.signal }));
    const request = await server.request(0);
    abort.abort();
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    await request.gone;
  });

  test("leaves the request as it was", async () => {
    const server = await startModelServer();
    const request = Object.freeze(summaryRequest({ maxOutputTokens: 500 }));
    await over(server)(request);
    expect(request).toEqual(summaryRequest({ maxOutputTokens: 500 }));
    const { max_tokens, maxOutputTokens } = server.requests[0]?.body ?? {};
    expect(max_tokens ?? maxOutputTokens).toBe(500);
  });

  test("answers several calls at once, each its own", async () => {
    const server = await startModelServer();
    server.otherwise(({ messages, prompt }) => `Summary of ${prompt ?? String(messages?.at(-1)?.content)}`);
    const summarizer = over(server);
    const replies = await Promise.all(["a", "b", "c"].map((prompt) => summarizer(summaryRequest({ prompt }))));
    expect(replies.map((reply) => (typeof reply === "string" ? reply : reply.text))).toEqual([
      "Summary of a",
      "Summary of b",
      "Summary of c",
    ]);
  });
});

// Only for protocols that stream and report a finish reason.
describe.each(SHIPPED.filter(({ chats }) => chats))("$name", ({ over }) => {
  test.each<[string, Answer, RejectedBecause]>([
    ["a tool call", toolCall(), "tool-call"],
    ["a tool call behind a text", toolCall("Let me look first."), "tool-call"],
    ["a reply cut by its length", text("## Goal\nA pars", { finish: "length" }), "cut-by-length"],
    ["a reply stopped by a filter", text("## Go", { finish: "content_filter" }), "refused"],
    ["reasoning without a text", text("", { reasoning: "hm" }), "empty"],
  ])("rejects %s", async (_what, answer, reason) => {
    const server = await startModelServer();
    server.reply(answer);
    await expect(over(server)(summaryRequest())).rejects.toEqual(rejected(reason));
  });

  test.each<[string, Answer]>([
    ["breaks", drop("## Goal\nThe first half", "reset")],
    ["ends without an end", drop("## Goal\nThe first half", "end")],
  ])("takes no half answer when the connection %s", async (_what, answer) => {
    const server = await startModelServer();
    server.reply(answer);
    await expect(over(server)(summaryRequest())).rejects.toEqual(failed("network"));
  });

  test("reports each piece as it arrives", async () => {
    const server = await startModelServer();
    const first = gate();
    const goOn = gate();
    async function* pieces(): AsyncGenerator<string> {
      yield "## Goal";
      await goOn.opened;
      yield "\nA parser.";
    }
    server.reply({ kind: "trickle", pieces: pieces() });
    const heard: string[] = [];
    const asked = over(server)(
      summaryRequest({
        onText: (piece) => {
          heard.push(piece);
          first.open();
        },
      }),
    );
    await first.opened;
    expect(heard).toEqual(["## Goal"]);
    goOn.open();
    expect(await asked).toMatchObject({ text: "## Goal\nA parser." });
    expect(heard.join("")).toBe("## Goal\nA parser.");
  });

  test("ends at once when its signal aborts in the middle of the answer", async () => {
    const server = await startModelServer();
    async function* pieces(): AsyncGenerator<string> {
      yield "## Goal";
      await gate().opened;
    }
    server.reply({ kind: "trickle", pieces: pieces() });
    const abort = new AbortController();
    const asked = over(server)(summaryRequest({ signal: abort.signal, onText: () => abort.abort() }));
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
    await (await server.request(0)).gone;
  });
});

test("a refusal in OpenAI's field for it is no summary", async () => {
  const server = await startModelServer();
  server.reply(refusal());
  const summarizer = SHIPPED.find(({ name }) => name === "openAiCompatibleSummarizer")?.over(server);
  await expect(summarizer?.(summaryRequest())).rejects.toEqual(rejected("refused"));
});
