import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SourceRecord } from "@bough/session-core/engine";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import { cursorFormat } from "../../src/cursor/format.js";
import { readHead } from "../../src/source/json-lines.js";
import { headOf } from "../file-head.js";
import { nothingIsLost } from "../world/mutated-files.js";
import { fileOf } from "../world/sources.js";

const line = (role: string, ...content: readonly unknown[]) => ({ role, message: { content } });
const text = (value: string) => ({ type: "text", text: value });
const call = (name: string, input: object) => ({ type: "tool_use", name, input });

/** A transcript with everything that transcripts have. */
const LINES = [
  line("user", text("<user_info>\nOS: Linux\n</user_info>")),
  line("user", text("<timestamp>Friday, Sep 4, 2026, 2:21 AM (UTC+8)</timestamp>\n<user_query>\nrun ls\n</user_query>")),
  line("assistant", text("Running it."), call("Shell", { command: "ls" }), call("Read", { path: "a.ts" })),
  line("user", { type: "tool_result", content: "a.ts" }, { type: "tool_result", content: [text("let a")], is_error: true }),
  line("assistant", { type: "thinking", thinking: "done?" }, text("There is a.ts.")),
  { type: "turn_ended", status: "success" },
  { type: "turn_ended", status: "error", error: "quota" },
  { role: "user", message: { content: "plain" } },
];

function recordsOf(path: string): readonly SourceRecord[] {
  return [...cursorFormat.sessions(path)].flatMap((session) => [...session.records()]);
}

const payloadsOf = (lines: readonly object[]) =>
  recordsOf(fileOf([...lines, ""], "t.jsonl")).flatMap((record) => (record.kind === "entry" ? [record.payload] : []));

describe("a transcript of Cursor", () => {
  test("is told from other formats by messages without ids beside a role", () => {
    expect(cursorFormat.detects(headOf([line("user", text("hi"))]))).toBe(true);
    expect(cursorFormat.detects(headOf([{ role: "user", content: "hi" }]))).toBe(false);
    expect(cursorFormat.detects(headOf([{ type: "message", message: { role: "user", content: "hi" } }]))).toBe(false);
  });

  test("becomes messages: what was typed, apart from what Cursor added; calls paired with the results after them", () => {
    expect(payloadsOf(LINES)).toMatchSnapshot();
  });

  test("of an old version is text: what each said, calls as text", () => {
    const folder = join(tempFolder(), "agent-transcripts");
    mkdirSync(folder);
    const path = join(folder, "old.txt");
    writeFileSync(
      path,
      "user:\n<user_query>\nrun ls\n</user_query>\n\nassistant:\n[Thinking] ls\n[Tool call] Shell\n  command: ls\n\nassistant:\nDone.\n",
    );
    expect(cursorFormat.detects(readHead(path))).toBe(true);
    const records = recordsOf(path);
    expect(new Set(records.flatMap((record) => ("line" in record ? [record.line] : []))).size).toBe(10);
    expect(records.flatMap((record) => (record.kind === "entry" ? [record.payload] : []))).toMatchObject([
      { message: { role: "user", content: [{ text: "run ls" }] } },
      { message: { role: "assistant", content: [{ text: "[Thinking] ls\n[Tool call] Shell\n  command: ls" }] } },
      { message: { role: "assistant", content: [{ text: "Done." }] } },
    ]);
    const other = join(tempFolder(), "old.txt");
    writeFileSync(other, "user:\nno transcript\n");
    expect(cursorFormat.detects(readHead(other))).toBe(false);
  });

  test("has the times of its prompts", () => {
    const sent = recordsOf(fileOf([...LINES, ""], "t.jsonl")).flatMap((record) => (record.kind === "entry" ? [record.createdAtMs] : []));
    expect(new Set(sent.slice(1))).toEqual(new Set([Date.parse("2026-09-03T18:21:00Z")]));
  });

  test("of a file that was copied with its time is not newer than its entries", () => {
    const path = fileOf([line("user", text("hi")), ""], "t.jsonl");
    const changedAt = Date.UTC(2025, 0, 2);
    utimesSync(path, changedAt / 1000, changedAt / 1000);
    const [session] = [...cursorFormat.sessions(path)];
    expect(session?.header.createdAtMs).toBe(changedAt);
    expect(recordsOf(path)).toMatchObject([{ kind: "entry", createdAtMs: changedAt }]);
  });

  test("that has grown is read on from where it ended, at any line, with the same records", () => {
    fc.assert(
      fc.property(fc.nat(LINES.length), (cut) => {
        const path = fileOf([...LINES.slice(0, cut), ""], "t.jsonl");
        const [session] = [...cursorFormat.sessions(path)];
        const first = [...(session?.records() ?? [])];
        const position = session?.position?.();
        const whole = fileOf([...LINES, ""], "t.jsonl");
        const [grown] = [...cursorFormat.sessions(whole)];
        const rest = [...(grown?.records(position) ?? [])];
        expect(timeless([...first, ...rest])).toEqual(timeless(recordsOf(whole)));
        expect(grown?.position?.()?.offset).toBe(readFileSync(whole).length);
      }),
    );
  });

  test("of any mutation every line is an entry, part of one or reported", async () => {
    const content = Buffer.from(LINES.map((value) => `${JSON.stringify(value)}\n`).join(""));
    await nothingIsLost([{ name: "t.jsonl", content }]);
  });
});

/** Two files are not changed in the same millisecond. */
function timeless(records: readonly SourceRecord[]): readonly SourceRecord[] {
  return records.map((record) => (record.kind === "entry" ? { ...record, createdAtMs: 0 } : record));
}
