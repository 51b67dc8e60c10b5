import { join } from "node:path";
import { openStore, type SessionId, type Store } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { opened } from "../navigator/living.js";
import { createConversation, memoryStore, pickerOn } from "../picker/driven.js";
import { DrivenShell } from "../shell/driven.js";
import { NOON } from "../world.js";

/** A sync of a session whose next reply its program writes until `untilMs`; null: the reply is complete, and has no entry of its own. */
async function synced(store: Store, sessionId: SessionId, untilMs: number | null): Promise<void> {
  const entries = await (await store.openSession(sessionId)).list();
  const known = entries.map(({ id, parentId, createdAtMs, seq: _, ...payload }, at) => {
    return { kind: "entry", line: at + 1, id, parentId, createdAtMs, payload } as const;
  });
  await store.importSession(
    { header: { sessionId, kind: "conversation" }, records: () => [...known, { kind: "open", waitMs: 1 }] },
    { format: "test", path: `/sessions/${sessionId}.jsonl`, sync: { checksumAt: () => undefined }, heldUntil: () => untilMs },
  );
}

/** The store of a folder as another process has it. */
async function elsewhere(folder: string): Promise<Store> {
  const store = await openStore({ path: join(folder, "sessions.db"), durability: "normal" });
  onTestFinished(() => store.close());
  return store;
}

const LATER = NOON + 600_000;

describe("a reply that its program is still writing", () => {
  test("is told in the list of sessions, at its session alone", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one" }, 2, "first words");
    await createConversation(store, { id: "two" }, 1, "other words");
    await synced(store, "one", LATER);
    const picker = await pickerOn(store, { columns: 100, rows: 24 }).until((model) => model.lists.here.state === "complete");
    expect(picker.lines.filter((line) => line.includes("being written"))).toEqual([expect.stringContaining("[being written] first words")]);
  });

  test("is told in the list until its time has passed, also if no sync looks at it again", async () => {
    const store = await memoryStore();
    await createConversation(store, { id: "one" }, 2, "first words");
    await synced(store, "one", NOON + 1);
    const times = [NOON, NOON];
    const io = { cwd: "/home/ann/project", env: {}, home: "/home/ann", now: () => times.shift() ?? NOON + 1 };
    const picker = pickerOn(store, { columns: 100, rows: 24 }, { io });
    await picker.until((model) => model.held.has("one"));
    await picker.until((model) => model.lists.here.state === "complete" && model.held.size === 0);
    expect(picker.text).not.toContain("being written");
  });

  test("is told in the navigator while another process knows that it is written, and not after it", async () => {
    const navigator = await opened();
    expect(navigator.text).not.toContain("being written");
    const { id } = navigator.session;
    await synced(navigator.elsewhere, id, LATER);
    await navigator.until(({ tree }) => tree?.isHeld === true);
    expect(navigator.text.split("\n")[0]).toContain("being written");
    await synced(navigator.elsewhere, id, null);
    await navigator.until(({ tree }) => tree?.isHeld === false);
    expect(navigator.text).not.toContain("being written");
  });

  test("is told in the status line of the shell, from its start on and until it is there", async () => {
    const shell = await DrivenShell.open({ before: (session, store) => synced(store, session.id, LATER) });
    await shell.until(() => shell.model.status.isHeld);
    expect(shell.shown.split("\n").at(-1)).toContain("being written");
    await synced(await elsewhere(shell.folder), shell.session.id, null);
    await shell.until(() => !shell.model.status.isHeld);
    expect(shell.shown).not.toContain("being written");
  });
});
