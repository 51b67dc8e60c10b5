import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BoughSessionRepo } from "@bough/adapters/pi";
import { openStore, type Store } from "@bough/session-core";
import { AgentHarness, type AgentHarnessTool, type AgentLane } from "@earendil-works/pi-agent-core";
import { BACKGROUND_CONTEXT } from "@earendil-works/pi-agent-core/harness/context";
import type { Session } from "@earendil-works/pi-agent-core/harness/session";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { calls, says, scriptedModel } from "./faux.js";

// pi's agent on a store of Bough, with pi's own scripted model.

let folder: string;
let store: Store;
let repo: BoughSessionRepo;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "bough-pi-"));
  store = await openStore({ path: join(folder, "sessions.db") });
  repo = new BoughSessionRepo(store);
});
afterEach(async () => {
  await repo.close(BACKGROUND_CONTEXT);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const readTool: AgentHarnessTool<undefined> = {
  name: "read",
  label: "read",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  execute: async () => ({ content: [{ type: "text", text: "const tab = 8;" }], details: undefined }),
};

async function laneOf(session: Session, answers: readonly unknown[], compaction?: { keepRecentTokens: number }): Promise<AgentLane> {
  const settings = { enabled: true, reserveTokens: 1000, keepRecentTokens: 20_000, ...compaction };
  const tools = { tools: [readTool], activeToolNames: ["read"] };
  const options = { session, ...scriptedModel(answers), ...tools, systemPrompt: "Be brief.", compaction: settings, toolContext: undefined };
  const { harness } = await AgentHarness.create(options, BACKGROUND_CONTEXT);
  return harness.lane("main", { createAt: null }, BACKGROUND_CONTEXT);
}

const ask = (lane: AgentLane, text: string) => lane.prompt(text, undefined, BACKGROUND_CONTEXT);

/** Type and role of each entry of the leaf's path. */
async function shapeOf(sessionId: string): Promise<readonly string[]> {
  const session = await store.openSession(sessionId);
  return (await session.path()).map((entry) => (entry.type === "message" ? entry.message.role : entry.type));
}

describe("an agent of pi", () => {
  test("leaves messages, calls and results that every reader of the store understands", async () => {
    const pi = await repo.create({ cwd: "/work" }, BACKGROUND_CONTEXT);
    const lane = await laneOf(pi, [calls("read", { path: "src/lexer.ts" }, "call-1"), says("A tab is eight columns.")]);
    expect(await ask(lane, "How wide is a tab?")).toMatchObject({ ok: true, value: { status: "completed" } });
    expect((await shapeOf(pi.metadata.id)).filter((shape) => shape !== "system")).toEqual(["user", "assistant", "toolResult", "assistant"]);

    const session = await store.openSession(pi.metadata.id);
    expect((await session.fileOperations()).map(({ path }) => path)).toEqual(["src/lexer.ts"]);
    expect((await store.search({ query: "eight columns" })).hits).toHaveLength(1);
    expect((await session.context()).messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    const { usage } = await session.statistics();
    const ledger = (await pi.getStats(BACKGROUND_CONTEXT)).usage;
    expect(usage).toMatchObject([{ replies: 2, inputTokens: ledger.input, outputTokens: ledger.output }]);
    expect(ledger.output).toBeGreaterThan(0);
  });

  test("goes back with a summary, and the branch that it left is in the tree", async () => {
    const pi = await repo.create({}, BACKGROUND_CONTEXT);
    const lane = await laneOf(pi, [says("With a flag."), says("We tried a flag."), says("With a table.")]);
    await ask(lane, "How shall we do it?");
    const first = (await lane.findEntries({ order: "oldestFirst" }, BACKGROUND_CONTEXT)).find(
      (entry) => entry.type === "message" && entry.message.role === "user",
    );
    expect(await lane.navigateTree(first?.id ?? "", { summarize: true }, BACKGROUND_CONTEXT)).toMatchObject({ ok: true });
    await ask(lane, "And otherwise?");

    const session = await store.openSession(pi.metadata.id);
    const shapes = await shapeOf(pi.metadata.id);
    expect(shapes).toContain("branch_summary");
    expect(await session.tree.branchPoints()).toHaveLength(1);
    expect((await session.context()).messages.map(({ role }) => role)).toContain("branchSummary");
  });

  test("compacts, and Bough keeps the same messages word for word as pi", async () => {
    const pi = await repo.create({}, BACKGROUND_CONTEXT);
    const lane = await laneOf(pi, [says("one ".repeat(300)), says("two ".repeat(300)), says("The summary."), says("three")], {
      keepRecentTokens: 500,
    });
    await ask(lane, "First?");
    await ask(lane, "Second?");
    expect(await lane.compact(undefined, BACKGROUND_CONTEXT)).toMatchObject({ ok: true });
    await ask(lane, "Third?");

    const compaction = await lane.findEntry({ type: "compaction" }, BACKGROUND_CONTEXT);
    if (compaction?.type !== "compaction") throw new Error("no compaction");
    expect(compaction.retainedTail.length).toBeGreaterThan(0);
    const session = await store.openSession(pi.metadata.id);
    const stored = await session.entry(compaction.id);
    expect(stored).toMatchObject({ type: "compaction", summary: compaction.summary });
    expect(stored).not.toHaveProperty("retainedTail");
    const context = (await session.context()).messages.map((message) => ({
      role: message.role,
      content: "content" in message ? message.content : null,
    }));
    expect(context.slice(1, 1 + compaction.retainedTail.length)).toEqual(
      compaction.retainedTail.map((message) => ({ role: message.role, content: "content" in message ? message.content : null })),
    );
  });

  test("continues where another process of the agent has stopped", async () => {
    const pi = await repo.create({}, BACKGROUND_CONTEXT);
    await ask(await laneOf(pi, [says("one")]), "First?");
    await pi.close(BACKGROUND_CONTEXT);
    const again = await new BoughSessionRepo(store).open(pi.metadata, BACKGROUND_CONTEXT);
    await ask(await laneOf(again, [says("two")]), "Second?");
    await again.close(BACKGROUND_CONTEXT);
    expect((await shapeOf(pi.metadata.id)).filter((shape) => shape !== "system")).toEqual(["user", "assistant", "user", "assistant"]);
    for await (const violation of store.verify()) throw new Error(violation.message);
  });
});
