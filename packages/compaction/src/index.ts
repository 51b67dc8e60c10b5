// The one list of what this package offers. Grouped as the README explains it.

// Checkpoints
export type { Checkpoint, CheckpointRange } from "./checkpoints/checkpoint.js";
export type { StoredCheckpoint } from "./checkpoints/read-checkpoints.js";
export { type ForeignFile, readCheckpoints, type StoredCheckpoints } from "./checkpoints/read-checkpoints.js";
export { type SyncedCheckpoints, syncCheckpoints, type WrittenCheckpoint, writeCheckpoint } from "./checkpoints/write-checkpoints.js";
// Errors
export * from "./errors/compaction-errors.js";
export * from "./errors/compaction-errors.js";
export * from "./errors/compaction-errors.js";
export * from "./errors/summarizer-errors.js";
export { extractiveSummarizer } from "./extract/extract.js";
// Facts
export { type Fidelity, scoreFidelity } from "./extract/fidelity.js";
export type { Fact, FactKind } from "./extract/find-facts.js";
export type { FittedRequest } from "./fit/fit-request.js";
// The request guard
export type { Change } from "./fit/request-parts.js";
export { type KeepRule, keepRuleOf } from "./plan/kept-tail.js";
export type { TokenUse } from "./plan/limits.js";
export type { Compactable, CompactionPlan, NothingBecause, PlanInput, Trigger } from "./plan/plan-compaction.js";
// Planning
export type { PathItem } from "./plan/span.js";
// Functions on messages that need no session
export { extract, findFacts, fitRequest, messageTokens, planCompaction } from "./public/checked-functions.js";
// Recall
export { listCheckpoints } from "./recall/list-checkpoints.js";
export { type RecallOptions, type RecallTool, type RecallTools, recallTools } from "./recall/recall-tools.js";
// The compactor
export { type Compactor, createCompactor } from "./run/compactor.js";
export type { CompactionEvent, EventListener } from "./run/events.js";
export { type Target, targetOf } from "./run/navigate.js";
export type {
  BeforeCompact,
  BeforeNavigate,
  Compacting,
  CompactOptions,
  CompactorHooks,
  CompactorOptions,
  ModelChange,
  NavigateOptions,
  RequestInput,
  Summarizers,
  SummarizersByUse,
  SuppliedBranchSummary,
  SuppliedCompaction,
} from "./run/options.js";
export type { PreparedRequest } from "./run/prepare-request.js";
// Navigating
export type {
  CompactionDone,
  CompactionFailure,
  CompactionResult,
  NavigationDone,
  NavigationResult,
  OverflowResult,
  UndoResult,
} from "./run/results.js";
export { PRESETS, type PresetName } from "./settings/presets.js";
export { readSettings, type SettingsSource } from "./settings/read-settings.js";
export type { CompactionSettings, SettingsInput } from "./settings/settings.js";
// Settings
export { settingsJsonSchema } from "./settings/settings.js";
// Summarisers
export { type AiSdkSummarizerOptions, aiSdkSummarizer } from "./summarizers/ai-sdk.js";
export { type OpenAiCompatibleOptions, openAiCompatibleSummarizer } from "./summarizers/openai-compatible.js";
export { isContextOverflow, parseContextLimit } from "./summarizers/overflow.js";
export { remoteSummarizer } from "./summarizers/remote.js";
export type { Summarizer, SummaryReply, SummaryRequest, SummarySource } from "./summarizers/summarizer.js";
export type { HostState, InvokedSkill } from "./summary/compose.js";
export type { SummaryFailure, SummaryMethod } from "./summary/summary-job.js";
export { withoutSecrets } from "./text/redact.js";
// Counting
export { type Calibration, type Comparison, calibrated, promptTokensOf, UNCALIBRATED } from "./tokens/calibration.js";
export { ContextMeter, type Measured } from "./tokens/context-meter.js";
export { loadCounter } from "./tokens/load-counter.js";
export { toolTokens } from "./tokens/message-tokens.js";
export type { TokenCounter } from "./tokens/token-counter.js";
export { roughCounter } from "./tokens/token-counter.js";
export { tokenizerOf } from "./tokens/tokenizer-of.js";
