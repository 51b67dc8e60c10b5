import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getSessionInfo, getSessionMessages, listSessions } from "@anthropic-ai/claude-agent-sdk";
import { exportClaude } from "@bough/formats";
import { assistantMessage, openStore, type Session, type Store, toolResult, userMessage } from "@bough/session-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

// Transcripts that Bough writes, read by the functions of Claude's Agent SDK as it reads its own files.

const ID = "22222222-3333-4444-8555-666666666666";
const FOLDER = "/home/ada/parser";

let config: string;
let before: string | undefined;
let store: Store;
let session: Session;

beforeEach(async () => {
  config = mkdtempSync(join(tmpdir(), "bough-claude-export-"));
  before = process.env["CLAUDE_CONFIG_DIR"];
  process.env["CLAUDE_CONFIG_DIR"] = config;
  store = await openStore({ path: ":memory:" });
  session = await store.createSession({ id: "parser", title: "Tabs in the parser", titleSource: "user", cwd: "/elsewhere" });
});

afterEach(async () => {
  if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"];
  else process.env["CLAUDE_CONFIG_DIR"] = before;
  await store.close();
  rmSync(config, { recursive: true, force: true });
});

/** Writes the branch of the leaf where Claude Code looks for a session of the folder. */
async function writeTranscript(): Promise<void> {
  const project = join(config, "projects", FOLDER.replaceAll("/", "-"));
  mkdirSync(project, { recursive: true });
  const lines: string[] = [];
  for await (const line of exportClaude(session, { continues: { sessionId: ID, cwd: FOLDER } })) lines.push(line);
  writeFileSync(join(project, `${ID}.jsonl`), lines.join(""));
}

const messagesOf = async () =>
  (await getSessionMessages(ID, { dir: FOLDER })).map(({ message }) => (message as { content: unknown }).content);

const call = (id: string, name: string) => assistantMessage([{ type: "toolCall", id, name, arguments: { file_path: "a.ts" } }]);

describe("a branch that Bough writes for Claude Code", () => {
  test("is listed by the SDK with its title, directory and first prompt", async () => {
    await session.append(userMessage("read a.ts"));
    await session.append(assistantMessage("It is empty."));
    await writeTranscript();
    const [found] = await listSessions({ dir: FOLDER });
    expect(found).toMatchObject({ sessionId: ID, customTitle: "Tabs in the parser", cwd: FOLDER, firstPrompt: "read a.ts" });
    expect(await getSessionInfo(ID, { dir: FOLDER })).toMatchObject({ sessionId: ID, summary: "Tabs in the parser" });
  });

  test("has every message for the SDK, with the results of parallel calls", async () => {
    await session.append(userMessage("read both"));
    const calls = ["t1", "t2"].map((id) => ({ type: "toolCall" as const, id, name: "Read", arguments: { file_path: `${id}.ts` } }));
    await session.append(assistantMessage([{ type: "text", text: "Reading." }, ...calls]));
    for (const id of ["t1", "t2"]) await session.append(toolResult(id, `content of ${id}`, { toolName: "Read" }));
    await session.append(assistantMessage("Both are short."));
    await writeTranscript();
    expect(await messagesOf()).toEqual([
      "read both",
      [
        { type: "text", text: "Reading." },
        { type: "tool_use", id: "t1", name: "Read", input: { file_path: "/elsewhere/t1.ts" } },
        { type: "tool_use", id: "t2", name: "Read", input: { file_path: "/elsewhere/t2.ts" } },
      ],
      [{ type: "tool_result", tool_use_id: "t1", content: "content of t1" }],
      [{ type: "tool_result", tool_use_id: "t2", content: "content of t2" }],
      [{ type: "text", text: "Both are short." }],
    ]);
  });

  test("starts with the summary of its compaction, followed by what that kept", async () => {
    await session.append(userMessage("old"));
    await session.append(assistantMessage("older"));
    const { id: kept } = await session.append(userMessage("kept"));
    await session.append(assistantMessage("also kept"));
    await session.append({ type: "compaction", summary: "S", firstKeptEntryId: kept });
    await session.append(userMessage("new"));
    await writeTranscript();
    const [summary, ...rest] = await messagesOf();
    expect(summary).toContain("<summary>\nS\n</summary>");
    expect(rest).toEqual(["kept", [{ type: "text", text: "also kept" }], "new"]);
  });

  test("has calls of tools that Claude Code does not have as texts", async () => {
    await session.append(userMessage("look"));
    await session.append(call("t1", "str_replace"));
    await session.append(toolResult("t1", "done", { toolName: "str_replace" }));
    await writeTranscript();
    // The SDK lists no texts that are only for the model, such as the result.
    expect(await messagesOf()).toEqual(["look", [{ type: "text", text: '[Called the tool str_replace with {"file_path":"a.ts"}]' }]]);
  });

  test("is what the leaf's context has: pruned output, omitted entries and other branches are not in it", async () => {
    const { id: first } = await session.append(userMessage("first"));
    await session.append(assistantMessage("another branch"));
    await session.moveLeaf(first);
    await session.append(call("t1", "Read"));
    const { id: output } = await session.append(toolResult("t1", "very long", { toolName: "Read" }));
    const { id: aside } = await session.append(userMessage("never mind"));
    await session.append({ type: "context_edit", targetId: output, replacement: { content: "[pruned]" } });
    await session.append({ type: "context_edit", targetId: aside, replacement: null });
    await session.append(userMessage("go on"));
    await writeTranscript();
    expect(await messagesOf()).toEqual([
      "first",
      [expect.objectContaining({ type: "tool_use", id: "t1" })],
      [{ type: "tool_result", tool_use_id: "t1", content: "[pruned]" }],
      "go on",
    ]);
  });
});
