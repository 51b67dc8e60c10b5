// biome-ignore-all assist/source/organizeImports: in the order in which the README explains the API.
// The supported API.

// The compactor
export { type Compactor, createCompactor } from "./run/compactor.js";
export type {
  CompactOptions,
  CompactorOptions,
  ModelChange,
  NavigateOptions,
  RequestInput,
  Summarizers,
  SummarizersByUse,
} from "./run/options.js";
export type { AutomaticWork, CacheUse, LeftOutBlocks, PreparedRequest } from "./run/prepare-request.js";
export type {
  CompactionDone,
  CompactionFailure,
  CompactionResult,
  NavigationDone,
  NavigationResult,
  OverflowResult,
  UndoResult,
} from "./run/results.js";

// Events and hooks
export type { CompactionComplete, CompactionEvent, EventListener } from "./run/events.js";
export type {
  BeforeCompact,
  BeforeNavigate,
  Compacting,
  CompactorHandlers,
  CompactorHooks,
  MaybePromise,
  SuppliedBranchSummary,
  SuppliedCompaction,
} from "./run/options.js";

// Types in results, events and hooks
export type { Fidelity } from "./extract/facts.js";
export type { Fact, FactKind } from "./extract/facts.js";
export type { Change, RemovalPass } from "./fit/request-parts.js";
export type { TokenUse } from "./plan/limits.js";
export type { Compactable, CompactionPlan, NothingBecause, Trigger } from "./plan/plan-compaction.js";
export type { PathItem } from "./plan/span.js";
export type { StallReason } from "./plan/decide.js";
export type { SummaryFailure, SummaryMethod } from "./summary/summarizer-client.js";

// Settings
export { PRESETS, type PresetName } from "./settings/presets.js";
export { readSettings, type SettingsSource } from "./settings/read-settings.js";
export { type CompactionSettings, type SettingsInput, settingsJsonSchema } from "./settings/settings.js";

// Summarizers
export { extractiveSummarizer } from "./extract/extract.js";
export type { EndpointOptions } from "./summarizers/http.js";
export {
  type AnthropicCompactionOptions,
  anthropicCompaction,
  type NativeCompactionOptions,
  type NativeSummarizer,
  type OpenAiCompactionOptions,
  openAiCompaction,
} from "./summarizers/native.js";
export { type ChatTool, type OpenAiCompatibleOptions, openAiCompatibleSummarizer } from "./summarizers/openai-compatible.js";
export { remoteSummarizer } from "./summarizers/remote.js";
export type { Summarizer, SummaryReply, SummaryRequest, SummarySource } from "./summarizers/summarizer.js";
export type { HostState, InvokedSkill } from "./summary/compose.js";

// Recall tools and checkpoint files
export { type RecallTool, type RecallTools, recallTools } from "./recall/recall-tools.js";
export { searchHidden } from "./recall/search-hidden.js";
export {
  type RecallFileInput,
  type RecallOptions,
  type RecallReadInput,
  type RecallSearchInput,
  recallFileInput,
  recallReadInput,
  recallSearchInput,
  removeNulls,
} from "./recall/inputs.js";
export { getTitle, type SummaryEntry } from "./recall/summarized.js";
export { type RecallFileResult, recallFile } from "./recall/file-state.js";
export type { Passage } from "./recall/passages.js";
export { type ReadEntry, type RecallReadResult, recallRead } from "./recall/read.js";
export { type RecallAnswer, type RecallHit, type RecallSearchOptions, type RecallSearchResult, recallSearch } from "./recall/search.js";
export type { Neighbor } from "./recall/entry-source.js";
export { type BlamedEntry, type BlamedFile, type BlamedLine, type BlameRequest, blameFile } from "./blame/blame-file.js";
export type { GitRename } from "./blame/file-events.js";
export { listCheckpoints } from "./recall/list-checkpoints.js";
export type { Checkpoint, CheckpointRange } from "./checkpoints/checkpoint.js";
export { type ForeignFile, readCheckpoints, type StoredCheckpoint, type StoredCheckpoints } from "./checkpoints/stored-checkpoints.js";
export { type SyncedCheckpoints, syncCheckpoints, type WrittenCheckpoint, writeCheckpoint } from "./checkpoints/stored-checkpoints.js";

// Tokens of tools, for `prepareRequest({ toolTokens })`
export { loadCounter } from "./tokens/load-counter.js";
export type { Encoding } from "./tokens/tiktoken/rank-table.js";
export { toolTokens } from "./tokens/message-tokens.js";
export type { TokenCounter } from "./tokens/token-counter.js";

// For a host that moves the leaf itself
export { type Target, targetOf } from "./run/navigate.js";

// Errors
export {
  AiSdkMissingError,
  CheckpointError,
  CompactorBusyError,
  HookResultError,
  InvalidSettingError,
  RecallInputError,
  RequestTooLargeError,
  TurnRunningError,
} from "./errors/compaction-errors.js";
export { type CallFailure, type RejectedBecause, SummarizerCallError, SummaryRejectedError } from "./errors/summarizer-errors.js";
