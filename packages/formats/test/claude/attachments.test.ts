// Records of attachments as Claude Code 2.1.197 and 2.1.332 wrote them, the latter with the texts that it sent (`rendered`).
import { buildSessionContext, openStore } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { claudeFormat } from "../../src/claude/format.js";
import { claudeLines } from "../../src/claude/write.js";
import { attachment, fileOf, type Line, reply, SESSION, text, user } from "./claude-file.js";
import { importLines, messageOf, pathOf, payloadOf } from "./imported.js";

const remark = (said: string) => `<system-reminder>\n${said}\n</system-reminder>`;
const rendered = (...said: string[]) => ({ rendered: said.map((content) => ({ content: remark(content) })), renderedRole: "user" });

const FILE = {
  type: "file",
  filename: "/app/notes.txt",
  content: { type: "text", file: { filePath: "/app/notes.txt", content: "one\ntwo", numLines: 2, startLine: 4, totalLines: 5 } },
  displayPath: "notes.txt",
};
const CALLED = 'Called the Read tool with the following input: {"file_path":"/app/notes.txt"}';
const READ = "Result of calling the Read tool:\n4\tone\n5\ttwo";
const hook = (hookEvent: string, content: string) => ({ type: "hook_success", hookName: hookEvent, hookEvent, content, exitCode: 0 });

/** What the model is given for an attachment: the texts of the message; undefined: the record is kept as a foreign entry. */
function given(attached: Line, rest: Line = {}): readonly string[] | undefined {
  const session = importLines([user("u1", null, "look at @notes.txt"), attachment("a1", "u1", attached, rest)]);
  const payload = payloadOf(session, "a1");
  if (payload.type === "foreign") return undefined;
  const message = messageOf(session, "a1") as { content: readonly { text?: string; type: string }[] };
  expect(message).toMatchObject({ role: "custom", customType: "claude.attachment", display: false, details: attached });
  return message.content.map((block) => block.text ?? block.type);
}

describe("what the model was given with an attachment", () => {
  test("is a message that a person does not see, in the words of the file where it has them", () => {
    expect(given(FILE, rendered("the file as sent"))).toEqual([remark("the file as sent")]);
    expect(given({ type: "made_up_later" }, rendered("one", "two"))).toEqual([remark("one"), remark("two")]);
  });

  test.each([
    ["a mentioned file", FILE, [CALLED, READ]],
    [
      "a mentioned folder",
      { type: "directory", path: "/app/src", content: "a.ts\nb.ts" },
      [
        'Called the Bash tool with the following input: {"command":"ls /app/src","description":"Lists files in /app/src"}',
        "Result of calling the Bash tool:\na.ts\nb.ts",
      ],
    ],
    [
      "a file that changed",
      { type: "edited_text_file", filename: "/app/a.ts", snippet: "1\tnew" },
      ["/app/a.ts was modified by the user or by a linter; the changes:\n1\tnew"],
    ],
    [
      "instructions of a folder",
      { type: "nested_memory", path: "/app/x/CLAUDE.md", content: { path: "/app/x/CLAUDE.md", content: "Be kind." } },
      ["Contents of /app/x/CLAUDE.md:\nBe kind."],
    ],
    [
      "a selection",
      { type: "selected_lines_in_ide", filename: "/app/a.ts", lineStart: 3, lineEnd: 4, content: "x" },
      ["The user selected lines 3 to 4 of /app/a.ts:\nx"],
    ],
    [
      "what a hook added",
      { type: "hook_additional_context", hookName: "Stop", content: ["a", "b"] },
      ["Stop hook additional context: a\nb"],
    ],
    ["what a hook printed at a prompt", hook("UserPromptSubmit", "mind"), ["UserPromptSubmit hook success: mind"]],
  ])("is made from the attachment in files of versions before that: %s", (_what, attached, said) => {
    expect(given(attached)).toEqual(said.map(remark));
  });

  test("counts as a reading of the file that the user mentioned, and of nothing else", async () => {
    const changed = { type: "edited_text_file", filename: "/app/a.ts", snippet: "1\tnew" };
    const lines = [user("u1", null, "look"), attachment("a1", "u1", FILE), attachment("a2", "a1", changed)];
    await using store = await openStore({ path: ":memory:" });
    const [source] = claudeFormat.sessions(fileOf(lines));
    if (source === undefined) throw new RangeError("the file has no session");
    const { sessionId } = await store.importSession(source, { format: "claude", path: "s.jsonl" });
    const session = await store.openSession(sessionId);
    expect((await session.fileOperations()).map(({ kind, path, outcome }) => [kind, path, outcome])).toEqual([
      ["read", "/app/notes.txt", "done"],
    ]);
  });

  test("is an image, where the user mentioned one", () => {
    const content = { type: "image", file: { base64: "aGk=", type: "image/png" } };
    const session = importLines([user("u1", null, "look"), attachment("a1", "u1", { type: "file", filename: "/app/i.png", content })]);
    expect(messageOf(session, "a1")).toMatchObject({ content: [{ type: "text" }, { type: "image", mimeType: "image/png", data: "aGk=" }] });
  });

  test.each([
    [
      "tools and other things that Claude Code writes anew at each start",
      { type: "skill_listing", content: "- a skill" },
      rendered("skills"),
    ],
    ["what a hook printed elsewhere", hook("PostToolUse", "formatted"), {}],
    ["a hook that printed nothing", hook("UserPromptSubmit", ""), {}],
    ["an attachment without its file", { type: "file", filename: "/app/a.ts" }, {}],
    ["an attachment that was not sent", { type: "made_up_later" }, { rendered: [], renderedRole: null }],
  ])("is nothing for %s: a foreign entry", (_what, attached, rest) => {
    expect(given(attached, rest)).toBeUndefined();
  });
});

test("an attachment between a prompt and its reply starts no branch", () => {
  const session = importLines([
    user("u1", null, "look at @notes.txt"),
    attachment("a1", "u1", FILE),
    attachment("a2", "a1", { type: "skill_listing", content: "- a skill" }),
    reply("r1", "a2", "m1", [text("seen")]),
    user("u2", "r1", "next"),
  ]);
  expect(pathOf(session)).toEqual(["u1", "a1", "a2", "r1", "u2"]);
});

test("a mentioned file is in the context, and is written back as the attachment that it was", async () => {
  const lines = [user("u1", null, "look at @notes.txt"), attachment("a1", "u1", FILE, rendered("the file as sent"))];
  const [source] = claudeFormat.sessions(fileOf(lines));
  if (source === undefined) throw new RangeError("the file has no session");
  await using store = await openStore({ path: ":memory:" });
  await store.importSession(source, { format: "claude", path: "s.jsonl" });
  const session = await store.openSession(source.header.sessionId);
  const { messages } = await buildSessionContext(session);
  expect(messages.map((message) => ("content" in message ? message.content : null))).toEqual([
    "look at @notes.txt",
    [text(remark("the file as sent"))],
  ]);
  const written = [];
  const header = { id: SESSION, cwd: null, title: null, titleSource: null, metadata: {} };
  for await (const line of claudeLines({ session: header, entries: await session.path(), isNew: false })) written.push(JSON.parse(line));
  expect(written[1]).toMatchObject({ type: "attachment", attachment: FILE, ...rendered("the file as sent"), uuid: "a1", parentUuid: "u1" });
});
