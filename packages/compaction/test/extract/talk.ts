import type { ContextMessage } from "@bough/session-core";

/** A user message. */
export function user(text: string): ContextMessage {
  return { role: "user", content: text };
}

/** A reply that calls nothing. */
export function said(text: string): ContextMessage {
  return { role: "assistant", content: [{ type: "text", text }] };
}

let calls = 0;

/** A reply that calls one tool, and the result of the call. */
export function ran(
  name: string,
  given: Record<string, unknown>,
  output = "",
  { failed = false, text = "" }: { failed?: boolean; text?: string } = {},
): readonly ContextMessage[] {
  calls += 1;
  const id = `call-${calls}`;
  return [
    {
      role: "assistant",
      content: [...(text === "" ? [] : [{ type: "text" as const, text }]), { type: "toolCall", id, name, arguments: given }],
    },
    { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: output }], isError: failed },
  ];
}
