import { InvalidArgumentError } from "../errors/bough-error.js";

// Callers without types hand in anything. Public methods check what they are given before the first step, so that a wrong
// argument is a typed error and not a TypeError of some function below, or an SqliteError. A check costs well under a
// microsecond: `typeof` and a few comparisons. Entries are not judged here; they have their own gate.

/** What an argument must be: returns the part that does not fit, or undefined. `at` is the name of the argument. */
export type Rule = (value: unknown, at: string) => Mismatch | undefined;

/** The first part of an argument that does not fit. */
export interface Mismatch {
  readonly argument: string;
  readonly wanted: string;
  readonly given: unknown;
}

/** Throws unless `value` fits. @throws {InvalidArgumentError} naming the argument. */
export function checkArgument(argument: string, value: unknown, rule: Rule): void {
  const misfit = rule(value, argument);
  if (misfit !== undefined) throw new InvalidArgumentError(misfit.argument, misfit.wanted, describeValue(misfit.given));
}

/** `call` with a check of its first arguments, each by its name and its rule. */
export function checked<A extends unknown[], R>(
  call: (...args: A) => R,
  ...rules: readonly (readonly [string, Rule])[]
): (...args: A) => R {
  return (...args) => {
    for (const [at, [argument, rule]] of rules.entries()) checkArgument(argument, args[at], rule);
    return call(...args);
  };
}

/** The rule that `fits` states; `wanted` completes the sentence "must be …". */
export function ruleOf(wanted: string, fits: (value: unknown) => boolean): Rule {
  return (given, argument) => (fits(given) ? undefined : { argument, wanted, given });
}

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

/** An object whose named members fit; other members are ignored. */
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

/** An array whose elements fit. */
export function list(rule: Rule, wanted = "an array"): Rule {
  return (given, argument) => {
    if (!Array.isArray(given)) return { argument, wanted, given };
    // By index, because an array with gaps has elements that an iteration by callback leaves out.
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

/** An object whose member `member` says which of `rules` it has to fit. */
export function byMember(member: string, rules: Readonly<Record<string, Rule>>): Rule {
  const known = record({ [member]: oneOf(...Object.keys(rules)) });
  return (value, at) => {
    const misfit = known(value, at);
    if (misfit !== undefined) return misfit;
    return rules[String((value as Readonly<Record<string, unknown>>)[member])]?.(value, at);
  };
}

/** An object that offers these methods, such as a session's handle. */
export function withMethods(wanted: string, ...methods: readonly string[]): Rule {
  return ruleOf(wanted, (value) => isRecord(value) && methods.every((method) => typeof value[method] === "function"));
}

/** Any text. */
export const TEXT = ruleOf("a text", (value) => typeof value === "string");
/** A text with at least one character. */
export const NAME = ruleOf("a text that is not empty", (value) => typeof value === "string" && value !== "");
/** A path of the file system: no text with a NUL character can be one. */
export const FILE = ruleOf(
  "a path: a text of 1 to 4,096 characters, none of them NUL",
  (value) => typeof value === "string" && value !== "" && value.length <= 4096 && !value.includes("\0"),
);
/** true or false. */
export const FLAG = ruleOf("true or false", (value) => typeof value === "boolean");
/** Any number: a limit, or a position to start behind. Infinity means all; what is below zero or no number means none. */
export const NUMBER = ruleOf("a number", (value) => typeof value === "number");
/** A finite number from 0 up. */
export const AMOUNT = ruleOf("a finite number from 0 up", (value) => Number.isFinite(value) && Number(value) >= 0);
/** Where a page starts: what `next` of the page before was. */
export const CURSOR = ruleOf("`next` of the page before", (value) => typeof value === "string" && /^-?\d{1,16}(\.\d{1,16})?$/.test(value));
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

/** What was given, in a few words: untrusted text is quoted, cut and without characters that a terminal acts on. */
function describeValue(value: unknown): string {
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
