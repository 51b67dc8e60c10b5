import { checkArgument, TEXT } from "@bough/session-core/arguments";
import { visibleText } from "@bough/session-core/view";
import { LINE_RULES, PLACE_RULES } from "./place-rules.js";
import type { FoundSecret, SecretRule } from "./secret.js";
import { TOKEN_HINT, TOKEN_RULES, tokenRulesFor } from "./token-rules.js";

/**
 * The secrets in a text, in their order, without overlaps: keys and tokens with known prefixes, private keys, passwords in URLs,
 * Authorization headers, cookies, and values with the name of a secret. Placeholders and references to variables are
 * none. Precise rather than complete; linear in the length of the text.
 *
 * @throws {InvalidArgumentError} `text` is not a string.
 * @example
 * findSecrets("export DB_PASSWORD=hunter22"); // [{ start: 19, end: 27, kind: "password" }]
 */
export function findSecrets(text: string): readonly FoundSecret[] {
  checkArgument("text", text, TEXT);
  return findVisible(text, PLACE_RULES);
}

/**
 * The secrets in a title, a label, a preview or another text that was put on one line: beyond those of `findSecrets`, values of settings
 * that stood on lines of their own.
 */
export function findSecretsInLine(text: string): readonly FoundSecret[] {
  return findVisible(text, [...PLACE_RULES, ...LINE_RULES]);
}

function findVisible(text: string, rules: readonly SecretRule[]): readonly FoundSecret[] {
  // Color codes and invisible characters divide a secret where a program marked its start, and exports take them out.
  const visible = visibleText(text);
  if (visible === undefined) return mergeOverlaps(findIn(text, rules));
  const found = findIn(visible.text, rules).map(({ start, end, kind }) => ({
    start: visible.toOriginal(start),
    end: visible.toOriginal(end - 1) + 1,
    kind,
  }));
  return mergeOverlaps([...findIn(text, rules), ...found]);
}

/** The matches of all rules. They may overlap. */
function findIn(text: string, places: readonly SecretRule[]): readonly FoundSecret[] {
  const found = [...findPrivateKeys(text)];
  const add = (rules: readonly SecretRule[], isNone: (one: FoundSecret) => boolean): void => {
    for (const rule of rules) for (const one of matchesOf(rule, text)) if (!isNone(one)) found.push(one);
  };
  if (TOKEN_HINT.test(text)) {
    add(tokenRulesFor(text), ({ start, end }) => isPlaceholder(text.slice(start, end)));
    found.push(...findBrokenTokens(text, found));
  }
  add(
    places.filter(({ hints }) => isHinted(hints, text)),
    (one) => isNoValue(text, one),
  );
  return found;
}

function isHinted(hints: SecretRule["hints"], text: string): boolean {
  return hints instanceof RegExp ? hints.test(text) : hints.some((hint) => text.includes(hint));
}

function matchesOf({ kind, pattern, accepts }: SecretRule, text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const { 0: whole, 1: before = "", index } of text.matchAll(pattern)) {
    const [start, end] = [index + before.length, index + whole.length];
    if (accepts?.(text.slice(start, end), text, start) === false) continue;
    found.push({ start, end, kind: typeof kind === "string" ? kind : kind(before) });
  }
  return found;
}

/** The end of a line in a token: wrapped by a terminal, continued with a backslash, or two texts that code joins. */
const BREAK = String.raw`["']?[^\S\n]{0,3}[\\+.]?[^\S\n]{0,3}\r?\n[^\S\n]{0,40}(?:[+.][^\S\n]{0,3})?["']?`;
/** The rest of a token in the next line, which has nothing else but punctuation after it. */
const REST = String.raw`[A-Za-z0-9_.~+/=-]{4,400}(?=["'\x60]?[),;\]}]{0,3}[^\S\n]{0,3}(?:\n|$))`;
const PREFIXES = TOKEN_RULES.flatMap(({ hints }) => (hints instanceof RegExp ? [] : hints)).filter((hint) => hint.length >= 3);
const ESCAPED = /[.*+?^${}()|[\]\\/]/g;
const BROKEN = new RegExp(
  `(?<![A-Za-z0-9-])((?:${PREFIXES.map((prefix) => prefix.replace(ESCAPED, "\\$&")).join("|")})[A-Za-z0-9_.~+/=-]{2,400})(${BREAK})(${REST})`,
  "g",
);

/** Tokens of `TOKEN_RULES` that continue in the next line, except those that are whole before the end of their line (`found`). */
function findBrokenTokens(text: string, found: readonly FoundSecret[]): readonly FoundSecret[] {
  if (!text.includes("\n")) return [];
  const broken: FoundSecret[] = [];
  for (const { 1: head = "", 2: gap = "", 3: rest = "", index } of text.matchAll(BROKEN)) {
    if (found.some(({ start, end }) => start < index + head.length && end > index)) continue;
    const joined = head + rest;
    for (const { kind, pattern } of TOKEN_RULES) {
      const match = joined.match(new RegExp(pattern.source))?.[0];
      if (match === undefined || !joined.startsWith(match) || match.length <= head.length || typeof kind !== "string") continue;
      broken.push({ start: index, end: index + gap.length + match.length, kind });
      break;
    }
  }
  return broken;
}

