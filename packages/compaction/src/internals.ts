// biome-ignore-all assist/source/organizeImports: grouped by subject.
// For the sibling packages of this repository: `@bough/compaction/internals`. Not supported: any release may change it.

// Planning
export { fitRequest } from "./fit/fit-request.js";
export { keepRuleOf, planCompaction } from "./plan/plan-compaction.js";
export { scoreFidelity } from "./extract/facts.js";

// Counting
export { calibrate, promptTokensOf, UNCALIBRATED } from "./tokens/calibration.js";
export { ContextMeter } from "./tokens/context-meter.js";
export { findContextWindow, tokenizerOf } from "./tokens/known-models.js";
export { roughCounter } from "./tokens/token-counter.js";

// Replies and errors of providers
export { type FailureParts, parseFailure, readFailureParts } from "./summarizers/parse-failure.js";
export { isContextOverflow, parseContextLimit } from "./summarizers/overflow.js";

// Inputs of tools
export { removeNulls } from "./recall/inputs.js";
export { getTitle } from "./recall/summarized.js";
