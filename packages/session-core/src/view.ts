// The subpath `@bough/session-core/view`: the readable form of entries, independent of the medium: texts, previews, the steps of a
// conversation, descriptions of tool calls, and texts of a safe form and a bounded length. All functions are pure.
export { CONVERSATION_TYPES, ENTRY_TYPES, isSummary, MESSAGE_ROLES } from "./entry/kinds.js";
export { previewOf } from "./entry/preview.js";
export { type PreviewParts, shareLine, shortenPreview, splitPreview } from "./entry/preview-calls.js";
export { isRecorded, type ReplyUsage, usageOf } from "./entry/reply-usage.js";
export { type Content, describeFile, isPrivate, joinTextBlocks } from "./entry/text.js";
export { asTyped, betterTitle, isTyped, rankTitle, type TitleRank } from "./entry/typed-text.js";
export { isConversation, isOnlyCalls } from "./session/shown-entries.js";
export { cutMiddle, HEAD_SHARE, pairStart, shortenAtWord, takeEnd, takeStart } from "./text/cut.js";
export { removeInvisible, type VisibleText, visibleText } from "./text/invisible.js";
export { findNearest } from "./text/nearest-name.js";
export { bytes, count, counted, dollars } from "./text/numbers.js";
export { cleanText, oneLine, shortLine } from "./text/one-line.js";
export { type Fit, shortenDetail } from "./text/shorten-path.js";
export { isSmallTalk, isThanks } from "./text/small-talk.js";
export { EXTRACT_NOTE, readableSummary, summaryGist } from "./text/summary-text.js";
export {
  type Arguments,
  type CommandArgument,
  classifyCall,
  findCommand,
  findContent,
  findPath,
  findTextEdits,
  type NamedCall,
  PATCH_ARGUMENTS,
  type TextArgument,
  type TextEdit,
} from "./tools/arguments.js";
export { type CallDescription, type DescribeOptions, describeCall } from "./tools/describe-call.js";
export { cleanPath, findPatch, listCallTouches } from "./tools/file-operations.js";
export { classifyTool, type ToolKind } from "./tools/known-tools.js";
export { parseTodos, type Todo } from "./tools/todos.js";
export { viewCall } from "./view/call-view.js";
export { titleOf, viewEntry, viewStep } from "./view/entry-view.js";
export { PRICES_DATE, PRICES_SOURCE } from "./view/price-table.js";
export { type Cost, costLine, costText, type ListedPrice, type Price, type PricedUsage, PriceList, sumCosts } from "./view/prices.js";
export { groupSteps, type ReplyStep, type Step } from "./view/step.js";
export { describeFidelity, summaryFiles } from "./view/summary-view.js";
export type {
  AttachmentPart,
  CallInput,
  CallPart,
  CodePart,
  EntryView,
  FactPart,
  FilePart,
  ForeignPart,
  ImagePart,
  JsonPart,
  MarkdownPart,
  NotePart,
  ResultPart,
  SummaryPart,
  TextPart,
  ThinkingPart,
  ViewField,
  ViewKind,
  ViewOptions,
  ViewPart,
  ViewTitle,
} from "./view/view.js";
