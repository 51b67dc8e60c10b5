/** The path of the journal of an agent below the home folder. */
export const pathOf = (agent: string) => `.kimi-code/sessions/wd_app_0/session_a3d83c4b/agents/${agent}/wire.jsonl`;

let tick = 0;

export function record(type: string, rest: object): Record<string, unknown> {
  tick += 1;
  return { type, agentId: "main", ...rest, time: 1_790_000_000_000 + tick * 1_000 };
}

export const METADATA = { type: "metadata", protocol_version: "1.5", created_at: 1_790_000_000_000 };

export const said = (id: string, text: string, origin: object = { kind: "user" }) =>
  record("context.append_message", { message: { role: "user", content: [{ type: "text", text }], id, toolCalls: [], origin } });

const event = (more: object) => record("context.append_loop_event", { event: more });

const usage = { inputOther: 1008, output: 28, inputCacheRead: 51, inputCacheCreation: 2 };

export const begin = (uuid: string) => event({ type: "step.begin", uuid, turnId: "0", step: 1 });
const part = (value: object) => event({ type: "content.part", uuid: "p", part: value });
export const text = (value: string) => part({ type: "text", text: value });
export const call = (id: string, command = "ls") =>
  event({ type: "tool.call", uuid: `u-${id}`, toolCallId: id, name: "Bash", args: { command } });
export const result = (id: string, output: string, more: object = {}) =>
  event({ type: "tool.result", parentUuid: `u-${id}`, toolCallId: id, result: { output, ...more } });
export const end = (uuid: string, finishReason = "end_turn") =>
  event({ type: "step.end", uuid, usage, finishReason, messageId: `m-${uuid}` });

const request = record("llm.request", { provider: "kimi", model: "kimi-k2.7-code" });

const answer = (uuid: string, value: string) => [begin(uuid), text(value), end(uuid)];

/** A session with calls, a rewind as both versions write it, a compaction, and a reply that was cancelled. */
export const EVERYTHING = [
  METADATA,
  record("profile.bind", { modelAlias: "moonshot-ai/kimi-k2.7-code", systemPrompt: "You are Kimi." }),
  record("turn.prompt", { input: [{ type: "text", text: "Fix it" }] }),
  said("msg_1", "Fix it"),
  said("", "<system-reminder>Auto.</system-reminder>", { kind: "injection", variant: "permission_mode" }),
  begin("s1"),
  request,
  record("usage.record", { usage }),
  part({ type: "think", think: "Hm." }),
  text("I look."),
  call("c1"),
  call("c2", "false"),
  result("c1", "a.ts", { durationMs: 7 }),
  result("c2", "failed", { isError: true }),
  end("s1", "tool_use"),
  ...answer("s2", "Done."),
  said("msg_2", "No"),
  ...answer("s3", "Why?"),
  record("context.undo", { count: 1 }),
  said("msg_3", "Yes"),
  ...answer("s4", "Good."),
  record("full_compaction.begin", { source: "auto" }),
  record("llm.request", { kind: "compaction", provider: "kimi", model: "kimi-k2.7-code" }),
  record("usage.record", { usage, usageScope: "session" }),
  record("context.apply_compaction", {
    summary: "All done.",
    contextSummary: "Notes: All done. Look into the journal.",
    compactedCount: 5,
    keptUserMessageCount: 1,
    tokensBefore: 900,
    tokensAfter: 90,
  }),
  said("msg_4", "More"),
  begin("s5"),
  text("Well"),
  record("turn.cancel", {}),
  said("msg_5", "Again"),
  ...answer("s6", "Sure."),
];
