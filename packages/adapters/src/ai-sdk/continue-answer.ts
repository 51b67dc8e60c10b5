import {
  type AssistantMessage,
  type Entry,
  type EntryId,
  type EntryInput,
  InvalidArgumentError,
  type Session,
  type ToolCallBlock,
  toolResult,
} from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type { UIMessage } from "ai";
import { type Approval, answered, approvalOf, withApprovalAnswers } from "./approvals.js";
import { fromUiMessages } from "./from-ui-messages.js";

/**
 * Stores what a page added to the newest answer: the outputs of tools that run on the page, and answers to approvals. An output is
 * taken only for a call that has no result and asked for no approval, an approval only where one was asked for and not answered.
 * Everything else of the message is ignored; what is stored already is not stored again.
 *
 * @throws {InvalidArgumentError} the answer is not in the session, or not its newest message.
 */
export async function continueAnswer(session: Session, message: UIMessage): Promise<void> {
  const replies = repliesOf(await pathOfAnswer(session, message.id), message.id);
  const entries = [...outputsFor(replies, message), ...replies.flatMap((reply) => approvalEntries(reply, message))];
  if (entries.length > 0) await session.append(entries);
}

/** Returns the path that has an answer. If the page shows another branch than that of the leaf, moves the leaf to its end. */
async function pathOfAnswer(session: Session, id: EntryId): Promise<readonly Entry[]> {
  const path = await session.path();
  if (path.some((entry) => entry.id === id)) return path;
  if (!(await session.entriesById([id])).has(id)) throw unknownAnswer("an answer that the session does not have");
  await session.moveLeaf(await session.tree.tipBelow(id));
  return session.path();
}

function unknownAnswer(given: string): InvalidArgumentError {
  return new InvalidArgumentError("body.messages", "messages that end with one of the user, or with the newest answer", given);
}

/** A step of the answer, with the calls that have no result. */
interface Reply {
  readonly id: EntryId;
  readonly content: AssistantMessage["content"];
  readonly open: readonly ToolCallBlock[];
}

function repliesOf(path: readonly Entry[], id: EntryId): readonly Reply[] {
  const start = path.findIndex((entry) => entry.id === id);
  const answer = withApprovalAnswers(path.slice(start)).flatMap((entry) => (entry.type === "message" ? [entry] : []));
  if (answer[0]?.message.role !== "assistant" || answer.some(({ message }) => message.role === "user"))
    throw unknownAnswer("another message of the session");
  const done = new Set(answer.flatMap(({ message }) => (message.role === "toolResult" ? [message.toolCallId] : [])));
  return answer.flatMap(({ id: entryId, message }) => {
    if (message.role !== "assistant") return [];
    const open = message.content.flatMap((block) => (block.type === "toolCall" && !done.has(block.id) ? [block] : []));
    return [{ id: entryId, content: message.content, open }];
  });
}

function outputsFor(replies: readonly Reply[], message: UIMessage): readonly EntryInput[] {
  const awaited = new Set(replies.flatMap(({ open }) => open.filter((call) => approvalOf(call) === undefined).map(({ id }) => id)));
  return fromUiMessages([message]).filter(
    (entry) => entry.type === "message" && entry.message.role === "toolResult" && awaited.delete(entry.message.toolCallId),
  );
}

/** The edit of a reply that answers its approvals, and a result for each call that was denied. */
function approvalEntries({ id, content, open }: Reply, { parts }: UIMessage): readonly EntryInput[] {
  const asked = open.filter((call) => approvalOf(call)?.approved === undefined);
  const answers = new Map(
    asked.flatMap((call) => {
      const answer = parts.map(answerIn).find((one) => one !== undefined && one.id === approvalOf(call)?.id);
      return answer === undefined ? [] : [[call.id, answer] as const];
    }),
  );
  if (answers.size === 0) return [];
  const edit: EntryInput = { type: "context_edit", targetId: id, replacement: { content: answered(content, answers) } };
  return [edit, ...asked.flatMap((call) => denial(call, answers.get(call.id)))];
}

function answerIn(part: UIMessage["parts"][number]): Approval | undefined {
  const approval = "approval" in part ? part.approval : undefined;
  if (!isObject(approval)) return undefined;
  const { id, approved, reason } = approval;
  if (typeof id !== "string" || typeof approved !== "boolean") return undefined;
  return { id, approved, ...(typeof reason === "string" ? { reason } : {}) };
}

function denial({ id, name }: ToolCallBlock, answer: Approval | undefined): readonly EntryInput[] {
  if (answer?.approved !== false) return [];
  return [toolResult(id, answer.reason ?? "The user denied this call.", { toolName: name, isError: true, denied: true })];
}
