import { type JsonObject, objectAt } from "@bough/session-core/wire";

/** The treatment of events by their types. An event of another type is kept as a foreign entry. */
const EVENTS = kindsByType([
  // They repeat items, or mark a step of the program that leaves no trace: merged.
  ["mirror", ["user_message", "agent_message_delta", "raw_response_item", "item_started", "session_configured"]],
  ["mirror", ["agent_reasoning", "agent_reasoning_delta", "agent_reasoning_raw_content", "agent_reasoning_section_break"]],
  ["mirror", ["task_started", "turn_started", "context_compacted", "exec_command_begin", "exec_command_output_delta"]],
  ["mirror", ["mcp_tool_call_begin", "patch_apply_begin", "web_search_begin", "image_generation_begin"]],
  // They repeat a reply, and show that it was said to the user: a summary is not.
  ["shown", ["agent_message"]],
  // They have more facts of a call: added to the details of its result. Without the call they are kept as foreign entries.
  ["call", ["exec_command_end", "mcp_tool_call_end", "patch_apply_end", "view_image_tool_call", "image_generation_end"]],
  ["call", ["dynamic_tool_call_request", "dynamic_tool_call_response", "collab_agent_spawn_end", "collab_agent_interaction_end"]],
  ["call", ["collab_waiting_end", "collab_close_end", "collab_resume_end"]],
  ["usage", ["token_count"]],
  ["settings", ["thread_settings_applied"]],
  ["title", ["thread_name_updated"]],
  ["rollback", ["thread_rolled_back"]],
  ["complete", ["task_complete", "turn_complete"]],
  ["aborted", ["turn_aborted"]],
  ["error", ["error"]],
]);

/** The content that `item_completed` events repeat: items, or facts of a call. Other items, such as plans, occur only in them. */
const COMPLETED = kindsByType([
  ["mirror", ["UserMessage", "Reasoning", "ContextCompaction"]],
  ["shown", ["AgentMessage"]],
  ["call", ["CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "ImageView"]],
]);

function kindsByType<const K extends string>(table: readonly (readonly [kind: K, types: readonly string[]])[]): ReadonlyMap<unknown, K> {
  return new Map(table.flatMap(([kind, types]) => types.map((type) => [type, kind] as const)));
}

/** The treatment of an event of a rollout by its reader. */
export function eventKind(event: JsonObject) {
  const kind = event.type === "item_completed" ? COMPLETED.get(objectAt(event, "item")?.type) : EVENTS.get(event.type);
  return kind ?? "other";
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
