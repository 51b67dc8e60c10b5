import { type ContentBlock, type Entry, type EntryId, textOf } from "@bough/session-core";
import { rules, shapes } from "@bough/session-core/internals";

/** Where a leaf goes when an entry is chosen, and what the person may edit and send again. */
export interface Target {
  /** null: before the first entry. */
  readonly leafId: EntryId | null;
  /** The text of the chosen message, for an editor; null: nothing to edit. */
  readonly text: string | null;
  /** The images of the chosen message, which an editor of text loses. */
  readonly images: readonly ContentBlock[];
}

/**
 * pi's rule, one line for each kind of entry (regression R81): a message that a person or a host said is said again, so
 * the leaf goes to its parent; anything else is stood at.
 */
export function targetOf(entry: Entry): Target {
  rules.checkArgument("entry", entry, shapes.PAYLOAD);
  if (entry.type === "custom_message") return again(entry.parentId, entry.content);
  if (entry.type === "message" && (entry.message.role === "user" || entry.message.role === "custom")) {
    return again(entry.parentId, entry.message.content);
  }
  return { leafId: entry.id, text: null, images: [] };
}

function again(leafId: EntryId | null, content: string | readonly ContentBlock[]): Target {
  const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
  return { leafId, text: textOf(content), images };
}
