import type { Usage } from "@bough/session-core";
import type { FinishReason, LanguageModelUsage, TextStreamPart, ToolSet } from "ai";
import { readRequestId } from "../summarizers/http.js";

/** What the end of a reply in a stream of the AI SDK (its part `finish-step`) reports. */
interface FinishedStep {
  /** As the server named the model. */
  readonly model: string;
  readonly requestId: string | undefined;
  readonly usage: Usage | undefined;
  /** `overflow`: the context window was too small. undefined: the connection ended before the reply did. */
  readonly end: FinishReason | "overflow" | undefined;
}

/** Reads the part that ends a reply. */
export function readFinishStep(step: Extract<TextStreamPart<ToolSet>, { type: "finish-step" }>): FinishedStep {
  const { response, usage } = step;
  return {
    model: response.modelId,
    requestId: readRequestId(response.headers) ?? response.id,
    usage: readUsage(usage),
    end: readEnd(step.finishReason, step.rawFinishReason),
  };
}

function readEnd(reason: FinishReason, raw: string | undefined): FinishedStep["end"] {
  // z.ai reports an input that was too long in the place of a finish reason.
  if (raw === "model_context_window_exceeded") return "overflow";
  // A provider whose connection ended early reports "other" without a reason of the server's.
  return reason === "other" && raw === undefined ? undefined : reason;
}

/** `input` is without the tokens read from or written to the provider's cache. undefined: nothing was reported. */
function readUsage({ inputTokens, outputTokens, totalTokens, inputTokenDetails }: LanguageModelUsage): Usage | undefined {
  const { cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite, noCacheTokens } = inputTokenDetails;
  const uncached = inputTokens === undefined ? undefined : Math.max(0, inputTokens - (cacheRead ?? 0) - (cacheWrite ?? 0));
  const figures = { input: noCacheTokens ?? uncached, output: outputTokens, cacheRead, cacheWrite, totalTokens };
  const known = Object.entries(figures).filter(([, tokens]) => typeof tokens === "number" && tokens >= 0);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}
