import type { Entry } from "../entry/entry.js";
import { CONVERSATION_TYPES } from "../entry/kinds.js";
import type { AssistantMessage, ToolResultMessage } from "../entry/message.js";
import type { EntryId } from "../ids/ids.js";

/** A reply with the results of its calls. */
export interface ReplyStep {
  readonly kind: "reply";
  readonly entryIds: readonly EntryId[];
  readonly message: AssistantMessage;
  /** By id of the call; several if calls share an id, in the order of the calls. */
  readonly results: ReadonlyMap<string, readonly ToolResultMessage[]>;
}

/** The unit of writing: an entry, or a reply with its results. */
export type Step = ReplyStep | { readonly kind: "entry"; readonly entryIds: readonly EntryId[]; readonly entry: Entry };

/** The most entries without text that are deferred while the results of a reply are read. */
const MAX_DEFERRED = 100;

/**
 * Groups each reply with the results of its calls. Holds one reply at a time, until all its results are read or another message
 * follows.
 */
export async function* groupSteps(entries: AsyncIterable<Entry>): AsyncGenerator<Step> {
  let open: PendingReply | undefined;
  for await (const entry of entries) {
    if (open?.accept(entry) !== true) {
      if (open !== undefined) yield* open.steps();
      open = PendingReply.of(entry);
      if (open === undefined) yield { kind: "entry", entryIds: [entry.id], entry };
    }
    if (open?.isComplete !== true) continue;
    yield* open.steps();
    open = undefined;
  }
  if (open !== undefined) yield* open.steps();
}

class PendingReply {
  readonly #entryIds: EntryId[];
  readonly #results = new Map<string, ToolResultMessage[]>();
  readonly #deferred: Entry[] = [];
  readonly #awaited: string[];

  readonly #message: AssistantMessage;

  private constructor(id: EntryId, message: AssistantMessage) {
    this.#message = message;

    this.#entryIds = [id];
    this.#awaited = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  }

  /** A pending reply for an assistant message; undefined for other entries. */
  static of(entry: Entry): PendingReply | undefined {
    if (entry.type !== "message" || entry.message.role !== "assistant") return undefined;
    return new PendingReply(entry.id, entry.message);
  }

  get isComplete(): boolean {
    return this.#awaited.length === 0;
  }

  /** Adds a result of this reply, or defers an entry without text. Returns false for other entries. */
  accept(entry: Entry): boolean {
    if (entry.type === "message" && entry.message.role === "toolResult") return this.#addResult(entry.id, entry.message);
    // A batch of tool calls continues after an entry without text of its own.
    if (CONVERSATION_TYPES.includes(entry.type) || this.#deferred.length >= MAX_DEFERRED) return false;
    this.#deferred.push(entry);
    return true;
  }

  #addResult(id: EntryId, result: ToolResultMessage): boolean {
    const at = this.#awaited.indexOf(result.toolCallId);
    if (at < 0) return false;
    this.#awaited.splice(at, 1);
    this.#entryIds.push(id);
    this.#results.set(result.toolCallId, [...(this.#results.get(result.toolCallId) ?? []), result]);
    return true;
  }

  *steps(): Generator<Step> {
    yield { kind: "reply", entryIds: this.#entryIds, message: this.#message, results: this.#results };
    for (const entry of this.#deferred) yield { kind: "entry", entryIds: [entry.id], entry };
  }
}
