// Exports for the sibling packages of this repository only: `@bough/session-core/internals`. Not supported for others: any
// release may change or remove it.

import { checked, TEXT } from "./arguments/rules.js";
import { FILE_BLOCK, MESSAGE, PAYLOAD, TOOL_CALL } from "./arguments/shapes.js";
import * as templates from "./context/converters/templates.js";
import * as preview from "./entry/preview.js";
import * as text from "./entry/text.js";
import type { SessionStorage } from "./port/session-storage.js";
import type { Store } from "./store/store.js";
import * as lines from "./text/one-line.js";
import * as calls from "./tools/describe-call.js";

// These functions check their arguments only here: inside the package their arguments come from the store, and an error for
// one invalid row would make the whole session unreadable. Their documentation is in the imported files.
export const bashExecutionText = checked(templates.bashExecutionText, ["message", MESSAGE]);
export const branchSummaryText = checked(templates.branchSummaryText, ["summary", TEXT]);
export const compactionSummaryText = checked(templates.compactionSummaryText, ["summary", TEXT]);
export const describeCall = checked(calls.describeCall, ["call", TOOL_CALL]);
export const isPrivate = checked(text.isPrivate, ["payload", PAYLOAD]);
export const previewOf = checked(preview.previewOf, ["payload", PAYLOAD]);
export const searchableText = checked(text.searchableText, ["payload", PAYLOAD]);
export const describeFile = checked(text.describeFile, ["file", FILE_BLOCK]);
export const oneLine = checked(lines.oneLine, ["text", TEXT]);

/** The storage engine below a store. */
export function storageOf(store: Store): SessionStorage {
  return store.storage;
}

export type { Mismatch, Rule } from "./arguments/rules.js";
export * as rules from "./arguments/rules.js";
// Checks of arguments
export * as shapes from "./arguments/shapes.js";
// Tool calls and their results
export { isMissing, listToolCalls, pairCalls } from "./context/tool-pairs.js";
// Entries and ids
export type { PayloadOf } from "./entry/entry.js";
export { ENTRY_TYPES, MESSAGE_ROLES } from "./entry/kinds.js";
// Previews
export { type PreviewParts, shareLine, shortenPreview, splitPreview } from "./entry/preview-calls.js";
// Usage
export { isRecorded, type ReplyUsage, usageOf } from "./entry/reply-usage.js";
export { asTyped, isTyped, rankTitle, typedText } from "./entry/typed-text.js";
// Waiting
export { errorCode, isSystemError } from "./errors/system-error.js";
// Transcripts that are read while they are written
export { type ReadLines, TranscriptReader } from "./formats/claude/transcript-reader.js";
// Documents: replies with their results, texts without invisible characters
export { languageOfFile } from "./formats/markdown/markdown-text.js";
export { groupSteps, type ReplyStep, type Step } from "./formats/markdown/step.js";
export { toolText } from "./formats/markdown/tool-text.js";
export { newEntryId, newSessionId } from "./ids/ids.js";
// The storage below Store and Session
export type { ContextEntry, ContextPath, LeafState } from "./port/records.js";
export { SEARCH_PLACES } from "./port/search.js";
export type { ImportOptions, SessionStorage } from "./port/session-storage.js";
export type { SourceAppend, StoredSourceEntry } from "./port/source-append.js";
export type { Batch, BatchResult } from "./port/writes.js";
// Addresses of stores on a server
export { isLikeServerAddress, isServerUrl, parseServerUrl, passwordsIn, urlWithoutPassword } from "./postgres/address.js";
export { raceAbort } from "./race-abort.js";
// Places of the words of a query in a text
export { describeCopies } from "./search/hit-rows.js";
export { createQueryFinder, type QueryFinder, type QueryMatch } from "./search/query-matches.js";
// Secrets in texts
export { redact, withoutSecrets } from "./secrets/redact.js";
export { describeSecrets } from "./secrets/secret.js";
export { type SecretPlace, SessionMasker } from "./secrets/session-masker.js";
export { SerialQueue } from "./serial-queue.js";
// What a tree shows
export { isConversation, isOnlyCalls } from "./session/shown-entries.js";
// Names of sessions
export { withoutNamedForks } from "./sessions/fork-titles.js";
// Files and folders of other programs
export { isAtOrBelow, MAX_LINKED, whyNotFollowed } from "./source/links.js";
export type { SourceEntry, SourceHeader, SourceParent, SourceRecord, SourceSession } from "./source/source-session.js";
// Text
export { cutMiddle, HEAD_SHARE, pairStart, shortenAtWord, takeEnd, takeStart } from "./text/cut.js";
export { removeInvisible } from "./text/invisible.js";
export { findNearest } from "./text/nearest-name.js";
export { cleanText, shortLine } from "./text/one-line.js";
export { type Fit, shortenDetail, shortenPath } from "./text/shorten-path.js";
export { isSmallTalk, isThanks } from "./text/small-talk.js";
export { EXTRACT_NOTE, readableSummary, summaryGist } from "./text/summary-text.js";
// Tools of agents: kinds, arguments, files
export {
  type Arguments,
  classifyCall,
  findCommand,
  findContent,
  findPath,
  findTextEdits,
  type TextEdit,
} from "./tools/arguments.js";
export type { CallDescription, DescribeOptions } from "./tools/describe-call.js";
export { cleanPath, findPatch, listCallTouches } from "./tools/file-operations.js";
export { classifyTool } from "./tools/known-tools.js";
export { parseTodos, type Todo } from "./tools/todos.js";
// Import and export
export { learnSecrets } from "./transfer/export.js";
export { asSourceError } from "./transfer/import-run.js";
export { findResumingAgent, type ResumingAgent } from "./transfer/resume-agents.js";
