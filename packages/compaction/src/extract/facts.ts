import { type AssistantMessage, type BashExecutionMessage, type ContextMessage, type ToolResultMessage, textOf } from "@bough/session-core";
import { shortLine } from "@bough/session-core/view";
import { collectKeywords, computeOverlap, extractCode, extractProse, findRules, isRequest, isRule } from "./prose.js";
import { findErrorLines, findFiles, listTouchedFiles, normalizeErrorLine, readCommand, simplifyCommand } from "./tool-calls.js";

/** Kinds of facts, the most important first. */
export const FACT_KINDS = ["request", "rule", "file", "error", "command", "identifier", "number"] as const satisfies readonly FactKind[];

/**
 * `request`: the user's last request. `rule`: what the user said must, must not or is always to be done. `file`: a path.
 * `error`: a line with an error. `command`: one that changed or checked something. `identifier`: a name in backticks.
 * `number`: one with its unit.
 */
export type FactKind = "request" | "rule" | "file" | "error" | "command" | "identifier" | "number";

/** A fact of a session that its summary should contain, found without a model. */
export interface Fact {
  readonly kind: FactKind;
  /** One line. */
  readonly text: string;
  /** Index of the newest message with it. */
  readonly at: number;
}

/**
 * The weight of a kind in a score. Without a rule or request the model does the wrong thing; without a path, error or
 * command it looks them up again; names and numbers mostly come back with the files.
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

/** The most facts of a kind: as many as a good summary of a long session could name. */
export const FACT_LIMITS: Readonly<Record<FactKind, number>> = {
  request: 1,
  rule: 40,
  file: 60,
  error: 20,
  command: 30,
  identifier: 60,
  number: 30,
};

/** Calls `count` for each kind. */
function countByKind(count: (kind: FactKind) => number): Readonly<Record<FactKind, number>> {
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

/** Longest request, in UTF-16 code units. */
const REQUEST_CHARS = 400;

/** Strength of a fact by its source; changed files are more important than read ones. */
const STRENGTH = { named: 1, read: 1, changed: 4, command: 1, usersCommand: 3 } as const;

/**
 * Finds the facts of a conversation that a summary should keep, without a model: the last request, the user's rules
 * (must, never, always, don't), files of tool calls and of texts, commands that change or check something, error lines,
 * names in backticks, numbers with a unit. Ordered by kind, the most important first; within a kind the strongest first,
 * at most `FACT_LIMITS`, each once.
 *
 * Omitted: commands that only read, dependencies, lock files, temporary files and base64. Only errors are read from tool
 * output; from commands that only read (cat, grep) only if they failed; nothing from code blocks. Deterministic; linear.
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
  /** Calls that change or check something. The output of other calls may contain any text. */
  readonly #commands = new Set<string>();
  #request: { readonly text: string; readonly at: number } | null = null;

  read(message: ContextMessage, index: number): void {
    switch (message.role) {
      case "user":
        this.#readUser(textOf(message.content), index);
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
      case "branchSummary":
        this.#addNamed(extractProse(message.summary), index);
        break;
      case "custom":
        // Messages of the host are repeated by the host.
        break;
    }
  }

  facts(): readonly Fact[] {
    if (this.#request !== null) this.#list.add("request", this.#request.text, this.#request.at);
    return this.#list.strongest();
  }

  #readUser(text: string, at: number): void {
    const prose = extractProse(text);
    if (isRequest(text)) this.#request = { text: shortLine(prose.trim() || extractCode(text), REQUEST_CHARS), at };
    for (const rule of findRules(prose)) this.#list.add("rule", rule, at, { key: rule.toLowerCase() });
    this.#addNamed(prose, at);
  }

  #readReply(message: AssistantMessage, index: number): void {
    this.#addNamed(extractProse(textOf(message.content)), index);
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const core = simplifyCommand(readCommand(block) ?? "");
      if (core !== null) this.#commands.add(block.id);
      if (core !== null) this.#list.add("command", core, index, { strength: STRENGTH.command });
      for (const { path, changed } of listTouchedFiles(block)) {
        this.#list.add("file", path, index, { strength: changed ? STRENGTH.changed : STRENGTH.read });
      }
    }
  }

  #readResult({ content, isError, toolCallId }: ToolResultMessage, at: number): void {
    if (isError || this.#commands.has(toolCallId)) this.#addErrors(textOf(content), isError, at);
  }

  #readCommand({ command, output, exitCode, excludeFromContext }: BashExecutionMessage, at: number): void {
    if (excludeFromContext === true) return;
    const core = simplifyCommand(command);
    if (core !== null) this.#list.add("command", core, at, { strength: STRENGTH.usersCommand });
    const failed = typeof exitCode === "number" && exitCode !== 0;
    if (failed || core !== null) this.#addErrors(output, failed, at);
  }

  #addErrors(output: string, failed: boolean, at: number): void {
    for (const line of findErrorLines(output, failed)) this.#list.add("error", line, at, { key: normalizeErrorLine(line) });
  }

  #addNamed(prose: string, at: number): void {
    const files = findFiles(prose);
    for (const path of files) this.#list.add("file", path, at, { strength: STRENGTH.named });
    const known = new Set(files);
    for (const name of findIdentifiers(prose)) if (!known.has(name)) this.#list.add("identifier", name, at);
    for (const number of findNumbers(prose)) this.#list.add("number", number, at);
  }
}

