import type { EntryPayload } from "../entry/entry.js";
import { joinTextBlocks } from "../entry/text.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextPath } from "../port/records.js";
import { CHANGED_REQUEST, findStaleThinking } from "./bound-thinking.js";
import type { ContextMessage, ModelSetting, SessionContext } from "./context.js";
import type { EntriesUpdate, ProjectedEntry, Replacement } from "./projected-entries.js";
import { type DanglingCalls, type EntryMessage, everyResultHasCall, findPendingReply, pairEntryMessages } from "./tool-pairs.js";

/** The parts of a context that come from its messages. */
type ListedMessages = Pick<SessionContext, "messages" | "entries" | "compaction" | "staleThinking">;

/**
 * The messages of a context in the order that every provider accepts, kept from one context to the next. New entries are
 * appended to the list if the result equals a rebuild; otherwise the list is rebuilt. A context after an append therefore
 * costs the new entries and a copy of two lists of references.
 */
export class MessageList {
  #messages: ContextMessage[] = [];
  #ids: EntryId[] = [];
  #compaction: SessionContext["compaction"] = null;
  #compactionSeq: number | null = null;
  #stale: NonNullable<SessionContext["staleThinking"]> = [];
  /** The request after the last entry was not the context of its path. */
  #changedRequest = false;
  #dangling: DanglingCalls | undefined;
  /** The last reply and its results, if some of its calls have no result yet. They are the last messages of the list. */
  #pending: readonly EntryMessage[] = [];
  /** The number of messages before them. */
  #settled = 0;

  /** The messages of `entries`. Entries before `newFrom` are those of the last call. */
  update({ compactionSeq }: ContextPath, { entries, newFrom }: EntriesUpdate, dangling: DanglingCalls): ListedMessages {
    const canExtend = newFrom > 0 && dangling === this.#dangling && compactionSeq === this.#compactionSeq;
    // Reset until done: if this call throws, the next one rebuilds the list.
    this.#dangling = undefined;
    if (!canExtend || !this.#extend(entries, newFrom, dangling)) this.#rebuild(compactionSeq, entries, dangling);
    this.#dangling = dangling;
    // Copies: the lists of a returned context must not grow.
    const stale = this.#stale.length === 0 ? {} : { staleThinking: this.#stale };
    return { messages: this.#messages.slice(), entries: this.#ids.slice(), compaction: this.#compaction, ...stale };
  }

  #rebuild(compactionSeq: number | null, entries: readonly ProjectedEntry[], dangling: DanglingCalls): void {
    const compaction = compactionSeq === null ? undefined : entries.find(({ seq }) => seq === compactionSeq);
    this.#messages = [];
    this.#ids = [];
    this.#compactionSeq = compactionSeq;
    this.#compaction = compaction?.payload.type === "compaction" ? { entryId: compaction.id, payload: compaction.payload } : null;
    this.#push(projectEntries(compaction, entries), dangling);
    this.#readThinking(entries);
  }

  /** Replies that are appended are valid where they stand, so an append costs nothing here unless it changes what stands before them. */
  #readThinking(entries: readonly ProjectedEntry[]): void {
    this.#stale = findStaleThinking(entries, this.#compactionSeq);
    const last = entries.findLast(({ payload }) => isRequestOrReply(payload));
    this.#changedRequest = last?.payload.type === "custom";
  }

  /** Appends the new entries. Returns false, and changes nothing, if they change messages before them. */
  #extend(entries: readonly ProjectedEntry[], newFrom: number, dangling: DanglingCalls): boolean {
    const placed = [...this.#pending];
    for (const entry of entries.slice(newFrom)) {
      if (entry.payload.type === "context_edit" || entry.payload.type === "compaction") return false;
      // An edit comes after its target, so no edit applies to a new entry.
      const shown = entry.project(undefined);
      if (shown !== null) placed.push(shown);
    }
    // A result of an earlier reply must move to that reply.
    if (!everyResultHasCall(placed)) return false;
    this.#messages.length = this.#settled;
    this.#ids.length = this.#settled;
    this.#push(placed, dangling);
    const mayChange =
      this.#changedRequest || hasLateResult(placed) || entries.slice(newFrom).some(({ payload }) => changesRequests(payload));
    if (mayChange) this.#readThinking(entries);
    return true;
  }

  #push(placed: readonly EntryMessage[], dangling: DanglingCalls): void {
    for (const { id, message } of pairEntryMessages(placed, dangling)) {
      this.#messages.push(message);
      this.#ids.push(id);
    }
    this.#pending = findPendingReply(placed);
    this.#settled = this.#messages.length - pairEntryMessages(this.#pending, dangling).length;
  }
}

