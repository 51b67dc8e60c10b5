import { type JsonObject, millisecondsOf, stringAt } from "../../source/narrow.js";
import type { SourceRecord } from "../../source/source-session.js";
import type { Links } from "./links.js";
import { LEAF_MARK } from "./marks.js";

const TYPES: ReadonlySet<unknown> = new Set(["label", "session_info", "title_change", "title"]);

/** Whether a line says something about the session, and is no entry of it. */
export function isOutsideTree(record: JsonObject): boolean {
  return TYPES.has(record.type) || (record.type === "custom" && record.customType === LEAF_MARK);
}

/** The label or the title in such a line; undefined when there is none in it. */
export function outsideRecordOf(record: JsonObject, links: Links): SourceRecord | undefined {
  switch (record.type) {
    case "label":
      return labelOf(record, links);
    case "session_info":
      return { kind: "title", title: stringAt(record, "name")?.trim() || null, source: "user" };
    case "title_change":
    case "title":
      return { kind: "title", title: stringAt(record, "title") || null, source: record.source === "user" ? "user" : "auto" };
  }
  return undefined;
}

function labelOf(record: JsonObject, links: Links): SourceRecord | undefined {
  const entryId = links.entryFor(stringAt(record, "targetId") ?? null);
  if (entryId === null) return undefined;
  return { kind: "label", entryId, label: stringAt(record, "label") || null, createdAtMs: millisecondsOf(record.timestamp) };
}
