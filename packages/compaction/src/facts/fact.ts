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
export function perKind(count: (kind: FactKind) => number): Readonly<Record<FactKind, number>> {
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
