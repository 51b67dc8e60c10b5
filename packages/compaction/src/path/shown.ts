import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";
import type { Measured } from "../tokens/context-meter.js";

/** What a context shows of one entry. */
export interface Shown {
  readonly messages: readonly ContextMessage[];
  readonly tokens: number;
}

/** What a context shows, entry by entry, in its order: the summary of the compaction in force first. */
export function shownByEntry({ messages, entries }: SessionContext, { perMessage }: Measured): ReadonlyMap<EntryId, Shown> {
  const shown = new Map<EntryId, { readonly messages: ContextMessage[]; tokens: number }>();
  for (const [at, message] of messages.entries()) {
    const id = entries[at];
    if (id === undefined) continue;
    const one = shown.get(id) ?? { messages: [], tokens: 0 };
    one.messages.push(message);
    one.tokens += perMessage[at] ?? 0;
    shown.set(id, one);
  }
  return shown;
}
