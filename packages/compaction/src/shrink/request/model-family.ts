import type { ModelSetting } from "@bough/session-core";

/** A model as far as its family goes: a reply names less of it than a session does. */
export type ModelName = { readonly provider?: string | undefined; readonly modelId?: string | undefined } | ModelSetting | null;

/** A model of Anthropic, wherever it runs: it wants its thinking back, with its signature. */
export function isClaude(model: ModelName): boolean {
  return /anthropic|claude/i.test(`${model?.provider ?? ""} ${model?.modelId ?? ""}`);
}

/** A Gemini: it refuses a call without a result. Google also serves Claude, which does not. */
export function isGemini(model: ModelName): boolean {
  if (/gemini/i.test(model?.modelId ?? "")) return true;
  return /google|gemini/i.test(model?.provider ?? "") && !isClaude(model);
}
