import type { EntryPayload } from "@bough/session-core";
import type { SourceEntry, SourceRecord, SourceSession } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { codexFormat } from "../../src/codex/format.js";
import { fileOf } from "../world/sources.js";

export const THREAD = "0199a0f1-1111-7000-8000-000000000001";

let second = 0;

/** A line of a rollout; each is a second later than the one before. */
export function line(type: string, payload: object): JsonObject {
  second += 1;
  return { timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(), type, payload };
}

export const meta = (more: object = {}) =>
  line("session_meta", {
    id: THREAD,
    timestamp: "2026-01-01T00:00:00Z",
    cwd: "/home/ada/parser",
    originator: "codex_cli_rs",
    cli_version: "0.104.0",
    source: "cli",
    model_provider: "openai",
    base_instructions: { text: "You are Codex." },
    git: { branch: "main" },
    ...more,
  });
export const turnContext = (more: object = {}) =>
  line("turn_context", {
    turn_id: `t${second}`,
    cwd: "/home/ada/parser",
    approval_policy: "never",
    model: "gpt-5.2",
    effort: "medium",
    ...more,
  });
export const item = (type: string, more: object) => line("response_item", { type, ...more });
export const event = (type: string, more: object = {}) => line("event_msg", { type, ...more });
export const message = (role: string, text: string, more: object = {}) =>
  item("message", { role, content: [{ type: role === "assistant" ? "output_text" : "input_text", text }], ...more });
const reasoning = (text: string, id = "rs_1") =>
  item("reasoning", { id, summary: [{ type: "summary_text", text }], content: null, encrypted_content: `sealed ${text}` });
export const call = (id: string, name: string, args: unknown) =>
  item("function_call", { name, arguments: typeof args === "string" ? args : JSON.stringify(args), call_id: id });
export const output = (id: string, text: unknown) => item("function_call_output", { call_id: id, output: text });
export const rollback = (turns: number) => event("thread_rolled_back", { num_turns: turns });

let sum = 0;

/** The counts after a request, as `token_count` has them. */
export function tokens(input: number, reply: number, cached = 0): JsonObject {
  sum += input + reply;
  const counts = (total: number) => ({
    input_tokens: total - reply,
    cached_input_tokens: cached,
    output_tokens: reply,
    reasoning_output_tokens: 0,
    total_tokens: total,
  });
  return event("token_count", {
    info: { total_token_usage: counts(sum), last_token_usage: counts(input + reply), model_context_window: 200_000 },
  });
}

/** The session of a file with these lines. */
export function sessionOf(lines: readonly (string | object)[], name = `rollout-2026-01-01T00-00-00-${THREAD}.jsonl`): SourceSession {
  const [session] = [...codexFormat.sessions(fileOf([...lines, ""], name))];
  if (session === undefined) throw new RangeError("no session");
  return session;
}

export const recordsOf = (lines: readonly (string | object)[]): readonly SourceRecord[] => [...sessionOf(lines).records()];

export function entriesIn(records: readonly SourceRecord[]): readonly SourceEntry[] {
  return records.filter((record) => record.kind === "entry");
}

export const payloadsOf = (lines: readonly (string | object)[]): readonly unknown[] =>
  entriesIn(recordsOf(lines)).map(({ payload }) => payload);

/** The messages among the entries, in order. */
export function messagesOf(lines: readonly (string | object)[]): readonly Record<string, unknown>[] {
  return payloadsOf(lines).flatMap((payload) => {
    const entry = payload as EntryPayload;
    return entry.type === "message" ? [entry.message] : [];
  });
}

/** A session with everything that rollouts have. */
export const EVERYTHING: readonly JsonObject[] = [
  meta(),
  message("developer", "<permissions instructions>sandbox</permissions instructions>"),
  message("user", "# AGENTS.md instructions for /home/ada/parser\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>"),
  turnContext(),
  event("task_started", { turn_id: "t1" }),
  message("user", "Fix the parser"),
  event("user_message", { message: "Fix the parser", images: [] }),
  event("agent_reasoning", { text: "Look first" }),
  reasoning("Look first"),
  message("assistant", "I look at it.", { phase: "commentary", id: "msg_1" }),
  call("c1", "exec_command", { cmd: "cat parser.ts" }),
  call("c2", "exec_command", "{broken"),
  tokens(1000, 50, 800),
  event("exec_command_end", { call_id: "c2", exit_code: 1, duration: { secs: 1, nanos: 0 }, aggregated_output: "no" }),
  output("c1", "Exit code: 0\nOutput:\nlet a"),
  output("c2", "no"),
  tokens(1000, 0),
  item("custom_tool_call", { call_id: "c3", name: "apply_patch", input: "*** Begin Patch\n*** End Patch", status: "completed" }),
  item("custom_tool_call_output", { call_id: "c3", output: '{"output":"Failed","metadata":{"exit_code":1,"duration_seconds":0.1}}' }),
  event("patch_apply_end", { call_id: "c3", success: false, changes: {} }),
  item("web_search_call", { id: "ws_1", status: "completed", action: { type: "search", query: "parsers" } }),
  item("tool_search_call", { call_id: "c4", execution: "client", arguments: { query: "x" } }),
  item("tool_search_output", { call_id: "c4", execution: "client", status: "completed", tools: [{ name: "y" }] }),
  message("assistant", "Done.", { phase: "final_answer" }),
  event("agent_message", { message: "Done." }),
  tokens(1200, 30, 900),
  event("task_complete", { turn_id: "t1", last_agent_message: "Done." }),
  turnContext({ effort: "high" }),
  message("user", "Wrong, try again"),
  message("assistant", "Again."),
  rollback(1),
  turnContext({ effort: "high" }),
  item("message", {
    role: "user",
    content: [
      { type: "input_text", text: "Look at this" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
    ],
  }),
  message("assistant", "A picture."),
  line("compacted", { message: "We fixed it.", replacement_history: [{ type: "message", role: "user", content: [] }], window_id: "w2" }),
  event("context_compacted"),
  message("user", "<user_shell_command>\n<command>\nnpm test\n</command>\n<result>\nok\n</result>\n</user_shell_command>"),
  item("agent_message", { author: "/root/a", recipient: "/root", content: [{ type: "input_text", text: "found it" }] }),
  item("ghost_snapshot", { ghost_commit: { id: "abc" } }),
  event("thread_name_updated", { thread_id: THREAD, thread_name: "Parser" }),
  event("entered_review_mode", { target: { type: "uncommittedChanges" } }),
  event("error", { message: "quota exceeded" }),
  event("turn_aborted", { reason: "interrupted" }),
  line("world_state", { full: true, state: {} }),
];
