import { nullable, oneOf, optional, options, record, TEXT } from "../arguments/rules.js";
import type { ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { freezeJson, isObject } from "../entry/json.js";
import type { AssistantBlock, AssistantMessage, Message } from "../entry/message.js";
import { nativeCompactionOf } from "../entry/native-compaction.js";
import { joinTextBlocks } from "../entry/text.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextEntry } from "../port/records.js";
import type { ContextMessage, ModelSetting, SessionContext, StaleReason, StaleThinking } from "./context.js";
import { compactionBlocks } from "./converters/native-items.js";
import { modelKey } from "./model-key.js";
import type { Replacement } from "./projected-entries.js";
import { listToolCalls } from "./tool-pairs.js";

/**
 * The custom type of the entry that says: the request after it was not the context of its path (shortened to fit, or with a prompt
 * that is not stored). The thinking of the reply to it is bound to that request.
 */
export const CHANGED_REQUEST = "bough.changed-request";

/** Thinking that is left out of a request. `model`: another model produced it. `changed`: this request changes what stands before it. */
export interface LeftOutThinking {
  readonly entryId: EntryId;
  readonly because: StaleReason | "model" | "changed";
  readonly blocks: number;
}

/** The treatment of signed thinking. */
export interface ThinkingOptions {
  /** The model of the request. Default: the context's. */
  readonly model?: ModelSetting | null | undefined;
  /** Thinking is bound to what stands before it: `auto` (default) decides by the name of the model. */
  readonly boundThinking?: "auto" | "always" | "never" | undefined;
}

/** `ThinkingOptions`. */
export const THINKING_OPTIONS = options({
  model: optional(nullable(record({ modelId: TEXT, provider: optional(TEXT) }))),
  boundThinking: optional(oneOf("auto", "always", "never")),
});

// Models that check the prefix of signed thinking: Fable and Mythos from 5.1, Opus, Sonnet and Haiku from 5.5, and what follows.
// Providers spell the version with "-" or ".", and add a region, a maker, a date or a revision.
const BINDING =
  /(?:(?:fable|mythos)-5[-.][1-9]\d?|(?:opus|sonnet|haiku)-5[-.](?:[5-9]|[1-9]\d)|(?:fable|mythos|opus|sonnet|haiku)-[6-9])(?!\d)/i;

/** True if a model rejects signed thinking whose prefix changed ("preserved thinking" of Anthropic), wherever it runs. */
export function bindsThinking(model: { readonly modelId?: string | undefined } | null): boolean {
  return BINDING.test(model?.modelId ?? "");
}

/** A change of the path at index `at`: the thinking of replies between `from` and `at` (both excluded) is no longer valid. */
interface PathChange {
  readonly at: number;
  readonly from: number;
  readonly because: StaleReason;
}

/**
 * The replies whose signed thinking is not valid at the end of a path, in the order of the path. `entries`: those that the context is
 * built from. An entry stands on a path after all that was sent before it, so a block is valid if and only if no later entry of the path
 * changes what stands before it. A branch, a move, a fork and a summary at the leaf change nothing there. Only for a reply to a shortened
 * request an entry is stored (`CHANGED_REQUEST`).
 *
 * Pure; linear. A change that restores an earlier content does not make a block valid again, except for a compaction that was undone:
 * the replies before it stand where they stood.
 */
export function findStaleThinking(entries: readonly ContextEntry[], compactionSeq: number | null): readonly StaleThinking[] {
  if (!entries.some(({ payload }) => hasThinking(payload))) return [];
  const stale = listStale(entries, new PathChanges(entries, compactionSeq).list());
  const inForce = entries.find(({ seq }) => seq === compactionSeq)?.payload;
  if (inForce?.type !== "compaction" || nativeCompactionOf(inForce) === undefined) return stale;
  const always = new Set(listStale(entries, new PathChanges(entries, compactionSeq, true).list()).map(({ entryId }) => entryId));
  return stale.map((one) => (always.has(one.entryId) ? one : { ...one, unlessNative: true }));
}

function listStale(entries: readonly ContextEntry[], changes: PathChange[]): readonly StaleThinking[] {
  const stale: StaleThinking[] = [];
  let earliest: PathChange | undefined;
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    for (let last = changes.at(-1); last !== undefined && last.at > at; last = changes.at(-1)) {
      if (earliest === undefined || last.from < earliest.from) earliest = last;
      changes.pop();
    }
    const entry = entries[at];
    if (entry !== undefined && earliest !== undefined && earliest.from < at && hasThinking(entry.payload))
      stale.push({ entryId: entry.id, because: earliest.because });
  }
  return stale.reverse();
}

