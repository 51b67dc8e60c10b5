import { type JsonObject, objectAt, stringAt } from "@bough/session-core/wire";

/** The treatment of an event of a rollout by its reader. */
export type EventKind =
  /** It repeats items, or marks a step of the program that leaves no trace: merged. */
  | "mirror"
  /** It has more facts of a call: added to the details of its result. Without the call it is kept as a foreign entry. */
  | "call"
  | "usage"
  | "settings"
  | "title"
  | "rollback"
  | "complete"
  | "aborted"
  | "error"
  /** Kept as a foreign entry. */
  | "other";

const KINDS: Readonly<Record<string, EventKind>> = {
  user_message: "mirror",
  agent_message: "mirror",
  agent_message_delta: "mirror",
  agent_reasoning: "mirror",
  agent_reasoning_delta: "mirror",
  agent_reasoning_raw_content: "mirror",
  agent_reasoning_section_break: "mirror",
  task_started: "mirror",
  turn_started: "mirror",
  context_compacted: "mirror",
  session_configured: "mirror",
  item_started: "mirror",
  raw_response_item: "mirror",
  exec_command_begin: "mirror",
  exec_command_output_delta: "mirror",
  mcp_tool_call_begin: "mirror",
  patch_apply_begin: "mirror",
  web_search_begin: "mirror",
  image_generation_begin: "mirror",
  exec_command_end: "call",
  mcp_tool_call_end: "call",
  patch_apply_end: "call",
  view_image_tool_call: "call",
  image_generation_end: "call",
  dynamic_tool_call_request: "call",
  dynamic_tool_call_response: "call",
  collab_agent_spawn_end: "call",
  collab_agent_interaction_end: "call",
  collab_waiting_end: "call",
  collab_close_end: "call",
  collab_resume_end: "call",
  token_count: "usage",
  thread_settings_applied: "settings",
  thread_name_updated: "title",
  thread_rolled_back: "rollback",
  task_complete: "complete",
  turn_complete: "complete",
  turn_aborted: "aborted",
  error: "error",
};

/** The content that `item_completed` events repeat: items, or facts of a call. Other items, such as plans, occur only in them. */
const COMPLETED: Readonly<Record<string, EventKind>> = {
  UserMessage: "mirror",
  AgentMessage: "mirror",
  Reasoning: "mirror",
  ContextCompaction: "mirror",
  CommandExecution: "call",
  FileChange: "call",
  McpToolCall: "call",
  DynamicToolCall: "call",
  ImageView: "call",
};

export function eventKind(event: JsonObject): EventKind {
  const type = stringAt(event, "type") ?? "";
  if (type === "item_completed") return kindIn(COMPLETED, stringAt(objectAt(event, "item") ?? {}, "type") ?? "");
  return kindIn(KINDS, type);
}

function kindIn(kinds: Readonly<Record<string, EventKind>>, type: string): EventKind {
  return (Object.hasOwn(kinds, type) ? kinds[type] : undefined) ?? "other";
}

/**
 * Converts an event to items, for a file whose messages are only events of the interface. Empty: the event has no item.
 */
export function toItems(event: JsonObject): readonly JsonObject[] {
  switch (event.type) {
    case "user_message":
      return [message("user", event.message, event.images)];
    case "agent_message":
      return [message("assistant", event.message)];
    case "agent_reasoning":
    case "agent_reasoning_raw_content":
      return [{ type: "reasoning", summary: [{ type: "summary_text", text: event.text }] }];
    case "item_completed":
      return toCompletedItem(objectAt(event, "item") ?? {});
    case "exec_command_end":
      return toCommand(event, event.call_id);
  }
  return [];
}

function toCompletedItem(item: JsonObject): readonly JsonObject[] {
  switch (item.type) {
    case "UserMessage":
      return [{ ...message("user", ""), content: item.content }];
    case "AgentMessage":
      return [{ ...message("assistant", ""), content: item.content, id: item.id }];
    case "Reasoning":
      return [{ type: "reasoning", id: item.id, summary: toSummary(item.summary_text) }];
    case "CommandExecution":
      return toCommand(item, item.id);
  }
  return [];
}

function toSummary(texts: unknown): readonly JsonObject[] {
  return Array.isArray(texts) ? texts.map((text: unknown) => ({ type: "summary_text", text })) : [];
}

function toCommand({ command, cwd, aggregated_output, exit_code }: JsonObject, call_id: unknown): readonly JsonObject[] {
  const success = exit_code === undefined || exit_code === 0;
  return [
    { type: "function_call", call_id, name: "exec_command", arguments: { command, cwd } },
    { type: "function_call_output", call_id, output: { content: aggregated_output ?? "", success } },
  ];
}

function message(role: string, text: unknown, images: unknown = []): JsonObject {
  const urls = Array.isArray(images) ? images.map((image_url: unknown) => ({ type: "input_image", image_url })) : [];
  return { type: "message", role, content: [{ type: "text", text }, ...urls] };
}
