// Everything that depends on the model. Rules for a new model belong in this file.
import { checkArgument, optional, TEXT } from "@bough/session-core/arguments";

const OPTIONAL_TEXT = optional(TEXT);

/** A model, by the names of its provider and itself. */
export type ModelName = { readonly provider?: string | undefined; readonly modelId?: string | undefined } | null;

/** The rule by which a provider counts images; `largest`: the provider is unknown, so the rule that gives the most tokens counts. */
export type ImageRule = "openai" | "anthropic" | "gemini" | "largest";

/** The properties that models of one family share, wherever they run. */
export interface ModelFamily {
  readonly pattern: RegExp;
  readonly imageRule: ImageRule;
  /** The provider rejects a call without a result, even if a synthetic one is added. */
  readonly refusesDanglingCalls: boolean;
  /** Earlier thinking blocks must be sent back, with their signature. */
  readonly needsThinking: boolean;
}

const FAMILIES: readonly ModelFamily[] = [
  { pattern: /claude|anthropic/i, imageRule: "anthropic", refusesDanglingCalls: false, needsThinking: true },
  { pattern: /gemini|google/i, imageRule: "gemini", refusesDanglingCalls: true, needsThinking: false },
  { pattern: /openai|gpt-|\bo[1-9]\b/i, imageRule: "openai", refusesDanglingCalls: false, needsThinking: false },
];

const OTHER_FAMILY: ModelFamily = { pattern: /^/, imageRule: "largest", refusesDanglingCalls: false, needsThinking: false };

/** The family of a model: by its own name, since Google and others also serve Claude, else by its provider. */
export function findModelFamily(model: ModelName): ModelFamily {
  const find = (name: string | undefined) => FAMILIES.find(({ pattern }) => pattern.test(name ?? ""));
  return find(model?.modelId) ?? find(model?.provider) ?? OTHER_FAMILY;
}

/** True if the model stops and asks the user after its context was shortened. */
export function stopsAfterCompaction(modelId: string): boolean {
  return /gpt-?4\.1/i.test(modelId);
}

/** True if the model calls tools even though the system message forbids it; the prompt then repeats the rule. */
export function callsForbiddenTools(modelId: string): boolean {
  return /opus/i.test(modelId);
}

/**
 * The tokenizer of a model, by its name: that of GPT-4o, unless the model is known to be older.
 *
 * @throws {InvalidArgumentError} the name is no text.
 */
export function tokenizerOf(modelId: string | undefined): "o200k_base" | "cl100k_base" {
  checkArgument("modelId", modelId, OPTIONAL_TEXT);
  const name = (modelId ?? "").toLowerCase();
  if (/gpt-4o|gpt-4\.|gpt-4-?5/.test(name)) return "o200k_base";
  return /gpt-4|gpt-3\.5|text-embedding/.test(name) ? "cl100k_base" : "o200k_base";
}

// Context windows as the makers publish them for the model with this name; where several models have had one name, the
// smallest. The first row that matches is used, so exceptions precede their family.
const WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/claude.*\[1m\]/, 1_000_000],
  [/claude/, 200_000],
  [/gpt-5-chat/, 128_000],
  [/gpt-5/, 400_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4(?:o|\.5|-turbo|-1106|-0125|-vision)/, 128_000],
  [/gpt-4-32k/, 32_768],
  [/gpt-4(?![.\d])/, 8_192],
  [/gpt-3\.5-turbo/, 16_385],
  [/gpt-oss/, 131_072],
  [/o1-(?:mini|preview)/, 128_000],
  [/o(?:1|3|4-mini)(?![\w.])/, 200_000],
  [/gemini-1\.5-pro/, 2_097_152],
  [/gemini-(?:1\.5|2|3)/, 1_048_576],
  [/grok-4/, 256_000],
  [/grok-code/, 256_000],
  [/grok-[23](?!\d)/, 131_072],
  [/deepseek-(?:chat|reasoner|v3|r1)/, 128_000],
  [/mistral-(?:large|medium|small)/, 128_000],
  [/kimi-k2/, 131_072],
  [/qwen3-coder/, 262_144],
  [/glm-4\.6/, 200_000],
  [/glm-4\.5/, 131_072],
  [/llama-?3\.[1-3]/, 131_072],
];

/**
 * The context window of a model, in tokens, by its name alone; undefined: it is not in the table.
 *
 * @throws {InvalidArgumentError} the name is no text.
 * @example
 * findContextWindow("anthropic/claude-sonnet-4-5"); // 200000
 */
export function findContextWindow(modelId: string): number | undefined {
  checkArgument("modelId", modelId, TEXT);
  const name = modelId.toLowerCase();
  return WINDOWS.find(([{ source }]) => new RegExp(`(?<![a-z0-9])(?:${source})`).test(name))?.[1];
}
