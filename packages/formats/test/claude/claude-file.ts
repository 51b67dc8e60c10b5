import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A record of Claude Code as a test writes it. */
export type Line = Readonly<Record<string, unknown>>;

/** The session whose file a test writes. */
export const SESSION = "11111111-2222-4333-8444-555555555555";

/** A new directory that is gone after the test. */
export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "bough-claude-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Writes lines (objects, or texts as they stand) to a file and returns its path. */
export function fileOf(lines: readonly (Line | string)[], name = `${SESSION}.jsonl`, folder = directory()): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

let tick = 0;

function step(type: string, uuid: string, parentUuid: string | null, rest: Line): Line {
  tick += 1;
  const timestamp = new Date(Date.UTC(2026, 0, 1) + tick * 1000).toISOString();
  return {
    parentUuid,
    isSidechain: false,
    sessionId: SESSION,
    cwd: "/work",
    version: "2.1.44",
    gitBranch: "main",
    type,
    uuid,
    timestamp,
    ...rest,
  };
}

export function user(uuid: string, parent: string | null, content: unknown, rest: Line = {}): Line {
  return step("user", uuid, parent, { message: { role: "user", content }, ...rest });
}

export const text = (given: string): Line => ({ type: "text", text: given });
export const call = (id: string, name = "Read", input: unknown = { file_path: `${id}.ts` }): Line => ({
  type: "tool_use",
  id,
  name,
  input,
});

/** One line of a reply: `messageId` says which. */
export function reply(uuid: string, parent: string | null, messageId: string, content: unknown, message: Line = {}, rest: Line = {}): Line {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const body = { id: messageId, role: "assistant", model: "claude-x", content, stop_reason: null, usage, ...message };
  return step("assistant", uuid, parent, { message: body, ...rest });
}

export const answer = (id: string, content: unknown = `${id} done`): Line => ({ type: "tool_result", tool_use_id: id, content });

export function result(uuid: string, parent: string | null, id: string, rest: Line = {}): Line {
  return user(uuid, parent, [answer(id)], rest);
}

export function progress(uuid: string, parent: string | null, rest: Line = {}): Line {
  return step("progress", uuid, parent, { data: { type: "hook_progress" }, ...rest });
}

/** `rest`: what was sent for it, in the versions that write that. */
export function attachment(uuid: string, parent: string | null, given: Line, rest: Line = {}): Line {
  return step("attachment", uuid, parent, { attachment: given, ...rest });
}

export function system(uuid: string, parent: string | null, subtype: string, rest: Line = {}): Line {
  return step("system", uuid, parent, { subtype, ...rest });
}

export function boundary(
  uuid: string,
  logicalParentUuid: string | null,
  compactMetadata: Line = { trigger: "auto", preTokens: 900 },
): Line {
  return system(uuid, null, "compact_boundary", { logicalParentUuid, content: "Conversation compacted", compactMetadata });
}

export function summary(uuid: string, parent: string | null, content = "what was done"): Line {
  return user(uuid, parent, content, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
}

/** A record that has no place in the tree. */
export function side(type: string, rest: Line = {}): Line {
  return { type, sessionId: SESSION, ...rest };
}

/** Makes a record part of an agent's session. */
export function sidechain(line: Line, agentId?: string): Line {
  return { ...line, isSidechain: true, ...(agentId === undefined ? {} : { agentId }) };
}