/** Collects facts, each once, and selects the strongest of each kind. */
class FactList {
  readonly #found = new Map<FactKind, Map<string, FoundFact>>(FACT_KINDS.map((kind) => [kind, new Map()]));

  /** Adds a fact; ignores an empty text. `key`: equal for equal facts of a kind. `strength`: summed over equal facts. */
  add(kind: FactKind, text: string, at: number, { key = text, strength = 1 }: { key?: string; strength?: number } = {}): void {
    if (text === "") return;
    const all = this.#found.get(kind);
    const known = all?.get(key);
    if (known === undefined) all?.set(key, { text, at, strength });
    else all?.set(key, joinFinds(known, { text, at, strength }));
  }

  /** Ordered by kind, the most important first; within a kind by strength, then the newest first. */
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

/** A collected fact: its text, the newest message with it, and its strength so far. */
export interface FoundFact {
  readonly text: string;
  readonly at: number;
  readonly strength: number;
}

/** Merges two finds of one fact, under the text of the first. */
function joinFinds(a: FoundFact, b: FoundFact): FoundFact {
  return { text: a.text, at: Math.max(a.at, b.at), strength: a.strength + b.strength };
}

/**
 * Merges names of the same file: an absolute path and the path relative to the project become the relative one. A name
 * without folder is merged into the one path that ends in it, or dropped if several do. Cost: the number of parts of all
 * paths.
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

/** Maps each path ending to the one longer path with it; null: several paths. */
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

/** The identifiers in backticks of a text: no files, no commands, no spaces. Linear. */
function findIdentifiers(prose: string): readonly string[] {
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

/** The numbers with a unit in a text, as `14 tests` or `16,384 tokens`. Linear. */
function findNumbers(prose: string): readonly string[] {
  return [...prose.matchAll(NUMBER)].map(([, number = "", unit = ""]) =>
    /^[\w€]/.test(unit) && unit.length > 2 ? `${number} ${unit}` : `${number}${unit}`,
  );
}

/** Counts of the facts of a session, and of those in its summary. Plain JSON of less than 4 KB, stored with the summary. */
export interface Fidelity {
  /** 0 to 1: the share of found facts in the summary, by kind, weighted by `FACT_WEIGHTS`. 1 if no facts were found. */
  readonly score: number;
  /** Number of facts found. */
  readonly total: number;
  /** Facts found, by kind. */
  readonly found: Readonly<Record<FactKind, number>>;
  /** Facts in the summary, by kind. */
  readonly inSummary: Readonly<Record<FactKind, number>>;
  /** Some of the missing facts, the most important first; the model can read them only by recall. */
  readonly byRecallOnly: readonly Fact[];
}

/** Bounds of `byRecallOnly`; the size is that of its JSON in bytes. */
const MAX_NAMED = 30;
const MAX_NAMED_BYTES = 3_000;
const DIGITS = 1_000;

/**
 * Scores how many of the facts a summary contains. A file matches if the summary has the last parts of its path and no
 * other file ends in them. A command, name or number must occur as a whole, apart from white space. An error needs most
 * of its words in one passage; a rule most of its words in a passage that commands or forbids; a request most of its
 * words anywhere. Names and commands are case-sensitive. Cost: length of the summary times number of facts, which
 * `FACT_LIMITS` bounds.
 *
 * @example
 * scoreFidelity(findFacts(messages), "Never touch src/lexer.ts.").score; // 1
 */
export function scoreFidelity(facts: readonly Fact[], summary: string): Fidelity {
  const text = new SummaryText(summary, facts);
  const missing = new Set(facts.filter((fact) => !text.contains(fact)));
  const found = countByKind((kind) => facts.filter((fact) => fact.kind === kind).length);
  const inSummary = countByKind((kind) => facts.filter((fact) => fact.kind === kind && !missing.has(fact)).length);
  return { score: computeScore(found, inSummary), total: facts.length, found, inSummary, byRecallOnly: selectMostImportant([...missing]) };
}

// Weighted by kind, because otherwise thirty files would outweigh the one request.
function computeScore(found: Fidelity["found"], inSummary: Fidelity["inSummary"]): number {
  let most = 0;
  let reached = 0;
  for (const kind of FACT_KINDS) {
    if (found[kind] === 0) continue;
    most += FACT_WEIGHTS[kind];
    reached += (FACT_WEIGHTS[kind] * inSummary[kind]) / found[kind];
  }
  return most === 0 ? 1 : Math.round((reached / most) * DIGITS) / DIGITS;
}

/** Selects facts of each kind in turn, those of heavier kinds more often, within the bounds. */
function selectMostImportant(missing: readonly Fact[]): readonly Fact[] {
  const rank = new Map<Fact, number>();
  const seen = new Map<FactKind, number>();
  for (const fact of missing) {
    const before = seen.get(fact.kind) ?? 0;
    seen.set(fact.kind, before + 1);
    rank.set(fact, (before + 1) / FACT_WEIGHTS[fact.kind]);
  }
  const named: Fact[] = [];
  let bytes = 0;
  for (const fact of [...missing].sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0))) {
    bytes += new TextEncoder().encode(JSON.stringify(fact)).length + 1;
    if (named.length >= MAX_NAMED || bytes > MAX_NAMED_BYTES) break;
    named.push(fact);
  }
  return named;
}

