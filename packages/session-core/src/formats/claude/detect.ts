import type { JsonObject } from "../../source/narrow.js";
import type { FileHead } from "../../source/source-session.js";

/**
 * Whether the file with this head was written by Claude Code: one of its records has a place in a tree of uuids, or is
 * a side record of a kind that no other program writes.
 */
export function isClaude({ records }: FileHead): boolean {
  return records.some((record) => isStep(record) || isSideRecord(record));
}

function isStep(record: JsonObject): boolean {
  const { type, uuid, parentUuid } = record;
  return typeof type === "string" && typeof uuid === "string" && (parentUuid === null || typeof parentUuid === "string");
}

function isSideRecord(record: JsonObject): boolean {
  switch (record.type) {
    case "summary":
      return typeof record.summary === "string" && typeof record.leafUuid === "string";
    case "queue-operation":
      return typeof record.operation === "string" && typeof record.sessionId === "string";
    case "file-history-snapshot":
      return typeof record.messageId === "string" && typeof record.snapshot === "object";
    case "custom-title":
    case "ai-title":
    case "last-prompt":
    case "permission-mode":
      return typeof record.sessionId === "string";
  }
  return false;
}
