import { type AssistantMessage, type BashExecutionMessage, type ContextMessage, type ToolResultMessage, textOf } from "@bough/session-core";
import { shortLine } from "@bough/session-core/internals";
import { findErrorLines, normalizeErrorLine, readCommand, simplifyCommand } from "./commands.js";
import { filesIn, touchedFiles } from "./file-paths.js";
import { extractProse } from "./prose.js";
import { findRules, isRequest } from "./user-intent.js";

/** Kinds of facts, the most important first. */
export const FACT_KINDS = ["request", "rule", "file", "error", "command", "identifier", "number"] as const;

/**
 * `request`: the last thing the user asked for. `rule`: what they said must, must not, or is always to be done. `file`: a
 * path. `error`: a line that tells of a failure. `command`: one that was run and did or checked something. `identifier`: a
 * name in backticks. `number`: one with its unit.
 */
export type FactKind = (typeof FACT_KINDS)[number];

/** Something a session says that a summary of it may say too, found without a model. */
export interface Fact {
  readonly kind: FactKind;
  /** One line. */
  readonly text: string;
  /** Index of the newest message that says it. */
  readonly at: number;
}

/**
 * What a kind counts for in a score. A lost rule or request makes the model do the wrong thing; a lost path, error or
 * command makes it look things up again; names and numbers mostly come back with the files.
 */
export const FACT_WEIGHTS: Readonly<Record<FactKind, number>> = {
  request: 5,
  rule: 5,
  file: 3,
  error: 2,
  command: 2,
  identifier: 1,
  number: 1,
};

/** How many of a kind are kept, the strongest: what a good summary of a long session could name. */
export const FACT_LIMITS: Readonly<Record<FactKind, number>> = {
  request: 1,
  rule: 40,
  file: 60,
  error: 20,
  command: 30,
  identifier: 60,
  number: 30,
};

/** One number for each kind, from a function. */
export function countByKind(count: (kind: FactKind) => number): Readonly<Record<FactKind, number>> {
  return {
    request: count("request"),
    rule: count("rule"),
    file: count("file"),
    error: count("error"),
    command: count("command"),
    identifier: count("identifier"),
    number: count("number"),
  };
}

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
  const finder = new FactFinder();
  for (const [at, message] of messages.entries()) finder.read(message, at);
  return finder.facts();
}

class FactFinder {
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
        this.#named(extractProse(message.summary), at);
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
    const prose = extractProse(text);
    if (isRequest(text)) this.#request = { text: shortLine(prose, REQUEST_CHARS), at };
    for (const rule of findRules(prose)) this.#list.add("rule", rule, at, { key: rule.toLowerCase() });
    this.#named(prose, at);
  }

  #assistant(message: AssistantMessage, at: number): void {
    this.#named(extractProse(textOf(message.content)), at);
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const core = simplifyCommand(readCommand(block) ?? "");
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
    const core = simplifyCommand(command);
    if (core !== null) this.#list.add("command", core, at, { strength: STRENGTH.usersCommand });
    const failed = typeof exitCode === "number" && exitCode !== 0;
    if (failed || core !== null) this.#errors(output, failed, at);
  }

  #errors(output: string, failed: boolean, at: number): void {
    for (const line of findErrorLines(output, failed)) this.#list.add("error", line, at, { key: normalizeErrorLine(line) });
  }

  #named(prose: string, at: number): void {
    const files = filesIn(prose);
    for (const path of files) this.#list.add("file", path, at, { strength: STRENGTH.named });
    const known = new Set(files);
    for (const name of findIdentifiers(prose)) if (!known.has(name)) this.#list.add("identifier", name, at);
    for (const number of findNumbers(prose)) this.#list.add("number", number, at);
  }
}

/** Facts as they are found: each once, and in the end the strongest of each kind. */
export class FactList {
  readonly #found = new Map<FactKind, Map<string, FoundFact>>(FACT_KINDS.map((kind) => [kind, new Map()]));

  /** Nothing where the text is empty. `key`: what makes it the same as another of its kind. `strength`: adds up; more is more important. */
  add(kind: FactKind, text: string, at: number, { key = text, strength = 1 }: { key?: string; strength?: number } = {}): void {
    if (text === "") return;
    const all = this.#found.get(kind);
    const known = all?.get(key);
    if (known === undefined) all?.set(key, { text, at, strength });
    else all?.set(key, joinFinds(known, { text, at, strength }));
  }

