export const SESSION = "05f5ac77-7fc0-4470-8d55-c41f2a43fb5a";
export const PATH = `.factory/sessions/-work/${SESSION}.jsonl`;

export const start = (more: object = {}) => ({
  type: "session_start",
  id: SESSION,
  title: "Fix it",
  owner: "ada",
  version: 2,
  cwd: "/work",
  ...more,
});

let tick = 0;

function message(id: string, parentId: string | undefined, role: string, content: unknown, more: object = {}) {
  tick += 1;
  const timestamp = new Date(1_790_000_000_000 + tick * 1_000).toISOString();
  return { type: "message", id, ...(parentId === undefined ? {} : { parentId }), timestamp, message: { role, content, ...more } };
}

export const text = (value: string) => ({ type: "text", text: value });
export const user = (id: string, parent: string | undefined, ...blocks: readonly object[]) => message(id, parent, "user", blocks);
export const reply = (id: string, parent: string, ...blocks: readonly object[]) =>
  message(id, parent, "assistant", blocks, { modelId: "custom:glm-0" });
const call = (id: string, command = "ls") => ({ type: "tool_use", id, name: "Execute", input: { command } });
const result = (id: string, content: unknown, more: object = {}) => ({ type: "tool_result", tool_use_id: id, content, ...more });

const REMINDER = text("<system-reminder>\nTools.\n</system-reminder>");

/** A session with an edited prompt, calls, reminders and a compaction. */
export const EVERYTHING = [
  start(),
  user("x1", undefined, REMINDER),
  user("u1", "x1", text("Fix it")),
  reply("a1", "u1", { type: "thinking", thinking: "Hm.", signature: "s" }, text("I look."), call("c1"), call("c2", "false")),
  user("r1", "a1", result("c1", "a.ts"), result("c2", "failed", { is_error: true }), REMINDER),
  reply("a2", "r1", text("Done.")),
  { type: "agent_turn_outcome", turnId: "u1", reason: "completed", resultKind: "text" },
  user("u2", "a2", text("No")),
  reply("a3", "u2", text("Why?")),
  user("u3", "a2", text("Yes")),
  reply("a4", "u3", text("Good.")),
  {
    type: "compaction_state",
    id: "k1",
    timestamp: "2026-11-24T05:00:00.000Z",
    summaryText: "All done.",
    summaryTokens: 9,
    anchorMessage: { id: "u3" },
    removedCount: 6,
  },
  user("u4", "a4", text("More")),
];
