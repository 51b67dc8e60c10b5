import { expect, test } from "vitest";
import { readJsonLines } from "../../src/source/json-lines.js";
import * as claude from "../claude/claude-file.js";
import * as droid from "../droid/droid-file.js";
import * as qwen from "../qwen/qwen-file.js";
import { importedFile } from "../world/imported-file.js";
import { only } from "../world/only.js";
import { fileOf } from "../world/sources.js";

const LIMIT = 100;
const object = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes - '{"text":""}'.length) });

test("a line that is longer than the limit is a problem with its number and length, and the lines around it are read", () => {
  const path = fileOf([object(20), object(LIMIT), object(LIMIT + 1), object(3_000_000), object(30), ""]);
  const read = [...readJsonLines(path, { mostLineBytes: LIMIT })].map((line) =>
    line.kind === "object"
      ? [line.line.number, line.line.offset, line.line.bytes]
      : [line.problem.line, line.problem.code, line.problem.message],
  );
  const left = (bytes: number) => `the line has ${bytes} bytes, more than can be read at once; it was left out`;
  expect(read).toEqual([
    [1, 0, 20],
    [2, 21, LIMIT],
    [3, "malformed-line", left(LIMIT + 1)],
    [4, "malformed-line", left(3_000_000)],
    [5, 21 + 101 + 102 + 3_000_001, 30],
  ]);
});

test("a last line that is too long is that, not a torn one", () => {
  const [line] = readJsonLines(fileOf([object(LIMIT + 50)]), { mostLineBytes: LIMIT });
  expect(line).toMatchObject({ kind: "problem", problem: { code: "malformed-line", line: 1 } });
});

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "A".repeat(3_000_000) } };

test.each([
  [
    "Claude Code",
    `${claude.SESSION}.jsonl`,
    [claude.user("u1", null, [claude.text("Look"), image]), claude.reply("a1", "u1", "m1", [claude.text("Nice.")])],
  ],
  [
    "Droid",
    droid.PATH,
    [droid.start(), droid.user("u1", undefined, droid.text("Look"), image), droid.reply("a1", "u1", droid.text("Nice."))],
  ],
  ["Qwen Code", qwen.PATH, [qwen.user("u1", null, "Look ".repeat(300_000)), qwen.reply("a1", "u1", [{ text: "Nice." }])]],
])("a session of %s whose first message is longer than what is read to detect it is imported", async (_agent, name, lines) => {
  const session = only((await importedFile(name, lines)).sessions);
  expect((await session.path()).map(({ id }) => id)).toEqual(["u1", "a1"]);
});

test.each([
  [
    "any program",
    "chat.jsonl",
    [
      { role: "user", content: "Look ".repeat(300_000) },
      { role: "assistant", content: "Nice." },
    ],
  ],
  [
    "co-cli",
    "2026-04-01-T100000Z-1a2b3c4d.jsonl",
    [
      [{ kind: "request", parts: [{ part_kind: "user-prompt", content: "Look ".repeat(300_000) }] }],
      [{ kind: "response", parts: [{ part_kind: "text", content: "Nice." }] }],
    ],
  ],
])("a log of %s whose first line is longer than what is read to detect it is no document", async (_program, name, lines) => {
  const session = only((await importedFile(name, lines)).sessions);
  expect((await session.path()).map(({ type }) => type)).toEqual(["message", "message"]);
});
