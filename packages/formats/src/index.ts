// The public API of this package: sessions of other programs, from their files and to their files. `@bough/formats/secrets` masks secrets.

export type { RecordKind } from "./claude/record-kind.js";
export type { BoundaryFacts, CallFacts, ChainFacts, IndexedRecord, IndexedRecords, NodeIndex, SessionFile } from "./claude/session-file.js";
export { type ReadLines, type ReadOptions, type TranscriptName, TranscriptReader } from "./claude/transcript-reader.js";
export {
  NoConversationError,
  NoSessionsFoundError,
  SourceNotFoundError,
  SourceUnreadableError,
  UnknownFormatError,
  UnknownFormatVersionError,
} from "./errors.js";
export type { MarkdownImage, MarkdownOptions, ToolOutput } from "./markdown/markdown-writer.js";
export type { SourceEnvironment } from "./source/agent-folders.js";
export { isAtOrBelow, type LinkBase, MAX_LINKED, whyNotFollowed } from "./source/links.js";
export type { FolderEntry } from "./source/source-file.js";
export type { LeavingLink, SourceFolders } from "./source/source-folders.js";
export type { NewSourceFile, SourceResume } from "./source/source-format.js";
export { findResumingAgent, type ResumingAgent } from "./transfer/agents.js";
export {
  type BranchExportOptions,
  type Continuation,
  exportBough,
  exportClaude,
  exportCodex,
  exportMarkdown,
  exportOpencode,
  exportPi,
  learnSecrets,
  type MarkdownExportOptions,
  type SecretOptions,
} from "./transfer/export.js";
export { assertImportable, importPath } from "./transfer/import-path.js";
export {
  asSourceError,
  type FailedFile,
  type ImportedFileSession,
  type ImportPathOptions,
  type ImportProgress,
  type ImportReport,
  type SkippedFile,
} from "./transfer/import-run.js";
export { findOrphanedSessions } from "./transfer/orphans.js";
export { type AgentFolder, findAgentFolders, type SyncedAgent, type SyncOptions, type SyncReport, syncSessions } from "./transfer/sync.js";
