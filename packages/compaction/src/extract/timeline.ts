import type { ToolCallBlock } from "@bough/session-core";
import { toolKind } from "@bough/session-core/internals";
import { touchedFiles } from "./file-paths.js";

/** What a person asked, and where. */
export interface UserRequest {
  readonly text: string;
  readonly at: number;
  /** The model was still at work: mostly a correction. */
  readonly interrupts: boolean;
  /** The question that the model had asked last; null: it had asked none. */
  readonly question: string | null;
}

/** What came of one tool call or command. */
export interface CallOutcome {
  readonly at: number;
  readonly call: ToolCallBlock | null;
  /** A command without its looking and filtering; null: none was run, or it only looked. */
  readonly command: string | null;
  readonly failed: boolean;
  /** The lines that tell why. */
  readonly errors: readonly string[];
  /** What its output says came of it: "14 passed", "commit 45ffe0a"; null: nothing of the kind. */
  readonly result: string | null;
}

/** A reply that calls nothing. */
export interface FinalReply {
  readonly text: string;
  readonly at: number;
  /** Calls before it that changed or ran something; 0 where the last run of a command went wrong, or nothing was done: what it says is not backed. */
  readonly work: number;
}

/** What the model said beside calls. */
export interface Remark {
  readonly text: string;
  readonly at: number;
  /** One of the calls changed or ran something, and did not fail: what was said was also done. */
  readonly carriedOut: boolean;
}

/** From what a person said to what they said next. */
export interface Turn {
  readonly request: UserRequest | null;
  /** What the model said last in it, and whether it called no tool with it. */
  readonly reply: { readonly text: string; readonly ends: boolean } | null;
  /** The replies with which it stopped, each before the person said "continue", "thanks" or nothing more. */
  readonly finalReplies: readonly FinalReply[];
  readonly outcomes: readonly CallOutcome[];
}

/** A short answer to a question. */
export interface ShortAnswer {
  readonly text: string;
  readonly at: number;
  readonly question: string;
}

/** One thing of a list that an agent keeps of its work. */
export interface Todo {
  readonly text: string;
  readonly state: "done" | "doing" | "open";
}

/** A conversation as an extract looks at it. */
export interface Timeline {
  readonly turns: readonly Turn[];
  /** What the model said last, answers to "thanks" left out. */
  readonly lastReply: string | null;
  /** What it said beside calls, in order. */
  readonly remarks: readonly Remark[];
  /** What the person answered in a word to what the model asked: "yes" and its like. */
  readonly answers: readonly ShortAnswer[];
  /** The latest list. */
  readonly todos: readonly Todo[];
  /** The summary that the messages start with, where one stands there instead of in the source. */
  readonly leadingSummary: string | null;
  /** Other summaries among the messages, in order: of branches mostly. */
  readonly summaries: readonly string[];
}

/** Whether a command failed, or wrote what surely is an error: a pipe hides how its first command ended. */
export function hasFailed({ failed, errors }: CallOutcome): boolean {
  return failed || errors.length > 0;
}

/** Whether a command only brings files into place: the files tell it, and nobody runs it again. */
export function isFileMove(command: string): boolean {
  return /^(?:sed|cp|mv|rm|ln|chmod|touch|code|open|tee|kill|git add)\s/.test(command);
}

/** Whether a call changed or ran something, so that its success is one of the work. */
export function isAction({ command, call }: CallOutcome): boolean {
  if (command !== null || call === null) return command !== null;
  return touchedFiles(call).some(({ changed }) => changed) || toolKind(call.name) === undefined;
}

/** How many calls changed or ran something without going wrong; 0 where the last run of any command went wrong. */
export function countWork(outcomes: readonly CallOutcome[]): number {
  const failing = [...findLastRuns(outcomes).values()].some(hasFailed);
  return failing ? 0 : outcomes.filter((one) => isAction(one) && !hasFailed(one)).length;
}

/** The last run of each command, in the order of these runs; `a && b` that ran well was one of `b` too. */
export function findLastRuns(outcomes: readonly CallOutcome[]): ReadonlyMap<string, CallOutcome> {
  const runs = new Map<string, CallOutcome>();
  for (const outcome of outcomes) {
    for (const command of listCommands(outcome)) {
      // Again, so that it stands where it ran last.
      runs.delete(command);
      runs.set(command, outcome);
    }
  }
  return runs;
}

function listCommands(outcome: CallOutcome): readonly string[] {
  if (outcome.command === null) return [];
  const steps = outcome.command.split(" && ");
  return hasFailed(outcome) || steps.length === 1 ? [outcome.command] : [outcome.command, ...steps];
}

/** When each command last ran well, and each file was last touched without an error: index of the message that says so. */
export function findLastSuccesses(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const well = new Map<string, number>();
  const outcomes = collectOutcomes(turns);
  for (const [command, outcome] of findLastRuns(outcomes)) if (!hasFailed(outcome)) well.set(command, outcome.at);
  for (const { call, failed, at } of outcomes) {
    if (call !== null && !failed) for (const { path } of touchedFiles(call)) well.set(path, at);
  }
  return well;
}

/** What came of all calls and commands, in order. */
export function collectOutcomes(turns: readonly Turn[]): readonly CallOutcome[] {
  return turns.flatMap(({ outcomes }) => outcomes);
}

const TEXTS = ["content", "step", "title", "description", "text", "task", "name"] as const;
/** More is no list of what to do. */
const MAX_TODOS = 100;

/**
 * The list that a planning tool was given (Claude Code's TodoWrite, Codex's update_plan, VS Code's manage_todo_list,
 * Gemini CLI's write_todos and their like); null: there is none in its arguments.
 */
export function parseTodos({ arguments: given }: ToolCallBlock): readonly Todo[] | null {
  const list = Object.values(given).find(Array.isArray);
  if (list === undefined) return null;
  const todos = list.slice(0, MAX_TODOS).flatMap(parseTodo);
  return todos.length === 0 && list.length > 0 ? null : todos;
}

function parseTodo(given: unknown): readonly Todo[] {
  if (typeof given !== "object" || given === null) return [];
  const item = given as Readonly<Record<string, unknown>>;
  const text = TEXTS.map((key) => item[key]).find((value) => typeof value === "string" && value.trim() !== "");
  return typeof text === "string" ? [{ text, state: parseState(item["status"] ?? item["state"] ?? item["completed"]) }] : [];
}

function parseState(status: unknown): Todo["state"] {
  if (status === true) return "done";
  const word = typeof status === "string" ? status.toLowerCase().replace(/[^a-z]/g, "") : "";
  if (/^(?:completed?|done|finished|cancelled|canceled)$/.test(word)) return "done";
  return /^(?:inprogress|doing|active|started)$/.test(word) ? "doing" : "open";
}
