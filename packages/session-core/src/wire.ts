// The subpath `@bough/session-core/wire`: functions that read and write the records of other programs: fields of untrusted JSON, blocks
// of providers in both directions, texts of summaries, ids, bytes in JSON.
export { CHANGED_REQUEST, countBound, leaveOutThinking, listLeftOutThinking, stripThinking } from "./context/bound-thinking.js";
export { toContent, toContentBlock, toReplyBlocks } from "./context/converters/anthropic-blocks.js";
export { canReadNative, isCompactionBlock, isCompactionItem, nativeItems } from "./context/converters/native-items.js";
export { OPENAI_NAME_LENGTH } from "./context/converters/openai-chat.js";
export { parseArguments, toDataBlock, withoutUndefined } from "./context/converters/replies.js";
export { sanitizeToolName } from "./context/converters/sanitize.js";
export { bashExecutionText, branchSummaryText, compactionSummaryText, opaqueSummaryText } from "./context/converters/templates.js";
export { bodyOf, type GivenMessage, promptContent, withBody } from "./context/message-body.js";
export { ProjectedEntry, type Replacement } from "./context/projected-entries.js";
export { type EntryMessage, isMissing, listToolCalls, type PairedMessage, pairCalls } from "./context/tool-pairs.js";
export type { PayloadOf } from "./entry/entry.js";
export { toForeignBlock } from "./entry/foreign-block.js";
export {
  decodeBytes,
  encodeBytes,
  isObject,
  isPlainObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  parseJson,
  parseJsonObject,
  parseTime,
  stringAt,
  textsAt,
  toIsoTime,
  tryStringify,
  without,
  withoutNulls,
} from "./entry/json.js";
export type { EntryReference } from "./entry/origins.js";
export { isProviderOptions } from "./entry/provider-options.js";
export { listIterations, toOwnUsage } from "./entry/usage.js";
export { validateEntry } from "./entry/validate.js";
export { isId, newEntryId, quoted } from "./ids/ids.js";
