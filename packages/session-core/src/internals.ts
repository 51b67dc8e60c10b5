// What only the sibling packages of this repository use: `@bough/session-core/internals`. Not supported for others: any
// release may change or remove it.

export type { Mismatch, Rule } from "./arguments/rules.js";
export * as rules from "./arguments/rules.js";
// Checks of arguments
export * as shapes from "./arguments/shapes.js";
// Tool calls and their results
export * from "./context/tool-pairs.js";
// Waiting
export { raceAbort } from "./race-abort.js";
// Text
export { cutMiddle, HEAD_SHARE, pairStart, shorten, shortenAtWord, takeEnd, takeStart } from "./text/cut.js";
export { cleanText, oneLine, shortLine } from "./text/one-line.js";
// Tools of agents: kinds, arguments, files
export {
  type Arguments,
  callKind,
  commandArgument,
  contentArgument,
  pathArgument,
  type TextEdit,
  textEdits,
} from "./tools/arguments.js";
export { callTouches, patchArgument } from "./tools/file-operations.js";
export { knownToolKind, type ToolKind, toolKind } from "./tools/known-tools.js";
// Import
export { asSourceError } from "./transfer/import-path.js";
