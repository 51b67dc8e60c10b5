import * as rules from "@bough/session-core/arguments";
import { FACTS } from "../arguments/shapes.js";
import { countByKind, FACT_KINDS, FACT_WEIGHTS, type Fact, type FactKind } from "./find-facts.js";
import { collectKeywords, computeOverlap, isRule } from "./prose.js";

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
  rules.checkArgument("facts", facts, FACTS);
  rules.checkArgument("summary", summary, rules.TEXT);
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
