import type { ToolCallBlock } from "@bough/session-core";
import { classifyTool, type Todo } from "@bough/session-core/view";
import { listTouchedFiles } from "./tool-calls.js";

/** A request of the user. */
export interface UserRequest {
  readonly text: string;
  readonly at: number;
  /** The model was still working; mostly a correction. */
  readonly interrupts: boolean;
  /** The question that the model asked before it; null: none. */
  readonly question: string | null;
}

/** The outcome of one tool call or command. */
export interface CallOutcome {
  readonly at: number;
  readonly call: ToolCallBlock | null;
  /** The command without reading and filtering steps; null: no command, or it only reads. */
  readonly command: string | null;
  readonly failed: boolean;
  /** The lines with the error. */
  readonly errors: readonly string[];
  /** The result in its output, as "14 passed" or "commit 45ffe0a"; null: none. */
  readonly result: string | null;
}

/** A reply without tool calls. */
export interface FinalReply {
  readonly text: string;
  readonly at: number;
  /**
   * The number of calls before it that changed or ran something. 0 if there were none or the last run of a command
   * failed: then the reply's claims are not trusted.
   */
  readonly work: number;
}

/** Text that accompanies tool calls. */
export interface Remark {
  readonly text: string;
  readonly at: number;
  /** One of the calls changed or ran something and did not fail. */
  readonly carriedOut: boolean;
}

/** A request and everything up to the next one. */
export interface Turn {
  readonly request: UserRequest | null;
  /** The model's last text in the turn, and whether it made no calls with it. */
  readonly reply: { readonly text: string; readonly ends: boolean } | null;
  /** The replies that ended the model's work; there are several if the user said "continue" or "thanks". */
  readonly finalReplies: readonly FinalReply[];
  readonly outcomes: readonly CallOutcome[];
}

/** A short answer to a question of the model. */
export interface ShortAnswer {
  readonly text: string;
  readonly at: number;
  readonly question: string;
}

/** A conversation in the form that an extract needs. */
export interface Timeline {
  readonly turns: readonly Turn[];
  /** The model's last text, except answers to "thanks". */
  readonly lastReply: string | null;
  /** Texts that accompany tool calls, in order. */
  readonly remarks: readonly Remark[];
  /** The user's one-word answers to questions of the model. */
  readonly answers: readonly ShortAnswer[];
  /** The latest todo list. */
  readonly todos: readonly Todo[];
  /** The summary at the start of the messages, if the source has none of its own. */
  readonly leadingSummary: string | null;
  /** Other summaries among the messages, in order, mostly of branches. */
  readonly summaries: readonly string[];
}

/** True if a call failed or printed a certain error; a pipe hides the exit code of its first command. */
export function hasFailed({ failed, errors }: CallOutcome): boolean {
  return failed || errors.length > 0;
}

/** True if a command only moves or touches files. */
export function isFileMove(command: string): boolean {
  return /^(?:sed|cp|mv|rm|ln|chmod|touch|code|open|tee|kill|git add)\s/.test(command);
}

/** True if a call changed or ran something. */
export function isAction({ command, call }: CallOutcome): boolean {
  if (command !== null || call === null) return command !== null;
  return listTouchedFiles(call).some(({ changed }) => changed) || classifyTool(call.name) === undefined;
}

/** The number of successful calls that changed or ran something; 0 if the last run of any command failed. */
export function countWork(outcomes: readonly CallOutcome[]): number {
  const failing = [...findLastRuns(outcomes).values()].some(hasFailed);
  return failing ? 0 : outcomes.filter((one) => isAction(one) && !hasFailed(one)).length;
}

/** The last run of each command, in the order of these runs. A successful `a && b` is also a run of `a` and of `b`. */
export function findLastRuns(outcomes: readonly CallOutcome[]): ReadonlyMap<string, CallOutcome> {
  const runs = new Map<string, CallOutcome>();
  for (const outcome of outcomes) {
    for (const command of splitIntoCommands(outcome)) {
      // Deleted first, so that the order is that of the last run.
      runs.delete(command);
      runs.set(command, outcome);
    }
  }
  return runs;
}

function splitIntoCommands(outcome: CallOutcome): readonly string[] {
  if (outcome.command === null) return [];
  const steps = outcome.command.split(" && ");
  return hasFailed(outcome) || steps.length === 1 ? [outcome.command] : [outcome.command, ...steps];
}

/** The index of the message with the last success of each command, and with the last successful call on each file. */
export function findLastSuccesses(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const well = new Map<string, number>();
  const outcomes = collectOutcomes(turns);
  for (const [command, outcome] of findLastRuns(outcomes)) if (!hasFailed(outcome)) well.set(command, outcome.at);
  for (const { call, failed, at } of outcomes) {
    if (call !== null && !failed) for (const { path } of listTouchedFiles(call)) well.set(path, at);
  }
  return well;
}

/** All outcomes, in order. */
export function collectOutcomes(turns: readonly Turn[]): readonly CallOutcome[] {
  return turns.flatMap(({ outcomes }) => outcomes);
}
