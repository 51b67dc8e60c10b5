import type { EntryPayload } from "../entry/entry.js";
import { tryStringify } from "../source/json.js";

/**
 * The payload without the reference that the tree refuses, which is kept beside it under a name of its own. undefined:
 * this type refers to nothing.
 */
export function removeReference(payload: EntryPayload): EntryPayload | undefined {
  switch (payload.type) {
    case "compaction":
      // pi keeps nothing where its first kept entry is not on the path (seen by running it).
      return { ...payload, firstKeptEntryId: null, originalFirstKeptEntryId: payload.firstKeptEntryId };
    case "branch_summary":
      return { ...payload, fromId: null, originalFromId: payload.fromId };
    case "context_edit":
      return { type: "foreign", originalType: "context_edit", raw: payload };
    case "message":
    case "model_change":
    case "thinking_level_change":
    case "custom_message":
    case "custom":
    case "foreign":
      return undefined;
  }
}

/**
 * Whether `after` is `before` as its program went on writing it: a source that is in use may be read in the middle of a
 * reply, and has more of the same reply the next time; or a mark of another program becomes the summary that belongs to it.
 */
export function isContinuation(before: EntryPayload, after: EntryPayload): boolean {
  if (before.type === "foreign") return after.type === "compaction";
  if (before.type !== "message" || after.type !== "message") return false;
  if (before.message.role !== "assistant" || after.message.role !== "assistant") return false;
  const said = after.message.content;
  return before.message.content.every((block, at) => JSON.stringify(block) === JSON.stringify(said[at]));
}

/** Deeper members become text; a foreign entry wraps what it keeps in a few levels of its own. */
const MAX_DEPTH = 400;

/** A value as the store can hold it: what is nested deeper becomes JSON text, a number beyond the range of JSON its name. */
export function toStorable(value: unknown, depth = 0): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return tryStringify(value) ?? "[nested too deep to be kept]";
  if (Array.isArray(value)) return value.map((member) => toStorable(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toStorable(member, depth + 1)]));
}
