import type { EntryId, ImportProblem, SessionId } from "@bough/session-core";
import { QUIET_MS, type SourceRecord } from "@bough/session-core/engine";
import type { JsonObject } from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import { isEarlierState, isInjected, isSummary, textOf, toPayloads } from "./chat-messages.js";
import { type ChatState, isBeginningOf } from "./chat-state.js";
import type { ChatMessage, ChatStore } from "./chat-store.js";

/** One step of a branch. `kept`: the first message that the summary did not replace. */
type Step =
  | { readonly kind: "message"; readonly id: string }
  | { readonly kind: "summary"; readonly id: string; readonly kept: string | undefined; readonly tokens: number };

/**
 * The entries of a chat. The newest state gives the path of the leaf. Messages of older states only are branches that were left,
 * below the message that they followed; messages of no state are a branch of their own.
 */
export class ChatTree {
  readonly #store: ChatStore;
  readonly #sessionId: SessionId;
  readonly #chain: EntryChain;
  /** The entry after which the next message is added, by the id of a message that was read. */
  readonly #entryOf = new Map<string, EntryId | null>();
  /** The messages that may be summaries: each state names all messages before it, so they are not read for each. */
  #summaries: ReadonlySet<string> | undefined;
  /** The reply that first followed an entry. */
  readonly #replyAfter = new Map<EntryId | null, string>();

