// `@bough/compaction/providers`: facts about models and the errors of providers, for programs that send requests themselves.
export { type ReportedPrompt, reportedPrompt } from "./run/context-state.js";
export { type FailureDetails, type FailureParts, parseFailure, readFailureParts } from "./summarizers/parse-failure.js";
export { ContextMeter, type Measured } from "./tokens/context-meter.js";
export { findContextWindow, type ImageRule, type ModelFamily, type ModelName, tokenizerOf } from "./tokens/known-models.js";
export { roughCounter, type TokenCounter } from "./tokens/token-counter.js";
