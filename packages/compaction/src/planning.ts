// `@bough/compaction/planning`: the pure functions behind a `Compactor`, which know no store, for programs that compare rules.
export { type FitInput, type FitLimit, type FittedRequest, fitRequest } from "./fit/fit-request.js";
export type { Change, CountedMessage, CountMessage, CutMemo, FitStep, RequestParts } from "./fit/request-parts.js";
export type { RequestShape } from "./fit/shape-request.js";
export { type CompactionPlan, type KeepBounds, type KeepRule, keepRuleOf, type PlanInput, planCompaction } from "./plan/plan-compaction.js";
export type { PathItem } from "./plan/span.js";