  constructor(store: ChatStore, sessionId: SessionId, createdAtMs: number) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#chain = new EntryChain(sessionId, createdAtMs);
  }

  /** The branch of a state. */
  *branch(state: ChatState): Generator<SourceRecord, void, void> {
    const seen = new Map<string, number>();
    const steps = this.#steps(state);
    for (const [at, step] of steps.entries()) {
      // Each text of a reply that grows is a message of its own.
      if (at === steps.length - 1 && this.#isReply(step)) yield { kind: "open", waitMs: QUIET_MS };
      const count = seen.get(step.id) ?? 0;
      seen.set(step.id, count + 1);
      if (step.kind === "summary") yield* this.#compaction(step);
      else yield* this.#message(step.id, count);
    }
  }

  /** Yields the messages that are not reachable from the newest state. Messages of subagents belong to other sessions. */
  *rest(newest: ChatState | undefined): Generator<SourceRecord, void, void> {
    const leaf = this.#chain.leafId;
    const others = new Set<string>(newest === undefined ? [] : messagesOfSubagents(newest));
    for (const state of this.#store.states()) {
      for (const id of messagesOfSubagents(state)) others.add(id);
      if (newest === undefined || !isBeginningOf(state, newest)) yield* this.#leftBranch(state);
    }
    this.#chain.moveTo(null);
    for (const id of this.#store.messageIds()) {
      if (this.#entryOf.has(id) || others.has(id)) continue;
      yield* this.#isSummary(id) ? this.#compaction({ kind: "summary", id, kept: undefined, tokens: 0 }) : this.#message(id, 0);
    }
    // Without a state, the messages in the order in which they were written are all that there is.
    yield { kind: "leaf", name: "main", entryId: leaf ?? this.#chain.leafId };
  }

  *#leftBranch(state: ChatState): Generator<SourceRecord, void, void> {
    if (state.messages.every((id) => this.#entryOf.has(id))) return;
    this.#chain.moveTo(null);
    for (const step of this.#steps(state)) {
      const known = this.#entryOf.get(step.id);
      if (known !== undefined) this.#chain.moveTo(known);
      else if (step.kind === "summary") yield* this.#compaction(step);
      else yield* this.#leftMessage(step.id);
    }
  }

  /** Adds a message of a branch that was left. An unfinished reply, or an earlier text of Cursor's own messages, is no branch. */
  *#leftMessage(id: string): Generator<SourceRecord, void, void> {
    const message = this.#store.message(id);
    const record = message?.record;
    if (message === undefined || record === undefined) return;
    const reply = this.#replyAfter.get(this.#chain.leafId);
    const later = reply === undefined ? undefined : this.#store.message(reply)?.record;
    if (!isInjected(record) && (later === undefined || !isEarlierState(record, later))) return yield* this.#message(id, 0);
    this.#entryOf.set(id, this.#chain.leafId);
    yield { kind: "merged", line: message.line };
  }

  /**
   * Returns the steps of a state. A summary replaces the messages of the state before it, except for those that are also after it.
   * `later`: the summaries behind it. A row that is written again moves behind the states that name it, so the order of rows may have circles.
   */
  #steps(state: ChatState, later: ReadonlySet<string> = new Set()): readonly Step[] {
    const { messages } = state;
    const at = messages.findLastIndex((id) => this.#isSummary(id));
    const id = messages[at];
    if (id === undefined) return messages.map(toStep);
    const summaries = new Set([...later, id]);
    const older = this.#store.stateBefore(this.#store.message(id)?.line ?? 0, summaries);
    const before = older === undefined ? messages.slice(0, at).map(toStep) : this.#steps(older, summaries);
    const rest = messages.slice(at + 1);
    const kept = commonEnd(before, rest);
    const known = new Set(before.map((step) => step.id));
    const fresh = messages.slice(0, at).filter((one) => !known.has(one));
    const summary: Step = { kind: "summary", id, kept: kept === 0 ? undefined : rest[0], tokens: older?.usedTokens ?? 0 };
    return [...before, ...fresh.map(toStep), summary, ...rest.slice(kept).map(toStep)];
  }

  #isSummary(id: string): boolean {
    this.#summaries ??= this.#store.summaryIds();
    return this.#summaries.has(id) && isSummary(this.#store.message(id)?.record ?? {});
  }

  #isReply({ kind, id }: Step): boolean {
    return kind === "message" && this.#store.message(id)?.record?.role === "assistant";
  }

  /** `count`: how often the branch has this message already. Equal messages are stored once. */
  *#message(id: string, count: number): Generator<SourceRecord, void, void> {
    const message = this.#store.message(id);
    if (message?.record === undefined) return yield this.#problem(message, id);
    if (message.record.role === "assistant" && !this.#replyAfter.has(this.#chain.leafId)) this.#replyAfter.set(this.#chain.leafId, id);
    let createdAtMs: number | undefined;
    const payloads = toPayloads(message.record, (sentAtMs) => (createdAtMs = sentAtMs ?? createdAtMs));
    const own = count === 0 ? id : derivedId(this.#sessionId, id, count);
    for (const [part, payload] of payloads.entries()) yield this.#chain.add({ line: message.line, id: own, part, createdAtMs, payload });
    this.#entryOf.set(id, this.#chain.leafId);
  }

  *#compaction({ id, kept, tokens }: Extract<Step, { kind: "summary" }>): Generator<SourceRecord, void, void> {
    const { record = {}, line = 1 } = this.#store.message(id) ?? {};
    const payload: JsonObject = {
      type: "compaction",
      summary: textOf(record),
      firstKeptEntryId: this.#firstEntryOf(kept),
      tokensBefore: tokens,
    };
    yield this.#chain.add({ line, id, payload });
    this.#entryOf.set(id, this.#chain.leafId);
  }

  /** The first entry of a message has the message's id. */
  #firstEntryOf(id: string | undefined): EntryId | null {
    return id === undefined || !this.#entryOf.has(id) ? null : id;
  }

  #problem(message: ChatMessage | undefined, id: string): SourceRecord {
    const problem: ImportProblem =
      message === undefined
        ? { code: "missing-blob", path: this.#store.path, line: null, message: `the message ${id} is not in the database; it was left out` }
        : { code: "invalid-record", path: this.#store.path, line: message.line, message: "no JSON; the row was left out" };
    this.#entryOf.set(id, this.#chain.leafId);
    return { kind: "problem", problem };
  }
}

function messagesOfSubagents({ subagents }: ChatState): readonly string[] {
  return subagents.flatMap(({ state }) => [...state.messages, ...messagesOfSubagents(state)]);
}

function toStep(id: string): Step {
  return { kind: "message", id };
}

/** Counts the messages at the end of `before` that are also at the start of `rest`: the summary did not replace them. */
function commonEnd(before: readonly Step[], rest: readonly string[]): number {
  const start = before.findLastIndex(({ id }) => id === rest[0]);
  const end = start === -1 ? [] : before.slice(start);
  return end.every(({ id }, at) => id === rest[at]) ? end.length : 0;
}
