import { isObject, type JsonObject } from "../../entry/json.js";
import type { NativeCompaction } from "../../entry/native-compaction.js";
import type { ModelSetting, SessionContext } from "../context.js";
import { modelKey } from "../model-key.js";

/**
 * The items of a provider's own compaction, if `model` may read them, or the context names no model. undefined: the summary is sent as
 * text. The converter decides whether its API takes the items.
 */
export function nativeItems(native: NativeCompaction | undefined, model: ModelSetting | null): readonly JsonObject[] | undefined {
  return native !== undefined && canReadNative(native, model) ? native.items : undefined;
}

/**
 * True if a model may read the items of a compaction: its provider and model made them, by any of the model's names. What is not known is
 * taken to fit.
 */
export function canReadNative({ provider, model }: Pick<NativeCompaction, "provider" | "model">, asked: ModelSetting | null): boolean {
  if (asked === null) return true;
  if (asked.provider !== undefined && asked.provider !== provider) return false;
  return model === undefined || modelKey({ provider, modelId: model }) === modelKey({ provider, modelId: asked.modelId });
}

/** The blocks of a compaction of Anthropic that the context starts with and `model` reads; undefined: it starts with something else. */
export function compactionBlocks(
  { messages: [first] }: SessionContext,
  model: ModelSetting | null,
): readonly CompactionBlock[] | undefined {
  const items = nativeItems(first?.role === "compactionSummary" ? first.native : undefined, model);
  return items?.every(isCompactionBlock) === true ? items : undefined;
}

type CompactionBlock = JsonObject & { readonly type: "compaction"; readonly content: string };

/** A block of Anthropic's API with the summary of a compaction. `content: null` marks one that failed. */
export function isCompactionBlock(block: unknown): block is JsonObject & { readonly type: "compaction"; readonly content: string } {
  return isObject(block) && block["type"] === "compaction" && typeof block["content"] === "string" && block["content"] !== "";
}

const ITEM_TYPES: readonly unknown[] = ["compaction", "compaction_summary", "context_compaction"];

/** An item of the Responses API that holds a compacted conversation, encrypted; OpenAI's and xAI's. Codex stored it under other names. */
export function isCompactionItem(item: unknown): item is JsonObject & { readonly type: "compaction"; readonly encrypted_content: string } {
  return isObject(item) && ITEM_TYPES.includes(item["type"]) && typeof item["encrypted_content"] === "string";
}
