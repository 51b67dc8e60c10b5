// What only the sibling packages of this repository use: `@bough/session-core/internals`. Not supported for others: any
// release may change or remove it.

// Checks of arguments
export * as shapes from "./arguments/conversation.js";
export type { Misfit, Rule } from "./arguments/rules.js";
export * as rules from "./arguments/rules.js";
// Tool calls and their results
export * from "./context/tool-pairs.js";
// Import
export { sourceFailure } from "./transfer/import-path.js";
