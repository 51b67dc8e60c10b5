import { Buffer } from "node:buffer";
import type { EntryPayload } from "../entry/entry.js";
import { customTypeOf, toKindNumber } from "../entry/kinds.js";
import { previewOf } from "../entry/preview.js";
import { usageOf } from "../entry/reply-usage.js";
import { isPrivate } from "../entry/text.js";
import { isTyped } from "../entry/typed-text.js";
import type { EntryFacts, PathEffect } from "../port/entry-facts.js";
import type { FileTools } from "../tools/known-tools.js";
import { toStoredCustomType } from "./custom-types.js";
import type { WritableEntry } from "./entry-columns.js";
import { listOperations } from "./file-operations.js";

/** What the facts of an entry depend on beside the entry. */
export interface FactsContext {
  /** The directory of the session, by which paths in previews are shortened; null: unknown. Asked for only if an entry has calls. */
  readonly directory: string | null;
  /** The tools of the host that touch files. */
  readonly fileTools: FileTools;
}

/** Computes the facts of an entry. Cost: a pass over its text. */
export function factsOf({ payload, payloadJson }: Pick<WritableEntry, "payload" | "payloadJson">, context: FactsContext): EntryFacts {
  const message = payload.type === "message" ? payload.message : undefined;
  const role = message?.role ?? null;
  const customType = customTypeOf(payload);
  // Only the previews of replies depend on the directory.
  const preview = role === "assistant" ? previewOf(payload, context.directory) : previewOf(payload);
  return {
    effect: effectOf(payload),
    kind: toKindNumber(payload.type, role),
    callId: message?.role === "toolResult" ? message.toolCallId : null,
    isError: message?.role === "toolResult" && message.isError,
    isPrivate: isPrivate(payload),
    payloadBytes: Buffer.byteLength(payloadJson),
    customType: toStoredCustomType(customType),
    preview,
    isTyped: isTyped({ role, customType, preview }),
    usage: usageOf(payload),
    operations: listOperations(payload, context.fileTools),
  };
}

function effectOf(payload: EntryPayload): PathEffect {
  switch (payload.type) {
    case "message": {
      const { message } = payload;
      return { type: "message", role: message.role, namesModel: message.role === "assistant" && message.model !== undefined };
    }
    case "compaction":
      return { type: payload.type, firstKeptEntryId: payload.firstKeptEntryId };
    case "branch_summary":
      return { type: payload.type, fromId: payload.fromId };
    case "context_edit":
      return { type: payload.type, targetId: payload.targetId, omits: payload.replacement === null };
    case "model_change":
    case "thinking_level_change":
    case "custom_message":
    case "custom":
    case "foreign":
      return { type: payload.type };
  }
}
