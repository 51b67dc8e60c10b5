import type { EntryPayload } from "../entry/entry.js";
import { joinTextBlocks } from "../entry/text.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextPath } from "../port/records.js";
import type { ContextMessage, ModelSetting, SessionContext } from "./context.js";
import type { EntriesUpdate, ProjectedEntry, Replacement } from "./projected-entries.js";
import { type DanglingCalls, type EntryMessage, everyResultHasCall, pairEntryMessages, pendingReply } from "./tool-pairs.js";

/** What of a context stands in its window. */
export type ListedMessages = Pick<SessionContext, "messages" | "entries" | "compaction">;

/**
 * The messages of a window in the order that every provider accepts, kept from one context to the next. What is new goes
 * behind what is there, wherever that gives the same as building anew; else it is built anew. So a context after an
 * append costs the new entries and a copy of two lists of references.
 */
export class MessageList {
  #messages: ContextMessage[] = [];
  #ids: EntryId[] = [];
  #compaction: SessionContext["compaction"] = null;
  #compactionSeq: number | null = null;
  #dangling: DanglingCalls | undefined;
  /** The last reply and its results, as long as results of it may still come; they stand at the end of the messages. */
  #pending: readonly EntryMessage[] = [];
  /** How many messages stand before them. */
  #settled = 0;

  /** The messages of `window`, which continues the one before from `newFrom` on. */
  update({ compactionSeq }: ContextPath, { entries, newFrom }: EntriesUpdate, dangling: DanglingCalls): ListedMessages {
    const continues = newFrom > 0 && dangling === this.#dangling && compactionSeq === this.#compactionSeq;
    // Until it is done: after a failure in between, the next one is built anew.
    this.#dangling = undefined;
    if (!continues || !this.#extend(entries, newFrom, dangling)) this.#rebuild(compactionSeq, entries, dangling);
    this.#dangling = dangling;
    // Copies: the lists go on growing, and a context that was given away must not.
    return { messages: this.#messages.slice(), entries: this.#ids.slice(), compaction: this.#compaction };
  }

  #rebuild(compactionSeq: number | null, window: readonly ProjectedEntry[], dangling: DanglingCalls): void {
    const compaction = compactionSeq === null ? undefined : window.find(({ seq }) => seq === compactionSeq);
    this.#messages = [];
    this.#ids = [];
    this.#compactionSeq = compactionSeq;
    this.#compaction = compaction?.payload.type === "compaction" ? { entryId: compaction.id, payload: compaction.payload } : null;
    this.#push(projectEntries(compaction, window), dangling);
  }

  /** Puts what is new behind what is there; false: it changes how something before it appears, and nothing was done. */
  #extend(window: readonly ProjectedEntry[], newFrom: number, dangling: DanglingCalls): boolean {
    const placed = [...this.#pending];
    for (let at = newFrom; at < window.length; at++) {
      const entry = window[at] as ProjectedEntry;
      if (entry.payload.type === "context_edit" || entry.payload.type === "compaction") return false;
      // An edit comes after what it changes, so none applies to what is new.
      const shown = entry.project(undefined);
      if (shown !== null) placed.push(shown);
    }
    // A result of a reply further up would have to go there.
    if (!everyResultHasCall(placed)) return false;
    this.#messages.length = this.#settled;
    this.#ids.length = this.#settled;
    this.#push(placed, dangling);
    return true;
  }

  #push(placed: readonly EntryMessage[], dangling: DanglingCalls): void {
    for (const { id, message } of pairEntryMessages(placed, dangling)) {
      this.#messages.push(message);
      this.#ids.push(id);
    }
    this.#pending = pendingReply(placed);
    this.#settled = this.#messages.length - pairEntryMessages(this.#pending, dangling).length;
  }
}

/** What counts at the leaf from the whole path: the model, the thinking level and the system text. */
export function readSettings(path: ContextPath): Pick<SessionContext, "model" | "thinkingLevel" | "system"> {
  return {
    model: path.model && readModel(path.model),
    thinkingLevel: path.thinking?.type === "thinking_level_change" ? path.thinking.thinkingLevel : null,
    system: path.system && readSystemText(path.system),
  };
}

/**
 * The messages of a window: the summary of the compaction in force first, then what it kept, then what came after, each
 * as the latest edit on the path leaves it. Pure; linear in the window.
 */
export function projectEntries(compaction: ProjectedEntry | undefined, window: readonly ProjectedEntry[]): EntryMessage[] {
  const edits = latestEdits(window);
  const placed: EntryMessage[] = [];
  // The compaction comes first, though what it kept is older. One before it was summarised with what it summarised.
  if (compaction !== undefined) pushProjected(placed, compaction, edits);
  for (const entry of window) {
    if (entry.payload.type !== "compaction") pushProjected(placed, entry, edits);
  }
  return placed;
}

function pushProjected(placed: EntryMessage[], entry: ProjectedEntry, edits: ReadonlyMap<EntryId, Replacement>): void {
  const shown = entry.project(edits.get(entry.id));
  if (shown !== null) placed.push(shown);
}

/** The latest edit of each entry. Targets are older than their edits, so all that matter are in the window. */
function latestEdits(window: readonly ProjectedEntry[]): ReadonlyMap<EntryId, Replacement> {
  const edits = new Map<EntryId, Replacement>();
  for (const { payload } of window) {
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
  // An edit of the system message stands in its place.
  if (payload.type === "context_edit") return payload.replacement && joinTextBlocks(payload.replacement.content);
  return payload.type === "message" && payload.message.role === "system" ? joinTextBlocks(payload.message.content) : null;
}
