// The subpath `@bough/session-core/view`: the readable form of entries, independent of the medium: texts, previews, the steps of a
// conversation, descriptions of tool calls, and texts of a safe form and a bounded length. All functions are pure.

export { findNearest } from "./arguments/rules.js";
export { CONVERSATION_TYPES, ENTRY_TYPES, isSummary, MESSAGE_ROLES } from "./entry/kinds.js";
export { type PreviewParts, shareLine, shortenPreview, splitPreview } from "./entry/preview-calls.js";
export {
  asTyped,
  betterTitle,
  type Content,
  describeFile,
  isPrivate,
  isSmallTalk,
  isThanks,
  isTyped,
  joinTextBlocks,
  previewOf,
  rankTitle,
  type TitleRank,
} from "./entry/text.js";
export { isRecorded, type ReplyUsage, usageOf } from "./entry/usage.js";
export { isConversation, isOnlyCalls } from "./session/entry-names.js";
export { bytes, count, counted, dollars } from "./text/numbers.js";
export {
  cleanText,
  cutMiddle,
  HEAD_SHARE,
  oneLine,
  pairStart,
  removeInvisible,
  shortenAtWord,
  shortLine,
  takeEnd,
  takeStart,
  UNSEEN,
  type VisibleText,
  visibleText,
} from "./text/one-line.js";
export { type Fit, shortenDetail } from "./text/shorten-path.js";
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
  parseTodos,
  type TextArgument,
  type TextEdit,
  type Todo,
} from "./tools/arguments.js";
export { type CallDescription, type DescribeOptions, describeCall } from "./tools/describe-call.js";
export { cleanPath, findPatch, listCallTouches } from "./tools/file-operations.js";
export { classifyTool, type ToolKind } from "./tools/known-tools.js";
export { viewCall } from "./view/call-view.js";
export { titleOf, viewEntry, viewStep } from "./view/entry-view.js";
export { groupSteps, type ReplyStep, type Step } from "./view/group-steps.js";
export {
  type Cost,
  costLine,
  costText,
  type ListedPrice,
  PRICES_DATE,
  PRICES_SOURCE,
  type Price,
  type PricedUsage,
  PriceList,
  sumCosts,
} from "./view/prices.js";
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
