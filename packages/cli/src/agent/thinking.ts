import type { ProviderKind } from "../config/schema.js";

/** Tokens that Claude models of the kind that takes a budget may think. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1_024, low: 4_096, medium: 12_288, high: 32_768, xhigh: 49_152, max: 60_000 };

type JsonObject = { [key: string]: string | number | JsonObject };

/**
 * What a provider is told for a level of thinking, and that Anthropic shall cache the beginning of the request. undefined
 * or a level that is not known (other programs have their own): the model's default.
 */
export function providerOptions(provider: ProviderKind, level: string | undefined): Record<string, JsonObject> {
  if (provider === "anthropic") return { anthropic: { cacheControl: { type: "ephemeral" }, ...anthropicThinking(level) } };
  if (level === undefined || (level !== "off" && !Object.hasOwn(BUDGETS, level))) return {};
  // Servers of models that cannot think ignore the field, or refuse it; then the person sets no level.
  return { openaiCompatible: { reasoningEffort: level === "off" ? "none" : level } };
}

function anthropicThinking(level: string | undefined): JsonObject {
  const budget = level === undefined || !Object.hasOwn(BUDGETS, level) ? undefined : BUDGETS[level];
  // Models that choose their budget themselves get that from the library instead.
  return budget === undefined ? {} : { thinking: { type: "enabled", budgetTokens: budget } };
}
