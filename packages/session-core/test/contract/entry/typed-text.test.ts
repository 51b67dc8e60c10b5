import { describe, expect, test } from "vitest";
import { user } from "../../../../formats/test/claude/claude-file.js";
import { importLines, messageOf } from "../../../../formats/test/claude/imported.js";
import { asTyped, isTyped, rankTitle, typedText } from "../../../src/entry/text.js";
import { openedStore } from "../../world/stores.js";

const typedIn = (content: string) => typedText(messageOf(importLines([user("u1", null, content)]), "u1"));

describe("a command of Claude Code reads as it was typed", () => {
  test.each([
    ["<command-message>init is analyzing your codebase…</command-message>\n<command-name>/init</command-name>", "/init"],
    [
      "<command-name>/orch</command-name>\n<command-message>orch</command-message>\n<command-args>@CLAUDE.md を最新の</command-args>",
      "/orch @CLAUDE.md を最新の",
    ],
    ["<command-message>review</command-message><command-args>a\nb</command-args>", "/review a\nb"],
    ["<bash-input>ls -la</bash-input>", "! ls -la"],
    ["<local-command-stdout>/init done</local-command-stdout>", undefined],
    ["<bash-stdout>a.ts</bash-stdout><bash-stderr></bash-stderr>", undefined],
    ["<command-name></command-name>", undefined],
    ["[Request interrupted by user]", undefined],
    ["fix the parser", undefined],
  ])("%j is %j", (content, typed) => {
    expect(typedIn(content)).toBe(typed);
  });

  test("while other messages are returned as they are", () => {
    const message = { role: "custom", customType: "host.note", content: "<command-name>/init</command-name>" } as const;
    expect(asTyped(message)).toBe(message);
    expect(asTyped({ ...message, customType: "claude.command" })).toEqual({ role: "user", content: "/init" });
  });
});

test("a request to Codex in an editor reads as what was typed below the open files", () => {
  const content = "# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nFix the lexer\n";
  expect(typedText({ role: "user", content })).toBe("Fix the lexer");
  expect(typedText({ role: "user", content: "I wrote:\n## My request for Codex:\nx" })).toBe(undefined);
});

test("a prompt to Claude Code reads without the reminders before it in the same text", () => {
  const reminder = "<system-reminder>\nmind <the> tests\n</system-reminder>";
  expect(typedText({ role: "user", content: `${reminder}\n${reminder}\n\nhello session 2` })).toBe("hello session 2");
  expect(typedText({ role: "user", content: reminder })).toBe(undefined);
  expect(typedText({ role: "user", content: `why ${reminder}?` })).toBe(undefined);
});

test("a skill of pi reads as its name and what follows it", () => {
  const content = '<skill name="review" location="/s/review.md">\nRead all.\n</skill>\n\nsrc/lexer.ts please';
  expect(typedText({ role: "user", content })).toBe("/skill:review src/lexer.ts please");
  expect(typedText({ role: "user", content: '<skill name="x">' })).toBe(undefined);
});

test.each([
  ["Fix the parser", 3],
  ["/orchestrator @CLAUDE.md を最新の", 3],
  ["/Users/ann/app/a.ts fails", 3],
  ["/init", 2],
  ["/model opus", 2],
  ["! npm test", 1],
  ["thank you!", 1],
  ["Continue", 1],
  ["👍", 1],
  ["[image]", 1],
  ["  ", 0],
])("as a title, %j has rank %i", (text, rank) => {
  expect(rankTitle(text)).toBe(rank);
});

const COMMAND = {
  type: "message",
  message: { role: "custom", customType: "claude.command", content: "<command-name>/init</command-name>" },
} as const;
const OUTPUT = {
  type: "message",
  message: { role: "custom", customType: "claude.command", content: "<local-command-stdout>/x</local-command-stdout>" },
} as const;
const said = (content: string) => ({ type: "message", message: { role: "user", content } }) as const;

describe("a session without a title is called by", () => {
  test.each([
    [["thank you"], "thank you"],
    [["thank you", COMMAND], "/init"],
    [[COMMAND, "thank you"], "/init"],
    [["/mode", "ok", "Fix the parser", "And the lexer"], "Fix the parser"],
    [[OUTPUT], null],
  ])("%j: %j", async (typed, title) => {
    const store = await openedStore();
    const session = await store.createSession();
    for (const one of typed) await session.append(typeof one === "string" ? said(one) : one);
    expect((await session.record()).firstText).toBe(title);
    // All in one write.
    const other = await store.createSession();
    await other.write(typed.map((one) => ({ kind: "entry", entry: typeof one === "string" ? said(one) : one })));
    expect((await other.record()).firstText).toBe(title);
  });
});

test("the outline tells what a person typed, without payloads", async () => {
  const session = await (await openedStore()).createSession();
  for (const entry of [COMMAND, OUTPUT, said("hello")]) await session.append(entry);
  expect((await session.tree.outline()).map((row) => [isTyped(row), row.preview])).toEqual([
    [true, "/init"],
    [false, "<local-command-stdout>/x</local-command-stdout>"],
    [true, "hello"],
  ]);
});
