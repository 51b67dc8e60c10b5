export const SESSION = "01a20c0f-5525-7eb3-afc9-f4d1d27fab1d";
export const PATH = `.grok/sessions/%2Fwork/${SESSION}/updates.jsonl`;

let tick = 0;

/** An update of the protocol. `stream`: the request to the model. */
export function update(sessionUpdate: string, more: object, stream?: number): Record<string, unknown> {
  tick += 1;
  const agentTimestampMs = 1_790_000_000_000 + tick * 1_000;
  const meta = { eventId: `${SESSION}-${tick}`, agentTimestampMs, ...(stream === undefined ? {} : { streamStartMs: stream }) };
  return {
    timestamp: Math.trunc(agentTimestampMs / 1000),
    method: "session/update",
    params: { sessionId: SESSION, update: { sessionUpdate, ...more }, _meta: meta },
  };
}

export const prompt = (index: number, text: string) =>
  update("user_message_chunk", { content: { type: "text", text }, _meta: { modelId: "grok-4.5", promptIndex: index } });
export const chunk = (text: string, stream: number) => update("agent_message_chunk", { content: { type: "text", text } }, stream);
const thought = (text: string, stream: number) => update("agent_thought_chunk", { content: { type: "text", text } }, stream);

const tool = (name: string, input: object) => ({ _meta: { "x.ai/tool": { version: 1, name, kind: "execute", input } } });

const call = (id: string, command: string, stream: number) =>
  update(
    "tool_call",
    { toolCallId: id, title: "run_terminal_command", rawInput: { command }, ...tool("run_terminal_command", { command }) },
    stream,
  );
const shown = (id: string, command: string, stream: number) =>
  update(
    "tool_call_update",
    { toolCallId: id, kind: "execute", title: `Execute \`${command}\``, ...tool("run_terminal_command", { command }) },
    stream,
  );
const result = (id: string, output: string, exit: number, stream: number) =>
  update(
    "tool_call_update",
    {
      ...{ toolCallId: id, status: "completed", content: [{ type: "content", content: { type: "text", text: output } }] },
      rawOutput: { type: "Bash", output: [1, 2], output_for_prompt: `exit: ${exit}\n${output}`, exit_code: exit },
    },
    stream,
  );
export const ended = (inputTokens: number) =>
  update("turn_completed", {
    stop_reason: "end_turn",
    usage: {
      inputTokens,
      outputTokens: 69,
      totalTokens: inputTokens + 69,
      cachedReadTokens: 159,
      cacheCreationTokens: 0,
      costUsdTicks: 20_000_000_000,
    },
  });

/** A session with parallel calls, a rewind, a compaction, and pieces of messages. */
export const EVERYTHING = [
  prompt(0, "Fix it"),
  update("background_tasks", { tasks: [] }),
  thought("Hm", 1),
  thought(".", 1),
  chunk("I ", 1),
  chunk("look.", 1),
  call("c1", "ls", 1),
  shown("c1", "ls", 1),
  call("c2", "false", 1),
  result("c1", "a.ts", 0, 1),
  result("c2", "no", 3, 1),
  chunk("Done.", 2),
  ended(3168),
  prompt(1, "No"),
  chunk("Why?", 3),
  ended(1000),
  update("rewind_marker", { target_prompt_index: 1 }),
  prompt(1, "Yes"),
  chunk("Good.", 4),
  ended(1000),
  update("plan", { entries: [] }),
  update("auto_compact_completed", { tokens_before: 900, tokens_after: 90, summary_preview: "All done." }),
  update("user_message_chunk", { content: { type: "text", text: "/compact" }, _meta: { hostTurn: true } }),
  ended(10),
  prompt(2, "More"),
  chunk("Sure.", 5),
];
