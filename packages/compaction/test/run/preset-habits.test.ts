import { assistantMessage, type Session, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { openAiCompatibleSummarizer } from "../../src/summarizers/openai-compatible.js";
import { roughCounter } from "../../src/tokens/token-counter.js";
import { startModelServer } from "../model/model-server.js";
import { contextNames, grown, model, plant, prose, turns } from "../world/session.js";

// What the systems behind the presets are known for, each as its preset ships.

/** A model server that answers in the form of VS Code's prompt. */
async function served() {
  const server = await startModelServer();
  server.otherwise("<analysis>long</analysis><summary>\n## Goal\nWhat was asked of src/k1.ts, in short.\n</summary>");
  return { server, summarizer: openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m" }) };
}

describe("vscode", () => {
  test("in simple mode the summarizer reads of each tool result at most half of the window", async () => {
    const { session } = await grown("u1");
    await session.append(assistantMessage([{ type: "toolCall", id: "k1", name: "read", arguments: { path: "a.ts" } }]));
    await session.append(
      toolResult("k1", `${prose("start", 2_000)} ${prose("middle", 7_000)} ${prose("end", 2_000)}`, { toolName: "read" }),
    );
    await plant(session, "a1 u2 a2");
    const { summarizer, asked } = model("<summary>\n## Goal\nshort\n</summary>");
    const settings = { preset: "vscode", summary: { mode: "simple" } } as const;
    const compactor = createCompactor({ session, contextWindow: 16_000, settings, summarizer });
    expect(await compactor.compact()).toMatchObject({ kind: "compacted" });
    const prompt = asked.map((request) => request.prompt).join("\n");
    expect(roughCounter.count(prompt)).toBeGreaterThan(0.4 * 16_000);
    // Head and tail stay, 40 to 60, and the middle goes.
    expect(prompt).toContain("the start word0 ");
    expect(prompt).toContain("characters left out");
    expect(prompt).toContain("the end word499");
  });

  test("full mode is tried first, but never with a request larger than the window", async () => {
    const { server, summarizer } = await served();
    const { session } = await grown(`${turns(1, 19)} u20`);
    const settings = { preset: "vscode", background: { start: null } } as const;
    const small = createCompactor({ session, contextWindow: 3_500, settings, summarizer });
    expect((await small.prepareRequest()).done.compaction).toMatchObject({ kind: "compacted", trigger: "threshold" });
    for (const { body } of server.requests) expect(body.messages).toHaveLength(2);
    for (const { tokens } of server.requests) expect(tokens).toBeLessThanOrEqual(3_500);

    // The budget of the messages is less than the window where there are tools: then the live request still fits.
    const { session: other } = await grown(`${turns(1, 120)} u121`);
    const { totalTokens } = await createCompactor({ session: other, contextWindow: 100_000 }).usage();
    const roomy = createCompactor({ session: other, contextWindow: totalTokens + 4_000, settings, summarizer });
    const before = server.requests.length;
    expect((await roomy.prepareRequest({ toolTokens: 1_500 })).done.compaction).toMatchObject({ kind: "compacted" });
    expect(server.requests[before]?.body.messages?.length).toBeGreaterThan(400);
  });

  test("with one round in the turn the user's prompt is kept, automatically and manually", async () => {
    const settings = { preset: "vscode", background: { start: null } } as const;
    const { session } = await grown(`${turns(1, 9)} u10 k10 r10:k10`);
    const compactor = createCompactor({
      session,
      contextWindow: 1_800,
      settings,
      summarizer: model("<summary>\nshort\n</summary>").summarizer,
    });
    const { done, entries } = await compactor.prepareRequest();
    expect(done.compaction).toMatchObject({ kind: "compacted" });
    expect(entries.slice(1).join(" ")).toBe("u10 k10 r10");

    const { session: byHand } = await grown(`${turns(1, 9)} u10 k10 r10:k10`);
    const other = createCompactor({
      session: byHand,
      contextWindow: 50_000,
      settings,
      summarizer: model("<summary>\nshort\n</summary>").summarizer,
    });
    expect(await other.compact()).toMatchObject({ kind: "compacted", firstKeptEntryId: "u10" });
  });

  test("calls of tool_search and their results are in no summary request, in full mode either", async () => {
    const { server, summarizer } = await served();
    const { session } = await grown(turns(1, 2));
    await searched(session);
    await plant(session, turns(3, 4));
    // Some providers number the calls of each reply from the start.
    const again = (id: string) => ({ type: "toolCall", id, name: "read", arguments: { path: "an id used again" } }) as const;
    await session.append(assistantMessage([again("s1"), again("s2")]));
    for (const id of ["s1", "s2"]) await session.append(toolResult(id, "read again", { toolName: "read" }));
    const compactor = createCompactor({ session, contextWindow: 100_000, settings: "vscode", summarizer });
    await compactor.prepareRequest();
    expect(await compactor.compact()).toMatchObject({ kind: "compacted", method: "normal" });
    expect(server.requests).toHaveLength(1);
    const sent = server.requests[0]?.raw.toString("utf8") ?? "";
    expect(sent).not.toContain("tool_search");
    expect(sent).not.toContain("found by the search");
    expect(sent).toContain("and a second call");
    expect(sent).toContain("an id used again");
    expect(sent).toContain("r2 the r2");
  });

  test("asks for summaries at temperature 0, unless the summarizer has its own", async () => {
    const { server, summarizer } = await served();
    const { session } = await grown(turns(1, 6));
    await createCompactor({ session, contextWindow: 100_000, settings: "vscode", summarizer }).compact();
    expect(server.requests[0]?.body["temperature"]).toBe(0);
    const own = openAiCompatibleSummarizer({ baseURL: server.baseURL, model: "m", temperature: 0.7 });
    await plant(session, turns(7, 9));
    await createCompactor({ session, contextWindow: 100_000, settings: "vscode", summarizer: own }).compact();
    expect(server.requests.at(-1)?.body["temperature"]).toBe(0.7);
  });

  test("older images above 2.5 MB become a line of text", async () => {
    const { session } = await grown("");
    const image = { type: "image", data: "A".repeat(1_500_000), mimeType: "image/png" } as const;
    for (const id of ["u1", "u2"]) await session.append({ ...userMessage([{ type: "text", text: id }, image]), id });
    const { messages } = await createCompactor({ session, contextWindow: 200_000, settings: "vscode" }).prepareRequest();
    expect(messages.map((message) => JSON.stringify(message).includes('"image"'))).toEqual([false, true]);
  });
});

/** A reply with a search for tools and one with a call besides. */
async function searched(session: Session): Promise<void> {
  const search = (id: string) => ({ type: "toolCall", id, name: "tool_search", arguments: { query: "files" } }) as const;
  await session.append(assistantMessage([search("s1")]));
  await session.append(toolResult("s1", "found by the search", { toolName: "tool_search" }));
  const read = { type: "toolCall", id: "s3", name: "read", arguments: { path: "and a second call" } } as const;
  await session.append(assistantMessage([{ type: "thinking", thinking: "hm" }, search("s2"), read]));
  await session.append(toolResult("s2", "found by the search", { toolName: "tool_search" }));
  await session.append(toolResult("s3", "read well", { toolName: "read" }));
}

describe("co-cli", () => {
  test("a manual compaction keeps nothing, also below twenty messages", async () => {
    const { session } = await grown(turns(1, 3), { user: 200, reply: 200, result: 200 });
    const result = await createCompactor({ session, contextWindow: 100_000, settings: "co-cli", summarizer: model().summarizer }).compact();
    expect(result).toMatchObject({ kind: "compacted", firstKeptEntryId: null });
    if (result.kind === "compacted") expect(await contextNames(session)).toBe(result.entryId);
  });
});
