import {
  type AssistantMessage,
  type BashExecutionMessage,
  type ContextMessage,
  type ToolCallBlock,
  type ToolResultMessage,
  textOf,
} from "@bough/session-core";
import { classifyTool, parseTodos, type Todo } from "@bough/session-core/view";
import { extractProse, isRequest, isThanks, splitSentences } from "./prose.js";
import { findErrorLines, listTouchedFiles, readCommand, simplifyCommand } from "./tool-calls.js";

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
interface FinalReply {
  readonly text: string;
  readonly at: number;
  /**
   * The number of calls before it that changed or ran something. 0 if there were none or the last run of a command
   * failed: then the reply's claims are not trusted.
   */
  readonly work: number;
}

/** Text that accompanies tool calls. */
interface Remark {
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
interface ShortAnswer {
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
function isAction({ command, call }: CallOutcome): boolean {
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

interface OpenTurn {
  request: UserRequest | null;
  reply: Turn["reply"];
  readonly finalReplies: FinalReply[];
  readonly outcomes: CallOutcome[];
}

type OpenRemark = { -readonly [Key in keyof Remark]: Remark[Key] };

/** Reads a conversation once, in order. Linear. */
export function readTimeline(messages: readonly ContextMessage[]): Timeline {
  const reader = new TimelineReader();
  for (const [at, message] of messages.entries()) reader.read(message, at);
  return reader.toTimeline();
}

class TimelineReader {
  readonly #turns: OpenTurn[] = [];
  readonly #remarks: OpenRemark[] = [];
  readonly #answers: ShortAnswer[] = [];
  readonly #summaries: string[] = [];
  readonly #calls = new Map<string, { readonly call: ToolCallBlock; readonly remark: OpenRemark | null }>();
  #leadingSummary: string | null = null;
  #todos: readonly Todo[] = [];
  #lastReply: string | null = null;
  /** Outcomes of the open turn that precede its last final reply. */
  #covered = 0;
  #thanked = false;

  read(message: ContextMessage, index: number): void {
    switch (message.role) {
      case "user":
        this.#readRequest(textOf(message.content), index);
        break;
      case "custom":
        this.#readHostMessage(textOf(message.content), index);
        break;
      case "assistant":
        this.#readReply(message, index);
        break;
      case "toolResult":
        this.#readResult(message, index);
        break;
      case "bashExecution":
        this.#readCommand(message, index);
        break;
      case "compactionSummary":
        if (index === 0) this.#leadingSummary = message.summary;
        else this.#summaries.push(message.summary);
        break;
      case "branchSummary":
        this.#summaries.push(message.summary);
        break;
    }
  }

  toTimeline(): Timeline {
    const [turns, remarks, answers, summaries] = [this.#turns, this.#remarks, this.#answers, this.#summaries];
    return { turns, remarks, answers, summaries, leadingSummary: this.#leadingSummary, todos: this.#todos, lastReply: this.#lastReply };
  }

  get #turn(): OpenTurn {
    return this.#turns.at(-1) ?? this.#openTurn(null);
  }

  #openTurn(request: UserRequest | null): OpenTurn {
    const turn: OpenTurn = { request, reply: null, finalReplies: [], outcomes: [] };
    this.#turns.push(turn);
    this.#covered = 0;
    return turn;
  }

  /** "continue" and "thanks" do not start a turn. */
  #readRequest(text: string, at: number): void {
    const reply = this.#turns.at(-1)?.reply ?? null;
    const question = reply?.ends === true ? findQuestion(reply.text) : null;
    this.#thanked = !isRequest(text) && isThanks(text);
    if (isRequest(text)) this.#openTurn({ text, at, question, interrupts: this.#turns.length > 0 && reply?.ends !== true });
    else if (question !== null && !this.#thanked) this.#answers.push({ text: text.trim(), at, question });
  }

  /** Hosts may send the user's request, as Claude Code does for its slash commands. Text in tags is only for the model. */
  #readHostMessage(text: string, at: number): void {
    const turn = this.#turn;
    if (turn.request !== null || turn.reply !== null || text.trimStart().startsWith("<") || !isRequest(text)) return;
    turn.request = { text, at, question: null, interrupts: false };
  }

  #readReply({ content, stopReason }: AssistantMessage, index: number): void {
    const text = textOf(content).trim();
    const calls = content.filter((block) => block.type === "toolCall");
    // A reply to "thanks" is ignored.
    if (this.#thanked && calls.length === 0) return;
    this.#thanked = false;
    this.#readCalls(calls, text === "" || calls.length === 0 ? null : { text, at: index, carriedOut: false });
    if (text === "" && calls.length === 0) return;
    const turn = this.#turn;
    const ends = calls.length === 0 && !CUT_OFF.test(stopReason ?? "");
    turn.reply = text === "" ? turn.reply && { ...turn.reply, ends: false } : { text, ends };
    if (text !== "") this.#lastReply = text;
    if (!ends) return;
    turn.finalReplies.push({ text, at: index, work: countWork(turn.outcomes.slice(this.#covered)) });
    this.#covered = turn.outcomes.length;
  }

  #readCalls(calls: readonly ToolCallBlock[], remark: OpenRemark | null): void {
    if (remark !== null) this.#remarks.push(remark);
    for (const call of calls) {
      this.#calls.set(call.id, { call, remark });
      if (classifyTool(call.name) === "plan") this.#todos = parseTodos(call) ?? this.#todos;
    }
  }

  #readResult({ toolCallId, content, isError: failed }: ToolResultMessage, at: number): void {
    const { call = null, remark = null } = this.#calls.get(toolCallId) ?? {};
    const given = call === null ? null : readCommand(call);
    const outcome = toOutcome({ at, call, failed, command: given === null ? null : simplifyCommand(given) }, textOf(content));
    this.#turn.outcomes.push(outcome);
    if (remark !== null && isAction(outcome) && !hasFailed(outcome)) remark.carriedOut = true;
  }

  #readCommand({ command, output, exitCode, excludeFromContext }: BashExecutionMessage, at: number): void {
    if (excludeFromContext === true) return;
    const failed = typeof exitCode === "number" && exitCode !== 0;
    this.#turn.outcomes.push(toOutcome({ at, call: null, failed, command: simplifyCommand(command) }, output));
  }
}

/** The reply is incomplete. */
const CUT_OFF = /^(?:aborted|error|length|max_tokens)$/;

/** A command that only reads may print any text, so its output is an error only if it failed. */
function toOutcome(what: Pick<CallOutcome, "at" | "call" | "failed" | "command">, output: string): CallOutcome {
  const { failed, command } = what;
  return {
    ...what,
    errors: failed || command !== null ? findErrorLines(output, failed) : [],
    result: command === null ? null : findResult(output),
  };
}

function findQuestion(reply: string): string | null {
  const last = splitSentences(extractProse(reply)).at(-1)?.text ?? "";
  return /[?？]$/.test(last) ? last : null;
}

const PASSED = /\b(\d{1,7}) (?:tests? )?(?:passed|passing)\b|\b(?:all )?(\d{1,7}) tests? pass\b|^[#ℹ] pass (\d{1,7})$/m;
/** A commit in the output of git. */
const COMMIT = /^\[\S{1,80} (?:\(root-commit\) )?([0-9a-f]{7,40})\] /m;

/** The result in an output: passed tests or a commit. Only its start and its end are read. */
function findResult(output: string): string | null {
  const commit = COMMIT.exec(output.slice(0, 4_000))?.[1];
  if (commit !== undefined) return `commit ${commit}`;
  const passed = PASSED.exec(output.slice(-4_000));
  const count = passed?.[1] ?? passed?.[2] ?? passed?.[3];
  return count === undefined ? null : `${count} passed`;
}
