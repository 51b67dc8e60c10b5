import { BoughError } from "@bough/session-core";

/** The package `ai` (version 6 or 7), an optional peer, is not installed. Install it, or use `definitions` of the recall tools. */
export class AiSdkMissingError extends BoughError {
  readonly code = "AI_SDK_MISSING";
  override readonly name = "AiSdkMissingError";
  constructor(options: { cause?: unknown } = {}) {
    super('The package "ai" (version 6) could not be loaded. Install it, or use the definitions of the tools as they are.', options);
  }
}
