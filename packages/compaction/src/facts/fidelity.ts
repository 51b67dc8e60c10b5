import { rules } from "@bough/session-core/internals";
import { FACTS } from "../arguments/shapes.js";
import { FACT_KINDS, FACT_WEIGHTS, type Fact, type FactKind, perKind } from "./fact.js";
import { SummaryText } from "./summary-text.js";

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
 * judgeFidelity(findFacts(messages), "Never touch src/lexer.ts.").score; // 1
 */
export function judgeFidelity(facts: readonly Fact[], summary: string): Fidelity {
  rules.checkArgument("facts", facts, FACTS);
  rules.checkArgument("summary", summary, rules.TEXT);
  const text = new SummaryText(summary, facts);
  const missing = new Set(facts.filter((fact) => !text.says(fact)));
  const found = perKind((kind) => facts.filter((fact) => fact.kind === kind).length);
  const inSummary = perKind((kind) => facts.filter((fact) => fact.kind === kind && !missing.has(fact)).length);
  return { score: scoreOf(found, inSummary), total: facts.length, found, inSummary, byRecallOnly: mostImportant([...missing]) };
}

// By kind, as thirty files would else outweigh the one request.
function scoreOf(found: Fidelity["found"], inSummary: Fidelity["inSummary"]): number {
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
function mostImportant(missing: readonly Fact[]): readonly Fact[] {
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