function isRequestOrReply(payload: EntryPayload): boolean {
  return (payload.type === "message" && payload.message.role === "assistant") || isChangedRequest(payload);
}

function isChangedRequest(payload: EntryPayload): boolean {
  return payload.type === "custom" && payload.customType === CHANGED_REQUEST;
}

/** True if a result may belong to another reply than the last one before it. */
function hasLateResult(placed: readonly EntryMessage[]): boolean {
  return (
    placed.some(({ message }) => message.role === "toolResult") && placed.filter(({ message }) => message.role === "assistant").length > 1
  );
}

function changesRequests(payload: EntryPayload): boolean {
  return isChangedRequest(payload) || (payload.type === "message" && payload.message.role === "system");
}

/** The model, the thinking level and the system text at the end of a path. */
export function readSettings(path: ContextPath): Pick<SessionContext, "model" | "thinkingLevel" | "system"> {
  return {
    model: path.model && readModel(path.model),
    thinkingLevel: path.thinking?.type === "thinking_level_change" ? path.thinking.thinkingLevel : null,
    system: path.system && readSystemText(path.system),
  };
}

/**
 * The messages of entries with their latest edits: first the summary of the latest compaction, then the entries it kept, then
 * the entries after it; or the kept entries in the order of its list. Linear.
 */
function projectEntries(compaction: ProjectedEntry | undefined, entries: readonly ProjectedEntry[]): EntryMessage[] {
  const edits = latestEdits(entries);
  const placed: EntryMessage[] = [];
  const order = compaction?.payload.type === "compaction" ? compaction.payload.keptEntryIds : undefined;
  const after = compaction === undefined || order === undefined ? entries : entries.filter(({ seq }) => seq > compaction.seq);
  // The summary comes before the older entries that the compaction kept. Earlier compactions are part of the summary.
  const before = order === undefined ? [compaction] : listKept(compaction, entries, order);
  for (const entry of before) if (entry !== undefined) pushProjected(placed, entry, edits);
  const replaced = listReplaced(after, edits);
  for (const entry of after) {
    if (entry.payload.type !== "compaction" && !replaced.has(entry.id)) pushProjected(placed, entry, edits);
  }
  return placed;
}

/** The entries of a compaction that names those that it keeps, in their order. */
function listKept(compaction: ProjectedEntry | undefined, entries: readonly ProjectedEntry[], order: readonly (EntryId | null)[]) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return order.map((id) => (id === null ? compaction : byId.get(id)));
}

/** The entries that earlier compactions replaced, if these name the ones that they keep: a later one may start before them. */
function listReplaced(entries: readonly ProjectedEntry[], edits: ReadonlyMap<EntryId, Replacement>): ReadonlySet<EntryId> {
  const replaced = new Set<EntryId>();
  for (const [at, { id, payload }] of entries.entries()) {
    if (payload.type !== "compaction" || payload.keptEntryIds === undefined || edits.get(id) === null) continue;
    const kept = new Set(payload.keptEntryIds);
    for (const before of entries.slice(0, at)) if (!kept.has(before.id)) replaced.add(before.id);
  }
  return replaced;
}

function pushProjected(placed: EntryMessage[], entry: ProjectedEntry, edits: ReadonlyMap<EntryId, Replacement>): void {
  const shown = entry.project(edits.get(entry.id));
  if (shown !== null) placed.push(shown);
}

/** The latest edit of each entry. Edits are newer than their targets, so all edits of these entries are among them. */
function latestEdits(entries: readonly ProjectedEntry[]): ReadonlyMap<EntryId, Replacement> {
  const edits = new Map<EntryId, Replacement>();
  for (const { payload } of entries) {
    if (payload.type === "context_edit") edits.set(payload.targetId, payload.replacement);
  }
  return edits;
}

function readModel(payload: EntryPayload): ModelSetting | null {
  if (payload.type === "model_change") return { provider: payload.provider, modelId: payload.modelId };
  if (payload.type !== "message" || payload.message.role !== "assistant" || payload.message.model === undefined) return null;
  return { provider: payload.message.provider, modelId: payload.message.model };
}

function readSystemText(payload: EntryPayload): string | null {
  // An edit of the system message replaces it.
  if (payload.type === "context_edit") return payload.replacement && joinTextBlocks(payload.replacement.content);
  return payload.type === "message" && payload.message.role === "system" ? joinTextBlocks(payload.message.content) : null;
}