function hasThinking(payload: EntryPayload): boolean {
  return payload.type === "message" && payload.message.role === "assistant" && payload.message.content.some(isBound);
}

/** True for thinking that its provider signed. */
function isBound(block: AssistantBlock): boolean {
  if (block.type === "foreign") return block.originalType === "redacted_thinking";
  if (block.type !== "thinking") return false;
  if (block.thinkingSignature !== undefined && block.thinkingSignature !== "") return true;
  const { providerOptions } = block;
  return (
    isObject(providerOptions) &&
    Object.values(providerOptions).some((own) => isObject(own) && ("signature" in own || "redactedData" in own))
  );
}

/** Collects the changes of a path, whose entries are given in order. */
class PathChanges {
  readonly #changes: PathChange[] = [];
  readonly #entries: readonly ContextEntry[];
  readonly #compactionSeq: number | null;
  readonly #isNative: boolean;
  readonly #indexes: ReadonlyMap<EntryId, number>;
  readonly #undone: ReadonlySet<EntryId>;
  readonly #calls = new OpenCalls();
  #system: string | undefined;
  #changedRequest = false;

  /** `isNative`: the request starts with the provider's own compaction, so that the one in force changes nothing. */
  constructor(entries: readonly ContextEntry[], compactionSeq: number | null, isNative = false) {
    this.#isNative = isNative;
    this.#entries = entries;
    this.#compactionSeq = compactionSeq;
    this.#indexes = new Map(entries.map(({ id }, at) => [id, at]));
    this.#undone = findUndone(entries);
  }

  /** In the order of their places. */
  list(): PathChange[] {
    for (const [at, entry] of this.#entries.entries()) this.#read(at, entry);
    return this.#changes.sort((a, b) => a.at - b.at);
  }

  #add(at: number, from: number, because: StaleReason): void {
    this.#changes.push({ at, from, because });
  }

  #read(at: number, { id, seq, payload }: ContextEntry): void {
    if (payload.type === "compaction") {
      const isKept = this.#isNative && seq === this.#compactionSeq;
      if (!this.#undone.has(id) && !isKept) this.#add(at, -1, "compaction");
    } else if (payload.type === "context_edit") this.#readEdit(at, seq, payload);
    else if (payload.type === "custom" && payload.customType === CHANGED_REQUEST) this.#changedRequest = true;
    else if (payload.type === "message") this.#readMessage(at, payload.message);
  }

  #readEdit(index: number, seq: number, { targetId, replacement }: ContextEditPayload): void {
    const target = this.#indexes.get(targetId);
    if (target === undefined) {
      // The target is not sent any more, but it stood before the entries that the compaction keeps.
      if (this.#compactionSeq !== null && seq < this.#compactionSeq) this.#add(index, -1, "edit");
      return;
    }
    const edited = this.#entries[target]?.payload;
    if (edited?.type === "compaction" && replacement === null) this.#add(index, target, "compaction");
    else if (isSystem(edited)) this.#add(index, -1, "system");
    else this.#add(index, target - 1, "edit");
  }

