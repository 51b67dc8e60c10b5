// The public API of this package, grouped as in the README.

// Context
export { bindsThinking, type LeftOutThinking, type ThinkingOptions } from "./context/bound-thinking.js";
export type {
  BranchSummaryMessage,
  CompactionSummaryMessage,
  ContextMessage,
  ModelSetting,
  SessionContext,
  StaleReason,
  StaleThinking,
} from "./context/context.js";
// Requests to providers
export { toAiSdk } from "./context/converters/ai-sdk.js";
export type {
  AiSdkAssistantPart,
  AiSdkFilePart,
  AiSdkImagePart,
  AiSdkJson,
  AiSdkMessage,
  AiSdkPart,
  AiSdkPrompt,
  AiSdkProviderOptions,
  AiSdkReasoningPart,
  AiSdkResultPart,
  AiSdkTextPart,
  AiSdkToolCallPart,
  AiSdkToolOutput,
  AiSdkToolResultPart,
} from "./context/converters/ai-sdk-messages.js";
export { toAnthropic } from "./context/converters/anthropic.js";
export type {
  AnthropicAssistantBlock,
  AnthropicCompactionBlock,
  AnthropicDocumentBlock,
  AnthropicImageBlock,
  AnthropicMessage,
  AnthropicPrompt,
  AnthropicRawBlock,
  AnthropicRedactedThinkingBlock,
  AnthropicTextBlock,
  AnthropicThinkingBlock,
  AnthropicToolResultBlock,
  AnthropicToolUseBlock,
  AnthropicUserBlock,
} from "./context/converters/anthropic-messages.js";
// Replies of providers
export { fromAnthropic } from "./context/converters/from-anthropic.js";
export { fromOpenAiChat } from "./context/converters/from-openai-chat.js";
export { fromOpenAiResponses } from "./context/converters/from-openai-responses.js";
export {
  type OpenAiChatMessage,
  type OpenAiChatOptions,
  type OpenAiChatPart,
  type OpenAiChatReply,
  type OpenAiChatToolCall,
  toOpenAiChat,
} from "./context/converters/openai-chat.js";
export {
  type OpenAiCompactionItem,
  type OpenAiHostedItem,
  type OpenAiOutputMessage,
  type OpenAiReasoningItem,
  type OpenAiResponsesInput,
  type OpenAiResponsesItem,
  type OpenAiResponsesPart,
  toOpenAiResponses,
} from "./context/converters/openai-responses.js";
export type { ReplyOptions } from "./context/converters/replies.js";
export type { DanglingCalls } from "./context/tool-pairs.js";
export {
  assistantMessage,
  type MessageFields,
  type StopReason,
  stopReasonOf,
  systemMessage,
  toolCallsOf,
  toolResult,
  userMessage,
} from "./entry/builders.js";
export type {
  BranchSummaryPayload,
  CompactionPayload,
  ContextEditPayload,
  Entry,
  EntryInput,
  EntryPayload,
  EntryPosition,
  EntryType,
  FileLists,
} from "./entry/entry.js";
export type {
  AssistantBlock,
  AssistantMessage,
  BashExecutionMessage,
  ContentBlock,
  CustomMessage,
  FileBlock,
  ForeignBlock,
  ImageBlock,
  Message,
  MessageRole,
  SystemMessage,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./entry/message.js";
// Entries and messages
export { type NativeCompaction, nativeCompactionOf } from "./entry/native-compaction.js";
export type { ProviderOptions } from "./entry/provider-options.js";
export { textOf } from "./entry/text.js";
export { normalizeUsage } from "./entry/usage.js";
// Errors
export { BoughError, InvalidArgumentError } from "./errors/bough-error.js";
export { CopyDiffersError, InvalidCopyError, SessionChangedError } from "./errors/copy-errors.js";
export {
  ConnectionLostError,
  PoolExhaustedError,
  PostgresDriverError,
  ServerError,
  type ServerErrorCode,
  UnsupportedOperationError,
} from "./errors/server-errors.js";
export {
  AmbiguousNameError,
  EntryConflictError,
  EntryNotFoundError,
  InvalidEntryError,
  InvalidExpressionError,
  InvalidQueryError,
  InvalidReferenceError,
  LeafMovedError,
  LeafNotFoundError,
  MainLeafError,
  SessionExistsError,
  SessionNotFoundError,
  SlowExpressionError,
  TooLargeError,
  UnserializableValueError,
  ValueChangedError,
  ValueTooLargeError,
} from "./errors/session-errors.js";
export {
  BackupDamagedError,
  CiphersMissingError,
  type DriverFault,
  type DriverName,
  DriverUnusableError,
  ForeignFileError,
  NewerStoreError,
  PayloadDamagedError,
  StoreBusyError,
  StoreClosedError,
  StoreDamagedError,
  StoreDeniedError,
  StoreFullError,
  StoreInUseError,
  StoreLockedError,
  StoreNotFoundError,
  StoreNotLockedError,
  StoreReadOnlyError,
  StoreUnavailableError,
  TargetExistsError,
  WrongKeyError,
} from "./errors/store-errors.js";
export type { EntryId, SessionId } from "./ids/ids.js";
export type { Durability } from "./port/connection-options.js";
export {
  type EntryListing,
  type Label,
  type LeafMove,
  type LeafRecord,
  type ModelUsage,
  type NewSession,
  type OutlineRow,
  type Page,
  type PathScan,
  pagesOf,
  type SessionFilter,
  type SessionKind,
  type SessionParent,
  type SessionRecord,
  type SessionSource,
  type SessionTotals,
  type Statistics,
  type StoredValue,
  type ValueKey,
  type ValueRange,
} from "./port/records.js";
export type { HitCopy, SearchHit, SearchMatch, SearchPage, SearchPlace, SearchRequest } from "./port/search.js";
export type {
  ImportedSession,
  ImportOutcome,
  LeafKept,
  PackScope,
  PathRange,
  SessionImport,
  StoreChange,
  Violation,
} from "./port/session-storage.js";
export type { ImportProblem } from "./port/source.js";
export type { OnConflict, Write } from "./port/writes.js";
// The handle of a session
export type { ContextOptions, ContextSettings } from "./session/context-reader.js";
export { type AppendedEntry, type AppendOptions, buildSessionContext, Session, type WriteOptions } from "./session/session.js";
export type { SessionLabels, SessionTokenCounts, SessionTree, SessionValues, SetValueOptions } from "./session/session-groups.js";
// The store and its sessions
export { type ChangedKey, changeStoreKey, type KeyChangeOptions } from "./store/change-store-key.js";
// Import and export
export {
  type CopyOptions,
  type CopyProgress,
  type CopyReport,
  copySessions,
  type SessionCopyResult,
} from "./store/copy-sessions.js";
export type { PackedStore, PackOptions } from "./store/maintenance.js";
export { openStore, type StoreOptions } from "./store/open-store.js";
export { type RestoredStore, type RestoreOptions, restoreStore } from "./store/restore-store.js";
export type { SessionCopy } from "./store/session-copier.js";
export { type CreateSessionOptions, type ForkOptions, type OpenSessionOptions, Store } from "./store/store.js";
// Files
export {
  type FileOperation,
  type FileOperationKind,
  type FileOperationOutcome,
  type FileTouch,
  fileLists,
  type StoredFileTouch,
} from "./tools/file-operations.js";
export type { FileTool, FileToolKind, FileTools } from "./tools/known-tools.js";
