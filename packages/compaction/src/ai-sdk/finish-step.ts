import type { Usage } from "@bough/session-core";
import type { FinishReason, TextStreamPart, ToolSet } from "ai";
import { readRequestId } from "../summarizers/http.js";
import { readReplyUsage } from "../summarizers/reply-data.js";

/** The data at the end of a reply in a stream of the AI SDK (its part `finish-step`). */
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
    usage: readReplyUsage(usage),
    end: readEnd(step.finishReason, step.rawFinishReason),
  };
}

function readEnd(reason: FinishReason, raw: string | undefined): FinishedStep["end"] {
  // z.ai reports an input that was too long in the place of a finish reason.
  if (raw === "model_context_window_exceeded") return "overflow";
  // A provider whose connection ended early reports "other" without a reason of the server's.
  return reason === "other" && raw === undefined ? undefined : reason;
}
