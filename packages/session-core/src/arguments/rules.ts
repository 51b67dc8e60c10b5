import { InvalidArgumentError } from "../errors/bough-error.js";

// Public methods check their arguments first, so that a wrong argument from untyped code throws an InvalidArgumentError, not
// a TypeError from a function below or an SqliteError. A check costs less than a microsecond: `typeof` and a few comparisons.
// Entries are not checked here: `entry/validate.ts` validates them.

/** Checks an argument: returns the first part that does not match, or undefined. `at` is the name of the argument. */
export type Rule = (value: unknown, at: string) => Mismatch | undefined;

/** The first part of an argument that does not match its rule. */
export interface Mismatch {
  readonly argument: string;
  readonly wanted: string;
  readonly given: unknown;
}

/** Throws unless `value` matches `rule`. @throws {InvalidArgumentError} naming the argument. */
export function checkArgument(argument: string, value: unknown, rule: Rule): void {
  const misfit = rule(value, argument);
  if (misfit !== undefined) throw new InvalidArgumentError(misfit.argument, misfit.wanted, describeValue(misfit.given));
}

/** A function that checks its first arguments, each by name and rule, and then calls `call`. */
export function checked<A extends unknown[], R>(
  call: (...args: A) => R,
  ...rules: readonly (readonly [string, Rule])[]
): (...args: A) => R {
  return (...args) => {
    for (const [at, [argument, rule]] of rules.entries()) checkArgument(argument, args[at], rule);
    return call(...args);
  };
}

/** A rule from a predicate. `wanted` completes the sentence "must be …" of the error message. */
export function ruleOf(wanted: string, isValid: (value: unknown) => boolean): Rule {
  return (given, argument) => (isValid(given) ? undefined : { argument, wanted, given });
}

/** The key of a locked store. The error of one that is no text does not show it. */
export const STORE_KEY: Rule = (given, argument) => {
  if (typeof given === "string" && given !== "") return undefined;
  return { argument, wanted: "a text that is not empty", given: typeof given === "string" ? "" : typeof given };
};

/** A rule for every member of `T`, and for nothing else. */
export type RulesOf<T> = { readonly [K in keyof T]-?: Rule };

/** The argument may be left out. */
export function optional(rule: Rule): Rule {
  return (value, at) => (value === undefined ? undefined : rule(value, at));
}

/** The argument may be null. */
export function nullable(rule: Rule): Rule {
  return (value, at) => {
    const misfit = value === null ? undefined : rule(value, at);
    return misfit?.argument === at ? { ...misfit, wanted: `${misfit.wanted}, or null` } : misfit;
  };
}

