// The subpath `@bough/session-core/arguments`: how public functions of these packages check what a stranger gives them. A misfit is an
// `InvalidArgumentError` that names the argument, the member and what was wanted; the functions below a public one check nothing again.
export {
  AMOUNT,
  ANY,
  byMember,
  CALLBACK,
  checkArgument,
  checked,
  FILE,
  FLAG,
  list,
  type Mismatch,
  membersOf,
  NAME,
  NUMBER,
  nullable,
  OBJECT,
  oneOf,
  optional,
  options,
  type Rule,
  record,
  ruleOf,
  SIGNAL,
  TEXT,
  withMethods,
} from "./arguments/rules.js";
export { ID, MESSAGE, MESSAGES, PAYLOAD, SESSION_CONTEXT } from "./arguments/shapes.js";
