import { assistantMessage, type EntryId, type EntryInput, type Session, textOf, toolResult, userMessage } from "@bough/session-core";
import type { Reply } from "./ask-model.js";
import type { ChatModel } from "./chat-model.js";
import type { ToolOutcome } from "./tools/tool.js";

/**
 * Appends the entries of a turn to one branch, even if another process moves the leaf meanwhile.
 *
 * A tool result must follow its call, and a reply its prompt. Conflict mode `follow` would append them after entries of the
 * other process, and `error` would lose the reply. So the turn appends with `branch`: the other entries become a sibling branch.
 */
export class TurnBranch {
  #newest: EntryId | null = null;

  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The last entry that the turn appended; null: none yet. */
  get newest(): EntryId | null {
    return this.#newest;
  }

  /** Moves the leaf back to this turn if another process moved it, because the context is read at the leaf. `undo` reverts the move. */
  async ensureLeaf(): Promise<void> {
    const leafOfTurn = this.#session.leafId;
    if ((await this.#session.refresh()) !== leafOfTurn) await this.#session.moveLeaf(leafOfTurn);
  }

  /** Appends entries in one transaction. Returns the id of the first. */
  async append(...entries: readonly EntryInput[]): Promise<EntryId> {
    const written = await this.#session.write(
      entries.map((entry) => ({ kind: "entry", entry })),
      { onConflict: "branch" },
    );
    this.#newest = written.at(-1)?.id ?? this.#newest;
    return written[0]?.id ?? "";
  }
}

/** A question of the user without a complete reply. */
export interface OpenQuestion {
  readonly text: string;
  /** True if the beginning of a reply is stored. A new request continues it. */
  readonly isBegun: boolean;
}

/** Most entries between a question and the end of its turn that are read. */
const MOST_READ = 200;

/** The last question on the path, if its reply failed, was stopped or is missing; null: it is answered, or there is none. */
export async function findOpenQuestion(session: Session): Promise<OpenQuestion | null> {
  const { items } = await session.scan({ order: "up", types: ["message"], limit: MOST_READ });
  const messages = items.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const [last] = messages;
  const question = messages.find(({ role }) => role === "user");
  if (last === undefined || question === undefined || question.role !== "user") return null;
  if (last.role === "assistant" && last.stopReason !== "error" && last.stopReason !== "aborted") return null;
  return { text: textOf(question.content), isBegun: last.role === "assistant" && last.content.length > 0 };
}

/** The entry of a reply. */
export function replyEntry(reply: Reply, model: ChatModel, errorMessage: string | undefined, nowMs: number): EntryInput {
  const fields = {
    provider: model.provider,
    model: reply.model ?? model.name,
    stopReason: reply.stopReason,
    ...(reply.usage === undefined ? {} : { usage: reply.usage }),
    ...(errorMessage === undefined ? {} : { errorMessage }),
  };
  return { ...assistantMessage([...reply.content], fields), createdAtMs: nowMs };
}

/** The entry of a tool result. */
export function resultEntry(callId: string, toolName: string, { text, isError }: ToolOutcome, nowMs: number): EntryInput {
  return { ...toolResult(callId, [{ type: "text", text }], { toolName, isError }), createdAtMs: nowMs };
}

/**
 * Appends a message of the user. The promise resolves after the commit, before a model is asked.
 *
 * If another process moved the leaf, the message is appended at the entry that the user sees, as a sibling branch.
 *
 * @throws {BoughError} the store rejected the message; nothing was written.
 */
export async function appendUserMessage(session: Session, text: string): Promise<EntryId> {
  const { id } = await session.append(userMessage(text), { onConflict: "branch" });
  return id;
}
