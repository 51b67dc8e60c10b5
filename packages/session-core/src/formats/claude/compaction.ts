import { isObject, type JsonObject, numberAt, objectAt, stringAt, without } from "../../source/narrow.js";

/**
 * The compaction of a boundary and its summary.
 * @param firstKept id of the first entry that was kept word for word; null: none is on the path.
 */
export function compactionPayload(boundary: JsonObject, summary: JsonObject, firstKept: string | null): JsonObject {
  const metadata = objectAt(boundary, "compactMetadata") ?? {};
  const rest = without(metadata, ["trigger", "preTokens", "postTokens"]);
  return {
    type: "compaction",
    summary: summaryText(summary),
    firstKeptEntryId: firstKept,
    ...tokens("tokensBefore", numberAt(metadata, "preTokens")),
    ...tokens("tokensAfter", numberAt(metadata, "postTokens")),
    ...triggerOf(stringAt(metadata, "trigger")),
    ...(Object.keys(rest).length === 0 ? {} : { compactMetadata: rest }),
  };
}

/** The compaction of a summary that no boundary announced; nothing else is known of it. */
export function loneCompactionPayload(summary: JsonObject): JsonObject {
  return { type: "compaction", summary: summaryText(summary), firstKeptEntryId: null };
}

function summaryText(record: JsonObject): string {
  const content = objectAt(record, "message")?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => (isObject(block) ? (stringAt(block, "text") ?? "") : ""));
  return texts.filter((text) => text !== "").join("\n");
}

function tokens(name: string, count: number | undefined): JsonObject {
  return count === undefined || count < 0 ? {} : { [name]: count };
}

// Claude Code calls "auto" what starts by itself when the context has grown to a threshold.
function triggerOf(trigger: string | undefined): JsonObject {
  return trigger === undefined ? {} : { trigger: trigger === "auto" ? "threshold" : trigger };
}