/** An object whose named members match; other members are ignored. */
export function record(members: Readonly<Record<string, Rule>>, wanted = "an object"): Rule {
  const rules = Object.entries(members);
  return (given, argument) => {
    if (!isRecord(given)) return { argument, wanted, given };
    for (const [name, rule] of rules) {
      const misfit = rule(given[name], `${argument}.${name}`);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  };
}

/**
 * Options: an object whose named members match. A member whose name is almost one of these that is not given is a spelling mistake, which
 * would otherwise be ignored; other members are ignored.
 */
export function options(members: Readonly<Record<string, Rule>>, wanted?: string): Rule {
  const named = record(members, wanted);
  const names = Object.keys(members);
  return (given, argument) => {
    const misfit = isRecord(given) ? findMisspelled(given, argument, names) : undefined;
    return misfit ?? named(given, argument);
  };
}

function findMisspelled(given: Readonly<Record<string, unknown>>, argument: string, names: readonly string[]): Mismatch | undefined {
  // Beside `toolTokens`, `totalTokens` is a member of something else that the host spread into its options.
  const missing = names.filter((name) => given[name] === undefined);
  for (const name of Object.keys(given)) {
    if (names.includes(name) || given[name] === undefined) continue;
    const nearest = findNearest(name.slice(0, 40), missing);
    if (nearest !== undefined) return { argument: `${argument}.${name}`, wanted: `spelled ${nearest}`, given: given[name] };
  }
  return undefined;
}

/** An object whose members all match; a member that is undefined counts as left out. */
export function membersOf(rule: Rule, wanted = "an object"): Rule {
  return (given, argument) => {
    if (!isRecord(given)) return { argument, wanted, given };
    for (const [name, value] of Object.entries(given)) {
      const misfit = value === undefined ? undefined : rule(value, `${argument}.${name}`);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  };
}

/** An array whose elements match. */
export function list(rule: Rule, wanted = "an array"): Rule {
  return (given, argument) => {
    if (!Array.isArray(given)) return { argument, wanted, given };
    // By index: callbacks such as `every` skip the holes of an array.
    for (let at = 0; at < given.length; at += 1) {
      const misfit = rule(given[at], `${argument}[${at}]`);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  };
}

/** One of these texts. */
export function oneOf(...texts: readonly string[]): Rule {
  return ruleOf(`one of ${texts.join(", ")}`, (value) => typeof value === "string" && texts.includes(value));
}

/** A discriminated union: the value of the member `member` selects the rule. */
export function byMember(member: string, rules: Readonly<Record<string, Rule>>): Rule {
  const known = record({ [member]: oneOf(...Object.keys(rules)) });
  return (value, at) => {
    const misfit = known(value, at);
    if (misfit !== undefined) return misfit;
    return isRecord(value) ? rules[String(value[member])]?.(value, at) : undefined;
  };
}

/** An object that has these methods, such as a session. */
export function withMethods(wanted: string, ...methods: readonly string[]): Rule {
  return ruleOf(wanted, (value) => isRecord(value) && methods.every((method) => typeof value[method] === "function"));
}

/** Any text. */
export const TEXT = ruleOf("a text", (value) => typeof value === "string");
/** A text with at least one character. */
export const NAME = ruleOf("a text that is not empty", (value) => typeof value === "string" && value !== "");
/** A path of the file system. */
export const FILE = ruleOf(
  "a path: a text of 1 to 4,096 characters, none of them NUL",
  (value) => typeof value === "string" && value !== "" && value.length <= 4096 && !value.includes("\0"),
);
/** true or false. */
export const FLAG = ruleOf("true or false", (value) => typeof value === "boolean");
/** Any number: a limit or a position. Infinity means all; a negative number or NaN means none. */
export const NUMBER = ruleOf("a number", (value) => typeof value === "number");
/** A finite number from 0 up. */
export const AMOUNT = ruleOf("a finite number from 0 up", (value) => Number.isFinite(value) && Number(value) >= 0);
/** The position of a page: `next` of the page before. */
export const CURSOR = ruleOf(
  "`next` of the page before",
  (value) => typeof value === "string" && /^-?\d{1,16}(\.\d{1,16}){0,3}$/.test(value),
);
/** A function. */
export const CALLBACK = ruleOf("a function", (value) => typeof value === "function");
export const SIGNAL = ruleOf("an AbortSignal", (value) => value instanceof AbortSignal);
/** An object of any shape. */
export const OBJECT = record({});
/** Anything. */
export const ANY: Rule = () => undefined;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHOWN = 40;

/** A short description of a value: text is quoted, shortened, and its control characters are escaped. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string": {
      const shown = value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value;
      return `the text ${JSON.stringify(shown.toWellFormed()).replace(/\p{C}/gu, escapeCharacter)}`;
    }
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "an array" : "an object";
    case "bigint":
    case "symbol":
    case "function":
      return `a ${typeof value}`;
  }
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** A misspelled name is recognized up to this many edits, and only if at least half of its letters are right. */
const MAX_EDITS = 3;

/** The candidate that a misspelled name most likely means, ignoring case; undefined: none is close. */
export function findNearest(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: countEdits(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= MAX_EDITS && edits * 2 <= candidate.length)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate;
}

/** The Levenshtein distance: insertions, deletions and replacements of a character. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 1; at <= to.length; at += 1)
      next.push(Math.min((next[at - 1] ?? 0) + 1, (row[at] ?? 0) + 1, (row[at - 1] ?? 0) + (to[at - 1] === letter ? 0 : 1)));
    row = next;
  }
  return row.at(-1) ?? 0;
}
