import type { EntryPayload } from "../entry/entry.js";

/**
 * Whether `after` is `before` as its program went on writing it: a source that is in use may be read in the middle of a
 * reply, and has more of the same reply the next time; or a mark of another program becomes the summary that belongs to it.
 */
export function isGrown(before: EntryPayload, after: EntryPayload): boolean {
  if (before.type === "foreign") return after.type === "compaction";
  if (before.type !== "message" || after.type !== "message") return false;
  if (before.message.role !== "assistant" || after.message.role !== "assistant") return false;
  const said = after.message.content;
  return before.message.content.every((block, at) => JSON.stringify(block) === JSON.stringify(said[at]));
}
