import { rules } from "@bough/session-core/internals";

/** The vocabulary of a model, by its name: that of the GPT-4o family unless it is known to be older. */
export function tokenizerOf(modelId: string | undefined): "o200k_base" | "cl100k_base" {
  rules.checkArgument("modelId", modelId, rules.optional(rules.TEXT));
  const name = (modelId ?? "").toLowerCase();
  if (/gpt-4o|gpt-4\.|gpt-4-?5/.test(name)) return "o200k_base";
  return /gpt-4|gpt-3\.5|text-embedding/.test(name) ? "cl100k_base" : "o200k_base";
}
