import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";

/** The folder in which the transcripts were written, and the name that Claude Code gives to its sessions. */
export const FOLDER = "/home/ada/parser";
export const PROJECT = "-home-ada-parser";
export const SESSION = "11111111-2222-4333-8444-555555555555";

/** A uuid that ends in a number. */
export const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

type Fields = Readonly<Record<string, unknown>>;

/** Writes the lines of a transcript as Claude Code does; each hangs on the one before it, unless it says otherwise. */
export class TranscriptWriter {
  readonly lines: SessionStoreEntry[] = [];
  readonly #session: string;
  readonly #agent: string | undefined;
  #number: number;
  #last: string | null = null;

  /** @param first the number of the first uuid. */
  constructor(session = SESSION, agent?: string, first = 1) {
    this.#session = session;
    this.#agent = agent;
    this.#number = first;
  }

  get last(): string | null {
    return this.#last;
  }

  #add(type: string, fields: Fields, parent = this.#last): string {
    const id = uuid(this.#number);
    const timestamp = new Date(Date.UTC(2026, 0, 1) + this.#number * 1000).toISOString();
    const agent = this.#agent === undefined ? { isSidechain: false } : { isSidechain: true, agentId: this.#agent };
    const head = { ...agent, userType: "external", cwd: FOLDER, sessionId: this.#session, version: "2.1.44", gitBranch: "main" };
    this.lines.push({ parentUuid: parent, ...head, type, ...fields, uuid: id, timestamp });
    this.#number += 1;
    this.#last = id;
    return id;
  }

  user(content: unknown, parent = this.#last): string {
    return this.#add("user", { message: { role: "user", content } }, parent);
  }

  /** One line of a reply: lines with one message id are one reply. */
  reply(messageId: string, block: Fields, stop: string | null = null): string {
    const usage = { input_tokens: 1000, output_tokens: 50, cache_read_input_tokens: 20, service_tier: "standard" };
    const message = { id: messageId, type: "message", role: "assistant", model: "claude-x", content: [block], stop_reason: stop, usage };
    return this.#add("assistant", { message, requestId: `req_${messageId}` });
  }

  text(messageId: string, text: string, stop: string | null = "end_turn"): string {
    return this.reply(messageId, { type: "text", text }, stop);
  }

  call(messageId: string, id: string, input: Fields, name = "Read"): string {
    return this.reply(messageId, { type: "tool_use", id, name, input });
  }

  result(id: string, content: string, toolUseResult: unknown = { stdout: content }, parent = this.#last): string {
    const message = { role: "user", content: [{ tool_use_id: id, type: "tool_result", content }] };
    return this.#add("user", { message, toolUseResult }, parent);
  }

  compaction(summary: string): void {
    const logicalParentUuid = this.#last;
    const compactMetadata = { trigger: "auto", preTokens: 9000 };
    this.#add("system", { subtype: "compact_boundary", content: "Conversation compacted", logicalParentUuid, compactMetadata }, null);
    this.#add("user", { message: { role: "user", content: summary }, isCompactSummary: true, isVisibleInTranscriptOnly: true });
  }

  report(): void {
    this.#add("system", { subtype: "turn_duration", durationMs: 1200 });
  }

  /** A line without a uuid. */
  side(type: string, fields: Fields = {}): void {
    this.lines.push({ type, sessionId: this.#session, ...fields });
  }
}

/** A conversation with parallel calls, an agent, a rewind, a compaction and a title. */
export function conversation(session = SESSION): readonly SessionStoreEntry[] {
  const writer = new TranscriptWriter(session);
  writer.side("queue-operation", { operation: "enqueue", content: "Why does the parser fail on tabs?" });
  writer.user("Why does the parser fail on tabs?");
  writer.reply("m1", { type: "thinking", thinking: "Look at the lexer first.", signature: "c2lnbmF0dXJl" });
  const one = writer.call("m1", "c1", { file_path: `${FOLDER}/lexer.ts` });
  const two = writer.call("m1", "c2", { description: "Look around", prompt: "Find the tests of tabs." }, "Task");
  writer.result("c1", "export const BLANKS = [' ', '\\n'];\n".repeat(40), { file: { content: "export const BLANKS" } }, one);
  writer.result("c2", "There is one test.", { agentId: "x7", status: "completed" }, two);
  const answer = writer.text("m2", "A tab is not in the set of blanks.");
  writer.report();
  writer.user("Then add it, please.");
  writer.text("m3", "Added.");
  writer.user("Rather write a test first.", answer);
  writer.text("m4", "The test is written.", null);
  writer.report();
  writer.side("custom-title", { customTitle: "Tabs in the parser" });
  writer.compaction("The lexer does not know tabs; a test is written.");
  writer.user("Now the fix.");
  writer.text("m5", "The lexer takes tabs now.");
  return writer.lines;
}

/** The transcript of the agent that the conversation started. */
export function agent(session = SESSION): readonly SessionStoreEntry[] {
  const writer = new TranscriptWriter(session, "x7", 500);
  writer.user("Find the tests of tabs.");
  writer.call("s1", "s1c", { pattern: "tab" }, "Grep");
  writer.result("s1c", "parser.test.ts:12");
  writer.text("s2", "There is one test.");
  return writer.lines;
}

/** Writes transcripts as local files of Claude Code; returns the folder of its projects. */
export function writeFiles(config: string, session = SESSION, lines = conversation(session)): string {
  const projects = join(config, "projects");
  const write = (path: string, content: readonly object[]) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  write(join(projects, PROJECT, `${session}.jsonl`), lines);
  write(join(projects, PROJECT, session, "subagents", "agent-x7.jsonl"), agent(session));
  return projects;
}
