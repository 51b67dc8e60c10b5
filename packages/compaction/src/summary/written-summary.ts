import type { Usage } from "@bough/session-core";
import type { RejectedBecause } from "../errors/summarizer-errors.js";
import type { Fidelity } from "../facts/fidelity.js";

/** Who wrote a summary: a model, a model asked more strictly, the deterministic extract, or a fixed line that says what is missing. */
export type SummaryMethod = "normal" | "strict" | "extract" | "marker";

/** Something that went wrong on the way and did not stop it. */
export interface SummaryFailure {
  /** Of our errors, as `SUMMARY_REJECTED`; `UNKNOWN` for others. */
  readonly code: string;
  readonly message: string;
  /** Why an answer was no summary, where that is what went wrong. */
  readonly reason?: RejectedBecause | undefined;
}

/** A summary that is written and not yet composed with lists and notes. */
export interface WrittenSummary {
  readonly body: string;
  /** Where the prompt asked for one. */
  readonly title: string | null;
  /** One line of at most 200 characters, for screens. */
  readonly shortSummary: string;
  readonly method: SummaryMethod;
  /** Summed over all calls that told theirs. */
  readonly usage: Usage | undefined;
  /** The provider's id of the last answer, where it told one. */
  readonly requestId: string | undefined;
  /** How often a summariser was called, new tries included. */
  readonly calls: number;
  readonly failures: readonly SummaryFailure[];
  /** How many of the facts found in the source are in the body. */
  readonly fidelity: Fidelity;
}

/** The less a model had its way, the higher. */
const RANK: Readonly<Record<SummaryMethod, number>> = { normal: 0, strict: 1, extract: 2, marker: 3 };

/** Of two methods that wrote parts of one summary, the one that says less about its worth. */
export function weaker(a: SummaryMethod, b: SummaryMethod): SummaryMethod {
  return RANK[a] >= RANK[b] ? a : b;
}
