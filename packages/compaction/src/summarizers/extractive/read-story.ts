import {
  type AssistantMessage,
  type BashExecutionMessage,
  type ContextMessage,
  type ToolCallBlock,
  type ToolResultMessage,
  textOf,
} from "@bough/session-core";
import { commandOf, coreCommand } from "../../facts/kinds/commands.js";
import { errorLines } from "../../facts/kinds/error-lines.js";
import { isRequest } from "../../facts/kinds/requests.js";
import { toolKind } from "../../facts/kinds/tool-kind.js";
import type { Ending, Outcome, Request, Story, Todo, Turn } from "./story.js";
import { todosOf } from "./todos.js";

interface OpenTurn {
  request: Request | null;
  reply: Turn["reply"];
  readonly endings: Ending[];
  readonly outcomes: Outcome[];
}

/** Reads a conversation once, in order. Cost is linear. */
export function readStory(messages: readonly ContextMessage[]): Story {
  const reader = new Reader();
  for (const [at, message] of messages.entries()) reader.read(message, at);
  const { turns, said, todos, before, summaries } = reader;
  return { turns, said, todos, before, summaries };
}

class Reader {
  readonly turns: OpenTurn[] = [];
  readonly said: string[] = [];
  readonly summaries: string[] = [];
  before: string | null = null;
  todos: readonly Todo[] = [];
  readonly #calls = new Map<string, ToolCallBlock>();

  read(message: ContextMessage, at: number): void {
    switch (message.role) {
      case "user":
        this.#asked(textOf(message.content), at);
        break;
      case "custom":
        this.#put(textOf(message.content), at);
        break;
      case "assistant":
        this.#answered(message, at);
        break;
      case "toolResult":
        this.#result(message, at);
        break;
      case "bashExecution":
        this.#ran(message, at);
        break;
      case "compactionSummary":
        if (at === 0) this.before = message.summary;
        else this.summaries.push(message.summary);
        break;
      case "branchSummary":
        this.summaries.push(message.summary);
        break;
    }
  }

  get #turn(): OpenTurn {
    const last = this.turns.at(-1);
    if (last !== undefined) return last;
    const first: OpenTurn = { request: null, reply: null, endings: [], outcomes: [] };
    this.turns.push(first);
    return first;
  }

  /** "continue" and "thanks" end no turn: the request they belong to goes on. */
  #asked(text: string, at: number): void {
    if (isRequest(text)) this.turns.push({ request: { text, at }, reply: null, endings: [], outcomes: [] });
  }

  /** A host may speak for the person, as Claude Code does for its slash commands; what stands in tags is for the model only. */
  #put(text: string, at: number): void {
    const turn = this.#turn;
    if (turn.request === null && turn.reply === null && !text.trimStart().startsWith("<") && isRequest(text)) turn.request = { text, at };
  }

  #answered({ content, stopReason }: AssistantMessage, at: number): void {
    const text = textOf(content).trim();
    const calls = content.filter((block) => block.type === "toolCall");
    if (text !== "") this.said.push(text);
    const turn = this.#turn;
    const ends = calls.length === 0 && !CUT_OFF.test(stopReason ?? "");
    if (text !== "" && ends) turn.endings.push({ text, at });
    if (text !== "") turn.reply = { text, ends };
    else if (calls.length > 0 && turn.reply !== null) turn.reply = { text: turn.reply.text, ends: false };
    for (const call of calls) {
      this.#calls.set(call.id, call);
      if (toolKind(call.name) === "plans") this.todos = todosOf(call) ?? this.todos;
    }
  }

  #result({ toolCallId, content, isError }: ToolResultMessage, at: number): void {
    const call = this.#calls.get(toolCallId) ?? null;
    const output = textOf(content);
    const given = call === null ? null : commandOf(call);
    const errors = isError || given !== null ? errorLines(output, isError) : [];
    const command = given === null ? null : coreCommand(given);
    this.#turn.outcomes.push({ at, call, command, failed: isError, errors, passed: command === null ? null : passedIn(output) });
  }

  #ran({ command, output, exitCode, excludeFromContext }: BashExecutionMessage, at: number): void {
    if (excludeFromContext === true) return;
    const failed = typeof exitCode === "number" && exitCode !== 0;
    const core = coreCommand(command);
    this.#turn.outcomes.push({ at, call: null, command: core, failed, errors: errorLines(output, failed), passed: passedIn(output) });
  }
}

/** A reply that was not written to its end. */
const CUT_OFF = /^(?:aborted|error|length|max_tokens)$/;

const PASSED = /\b(\d{1,7}) (?:tests? )?(?:passed|passing)\b|\b(?:all )?(\d{1,7}) tests? pass\b|^[#ℹ] pass (\d{1,7})$/m;

/** How many tests an output says have passed; its end tells, so only that is read. */
function passedIn(output: string): string | null {
  const found = PASSED.exec(output.slice(-4_000));
  const count = found?.[1] ?? found?.[2] ?? found?.[3];
  return count === undefined ? null : `${count} passed`;
}