// Real tokens have none of these but by a chance of 1 in 10,000.
const PLACEHOLDER =
  /x{4}|\*{3}|\.{3}|…|0{8}|1{8}|(?:your|my|some)[-_]|example|placeholder|changeme|(?<![a-z])(?:change|choose)[-_](?:me|one|a)(?![a-z])|redacted|dummy/i;

/** True if a token is a placeholder, as in documentation. */
function isPlaceholder(token: string): boolean {
  return PLACEHOLDER.test(token.slice(0, 100));
}

/** The start of a reference to a variable, or of a text that is masked already. */
const REFERENCE = /^(?:[$<{*([%]|process\.|os\.|env\.|import\.)/;

const NO_SECRETS = new Set([
  "password",
  "passwd",
  "pass",
  "secret",
  "token",
  "string",
  "undefined",
  "null",
  "none",
  "true",
  "false",
  "required",
  "optional",
  "changeme",
]);

/** True if a value that has the name of a secret is no secret: a placeholder, or a reference to a variable. */
export function isStandIn(value: string): boolean {
  return NO_SECRETS.has(value.toLowerCase()) || isPlaceholder(value) || REFERENCE.test(value);
}

/** True if the value at a place is no secret: a call, a placeholder, a name. */
function isNoValue(text: string, { start, end, kind }: FoundSecret): boolean {
  const value = text.slice(start, end);
  // A call, as in password=ask(): the name of a function.
  if (text[end] === "(") return true;
  if (isStandIn(value)) return true;
  // postgres://postgres:postgres@localhost: the default of a development database.
  return kind === "password in a URL" && text.slice(0, start - 1).endsWith(`/${value}`);
}

/** Joins overlapping secrets, with the kind of the rule that comes first: that of a token is more exact than that of its place. */
export function mergeOverlaps(found: readonly FoundSecret[]): readonly FoundSecret[] {
  const ordered = found.map((one, rank) => ({ ...one, rank })).sort((a, b) => a.start - b.start);
  const merged: ((typeof ordered)[number] & object)[] = [];
  for (const one of ordered) {
    const last = merged.at(-1);
    if (last === undefined || one.start >= last.end) merged.push(one);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, one.end), ...firstKind(last, one) };
  }
  return merged.map(({ start, end, kind }) => ({ start, end, kind }));
}

type Ranked = FoundSecret & { readonly rank: number };

function firstKind(a: Ranked, b: Ranked): Pick<Ranked, "kind" | "rank"> {
  return a.rank <= b.rank ? { kind: a.kind, rank: a.rank } : { kind: b.kind, rank: b.rank };
}

const KEY_EDGE = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The body of a key without an end; line breaks may be escaped. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\]*/y;
/** The largest keys in use have 16,384 bits, about 13,000 characters; longer text between two edges is not a key. */
const MAX_KEY_CHARS = 16_384;
/** A body shorter than this is prose about keys, or a test for the edge. */
const MIN_KEY_CHARS = 40;

/** Private keys in PEM. One pass over the edges: a pattern for a whole key would scan to the end of the text from each edge. */
function findPrivateKeys(text: string): readonly FoundSecret[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: FoundSecret[] = [];
  let begin: { readonly at: number; readonly after: number } | null = null;
  const add = (from: number, end: number, body: string): void => {
    if (hasKeyBody(body)) found.push({ start: from, end, kind: "private key" });
  };
  for (const edge of text.matchAll(KEY_EDGE)) {
    if (begin !== null) add(begin.at, ...keyAfter(text, begin.after, edge));
    begin = edge[1] === "BEGIN" ? { at: edge.index, after: edge.index + edge[0].length } : null;
  }
  if (begin !== null) add(begin.at, ...bodyAfter(text, begin.after));
  return found;
}

/** Returns the end of a key that starts before the next edge, and its body. */
function keyAfter(text: string, from: number, edge: RegExpExecArray): readonly [end: number, body: string] {
  const between = text.slice(from, edge.index);
  // A key contains no angle bracket; otherwise a tag between two edges would be removed.
  const isKey = edge[1] === "END" && between.length <= MAX_KEY_CHARS && !between.includes("<");
  return isKey ? [edge.index + edge[0].length, between] : bodyAfter(text, from);
}

function bodyAfter(text: string, from: number): readonly [end: number, body: string] {
  KEY_BODY.lastIndex = from;
  const body = KEY_BODY.exec(text)?.[0] ?? "";
  return [from + body.length, body];
}

function hasKeyBody(text: string): boolean {
  return text.replace(/[^A-Za-z0-9+/=]/g, "").length >= MIN_KEY_CHARS;
}
