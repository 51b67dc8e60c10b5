import { basename } from "node:path";
import { isObject, type JsonObject, objectAt } from "../../source/json.js";
import type { FileHead, SourceFormat, SourceSession } from "../../source/source-session.js";
import { TranscriptReader } from "./transcript.js";

/** Chats of Cursor's agents: the command line's databases and transcripts. */
export const cursorFormat: SourceFormat = {
  name: "cursor",
  detects: (head: FileHead) => head.records.some(isTranscriptLine),
  sessions: (path: string): readonly SourceSession[] => {
    const id = basename(path).replace(/\.jsonl$/, "");
    const reader = new TranscriptReader(path, id);
    return [
      {
        header: { sessionId: id, kind: "conversation" },
        records: (from) => reader.records(from),
        position: () => reader.position,
      },
    ];
  },
};

/** A message without an id and a type: other programs write one of them, or the content beside the role. */
function isTranscriptLine(record: JsonObject): boolean {
  const content = objectAt(record, "message")?.content;
  const isMessage = (record.role === "user" || record.role === "assistant") && record.content === undefined;
  if (!isMessage || "type" in record || "id" in record || "uuid" in record) return false;
  return typeof content === "string" || (Array.isArray(content) && content.every(isObject));
}
