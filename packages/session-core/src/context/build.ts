import type { EntryPayload } from "../entry/entry.js";
import { textOf } from "../entry/text.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextPath } from "../port/records.js";
import type { ModelSetting, SessionContext } from "./context.js";
import type { Replacement } from "./message-of.js";
import type { ShownEntry } from "./shown-entry.js";
import type { Placed } from "./tool-pairs.js";

/** What counts at the leaf from the whole path: the model, the thinking level and the system text. */
export function settingsOf(path: ContextPath): Pick<SessionContext, "model" | "thinkingLevel" | "system"> {
  return {
    model: path.model && modelOf(path.model),
    thinkingLevel: path.thinking?.type === "thinking_level_change" ? path.thinking.thinkingLevel : null,
    system: path.system && systemOf(path.system),
  };
}

/**
 * The messages of a window: the summary of the compaction in force first, then what it kept, then what came after, each
 * as the latest edit on the path leaves it. Pure; linear in the window.
 */
export function placedMessages(compaction: ShownEntry | undefined, window: readonly ShownEntry[]): Placed[] {
  const edits = editsOf(window);
  const placed: Placed[] = [];
  // The compaction comes first, though what it kept is older. One before it was summarised with what it summarised.
  if (compaction !== undefined) place(placed, compaction, edits);
  for (const entry of window) {
    if (entry.payload.type !== "compaction") place(placed, entry, edits);
  }
  return placed;
}

function place(placed: Placed[], entry: ShownEntry, edits: ReadonlyMap<EntryId, Replacement>): void {
  const shown = entry.shown(edits.get(entry.id));
  if (shown !== null) placed.push(shown);
}

/** The latest edit of each entry. Targets are older than their edits, so all that matter are in the window. */
function editsOf(window: readonly ShownEntry[]): ReadonlyMap<EntryId, Replacement> {
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
  if (payload.type === "context_edit") return payload.replacement && textOf(payload.replacement.content);
  return payload.type === "message" && payload.message.role === "system" ? textOf(payload.message.content) : null;
}
