import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { assistantMessage, userMessage } from "../../src/entry/builders.js";
import type { ModelUsage } from "../../src/port/records.js";
import type { Session } from "../../src/session/session.js";
import type { Store } from "../../src/store/store.js";
import { exportClaude, exportCodex, exportPi } from "../../src/transfer/export.js";
import { importPath } from "../../src/transfer/import-path.js";
import { collected, findingsOf, openedStore, tempFolder } from "../world/stores.js";

// An entry that several sessions have is one entry: its usage counts once, a search shows it once, and what begins with it is a fork.

/** A conversation of two turns, of which each reply has one token. */
async function conversation(store: Store, id = "original"): Promise<Session> {
  const session = await store.createSession({ id });
  const usage = { input: 10, output: 1, cost: { total: 1 } };
  for (const turn of ["first", "second"]) {
    await session.append(userMessage(`${turn} zebra`));
    await session.append(assistantMessage(`${turn} reply`, { provider: "p", model: "m", usage }));
  }
  return session;
}

const sum = (usage: readonly ModelUsage[]) => usage.reduce((total, { outputTokens }) => total + outputTokens, 0);

async function used(of: Pick<Session | Store, "statistics">): Promise<readonly [own: number, inherited: number]> {
  const { usage, inheritedUsage } = await of.statistics();
  return [sum(usage), sum(inheritedUsage)];
}

const WRITERS = { pi: exportPi, claude: exportClaude, codex: exportCodex } as const;
type Program = keyof typeof WRITERS;
const NEW_ID = "01a20704-8a67-7db8-aff9-1ebb0e03b7f3";

/** The file of a new session of a program, which goes on with this one. */
async function resumedFile(session: Session, program: Program, sessionId = NEW_ID): Promise<string> {
  const name = { pi: `x_${sessionId}.jsonl`, claude: `${sessionId}.jsonl`, codex: `rollout-2026-01-02T03-04-05-${sessionId}.jsonl` };
  const file = join(tempFolder(), name[program]);
  writeFileSync(file, (await collected(WRITERS[program](session, { continues: { sessionId, cwd: "/p" } }))).join(""));
  return file;
}

describe("a session that was resumed in a program and read from there", () => {
  test.each<Program>(["pi", "claude", "codex"])("in %s counts in its source, and is a fork of it", async (program) => {
    const store = await openedStore();
    const session = await conversation(store);
    const file = await resumedFile(session, program);
    const [{ sessionId } = { sessionId: "" }] = (await importPath(store, file)).sessions;
    const copy = await store.openSession(sessionId);
    expect(await used(store)).toEqual([2, 2]);
    expect([await used(session), await used(copy)]).toEqual([
      [2, 0],
      [0, 2],
    ]);
    expect((await copy.record()).parent).toMatchObject({ sessionId: "original" });
    expect((await store.search({ query: "zebra" })).total).toBe(2);
    expect(await findingsOf(store)).toEqual([]);
  });

  test.each<Program>(["pi", "claude", "codex"])("in %s counts again when its source was deleted", async (program) => {
    const store = await openedStore();
    const session = await conversation(store);
    await importPath(store, await resumedFile(session, program));
    await store.deleteSession("original");
    expect(await used(store)).toEqual([2, 0]);
    expect((await store.search({ query: "zebra" })).total).toBe(2);
  });

  test("in one program after the other counts once", async () => {
    const store = await openedStore();
    let session = await conversation(store);
    for (const [at, program] of (["pi", "codex", "claude", "pi"] as const).entries()) {
      const file = await resumedFile(session, program, `${NEW_ID.slice(0, -1)}${at}`);
      const [{ sessionId } = { sessionId: "" }] = (await importPath(store, file)).sessions;
      session = await store.openSession(sessionId);
      expect(await used(store)).toEqual([2, 2 * (at + 1)]);
    }
    expect((await store.search({ query: "zebra" })).total).toBe(2);
  });
});

describe("a fork", () => {
  test("counts when its source was deleted; of several forks the first", async () => {
    const store = await openedStore();
    const session = await conversation(store);
    const fork = await store.forkSession(session.id, { id: "fork" });
    const other = await store.forkSession("fork", { id: "other", tree: true });
    expect(await used(store)).toEqual([2, 4]);
    await store.deleteSession("original");
    expect([await used(fork), await used(other), await used(store)]).toEqual([
      [2, 0],
      [0, 2],
      [2, 2],
    ]);
    await store.deleteSession("fork");
    expect([await used(other), await used(store)]).toEqual([
      [2, 0],
      [2, 0],
    ]);
  });
});
