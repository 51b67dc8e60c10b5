// The subpath `@bough/session-core/engine`: the API for storage engines. An engine implements the port (`SessionStorage` and its
// records). All engines share the rules, which contain no SQL: batches, paths, derived columns, totals, titles, forks, filters, the
// language of search, the import of a session. @bough/postgres is an engine that uses nothing else. docs/engine.md describes the parts.

export { raceAbort, SerialQueue } from "./async/promises.js";
export { countAtMost, countBefore } from "./collections/binary-search.js";
export { groupBy } from "./collections/group-by.js";
export { copyJson, decodeBytes, jsonText, MAX_JSON_LENGTH, parseEncoded } from "./entry/json.js";
export {
  customTypeOf,
  ENTRY_TYPES,
  type EntryKind,
  isSummary,
  kindsWith,
  MESSAGE_ROLES,
  toEntryKind,
  toKindNumber,
} from "./entry/kinds.js";
export {
  type ChangedEntry,
  type Claim,
  type ClaimEntry,
  contentKey,
  decideOriginals,
  type Holder,
  isClaimProven,
  listClaims,
  listUndecided,
  originsAfter,
  originsIn,
  referenceIn,
  type SharedEntry,
  sourcesFirst,
} from "./entry/origins.js";
export { parseStoredPayload } from "./entry/stored-payload.js";
export { isPrivate, previewOf, searchableText } from "./entry/text.js";
export { type AddedUsage, UsageSums, usageOf } from "./entry/usage.js";
export type { ValidatedEntry } from "./entry/validate.js";
export { errorCode, isSystemError } from "./errors/system-error.js";
export { type CounterSeq, type EntrySeq, newEntryId, quoted, type SessionSeq, toEntrySeq, toSessionSeq } from "./ids/ids.js";
export { isLikeServerAddress, isServerUrl } from "./port/connection-options.js";
export type { DerivedEntry, EntryFacts, PathEffect, PreparedEntry } from "./port/entry-facts.js";
export {
  type ContextEnd,
  type ContextEntry,
  type ContextPath,
  type EntryListing,
  type Fork,
  type Label,
  type LeafMove,
  type LeafRecord,
  LeafState,
  MAIN_LEAF,
  type ModelUsage,
  type NewSession,
  type OpenedSession,
  type OutlineRow,
  type Page,
  type PathScan,
  type PathScanFrom,
  type SessionFilter,
  type SessionKey,
  type SessionKind,
  type SessionParent,
  type SessionRecord,
  type SessionRow,
  type SessionSource,
  type SessionTotals,
  type Statistics,
  type StoredValue,
  type ValueKey,
  type ValueRange,
} from "./port/records.js";
export {
  type HitCopy,
  SEARCH_PLACES,
  type SearchHit,
  type SearchMatch,
  type SearchPage,
  type SearchPlace,
  type SearchRequest,
} from "./port/search.js";
export {
  type CopiedEntry,
  type CopiedFileOperation,
  type CopiedMove,
  type CopiedPart,
  type CopiedSession,
  type CopiedState,
  type CopiedUsage,
  entriesInPart,
  isPartlyCopied,
  PART_BYTES,
  PART_ENTRIES,
  partlyCopied,
  type SessionCopies,
} from "./port/session-copy.js";
export type {
  Abilities,
  FileSize,
  ImportedSession,
  ImportOptions,
  ImportOutcome,
  LeafKept,
  MissingSession,
  PackedBlocks,
  PackScope,
  PathRange,
  PayloadPacking,
  RowSize,
  SessionImport,
  SessionStorage,
  StoreChange,
  Violation,
  WhenLocked,
} from "./port/session-storage.js";
export {
  type CheckedPosition,
  type HeldSession,
  type ImportProblem,
  type OpenEnd,
  QUIET_MS,
  ReadFromStartError,
  type ReadingPosition,
  RUNNING_MS,
  type SessionSourceRow,
  SILENT_CALL_MS,
  type SourceAppend,
  type SourceEntry,
  type SourceFileRecord,
  type SourceHeader,
  type SourceParent,
  type SourceRecord,
  type SourceRecords,
  type SourceSession,
  type SourceSessionRecord,
  type StoredSourceEntry,
  type SyncedImport,
} from "./port/source.js";
export {
  type Batch,
  type BatchResult,
  copyNewSession,
  copyPatch,
  copyWrites,
  type MetadataPatch,
  type OnConflict,
  type Write,
} from "./port/writes.js";
export {
  type BatchTarget,
  BatchWriter,
  type ExistingEntry,
  loadedValidation,
  loadValidation,
  requireSameEntry,
  type Validate,
  type ValidatedWrite,
  validateWrite,
  type WrittenBatch,
} from "./rules/batch-writer.js";
export { bind, type CompiledQuery, type Dialect, Queries, type Query, type QueryBuilder } from "./rules/declare-query.js";
export {
  type AddedCounts,
  type AddedTotals,
  COMPACTION,
  chooseFirstText,
  type DerivedColumns,
  type DerivedState,
  derivePathState,
  EDIT,
  type EditOf,
  EMPTY_PATH,
  type EntryColumns,
  type EntryPathState,
  EntryTotals,
  entryColumns,
  entryOf,
  type FactsContext,
  factsOf,
  factsOfImported,
  omits,
  type PathFacts,
  type PathState,
  SYSTEM,
  sumTypes,
  toStoredCustomType,
  toWritable,
  type WritableEntry,
} from "./rules/derived-columns.js";
export { forkTitle, newFork, withoutForeignBranch, withoutNamedForks } from "./rules/forks.js";
export { DifferentSessionError, deriveSessionId } from "./rules/import/different-session.js";
export { fromStart, importInto, newSession } from "./rules/import/import-into.js";
export type { ExistingSession, GivenTitle, ImportedEntry, ImportTarget, NewReading, WrittenEntry } from "./rules/import/import-target.js";
export { type DerivedRow, type PreparedRow, prepareRecord, textLength, toRecord } from "./rules/import/prepare.js";
export {
  type CorrectedWords,
  chooseRead,
  correctWords,
  type Mistake,
  MOST_READ,
  possibleMistakes,
  toMistakes,
} from "./rules/search/asked-words.js";
export { type Attempt, finishPage, listAttempts, snippetsFor, toMatching, type UnmatchedPage } from "./rules/search/attempts.js";
export { ACCENTS, foldText, isAscii, piecesBetweenWords, toIndexedText, WORD_CHARACTERS } from "./rules/search/fold.js";
export {
  describeCopies,
  type EntryHitRow,
  type EntryMatch,
  groupCopies,
  matchTitles,
  NO_SNIPPET,
  type TitleRow,
  toEntryHit,
  toTitleHits,
} from "./rules/search/hit-rows.js";
export {
  type AskedLabel,
  findInLabels,
  includesLabels,
  type LabelRow,
  labelledText,
  matchLabels,
  placesWithLabel,
} from "./rules/search/labels.js";
export {
  countLeftOut,
  includesTitles,
  isIndexed,
  type LeftOutHits,
  type Matching,
  matchAll,
  needsAll,
  parseRequest,
  showsCopies,
} from "./rules/search/matching.js";
export { textOfHit } from "./rules/search/payload-text.js";
export { createQueryFinder, type QueryFinder, type QueryMatch } from "./rules/search/query-matches.js";
export {
  type AskedTerm,
  findForms,
  matchedBy,
  type QuestionTerm,
  questionOf,
  readQuestion,
} from "./rules/search/question.js";
export { placesThatCount, probeOfQuestion, type QuestionPlaces } from "./rules/search/question-probe.js";
export {
  type AskedEntry,
  groupByThemselves,
  MOST_RANKED,
  type RankedAnswer,
  type RankedEntries,
  rankAnswers,
  takeFirst,
  titlesWith,
  weightsOf,
} from "./rules/search/rank-question.js";
export { scoreOf } from "./rules/search/score.js";
export {
  type ExpressionTerm,
  hasExpression,
  type LiteralTerm,
  type SearchTerm,
  type StemTerm,
  type WordsTerm,
} from "./rules/search/search-terms.js";
export { createSnippetWriter, type Snippet } from "./rules/search/snippet.js";
export { listMisspellings } from "./rules/search/spelling.js";
export type { Language } from "./rules/search/stems.js";
export type { TermCounts } from "./rules/search/term-counter.js";
export { FoldedText } from "./rules/search/term-matcher.js";
export { tokensOf } from "./rules/search/term-pattern.js";
export { listPieces, type Piece, type Place } from "./rules/search/term-pieces.js";
export { probeOf, type ScannedPayload, type TextHit, type TextProbe, TextScan } from "./rules/search/text-scan.js";
export { WordCollector } from "./rules/search/word-collector.js";
export {
  assertLeafName,
  assertTokenCounts,
  copiedColumns,
  newCopy,
  renamedTitle,
  type SessionColumns,
  type SessionRecordRow,
  type SourceColumns,
  type SourceSessionRow,
  sessionColumns,
  sessionIdOf,
  shortenId,
  toLeafName,
  toSessionRecord,
  toSingleLine,
  toSourceSession,
} from "./rules/session-columns.js";
export {
  bestTitles,
  DEFAULT_SESSIONS,
  type DirectoryRange,
  directoryParts,
  type ListedRow,
  listingsOf,
  MANY_OF_A_MEMBER,
  type MetadataRow,
  membersOf,
  metadataRows,
  OWN_AGENT,
  parseCursor,
  sessionPage,
  type Titled,
  titleWords,
} from "./rules/session-filter.js";
export { type EncodedValue, encodeValue, type KeyBounds, keyBounds, requireExpected, rowLimit } from "./rules/values.js";
export {
  type CheckedPayload,
  type Fault,
  findMetadataFault,
  findPayloadFault,
  ORIGIN_FAULTS,
  type PlacedEntry,
  StructureChecks,
} from "./rules/verify-rules.js";
export { storageOf } from "./store/store.js";
export { oneLine } from "./text/one-line.js";
export { type OperationRow, type ResultRow, type StoredOperation, withOutcomes } from "./tools/file-operations.js";
