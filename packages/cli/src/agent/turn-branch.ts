import { assistantMessage, type EntryId, type EntryInput, type Session, toolResult, userMessage } from "@bough/session-core";
import type { ChatModel } from "./chat-model.js";
import type { Reply } from "./reply.js";
import type { ToolOutcome } from "./tools/tool.js";

/**
 * The branch that a turn writes: each entry under the one before it, whatever other processes do to the leaf meanwhile.
 *
 * A result must stand below its call, and a reply below what it answers; under an entry of another writer (`follow`) neither
 * would be sure, and with `error` the reply would be lost. So what others wrote stays as a branch beside this one.
 */
export class TurnBranch {
  #newest: EntryId | null = null;

  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The newest entry that the turn wrote. */
  get newest(): EntryId | null {
    return this.#newest;
  }

  /** Puts the leaf back to this turn where another process moved it: a context is built at the leaf. The move can be undone. */
  async ensureLeaf(): Promise<void> {
    const own = this.#session.leafId;
    if ((await this.#session.refresh()) !== own) await this.#session.moveLeaf(own);
  }

  async append(entry: EntryInput): Promise<EntryId> {
    return this.#wrote(await this.#session.append(entry, { onConflict: "branch" }));
  }

  /** Several entries, all or none. Gives the first one's id. */
  async appendAll(entries: readonly EntryInput[]): Promise<EntryId> {
    const written = await this.#session.write(
      entries.map((entry) => ({ kind: "entry", entry })),
      { onConflict: "branch" },
    );
    this.#newest = written.at(-1)?.id ?? this.#newest;
    return written[0]?.id ?? "";
  }

  #wrote({ id }: { readonly id: EntryId }): EntryId {
    this.#newest = id;
    return id;
  }
}

/** A reply as it is stored. */
export function replyEntry(reply: Reply, model: ChatModel, errorMessage: string | undefined, nowMs: number): EntryInput {
  const fields = {
    provider: model.provider,
    model: reply.model ?? model.name,
    stopReason: reply.end,
    ...(reply.usage === undefined ? {} : { usage: reply.usage }),
    ...(errorMessage === undefined ? {} : { errorMessage }),
  };
  return { ...assistantMessage([...reply.content], fields), createdAtMs: nowMs };
}

/** A result as it is stored. */
export function resultEntry(callId: string, toolName: string, { text, isError }: ToolOutcome, nowMs: number): EntryInput {
  return { ...toolResult(callId, [{ type: "text", text }], { toolName, isError }), createdAtMs: nowMs };
}

/**
 * Appends what a person said; when it resolves the message is on disk, before any model is asked.
 *
 * Where another process moved the leaf since this handle last looked, the message stands under what the person saw, on a
 * branch beside the other's: both stay whole, and nobody's words answer what they have not read.
 *
 * @throws {BoughError} of the store; nothing was written.
 */
export async function appendUserMessage(session: Session, text: string): Promise<EntryId> {
  const { id } = await session.append(userMessage(text), { onConflict: "branch" });
  return id;
}
