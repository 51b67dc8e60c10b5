import type { EntryPayload } from "../entry/entry.js";
import { textOf } from "../entry/text.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextEntry, ContextPath } from "../port/records.js";
import type { ModelSetting, SessionContext } from "./context.js";
import { messageOf, type Replacement, withReplacement } from "./message-of.js";
import { type DanglingCalls, type Placed, paired } from "./tool-pairs.js";

/**
 * The context from the entries of its window: the summary of the compaction in force first, then what it kept, then
 * what came after, each as the latest edit on the path leaves it. Pure; linear in the window.
 */
export function contextOf(path: ContextPath, window: readonly ContextEntry[], dangling: DanglingCalls): SessionContext {
  const placed = paired(placedMessages(path, window), dangling);
  return {
    messages: placed.map(({ message }) => message),
    entries: placed.map(({ id }) => id),
    model: path.model && modelOf(path.model),
    thinkingLevel: path.thinking?.type === "thinking_level_change" ? path.thinking.thinkingLevel : null,
    system: path.system && systemOf(path.system),
    compaction: compactionOf(path, window),
  };
}

function placedMessages(path: ContextPath, window: readonly ContextEntry[]): readonly Placed[] {
  const edits = editsOf(window);
  const placed: Placed[] = [];
  // The compaction comes first, though what it kept is older. One before it was summarised with what it summarised.
  const compaction = path.compactionSeq === null ? undefined : window.find(({ seq }) => seq === path.compactionSeq);
  if (compaction !== undefined) place(placed, compaction, edits);
  for (const entry of window) {
    if (entry.payload.type !== "compaction") place(placed, entry, edits);
  }
  return placed;
}

function place(placed: Placed[], { id, payload }: ContextEntry, edits: ReadonlyMap<EntryId, Replacement>): void {
  const message = messageOf(payload);
  const replacement = edits.get(id);
  if (message === null || replacement === null) return;
  placed.push({ id, message: replacement === undefined ? message : withReplacement(message, replacement) });
}

/** The latest edit of each entry. Targets are older than their edits, so all that matter are in the window. */
function editsOf(window: readonly ContextEntry[]): ReadonlyMap<EntryId, Replacement> {
  const edits = new Map<EntryId, Replacement>();
  for (const { payload } of window) {
    if (payload.type === "context_edit") edits.set(payload.targetId, payload.replacement);
  }
  return edits;
}

function modelOf(payload: EntryPayload): ModelSetting | null {
  if (payload.type === "model_change") return { provider: payload.provider, modelId: payload.modelId };
  if (payload.type !== "message" || payload.message.role !== "assistant" || payload.message.model === undefined) return null;
  return { provider: payload.message.provider, modelId: payload.message.model };
}

function systemOf(payload: EntryPayload): string | null {
  // An edit of the system message stands in its place.
  if (payload.type === "context_edit") return payload.replacement && textOf(payload.replacement.content as Parameters<typeof textOf>[0]);
  return payload.type === "message" && payload.message.role === "system" ? textOf(payload.message.content) : null;
}

function compactionOf(path: ContextPath, window: readonly ContextEntry[]): SessionContext["compaction"] {
  const entry = window.find(({ seq }) => seq === path.compactionSeq);
  return entry?.payload.type === "compaction" ? { entryId: entry.id, payload: entry.payload } : null;
}
