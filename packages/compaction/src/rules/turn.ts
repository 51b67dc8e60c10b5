import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";

/** The end of a context, as far as rules about turns need it. */
export interface TurnState {
  /** The entry that opened the newest turn (a user's or a host's message); null: there is none. */
  readonly id: EntryId | null;
  /** The newest prompt has no answer yet, or the last reply waits for its tools or for the model to read their results. */
  readonly open: boolean;
  /** Rounds of tool calls with their results in this turn. */
  readonly rounds: number;
}

/** Reads the end of a context up to where its newest turn starts. Pure; cost: the length of that turn. */
export function turnOf({ messages, entries }: SessionContext): TurnState {
  let rounds = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message === undefined) continue;
    if (message.role === "assistant" && hasCalls(message)) rounds += 1;
    if (message.role === "user" || message.role === "custom") return { id: entries[at] ?? null, open: isRunning(messages), rounds };
  }
  return { id: null, open: isRunning(messages), rounds };
}

/** A reply that was stopped, or failed, ended its turn, whatever it had called: its calls get results that say so. */
function isRunning(messages: readonly ContextMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== "toolResult");
  if (last?.role === "assistant" && (last.stopReason === "aborted" || last.stopReason === "error")) return false;
  return isOpen(messages.at(-1));
}

function isOpen(last: ContextMessage | undefined): boolean {
  if (last === undefined) return false;
  return last.role === "user" || last.role === "toolResult" || (last.role === "assistant" && hasCalls(last));
}

function hasCalls(message: ContextMessage): boolean {
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall");
}

/** Whether an ended turn left work: its reply was cut or stopped, or the host's todo list has open points. R122. */
export function workIsLeft({ messages }: SessionContext, todos: string | undefined): boolean {
  const last = messages.at(-1);
  if (isOpen(last)) return true;
  if (last?.role === "assistant" && (last.stopReason === "length" || last.stopReason === "aborted")) return true;
  return todos !== undefined && /^\s*[-*] \[ \]|\b(in_progress|pending)\b/m.test(todos);
}
