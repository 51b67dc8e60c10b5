// The subpath `@bough/session-core/arguments`: checks of the arguments of public functions of these packages. A misfit throws an
// `InvalidArgumentError` that names the argument, the member and the expected value; internal functions do not repeat the checks.
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
