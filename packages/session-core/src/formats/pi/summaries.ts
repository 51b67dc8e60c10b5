import { isObject, type JsonObject, numberAt, stringAt, without, withoutNulls } from "../../source/narrow.js";
import { assistantContentOf } from "./blocks.js";
import { type EntryReading, fieldsOf } from "./entry-reading.js";
import { withUsage } from "./usage.js";

/** A compaction. One that names itself as its first kept entry kept nothing. */
export function compactionOf(record: JsonObject, reading: EntryReading): JsonObject | undefined {
  if (typeof record.summary !== "string") return undefined;
  const tokens = ["tokensBefore", "tokensAfter"].filter((key) => (numberAt(record, key) ?? -1) < 0);
  const fields = without(summaryFields(record), [...tokens, "firstKeptEntryIndex"]);
  return { ...withoutNulls(fields, ["trigger", "title", "shortSummary", "instructions"]), firstKeptEntryId: reading.firstKept() };
}

/**
 * A branch summary. Before pi 0.84.3, and in oh-my-pi, `fromId` names the entry that was gone to (regression R62):
 * that is the summary's own parent, so the branch left behind is not known.
 */
export function branchSummaryOf(record: JsonObject, reading: EntryReading): JsonObject | undefined {
  if (typeof record.summary !== "string") return undefined;
  const fromId = stringAt(record, "fromId");
  const isTarget = fromId !== undefined && fromId === record.parentId && !reading.isOurs;
  const isKnown = fromId !== undefined && fromId !== "root" && !isTarget;
  return { ...summaryFields(record), fromId: isKnown ? reading.links.entryFor(fromId) : null };
}

/** An edit of one earlier entry of the path; undefined when it does not say what to put in its place. */
export function contextEditOf(record: JsonObject, { links }: EntryReading): JsonObject | undefined {
  const { targetId, replacement } = record;
  if (typeof targetId !== "string") return undefined;
  const edit = { ...fieldsOf(record), targetId: links.entryFor(targetId) ?? targetId };
  if (replacement === null) return edit;
  if (!isObject(replacement) || replacement.content === null || replacement.content === undefined) return undefined;
  const content = assistantContentOf(replacement.content);
  return content === undefined ? undefined : { ...edit, replacement: { ...replacement, content } };
}

// oh-my-pi calls a summary that an extension supplied `fromExtension`.
function summaryFields(record: JsonObject): JsonObject {
  const { fromExtension, ...fields } = withUsage(fieldsOf(record));
  const fromHook = fields.fromHook ?? fromExtension;
  return typeof fromHook === "boolean" ? { ...fields, fromHook } : without(fields, ["fromHook"]);
}
