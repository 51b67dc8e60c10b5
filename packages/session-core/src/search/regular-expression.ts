import { createContext, Script } from "node:vm";
import { InvalidQueryError } from "../errors/session-errors.js";
import { shorten } from "../text/cut.js";

// Regular expressions of a query. JavaScript's engine backtracks, so that a short expression can take years on a short text. It runs in
// a script with a time limit, which interrupts the engine (measured: within 2 ms; 0.1 ms for each call).

/** How long an expression may take for one text or one page of texts, in milliseconds. */
const LIMIT_MS = 250;

/** Compiles an expression. @throws {SyntaxError} */
export function compileExpression(source: string, ignoreCase: boolean): RegExp {
  const flags = ignoreCase ? "gim" : "gm";
  try {
    return new RegExp(source, `${flags}u`);
  } catch (error) {
    // With the flag u, which treats an emoji as one character, escapes such as `\-` and a lone `{` are errors.
    if (error instanceof SyntaxError) return new RegExp(source, flags);
    throw error;
  }
}

/** @throws {InvalidQueryError} the expression is invalid; the reason names the position. */
export function checkExpression(source: string, ignoreCase: boolean): void {
  const reason = findReason(source, ignoreCase);
  if (reason === null) return;
  const at = findPosition(source, reason);
  throw new InvalidQueryError(`/${shorten(source, 61)}/`, `${reason.toLowerCase()} at character ${at} of the expression`);
}

/** Why JavaScript rejects an expression; null: it does not. */
function findReason(source: string, ignoreCase = false): string | null {
  try {
    compileExpression(source, ignoreCase);
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message.split(": ").at(-1) ?? error.message;
    throw error;
  }
}

/** The first character, from 1, from which on every beginning of the expression is rejected for this reason. JavaScript names no position. */
function findPosition(source: string, reason: string): number {
  let at = source.length;
  while (at > 1 && findReason(source.slice(0, at - 1)) === reason) at -= 1;
  return at;
}

const context = createContext({ work: undefined });
const script = new Script("work()");

/** Runs a function that matches expressions; undefined: it took longer than the limit. */
export function runLimited<T>(work: () => T): T | undefined {
  let result: T | undefined;
  const run = () => {
    result = work();
  };
  try {
    Object.assign(context, { work: run });
    script.runInContext(context, { timeout: LIMIT_MS });
    return result;
  } catch (error) {
    if (typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  } finally {
    Object.assign(context, { work: undefined });
  }
}
