import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough, importPath } from "@bough/formats";
import { describe, expect, test } from "vitest";
import { userMessage } from "../../../src/entry/builders.js";
import type { Session } from "../../../src/session/session.js";
import { grow } from "../../world/grow.js";
import { collected, findingsOf, openedStore, tempFolder } from "../../world/stores.js";

/** The texts of the context in order; a summary in brackets. */
async function contextOf(session: Session): Promise<string> {
  const { messages } = await session.context();
  const texts = messages.map((sent) => {
    if (sent.role === "compactionSummary") return `[${sent.summary}]`;
    return /[uax]\d/.exec("content" in sent ? JSON.stringify(sent.content) : "")?.[0] ?? "?";
  });
  return texts.join(" ");
}

/** A session whose compaction keeps two prompts, the later one first, and has its summary behind them. */
async function compacted() {
  const { store, session } = await grow("u1 a1 u2 a2 u3 a3");
  const keptEntryIds = ["u3", "u1", null];
  const { id: compaction } = await session.append({ type: "compaction", summary: "s", firstKeptEntryId: "u1", keptEntryIds });
  await session.append(userMessage("u4"));
  return { store, session, compaction };
}

describe("a compaction that names the entries that it keeps", () => {
  test("gives these in its order, its summary where null is, and what follows", async () => {
    const { store, session } = await compacted();
    expect(await contextOf(session)).toBe("u3 u1 [s] u4");
    expect(await contextOf(await store.openSession(session.id))).toBe("u3 u1 [s] u4");
    await session.append(userMessage("u5"));
    expect(await contextOf(session)).toBe("u3 u1 [s] u4 u5");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("takes edits of what it keeps, and is undone like any other", async () => {
    const { session, compaction } = await compacted();
    await session.append({ type: "context_edit", targetId: "u1", replacement: { content: "x1" } });
    await session.append({ type: "context_edit", targetId: "u3", replacement: null });
    expect(await contextOf(session)).toBe("x1 [s] u4");
    await session.append({ type: "context_edit", targetId: compaction, replacement: null });
    expect(await contextOf(session)).toBe("x1 a1 u2 a2 a3 u4");
  });

  test("holds for what it replaced also if a later one keeps entries from before it", async () => {
    const { session } = await compacted();
    await session.append({ type: "compaction", summary: "t", firstKeptEntryId: "u1" });
    expect(await contextOf(session)).toBe("[t] u1 u3 u4");
  });

  test("is the same in a fork and after an export and an import", async () => {
    const { store, session } = await compacted();
    expect(await contextOf(await store.forkSession(session.id))).toBe("u3 u1 [s] u4");
    const [file, target] = [join(tempFolder(), "s.jsonl"), await openedStore()];
    writeFileSync(file, (await collected(exportBough(session))).join(""));
    const { sessions } = await importPath(target, file);
    expect(await contextOf(await target.openSession(sessions[0]?.sessionId ?? ""))).toBe("u3 u1 [s] u4");
  });
});
