import { type AssistantMessage, type BashExecutionMessage, type ContextMessage, type ToolResultMessage, textOf } from "@bough/session-core";
import { oneLine } from "../text/one-line.js";
import type { Fact } from "./fact.js";
import { FactList } from "./fact-list.js";
import { commandOf, coreCommand } from "./kinds/commands.js";
import { errorKey, errorLines } from "./kinds/error-lines.js";
import { filesIn, touchedFiles } from "./kinds/file-paths.js";
import { identifiersIn, numbersIn } from "./kinds/names-and-numbers.js";
import { isRequest } from "./kinds/requests.js";
import { rulesIn } from "./kinds/rules.js";
import { proseOf } from "./text/prose.js";

export type { Fact, FactKind } from "./fact.js";

/** Of a request, in UTF-16 code units. */
const REQUEST_CHARS = 400;

/** How much more a changed file matters than one that was read or named. */
const STRENGTH = { named: 1, read: 1, changed: 4, command: 1, usersCommand: 3 } as const;

/**
 * The facts of a conversation that a summary of it should keep, found without a model: the last request, the user's rules
 * (must, never, always, don't and their like), files of tool calls and of texts, commands that do or check something,
 * lines that tell of errors, names in backticks, numbers with a unit. By kind, the most important first; in a kind the
 * strongest first, at most `FACT_LIMITS` of them, each once.
 *
 * What nobody asks for again is left out: commands that only look, dependencies, lock files, temporary files, and whatever
 * stands in base64. Of tool output only errors are read, of what only looks (cat, grep) only where it failed, of code blocks nothing. Deterministic; cost is linear.
 *
 * @example
 * findFacts([{ role: "user", content: "Never touch src/lexer.ts." }]).map(({ kind }) => kind); // ["request", "rule", "file"]
 */
export function findFacts(messages: readonly ContextMessage[]): readonly Fact[] {
  const finder = new Finder();
  for (const [at, message] of messages.entries()) finder.read(message, at);
  return finder.facts();
}

class Finder {
  readonly #list = new FactList();
  /** Calls that do or check something; the output of one that only looks is somebody's text, which may hold any words. */
  readonly #commands = new Set<string>();
  #request: { readonly text: string; readonly at: number } | null = null;

  read(message: ContextMessage, at: number): void {
    switch (message.role) {
      case "user":
        this.#user(textOf(message.content), at);
        break;
      case "assistant":
        this.#assistant(message, at);
        break;
      case "toolResult":
        this.#result(message, at);
        break;
      case "bashExecution":
        this.#usersCommand(message, at);
        break;
      case "compactionSummary":
      case "branchSummary":
        this.#named(proseOf(message.summary), at);
        break;
      case "custom":
        // What hosts put in is theirs to repeat.
        break;
    }
  }

  facts(): readonly Fact[] {
    if (this.#request !== null) this.#list.add("request", this.#request.text, this.#request.at);
    return this.#list.strongest();
  }

  #user(text: string, at: number): void {
    const prose = proseOf(text);
    if (isRequest(text)) this.#request = { text: oneLine(prose, REQUEST_CHARS), at };
    for (const rule of rulesIn(prose)) this.#list.add("rule", rule, at, { key: rule.toLowerCase() });
    this.#named(prose, at);
  }

  #assistant(message: AssistantMessage, at: number): void {
    this.#named(proseOf(textOf(message.content)), at);
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const core = coreCommand(commandOf(block) ?? "");
      if (core !== null) this.#commands.add(block.id);
      if (core !== null) this.#list.add("command", core, at, { strength: STRENGTH.command });
      for (const { path, changed } of touchedFiles(block)) {
        this.#list.add("file", path, at, { strength: changed ? STRENGTH.changed : STRENGTH.read });
      }
    }
  }

  #result({ content, isError, toolCallId }: ToolResultMessage, at: number): void {
    if (isError || this.#commands.has(toolCallId)) this.#errors(textOf(content), isError, at);
  }

  #usersCommand({ command, output, exitCode, excludeFromContext }: BashExecutionMessage, at: number): void {
    if (excludeFromContext === true) return;
    const core = coreCommand(command);
    if (core !== null) this.#list.add("command", core, at, { strength: STRENGTH.usersCommand });
    const failed = typeof exitCode === "number" && exitCode !== 0;
    if (failed || core !== null) this.#errors(output, failed, at);
  }

  #errors(output: string, failed: boolean, at: number): void {
    for (const line of errorLines(output, failed)) this.#list.add("error", line, at, { key: errorKey(line) });
  }

  #named(prose: string, at: number): void {
    const files = filesIn(prose);
    for (const path of files) this.#list.add("file", path, at, { strength: STRENGTH.named });
    const known = new Set(files);
    for (const name of identifiersIn(prose)) if (!known.has(name)) this.#list.add("identifier", name, at);
    for (const number of numbersIn(prose)) this.#list.add("number", number, at);
  }
}
