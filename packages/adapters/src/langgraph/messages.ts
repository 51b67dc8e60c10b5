import {
  type EntryId,
  type EntryInput,
  InvalidEntryError,
  type Message,
  normalizeUsage,
  stopReasonOf,
  type Usage,
} from "@bough/session-core";
import { toCallBlock, toContent, toPlainText, toReplyBlocks } from "./content-blocks.js";
import { classOf, contentOf, isMessage, isObject, type Members, text } from "./langchain-json.js";
import { type Shared, sharedWith } from "./shared.js";

/** A message as a Bough message, with `langchain`: the serialized message, without what the Bough message has already. */
export type StoredMessage = Message & { readonly langchain: Shared };

/** The id that LangChain gave to a message, and its class. */
export interface MessageIdentity {
  readonly id: string | undefined;
  readonly name: string;
}

/** The identity of a serialized message; undefined if `json` is none. */
export function identityOf(json: unknown): MessageIdentity | undefined {
  return isMessage(json) ? { id: text(json.kwargs["id"]), name: classOf(json) } : undefined;
}

/** The message that a serialized LangChain message is in Bough; undefined if `json` is none. */
export function toStoredMessage(json: unknown): StoredMessage | undefined {
  if (!isMessage(json)) return undefined;
  const message = toMessage(classOf(json), contentOf(json), json.kwargs);
  return { ...message, langchain: sharedWith(message, json) };
}

/** An entry for a message; with `targetId`, a context edit: a newer version of the message of that entry. */
export function messageEntry(id: EntryId, message: StoredMessage, targetId?: EntryId): EntryInput {
  if (targetId === undefined || message.role === "bashExecution") return { type: "message", id, message };
  const { content, langchain } = message;
  return { type: "context_edit", id, targetId, replacement: { content, langchain } };
}

function toMessage(name: string, content: unknown, kwargs: Members): Message {
  switch (name) {
    case "HumanMessage":
      return { role: "user", content: toContent(content) };
    case "AIMessage":
      return toReply(content, kwargs);
    case "SystemMessage":
      return { role: "system", content: toPlainText(content) };
    case "ToolMessage":
      return {
        role: "toolResult",
        toolCallId: text(kwargs["tool_call_id"]) ?? "",
        toolName: text(kwargs["name"]),
        content: toContent(content),
        isError: kwargs["status"] === "error",
      };
    default:
      return { role: "custom", customType: `langchain.${name}`, content: toContent(content) };
  }
}

function toReply(content: unknown, kwargs: Members): Message {
  const response = isObject(kwargs["response_metadata"]) ? kwargs["response_metadata"] : {};
  const calls: readonly unknown[] = Array.isArray(kwargs["tool_calls"]) ? kwargs["tool_calls"] : [];
  return {
    role: "assistant",
    content: [...toReplyBlocks(content, calls), ...calls.map(toCallBlock)],
    provider: text(response["model_provider"]),
    model: text(response["model_name"]) ?? text(response["model"]),
    usage: usageOf(kwargs["usage_metadata"]),
    stopReason: readStopReason(response),
  };
}

/** The usage of a reply; undefined if it has none that Bough can count. */
function usageOf(given: unknown): Usage | undefined {
  if (!isObject(given)) return undefined;
  try {
    return normalizeUsage(given);
  } catch (error) {
    // The reply is stored without counts; `langchain` keeps what the model reported.
    if (error instanceof InvalidEntryError) return undefined;
    throw error;
  }
}

function readStopReason(response: Members): string | undefined {
  const reason = text(response["finish_reason"] ?? response["stop_reason"] ?? response["finishReason"]);
  return reason === undefined ? undefined : stopReasonOf(reason);
}
