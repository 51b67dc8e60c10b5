import { rules } from "@bough/session-core/internals";
import { FACTS } from "../arguments/shapes.js";
import { countByKind, FACT_KINDS, FACT_WEIGHTS, type Fact, type FactKind } from "./find-facts.js";
import { collectKeywords, computeOverlap } from "./prose.js";
import { isRule } from "./user-intent.js";

/** How much of what was found in a session is in its summary. Plain JSON of less than 4 KB: it is stored with the summary. */
export interface Fidelity {
  /** 0 to 1: for each kind that was found, the share that is in the summary, weighted by `FACT_WEIGHTS`. 1 where nothing was found. */
  readonly score: number;
  /** Facts found. */
  readonly total: number;
  /** The same by kind. */
  readonly found: Readonly<Record<FactKind, number>>;
  /** Of these, those in the summary. */
  readonly inSummary: Readonly<Record<FactKind, number>>;
  /** Some of the others, the most important first: they can be had by recall only. */
  readonly byRecallOnly: readonly Fact[];
}

/** Bounds of `byRecallOnly`; the size is of its JSON in bytes, and leaves room for the counts. */
const MAX_NAMED = 30;
const MAX_NAMED_BYTES = 3_000;
const DIGITS = 1_000;

/**
 * Which of the facts are in a summary. A file counts when its last parts are there and no other fact ends in them; a
 * command, name or number when it stands there as a whole, whatever the white space; an error by most of its words; a
 * rule by most of its words in a passage that commands or forbids; a request by most of its words anywhere. Case matters for names
 * and commands only. Cost grows with the summary's length times the number of facts, which `FACT_LIMITS` bounds.
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

// By kind, as thirty files would else outweigh the one request.
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

/** The strongest of each kind take turns, those of weighty kinds more often, as far as there is room. */
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

/** Share of its words that a rule, an error or a request must have in common with a summary that says it. */
const ENOUGH = { rule: 0.6, error: 0.7, request: 0.6 } as const;
/** Of a long command the start is enough: summaries shorten the rest. In UTF-16 code units. */
const COMMAND_CHARS = 60;
/** Lines that are read as one passage: a rule may be broken over two. */
const PASSAGE_LINES = 2;
/** Beside the words that make a sentence a rule, those with which a summary says the same. */
const FORBIDS_OR_COMMANDS =
  /\b(?:no|not|without|only|avoid|keep|require[sd]?|forbidden|wants?|should|has to|have to|needs? to|rules?|constraints?|instead of|rather than)\b|n['’]t\b|[^\x00-\x7f]/i;

/** A passage of a summary. */
interface Passage {
  readonly words: ReadonlySet<string>;
  readonly commands: boolean;
}

/** A summary, read once so that many facts can be looked up in it. */
class SummaryText {
  /** White space as one space, without marks of Markdown. */
  readonly #plain: string;
  readonly #lower: string;
  readonly #words: ReadonlySet<string>;
  readonly #passages: readonly Passage[];
  /** How many of the files end in these parts. */
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

  /** Whether the summary says it. */
  contains({ kind, text }: Fact): boolean {
    switch (kind) {
      case "file":
        return listPathEndings(text).some((end) => this.#endings.get(end) === 1 && this.#names(end));
      case "command":
        return this.#plain.includes(normalizeText(text).slice(0, COMMAND_CHARS).trimEnd().replace(/…$/, ""));
      case "identifier":
        return containsWord(this.#plain, normalizeText(text));
      case "number":
        return containsWord(stripSeparators(this.#lower), stripSeparators(text.toLowerCase()));
      case "error":
        return this.#lower.includes(normalizeText(text).toLowerCase()) || this.#hasWords(text, ENOUGH.error);
      case "request":
        return (
          this.#lower.includes(normalizeText(text).toLowerCase()) || computeOverlap(collectKeywords(text), this.#words) >= ENOUGH.request
        );
      case "rule":
        return this.#lower.includes(normalizeText(text).toLowerCase()) || this.#saysRule(text);
    }
  }

  #names(path: string): boolean {
    return containsWord(this.#lower, path.toLowerCase(), IN_A_NAME);
  }

  #hasWords(text: string, enough: number): boolean {
    const wanted = collectKeywords(text);
    return wanted.size > 0 && this.#passages.some(({ words }) => computeOverlap(wanted, words) >= enough);
  }

  #saysRule(rule: string): boolean {
    const wanted = collectKeywords(rule);
    // "Never do that" has no word of its own to look for.
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

/** The last part of a path, the last two, and so on up to the whole. */
function listPathEndings(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_part, at) => parts.slice(parts.length - 1 - at).join("/"));
}

function stripSeparators(text: string): string {
  return text.replace(/(\d)[,\u202f\u00a0'](?=\d{3})/g, "$1").replace(/(\d)[ \u00a0-](?=[\p{L}%°€µ])/gu, "$1");
}

const IN_A_WORD = /[\p{L}\p{N}_]/u;
/** A dot or dash before a name belongs to it: `lexer.ts` is not in `old-lexer.ts`. */
const IN_A_NAME = /[\p{L}\p{N}_.-]/u;

/** Whether `wanted` stands in a text and is not part of a longer word. Linear. */
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
