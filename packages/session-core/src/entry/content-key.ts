import { hash } from "node:crypto";
import type { EntryId } from "../ids/ids.js";
import type { EntryPayload } from "./entry.js";
import type { Message } from "./message.js";

/** The length of a key: 96 bits in base64url. */
const KEY_LENGTH = 16;

/**
 * Returns a key that is equal for copies of an entry in other files of its program. Programs that copy a session keep the times and the
 * content of its entries, but some give them new ids. The key of a reply is the id of its response, as in ccusage, because a program
 * may write other members of it again. The key of a record that is no entry is its own id. Returns undefined if the source has no time
 * of the entry (0): the key could then not distinguish copies from equal words of unrelated sessions.
 */
export function contentKey(payload: EntryPayload, createdAtMs: number, id: EntryId): string | undefined {
  if (createdAtMs === 0) return undefined;
  const said = JSON.stringify(payload.type === "message" ? saidIn(payload.message) : saidBy(payload, id));
  // One call: an object of a digest costs more than the digest of a usual entry.
  return hash("sha256", `${createdAtMs}\n${payload.type}\n${said}`, "base64url").slice(0, KEY_LENGTH);
}

function saidIn(message: Message): readonly unknown[] {
  switch (message.role) {
    case "assistant": {
      const { responseId, content, errorMessage } = message;
      return typeof responseId === "string" && responseId !== "" ? ["response", responseId] : ["assistant", content, errorMessage];
    }
    case "toolResult":
      return [message.role, message.toolCallId, message.content];
    case "bashExecution":
      return [message.role, message.command, message.output];
    case "custom":
      return [message.role, message.customType, message.content];
    case "system":
    case "user":
      return [message.role, message.content];
  }
}

function saidBy(payload: Exclude<EntryPayload, { type: "message" }>, id: EntryId): readonly unknown[] {
  switch (payload.type) {
    case "compaction":
    case "branch_summary":
      return [payload.summary];
    case "model_change":
      return [payload.provider, payload.modelId];
    case "thinking_level_change":
      return [payload.thinkingLevel];
    case "custom_message":
      return [payload.customType, payload.content];
    case "custom":
      return [payload.customType, payload.data];
    // Their content names entries or the session, which are others in a copy.
    case "context_edit":
    case "foreign":
      return [id];
  }
}
