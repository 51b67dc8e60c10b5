// biome-ignore-all assist/source/organizeImports: grouped by subject.
// For the sibling packages of this repository: `@bough/compaction/internals`. Not supported: any release may change it.
import * as rules from "@bough/session-core/arguments";
import * as shapes from "@bough/session-core/arguments";
import { COUNTER, EXTRACT_LIMIT, PLAN_INPUT, SHAPE_INPUT, SOURCE } from "./arguments/shapes.js";
import * as extracts from "./extract/extract.js";
import * as facts from "./extract/facts.js";
import * as fit from "./fit/fit-request.js";
import * as plan from "./plan/plan-compaction.js";
import * as tokens from "./tokens/message-tokens.js";

// These functions check their arguments only here: a check reads every message, and inside the package messages come from the
// store. Their documentation is in the imported files.
export const planCompaction = rules.checked(plan.planCompaction, ["input", PLAN_INPUT]);
export const fitRequest = rules.checked(fit.fitRequest, ["input", SHAPE_INPUT]);
export const findFacts = rules.checked(facts.findFacts, ["messages", shapes.MESSAGES]);
export const extract = rules.checked(extracts.extract, ["source", SOURCE], ["limit", EXTRACT_LIMIT]);
export const messageTokens = rules.checked(tokens.messageTokens, ["counter", COUNTER], ["message", shapes.MESSAGE]);

// Planning and facts
export { keepRuleOf } from "./plan/plan-compaction.js";
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
