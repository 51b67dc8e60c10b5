import { createContext, Script } from "node:vm";
import { InvalidExpressionError } from "../../errors/session-errors.js";
import { shorten } from "../../text/one-line.js";

// Regular expressions of a query. JavaScript's engine backtracks, so that a short expression can take years on a short text. It runs in
// a script with a time limit, which interrupts the engine (measured: within 2 ms; 0.1 ms for each call).

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

/** @throws {InvalidExpressionError} */
export function checkExpression(source: string, ignoreCase: boolean): void {
  const reason = findReason(source, ignoreCase);
  if (reason === null) return;
  throw new InvalidExpressionError(`/${shorten(source, 61)}/`, reason.toLowerCase(), findPosition(source, reason));
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
let isLimited = false;

/** Returns the time limit for matching texts of this length, in milliseconds. Usual expressions take 2 to 10 ms for a million. */
export function limitFor(characters: number): number {
  return 250 + characters / 10_000;
}

/** Runs a function that matches expressions; undefined: it took longer than the limit. Inside of itself it only runs the function. */
export function runLimited<T>(limitMs: number, work: () => T): T | undefined {
  if (isLimited) return work();
  let result: T | undefined;
  const run = () => {
    result = work();
  };
  try {
    isLimited = true;
    Object.assign(context, { work: run });
    script.runInContext(context, { timeout: Math.ceil(limitMs) });
    return result;
  } catch (error) {
    if (typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  } finally {
    isLimited = false;
    Object.assign(context, { work: undefined });
  }
}
