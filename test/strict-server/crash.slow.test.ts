// Processes that are killed while they talk to a strict server. The session goes on from the store, and nothing that it sends is refused.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Entry, openStore, toolCallsOf } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";
import { killed } from "../attack/killed.mjs";
import { randomOf } from "../attack/random.mjs";
import { anthropicRoute } from "./anthropic.js";
import { startStrictServer } from "./server.js";

const AGENT = fileURLToPath(new URL("agent.mjs", import.meta.url));
const SEED = Number(process.env["BOUGH_CRASH_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** Thinks, and calls a tool in two of three replies. */
const startServer = () =>
  startStrictServer({
    "/v1/messages": anthropicRoute((_request, n) => {
      const thinking = { type: "thinking", thinking: n % 4 === 0 ? "" : `I think about ${n}.` };
      return n % 3 === 2
        ? { content: [thinking, { type: "text", text: `Module ${n} is done.` }], stop_reason: "end_turn" }
        : {
            content: [thinking, { type: "tool_use", id: `toolu_${n}`, name: "read", input: { path: `${n}.ts` } }],
            stop_reason: "tool_use",
          };
    }),
  });

/** The calls of a path without a result. */
function openCalls(path: readonly Entry[]): readonly string[] {
  const results = path.map((entry) => (entry.type === "message" && entry.message.role === "toolResult" ? entry.message.toolCallId : ""));
  return toolCallsOf(path).flatMap(({ id }) => (results.includes(id) ? [] : [id]));
}

test(`a session whose processes are killed at any step goes on from the store, and nothing is refused (seed ${SEED})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "bough-strict-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "s.db");
  const server = await startServer();
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const { id } = await store.createSession();
  const random = randomOf(SEED);
  // Between a call and its result, between a result and the request, before a reply, and anywhere.
  const ends = ["call", "result", "prompt", "answer", "", "call", "", "", "result", "", "", "call"];
  for (const [run, end] of ends.entries()) {
    const lines = end === "" ? 1 + random.below(40) : Number.POSITIVE_INFINITY;
    const { signal } = await killed(AGENT, [path, id, server.url, `run${run}`, end], { lines, delayMs: random.below(20), word: "stopped" });
    expect(signal).toBe("SIGKILL");
  }
  const before = server.exchanges.length;
  await killed(AGENT, [path, id, server.url, "last", "6"], { lines: Number.POSITIVE_INFINITY, word: "stopped" });
  expect(server.refused().map(({ body }) => body)).toEqual([]);
  const session = await store.openSession(id);
  const entries = await session.path();
  // A kill between a call and its result leaves the call open; the note that closed it was part of every later request.
  expect(openCalls(entries).length).toBeGreaterThanOrEqual(3);
  expect(entries.filter(({ type }) => type === "compaction").length).toBeGreaterThan(0);
  // Only the first request behind a compaction has no signed thinking to send, and any request can be the last of all.
  const last = server.exchanges.slice(before);
  const signed = last.filter(({ sent }) => JSON.stringify(sent).includes('"signature"'));
  expect(signed.length).toBeGreaterThan(last.length / 2);
  const findings: unknown[] = [];
  for await (const finding of store.verify()) findings.push(finding);
  expect(findings).toEqual([]);
});
