import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, toOpenAiChat } from "@bough/session-core";
import { expect, onTestFinished, test } from "vitest";

const WRITER = fileURLToPath(new URL("./compacting-writer.mjs", import.meta.url));

/** Runs a writer to its end, or kills it after so many acknowledged entries; what it acknowledged. */
async function written(args: readonly string[], killAfter = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [WRITER, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (piece: Buffer) => {
    output += piece.toString();
    if (output.split("\n").length > killAfter) child.kill("SIGKILL");
  });
  const [code, signal] = await once(child, "close");
  return { ids: output.split("\n").slice(0, -1), code, signal };
}

async function ofOneSession(work: (path: string, sessionId: string) => Promise<readonly string[]>) {
  const folder = mkdtempSync(join(tmpdir(), "bough-two-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  const store = await openStore({ path });
  const { id } = await store.createSession({});
  const acknowledged = await work(path, id);
  const session = await store.openSession(id);
  const entries = new Map<string, string>();
  for await (const entry of session.entries()) entries.set(entry.id, entry.type);
  const findings: unknown[] = [];
  for await (const finding of store.verify()) findings.push(finding);
  const compactions = [...entries.values()].filter((type) => type === "compaction").length;
  const context = await session.context();
  await store.close();
  return { acknowledged, entries, findings, compactions, context };
}

test("two processes that append to one session and compact it lose nothing, and no summary is misplaced", async () => {
  const { acknowledged, entries, findings, compactions, context } = await ofOneSession(async (path, id) => {
    const both = await Promise.all(["ada", "bob"].map((name) => written([path, id, name, "20"])));
    for (const { code } of both) expect(code).toBe(0);
    return both.flatMap(({ ids }) => ids);
  });
  expect(acknowledged).toHaveLength(80);
  expect(acknowledged.filter((id) => !entries.has(id))).toEqual([]);
  expect(compactions).toBeGreaterThan(0);
  expect(findings).toEqual([]);
  expect(toOpenAiChat(context).length).toBeGreaterThan(0);
});

test("a process that is killed while it compacts leaves everything it acknowledged, and another goes on", async () => {
  const { acknowledged, entries, findings, compactions } = await ofOneSession(async (path, id) => {
    const all: string[] = [];
    for (const killAfter of [7, 12, 19, 23, 31]) {
      const { ids, signal } = await written([path, id, `k${killAfter}`, "100"], killAfter);
      expect(signal).toBe("SIGKILL");
      all.push(...ids);
    }
    const last = await written([path, id, "last", "5"]);
    expect(last.code).toBe(0);
    return [...all, ...last.ids];
  });
  expect(acknowledged.filter((id) => !entries.has(id))).toEqual([]);
  expect(compactions).toBeGreaterThan(0);
  expect(findings).toEqual([]);
});
