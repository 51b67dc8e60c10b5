import { readFileSync } from "node:fs";
import { join } from "node:path";
import { validateEntry } from "@bough/session-core/wire";
import { describe, expect, test } from "vitest";
import { hasRealSession, realSession } from "../../../../.ci/real-sessions.mjs";
import { piLines } from "../../src/pi/write.js";
import { entriesOf, folder, leafOf, problemsOf, sessionIn, write } from "./pi-files.js";

describe.runIf(hasRealSession("pi"))("a real session", () => {
  const recordsOf = (name: string) => [...sessionIn(realSession(`pi/${name}`)).records()];

  test.each(["large-session.jsonl", "small-v3.jsonl"])("%s loses no line, needs no foreign entry, and passes the gate", (name) => {
    const records = recordsOf(name);
    const lines = readFileSync(realSession(`pi/${name}`), "utf8")
      .trim()
      .split("\n").length;
    const entries = entriesOf(records);
    expect(problemsOf(records)).toEqual([]);
    expect(new Set(entries.map(({ line }) => line)).size).toBe(name.startsWith("large") ? lines : lines - 1);
    expect(entries.map(({ payload }) => validateEntry(payload).payload).filter(({ type }) => type === "foreign")).toEqual([]);
  });

  test.each(["large-session.jsonl", "small-v3.jsonl"])("%s is a tree whose parents come first", (name) => {
    const entries = entriesOf(recordsOf(name));
    const seen = new Set<string | null>([null]);
    const early = entries.filter(({ id, parentId }) => [!seen.has(parentId), seen.add(id)][0]);
    expect(early).toEqual([]);
    expect(seen.size).toBe(entries.length + 1);
  });

  test.each(["large-session.jsonl", "small-v3.jsonl"])("%s written as a pi file and read back is the same", async (name) => {
    const records = recordsOf(name);
    const entries = entriesOf(records).map(({ id, parentId, createdAtMs, payload }) => ({
      id,
      parentId,
      createdAtMs,
      seq: 1,
      ...validateEntry(payload).payload,
    }));
    const session = { id: "s", title: null, cwd: null, createdAtMs: 0, parentSessionId: null };
    const lines: string[] = [];
    for await (const line of piLines({ session, entries, labels: [], leafId: leafOf(records) ?? null })) lines.push(line);
    const again = entriesOf(sessionIn(write(join(folder(), "again.jsonl"), lines)).records());
    expect(
      again.map(({ id, parentId, createdAtMs, payload }) => ({ id, parentId, createdAtMs, seq: 1, ...validateEntry(payload).payload })),
    ).toEqual(entries);
  });

  test("small-v3.jsonl stands at its second compaction", () => {
    expect(leafOf(recordsOf("small-v3.jsonl"))).toBe("2c19d326");
  });
});
