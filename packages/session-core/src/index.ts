// The one list of what this package offers. Grouped as the README explains it.

// The store and its sessions
export { openStore, type StoreOptions } from "./store/open-store.js";
export { type ForkOptions, type OpenSessionOptions, Store } from "./store/store.js";
export {
  type AppendedEntry,
  type AppendOptions,
  buildSessionContext,
  type ContextOptions,
  Session,
} from "./session/session.js";
export type { SessionReader } from "./session/session-reader.js";
export type {
  Label,
  LeafMove,
  LeafRecord,
  NewSession,
  OutlineRow,
  Page,
  PathScan,
  SessionFilter,
  SessionKind,
  SessionParent,
  SessionRecord,
  SessionSource,
  StoredValue,
} from "./port/records.js";
export type { SearchHit, SearchPage, SearchRequest } from "./port/search-records.js";
export type { ModelUsage, Statistics } from "./port/statistics.js";
export type { Finding } from "./port/finding.js";
export type { OnConflict, PathRange, SessionStorage, Write } from "./port/session-storage.js";
export type { Durability } from "./storage/connection.js";

// Entries and messages
export { assistantMessage, systemMessage, toolResult, userMessage } from "./entry/builders.js";
export type {
  AssistantBlock,
  ContentBlock,
  ForeignBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
} from "./entry/block.js";
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
  PayloadOf,
} from "./entry/entry.js";
export type {
  AssistantMessage,
  BashExecutionMessage,
  CustomMessage,
  Message,
  MessageRole,
  SystemMessage,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./entry/message.js";
export { ENTRY_TYPES, MESSAGE_ROLES } from "./entry/kinds.js";
export { callPreview, oneLine, previewOf } from "./entry/preview.js";
export { searchableText, textOf } from "./entry/text.js";
export type { EntryId, SessionId } from "./ids/ids.js";
export { newEntryId, newSessionId } from "./ids/ids.js";

// Files
export type { FileTools } from "./files/extract.js";
export { fileLists } from "./files/file-lists.js";
export type { FileOperation, FileOperationKind, FileOperationOutcome } from "./files/file-operation.js";
export type { FileTool, FileToolKind } from "./files/known-tools.js";

// Context
export type {
  BranchSummaryMessage,
  CompactionSummaryMessage,
  ContextMessage,
  ModelSetting,
  SessionContext,
} from "./context/context.js";
export type { DanglingCalls } from "./context/tool-pairs.js";

// Errors
export { BoughError } from "./errors/base.js";
export * from "./errors/entry-errors.js";
export * from "./errors/import-errors.js";
export * from "./errors/session-errors.js";
export * from "./errors/store-errors.js";

// Import and export
export {
  type FailedFile,
  type ImportedFileSession,
  importPath,
  type ImportPathOptions,
  type ImportProgress,
  type ImportReport,
} from "./transfer/import-path.js";
export type { ImportedSession } from "./port/import-records.js";
export type { ImportProblem } from "./formats/source/source-session.js";
export {
  exportBough,
  exportMarkdown,
  exportPi,
  type MarkdownExportOptions,
  type PiExportOptions,
} from "./transfer/export.js";
export type { MarkdownOptions, ToolOutput } from "./formats/markdown/markdown-document.js";

// What providers take
export { type AISDKMessage, type AISDKPrompt, toAISDK } from "./context/converters/ai-sdk.js";
export { toAnthropic } from "./context/converters/anthropic.js";
export type { AnthropicMessage, AnthropicPrompt } from "./context/converters/anthropic-message.js";
export { type OpenAIChatMessage, toOpenAIChat } from "./context/converters/openai-chat.js";
export { type OpenAIResponsesInput, toOpenAIResponses } from "./context/converters/openai-responses.js";
