import { describe, expect, test } from "vitest";
import { entriesOf, recordsOf } from "./pi-files.js";

const HEADER = {
  type: "session",
  id: "s1",
  timestamp: "2025-11-20T23:33:50.805Z",
  cwd: "/p",
  provider: "anthropic",
  modelId: "claude",
  thinkingLevel: "off",
};
const said = (text: string) => ({ type: "message", timestamp: "2025-11-20T23:34:00.000Z", message: { role: "user", content: text } });
const compaction = (firstKeptEntryIndex: number) => ({ type: "compaction", summary: "S", tokensBefore: 5, firstKeptEntryIndex });

/** The text behind the first kept entry of the only compaction; null: nothing kept. */
function keptFrom(records: readonly unknown[]): unknown {
  const entries = entriesOf(recordsOf(records, HEADER));
  const found = entries.map(({ payload }) => payload as Record<string, unknown>).find(({ type }) => type === "compaction");
  const kept = entries.find(({ id }) => id === found?.firstKeptEntryId)?.payload as Record<string, unknown> | undefined;
  return kept === undefined ? null : kept.message === undefined ? kept.type : (kept.message as Record<string, unknown>).content;
}

describe("a session of version 1", () => {
  test("is one line of entries that starts with the settings of its header", () => {
    const entries = entriesOf(recordsOf([said("a"), said("b")], HEADER));
    expect(entries.map(({ payload }) => (payload as Record<string, unknown>).type)).toEqual([
      "model_change",
      "thinking_level_change",
      "message",
      "message",
    ]);
    expect(entries[0]?.payload).toEqual({ type: "model_change", provider: "anthropic", modelId: "claude" });
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, entries[0]?.id, entries[1]?.id, entries[2]?.id]);
  });

  test("gets the same ids at each import, and equal lines get different ones", () => {
    const ids = () => entriesOf(recordsOf([said("a"), said("a")], HEADER)).map(({ id }) => id);
    expect(ids()).toEqual(ids());
    expect(new Set(ids()).size).toBe(4);
    expect(ids().every((id) => /^[0-9a-y]{12}$/.test(id))).toBe(true);
  });

  test("counts what a compaction kept in records from the header on, torn lines left out", () => {
    expect(keptFrom([said("a"), said("b"), compaction(2), said("c")])).toBe("b");
    expect(keptFrom([said("a"), "{ torn", said("b"), compaction(2)])).toBe("b");
  });

  test("kept everything when it counts from the header, and nothing when it counts from the compaction", () => {
    expect(keptFrom([said("a"), compaction(0)])).toBe("model_change");
    expect(keptFrom([said("a"), compaction(2)])).toBe(null);
    expect(keptFrom([said("a"), compaction(99)])).toBe(null);
  });

  test("names hook messages as they were then", () => {
    const hook = { type: "message", message: { role: "hookMessage", customType: "h", content: "x", display: true } };
    expect(entriesOf(recordsOf([hook], { ...HEADER, version: 2 }))[0]?.payload).toMatchObject({
      message: { role: "custom", customType: "h" },
    });
  });
});
