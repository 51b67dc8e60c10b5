import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BoughSessionRepo } from "@bough/adapters/pi";
import { openStore } from "@bough/session-core";
import { BACKGROUND_CONTEXT as HERE } from "@earendil-works/pi-agent-core/harness/context";
import { expect, test } from "vitest";

const BOUGH = join(import.meta.dirname, "../../../packages/cli/dist/bough.js");

const usage = {
  input: 9000,
  output: 9,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 9009,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
};
const model = { api: "anthropic-messages", provider: "anthropic", model: "claude", usage, stopReason: "stop" } as const;

test("the command shows, searches, checks and compacts a session of pi, and pi goes on below the compaction", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bough-pi-"));
  const path = join(folder, "sessions.db");
  const bough = (...args: string[]) => {
    const env = { ...process.env, HOME: folder, BOUGH_STORE: path, NO_COLOR: "1" };
    const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, ...args], { encoding: "utf8", env, cwd: folder });
    expect({ args, status }, stderr).toEqual({ args, status: 0 });
    return stdout;
  };
  try {
    let store = await openStore({ path });
    let repo = new BoughSessionRepo(store);
    const pi = await repo.create({ id: "tabs", cwd: folder }, HERE);
    const branch = await pi.createBranch("main", null, HERE);
    for (let turn = 0; turn < 12; turn += 1) {
      const question = `Question ${turn}: ${"why does the parser fail on tabs? ".repeat(100)}`;
      await branch.appendMessage({ role: "user", content: question, timestamp: turn }, HERE);
      const content = [{ type: "text" as const, text: `Answer ${turn}: ${"the lexer counts one column. ".repeat(100)}` }];
      await branch.appendMessage({ role: "assistant", content, ...model, timestamp: turn }, HERE);
    }
    await repo.close(HERE);
    await store.close();

    expect(bough("tree", "tabs")).toContain("Answer 11");
    expect(bough("show", "tabs")).toContain("24 entries, 24 messages");
    expect(bough("search", "lexer")).toContain("tabs");
    expect(bough("stats", "tabs")).toContain("claude");
    bough("verify");
    bough("compact", "tabs", "--keep", "1000");

    store = await openStore({ path });
    repo = new BoughSessionRepo(store);
    const again = await repo.open({ id: "tabs" });
    const main = await again.branch("main", HERE);
    const newest = (await main?.findEntries({ stopAtType: "compaction" }, HERE)) ?? [];
    expect(newest.map(({ type }) => type)).toEqual(["compaction"]);
    expect(newest[0]).toMatchObject({ retainedTail: expect.arrayContaining([expect.objectContaining({ role: "assistant" })]) });
    await main?.appendMessage({ role: "user", content: "Go on.", timestamp: 99 }, HERE);
    expect((await (await store.openSession("tabs")).context()).messages.map(({ role }) => role).at(0)).toBe("compactionSummary");
    await repo.close(HERE);
    await store.close();
    bough("verify");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
