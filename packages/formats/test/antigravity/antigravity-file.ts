export const SESSION = "41111111-2222-4333-8444-555555555555";
export const PATH = `.gemini/antigravity-cli/brain/${SESSION}/.system_generated/logs/transcript_full.jsonl`;

function step(index: number, type: string, content: string | undefined, more: object = {}): Record<string, unknown> {
  const source = type === "USER_INPUT" ? "USER_EXPLICIT" : type.endsWith("_MESSAGE") || type === "CHECKPOINT" ? "SYSTEM" : "MODEL";
  const created_at = new Date(1_790_000_000_000 + index * 1_000).toISOString();
  return { step_index: index, source, type, status: "DONE", created_at, ...(content === undefined ? {} : { content }), ...more };
}

const call = (name: string, args: object) => ({
  name,
  args: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, JSON.stringify(value)])),
});

const SETTINGS =
  "<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Gemini 3.5 Flash (Medium).\n</USER_SETTINGS_CHANGE>";

/** A session with parallel calls, a failed one, a checkpoint, and a prompt that was taken back. */
export const EVERYTHING = [
  step(0, "USER_INPUT", `<USER_REQUEST>\nFix it\n</USER_REQUEST>\n${SETTINGS}`),
  step(1, "CONVERSATION_HISTORY", undefined),
  step(2, "PLANNER_RESPONSE", undefined, {
    thinking: "Hm.",
    tool_calls: [call("view_file", { AbsolutePath: "/work/a.ts" }), call("run_command", { CommandLine: "false", Blocking: true })],
  }),
  step(3, "VIEW_FILE", "1: hello"),
  step(4, "RUN_COMMAND", "failed", { status: "ERROR" }),
  step(5, "SYSTEM_MESSAGE", "Go on."),
  step(6, "PLANNER_RESPONSE", "Done."),
  step(7, "USER_INPUT", "<USER_REQUEST>\nNo\n</USER_REQUEST>"),
  step(8, "PLANNER_RESPONSE", "Why?"),
  step(7, "USER_INPUT", "<USER_REQUEST>\nYes\n</USER_REQUEST>"),
  step(8, "PLANNER_RESPONSE", "Good."),
  step(9, "CHECKPOINT", "All done."),
  step(10, "USER_INPUT", "More"),
  step(11, "GENERIC", "A result without a call"),
  step(12, "PLANNER_RESPONSE", "Sure."),
];
