import type { AssistantMessage, Entry, EntryId, ToolCallBlock } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";

/** An approval that a tool call asked for, as its block keeps it; with `approved` it is answered. */
export interface Approval {
  readonly id: string;
  readonly approved?: boolean;
  readonly reason?: string;
}

/** The approval of a call; undefined: it asked for none. */
export function approvalOf(call: ToolCallBlock): Approval | undefined {
  const { approval } = call;
  return isApproval(approval) ? approval : undefined;
}

function isApproval(value: unknown): value is Approval {
  if (!isObject(value) || typeof value["id"] !== "string") return false;
  const { approved, reason } = value;
  return (approved === undefined || typeof approved === "boolean") && (reason === undefined || typeof reason === "string");
}

/**
 * The entries with the answers to approvals, which came after the replies that asked: entries do not change, so an answer is
 * stored as an edit of the reply.
 */
export function withApprovalAnswers(entries: readonly Entry[]): readonly Entry[] {
  const answers = answersOf(entries);
  return answers.size === 0 ? entries : entries.map((entry) => withAnswers(entry, answers.get(entry.id)));
}

/** Answered approvals by the id of the call. */
type Answers = ReadonlyMap<string, Approval>;

function answersOf(entries: readonly Entry[]): ReadonlyMap<EntryId, Answers> {
  const answersByEntry = new Map<EntryId, Answers>();
  for (const entry of entries) {
    if (entry.type !== "context_edit" || !Array.isArray(entry.replacement?.content)) continue;
    const approvals = entry.replacement.content.flatMap((block) => {
      const approval = block.type === "toolCall" ? approvalOf(block) : undefined;
      return block.type === "toolCall" && approval?.approved !== undefined ? [[block.id, approval] as const] : [];
    });
    if (approvals.length > 0) answersByEntry.set(entry.targetId, new Map(approvals));
  }
  return answersByEntry;
}

function withAnswers(entry: Entry, answers: Answers | undefined): Entry {
  if (answers === undefined || entry.type !== "message" || entry.message.role !== "assistant") return entry;
  return { ...entry, message: { ...entry.message, content: answered(entry.message.content, answers) } };
}

/** The blocks of a reply with answers to its approvals. */
export function answered(content: AssistantMessage["content"], answers: Answers): AssistantMessage["content"] {
  return content.map((block) => {
    const answer = block.type === "toolCall" ? answers.get(block.id) : undefined;
    return answer === undefined ? block : { ...block, approval: { ...(isObject(block["approval"]) ? block["approval"] : {}), ...answer } };
  });
}