  /** By kind, the most important first; in a kind the strongest first, of equals the newest. */
  strongest(): readonly Fact[] {
    return FACT_KINDS.flatMap((kind) => {
      const all = [...(this.#found.get(kind)?.values() ?? [])];
      const found = kind === "file" ? mergeFileNames(all) : all;
      return [...found]
        .sort((a, b) => b.strength - a.strength || b.at - a.at)
        .slice(0, FACT_LIMITS[kind])
        .map(({ text, at }) => ({ kind, text, at }));
    });
  }
}

/** A fact on its way: its text, the newest message that says it, and how much it matters so far. */
export interface FoundFact {
  readonly text: string;
  readonly at: number;
  readonly strength: number;
}

/** Two finds of one fact, under the text of the first. */
export function joinFinds(a: FoundFact, b: FoundFact): FoundFact {
  return { text: a.text, at: Math.max(a.at, b.at), strength: a.strength + b.strength };
}

/**
 * A file that is named by its whole path and from its project is one file, under the name from its project. A name alone is
 * the file whose path ends in it, and none where several do. Cost grows with the parts of all paths.
 */
export function mergeFileNames(found: readonly FoundFact[]): readonly FoundFact[] {
  const files = new Map(found.map((one) => [one.text, one]));
  const longer = indexPathsByEnding(files.keys());
  for (const one of [...found].sort((a, b) => b.text.length - a.text.length)) {
    const path = longer.get(one.text);
    if (path === undefined) continue;
    const whole = path === null ? undefined : files.get(path);
    if (whole !== undefined) mergeInto(files, one, whole);
    else if (!one.text.includes("/")) files.delete(one.text);
  }
  return [...files.values()];
}

function mergeInto(files: Map<string, FoundFact>, short: FoundFact, whole: FoundFact): void {
  const kept = short.text.includes("/") ? short : whole;
  files.delete(short.text);
  files.delete(whole.text);
  files.set(kept.text, joinFinds(kept, kept === short ? whole : short));
}

/** Which longer path ends in a shorter one; null: several do. */
function indexPathsByEnding(paths: Iterable<string>): ReadonlyMap<string, string | null> {
  const longer = new Map<string, string | null>();
  for (const path of paths) {
    for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) {
      const end = path.slice(at + 1);
      longer.set(end, longer.has(end) ? null : path);
    }
  }
  return longer;
}

const QUOTED = /`([^`\n]{2,80})`/g;
const NAME = /^[#$@.]?[\p{L}\p{N}_][^\s`"']*$/u;

/** The identifiers in backticks of a prose: no files, no commands, nothing with a space. Linear. */
export function findIdentifiers(prose: string): readonly string[] {
  return [...prose.matchAll(QUOTED)].flatMap(([, given = ""]) => {
    const name = given.trim().replace(/\(\)$/, "");
    return name.length > 1 && NAME.test(name) && /\p{L}/u.test(name) ? [name] : [];
  });
}

const UNITS =
  "ms|µs|ns|s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|weeks?|%|percent|[kKMGT]i?B|bytes?|tokens?|lines?|tests?|files?|rows?|columns?|entries|px|fps|chars?|characters?|bits?|errors?|warnings?|failures?|passed|failed|passing|failing|messages?|requests?|workers?|req\\/s|[kMG]?Hz|°C|[kMG]bit\\/s|users?|USD|EUR|€";
const NUMBER = new RegExp(
  String.raw`(?<![\p{L}\p{N}_.,/+#:=$-])(\d{1,9}(?:,\d{3}){0,4}(?:\.\d{1,9})?)[ \u00a0-]?(${UNITS})(?![\p{L}\p{N}_/+=-])`,
  "gu",
);

/** The numbers with a unit in a prose, as `14 tests` or `16,384 tokens`. A number in data or in code has no unit behind it. Linear. */
export function findNumbers(prose: string): readonly string[] {
  return [...prose.matchAll(NUMBER)].map(([, number = "", unit = ""]) =>
    /^[\w€]/.test(unit) && unit.length > 2 ? `${number} ${unit}` : `${number}${unit}`,
  );
}