  #readMessage(index: number, message: Message): void {
    if (message.role === "system") {
      const text = joinTextBlocks(message.content);
      if (text !== this.#system) this.#add(index, -1, "system");
      this.#system = text;
    } else if (message.role === "toolResult") {
      const reply = this.#calls.close(message.toolCallId);
      if (reply !== undefined) this.#add(index, reply, "result");
    } else if (message.role === "assistant") {
      this.#calls.open(message, index);
      // The reply itself, and no other one.
      if (this.#changedRequest) this.#add(index + 1, index - 1, "request");
      this.#changedRequest = false;
    }
  }
}

function isSystem(payload: EntryPayload | undefined): boolean {
  return payload?.type === "message" && payload.message.role === "system";
}

/** The compactions that the latest edit of each omits. */
function findUndone(entries: readonly ContextEntry[]): ReadonlySet<EntryId> {
  const latest = new Map<EntryId, Replacement>();
  for (const { payload } of entries) if (payload.type === "context_edit") latest.set(payload.targetId, payload.replacement);
  return new Set([...latest].flatMap(([id, replacement]) => (replacement === null ? [id] : [])));
}

/** Calls without a result so far, and the index of their reply. */
class OpenCalls {
  readonly #open = new Map<string, number>();
  #lastReply = -1;

  open(message: AssistantMessage, at: number): void {
    for (const { id } of listToolCalls(message)) this.#open.set(id, at);
    this.#lastReply = at;
  }

  /** The index of the call's reply if another reply came before the result: that one was produced behind a note in its place. */
  close(callId: string): number | undefined {
    const at = this.#open.get(callId);
    this.#open.delete(callId);
    return at !== undefined && at < this.#lastReply ? at : undefined;
  }
}

/**
 * The thinking of a context that the model of the request rejects, by reply, in order: of another model where one of the two checks
 * prefixes, and thinking whose prefix changed where the model checks them. `isNative`: the request starts with the provider's own
 * compaction; default: it does if the model reads that of the context.
 */
export function listLeftOutThinking(
  context: SessionContext,
  options: ThinkingOptions = {},
  isNative = compactionBlocks(context, options.model ?? context.model) !== undefined,
): readonly LeftOutThinking[] {
  const model = options.model ?? context.model;
  if (model === null) return [];
  const { boundThinking = "auto" } = options;
  const binds = boundThinking === "auto" ? bindsThinking(model) : boundThinking === "always";
  const checked = (binds ? (context.staleThinking ?? []) : []).filter(({ unlessNative }) => !(isNative && unlessNative === true));
  const stale = new Map(checked.map(({ entryId, because }) => [entryId, because]));
  return context.messages.flatMap((message, at) => {
    const entryId = context.entries[at];
    if (entryId === undefined || message.role !== "assistant") return [];
    const blocks = countBound(message);
    const because = isOfAnotherModel(message, model, binds) ? "model" : stale.get(entryId);
    return blocks === 0 || because === undefined ? [] : [{ entryId, because, blocks }];
  });
}

/** The number of signed thinking blocks of a message. */
export function countBound(message: ContextMessage): number {
  return message.role === "assistant" ? message.content.filter(isBound).length : 0;
}

function isOfAnotherModel({ provider, model }: AssistantMessage, now: ModelSetting, binds: boolean): boolean {
  if (model === undefined || !(binds || bindsThinking({ modelId: model }))) return false;
  return modelKey({ provider, modelId: model }) !== modelKey(now);
}

// Made once for each message, so that later contexts contain the same objects.
const stripped = new WeakMap<ContextMessage, ContextMessage>();

/** The message without its signed thinking; the same object if it has none. */
export function stripThinking(message: ContextMessage): ContextMessage {
  if (message.role !== "assistant" || countBound(message) === 0) return message;
  const known = stripped.get(message) ?? freezeJson({ ...message, content: message.content.filter((block) => !isBound(block)) });
  stripped.set(message, known);
  return known;
}

/** The context without the thinking that `listLeftOutThinking` lists; the same object if it lists none. */
export function leaveOutThinking(context: SessionContext, options: ThinkingOptions = {}, isNative?: boolean): SessionContext {
  const leftOut = new Set(listLeftOutThinking(context, options, isNative).map(({ entryId }) => entryId));
  if (leftOut.size === 0) return context;
  const messages = context.messages.map((message, at) => (leftOut.has(context.entries[at] ?? "") ? stripThinking(message) : message));
  return { ...context, messages };
}