/** Share of the words of a rule, error or request that a matching summary must have. */
const ENOUGH = { rule: 0.6, error: 0.7, request: 0.6 } as const;
/** The start of a long command suffices, because summaries shorten the rest. In UTF-16 code units. */
const COMMAND_CHARS = 60;
/** Lines read as one passage, because a rule may be wrapped. */
const PASSAGE_LINES = 2;
/** Words of summaries that express a rule, apart from those of `isRule`. */
const FORBIDS_OR_COMMANDS =
  /\b(?:no|not|without|only|avoid|keep|require[sd]?|forbidden|wants?|should|has to|have to|needs? to|rules?|constraints?|instead of|rather than)\b|n['’]t\b|[^\x00-\x7f]/i;

/** A passage of a summary. */
interface Passage {
  readonly words: ReadonlySet<string>;
  readonly commands: boolean;
}

/** A summary prepared for looking up many facts. */
class SummaryText {
  /** With single spaces and without Markdown. */
  readonly #plain: string;
  readonly #lower: string;
  readonly #words: ReadonlySet<string>;
  readonly #passages: readonly Passage[];
  /** The number of files with each path ending. */
  readonly #endings = new Map<string, number>();

  constructor(summary: string, facts: readonly Fact[]) {
    this.#plain = normalizeText(summary);
    this.#lower = this.#plain.toLowerCase();
    this.#words = collectKeywords(summary);
    this.#passages = splitPassages(summary);
    for (const { kind, text } of facts) {
      if (kind === "file") for (const end of listPathEndings(text)) this.#endings.set(end, (this.#endings.get(end) ?? 0) + 1);
    }
  }

  /** True if the summary contains a fact. */
  contains({ kind, text }: Fact): boolean {
    switch (kind) {
      case "file":
        return listPathEndings(text).some((end) => this.#endings.get(end) === 1 && this.#hasPath(end));
      case "command":
        return this.#plain.includes(normalizeText(text).slice(0, COMMAND_CHARS).trimEnd().replace(/…$/, ""));
      case "identifier":
        return containsWord(this.#plain, normalizeText(text));
      case "number":
        return containsWord(stripSeparators(this.#lower), stripSeparators(text.toLowerCase()));
      case "error":
        return this.#lower.includes(normalizeText(text).toLowerCase()) || this.#hasKeywords(text, ENOUGH.error);
      case "request":
        return (
          this.#lower.includes(normalizeText(text).toLowerCase()) || computeOverlap(collectKeywords(text), this.#words) >= ENOUGH.request
        );
      case "rule":
        return this.#lower.includes(normalizeText(text).toLowerCase()) || this.#hasRule(text);
    }
  }

  #hasPath(path: string): boolean {
    return containsWord(this.#lower, path.toLowerCase(), IN_A_NAME);
  }

  #hasKeywords(text: string, enough: number): boolean {
    const wanted = collectKeywords(text);
    return wanted.size > 0 && this.#passages.some(({ words }) => computeOverlap(wanted, words) >= enough);
  }

  #hasRule(rule: string): boolean {
    const wanted = collectKeywords(rule);
    // A rule such as "Never do that" has no keyword.
    if (wanted.size === 0) return false;
    return this.#passages.some(({ words, commands }) => commands && computeOverlap(wanted, words) >= ENOUGH.rule);
  }
}

function normalizeText(text: string): string {
  return text
    .replace(/[`*"“”]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function splitPassages(summary: string): readonly Passage[] {
  const lines = summary.split("\n").filter((line) => line.trim() !== "");
  const starts = Math.max(1, lines.length - PASSAGE_LINES + 1);
  return Array.from({ length: starts }, (_one, at) => {
    const text = lines.slice(at, at + PASSAGE_LINES).join(" ");
    return { words: collectKeywords(text), commands: isRule(text) || FORBIDS_OR_COMMANDS.test(text) };
  });
}

/** The last part of a path, the last two, and so on up to the whole path. */
function listPathEndings(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_part, at) => parts.slice(parts.length - 1 - at).join("/"));
}

function stripSeparators(text: string): string {
  return text.replace(/(\d)[,\u202f\u00a0'](?=\d{3})/g, "$1").replace(/(\d)[ \u00a0-](?=[\p{L}%°€µ])/gu, "$1");
}

const IN_A_WORD = /[\p{L}\p{N}_]/u;
/** A dot or dash before a name is part of it: `lexer.ts` does not occur in `old-lexer.ts`. */
const IN_A_NAME = /[\p{L}\p{N}_.-]/u;

/** True if a text contains `wanted`, and not as part of a longer word. Linear. */
function containsWord(text: string, wanted: string, beforeIn: RegExp = IN_A_WORD): boolean {
  if (wanted === "") return false;
  const wordFirst = IN_A_WORD.test(wanted.charAt(0));
  const wordLast = IN_A_WORD.test(wanted.charAt(wanted.length - 1));
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const startsWord = !wordFirst || !beforeIn.test(text.charAt(at - 1));
    const endsWord = !wordLast || !IN_A_WORD.test(text.charAt(at + wanted.length));
    if (startsWord && endsWord) return true;
  }
  return false;
}
