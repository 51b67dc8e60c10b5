import { describe, expect, test } from "vitest";
import { remoteSummarizer } from "../../src/summarizers/remote.js";
import { fail, raw, startModelServer } from "../model/model-server.js";
import { summaryRequest } from "./shipped.js";

describe("a remote endpoint", () => {
  test("is sent systemPrompt and prompt, and answers with a summary", async () => {
    const server = await startModelServer();
    server.reply(raw(JSON.stringify({ summary: "## Goal", usage: { input: 9, output: 1 }, model: "house/7", shortSummary: "x" })));
    const reply = await remoteSummarizer(server.summarizeURL)(summaryRequest({ system: "Be short.", prompt: "All of it." }));
    expect(reply).toEqual({ text: "## Goal", usage: { input: 9, output: 1 }, model: "house/7" });
    expect(server.requests[0]?.raw.toString()).toBe('{"systemPrompt":"Be short.","prompt":"All of it."}');
  });

  test.each(["{}", '{"summary":7}', '{"summary":null}', '["a"]', '"a"', "null"])("gives no summary with %s", async (body) => {
    const server = await startModelServer();
    server.reply(raw(body));
    await expect(remoteSummarizer(server.summarizeURL)(summaryRequest())).rejects.toMatchObject({ reason: "not-a-text" });
  });

  test("that answers with something else than JSON has failed in a way that may pass", async () => {
    const server = await startModelServer();
    server.reply(raw("<html>Welcome to the hotel's network</html>", "text/html"));
    await expect(remoteSummarizer(server.summarizeURL)(summaryRequest())).rejects.toMatchObject({ failure: "network" });
  });

  test("that redirects to another host is not followed", async () => {
    const [server, other] = [await startModelServer(), await startModelServer()];
    server.reply(fail(307, "", { location: other.summarizeURL }));
    await expect(remoteSummarizer(server.summarizeURL)(summaryRequest())).rejects.toMatchObject({ failure: "bad-request", status: 307 });
    expect(other.requests).toHaveLength(0);
  });

  test("with an invalid URL is rejected at once", () => {
    expect(() => remoteSummarizer("not an address")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", argument: "address" }));
  });
});
