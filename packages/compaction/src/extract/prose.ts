import { cleanText, isSmallTalk, isThanks as isThanksAlone, shortLine } from "@bough/session-core/view";

/** The most that is read of one text, half from its start and half from its end, in UTF-16 code units. */
const MAX_READ = 24_000;
const FENCE = /^\s{0,8}(?:```|~~~)/;
/** Text that agents add to a user's message (Claude Code). */
const REMINDER_OPENS = /^\s*<(system-reminder|local-command-[a-z]+|command-[a-z]+)>/;

/** Removes the middle of a text longer than `maxChars` UTF-16 code units. `cleanText` repairs split surrogate pairs. */
export function cutToEdges(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n${text.slice(-half)}`;
}

/** The prose of a text: no code blocks, data, reminders of the host or control characters. Linear. */
export function extractProse(text: string): string {
  return splitCode(text).prose.join("\n");
}

/**
 * The code of a text, where it has no prose: a line that somebody pasted. Each line of a block is inline code, because an extract cuts
 * and leaves out single lines. Linear.
 */
export function extractCode(text: string): string {
  return splitCode(text).code.map(toInlineCode).join("\n");
}

/** The lines of prose and of code blocks, without reminders of the host. */
function splitCode(text: string): { readonly prose: readonly string[]; readonly code: readonly string[] } {
  let until: RegExp | null = null;
  const [prose, code]: [string[], string[]] = [[], []];
  for (const line of removeData(cleanText(cutToEdges(text, MAX_READ))).split("\n")) {
    if (until !== null) {
      if (until.test(line)) until = null;
      else if (until === FENCE) code.push(line);
      continue;
    }
    const reminder = REMINDER_OPENS.exec(line)?.[1];
    const closes = reminder === undefined ? null : new RegExp(`</${reminder}>`);
    if (FENCE.test(line)) until = FENCE;
    else if (closes === null) prose.push(line);
    else if (!closes.test(line)) until = closes;
  }
  return { prose, code };
}

/** The lines of a text, those of its code blocks as inline code, without the fences. Linear. */
export function inlineCodeBlocks(text: string): string {
  let isCode = false;
  const lines = text.split("\n").flatMap((line) => {
    if (!FENCE.test(line)) return [isCode ? toInlineCode(line) : line];
    isCode = !isCode;
    return [];
  });
  return lines.join("\n");
}

function toInlineCode(line: string): string {
  return line.trim() === "" || line.includes("`") ? line : `\`${line.trim()}\``;
}

/** Ends a sentence, also before a lower-case letter, but not in "e.g. x", "v1.2" or "a.ts". */
const END = /(?<=[\p{L}\p{N}`"'’)\]]{2}[.!?]{1,3})(?<!\b(?:etc|vs|cf|approx|resp|incl)\.)\s+|(?<=[。！？])/u;
const MARKER = /^\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/;

/** A sentence, and whether a list marker precedes it. */
export interface Sentence {
  readonly text: string;
  readonly listed: boolean;
}

/** The sentences of a text in order, without list markers, headings and bold marks. A line break ends a sentence. Linear. */
export function splitSentences(prose: string): readonly Sentence[] {
  return prose.split("\n").flatMap((line) => {
    if (/^\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$)/.test(line)) return [];
    const listed = MARKER.test(line);
    const text = line.replace(MARKER, "").replaceAll("**", "").trim();
    return text
      .split(END)
      .map((one) => one.trim())
      .filter((one) => one !== "")
      .map((one) => ({ text: one, listed }));
  });
}

/** Shorter runs are words, hashes or paths; a line of base64 has 60, 64 or 76 characters. */
const RUN = /[A-Za-z0-9+/_=-]{40,}/g;
/** No word or path is this long without a dot or a space. */
const CERTAIN_DATA = 200;
/**
 * Least share of characters whose class (upper, lower, digit) differs from the one before. Measured: 62 % in base64, 47 %
 * in hexadecimal, at most 30 % in paths in camel case.
 */
const CHANGES = 0.35;
const ALL_DATA = /^\s*[A-Za-z0-9+/_-]+=*\s*$/;

/** Replaces each run of base64, hexadecimal or similar data by one "…", with the short last line of a block. Linear. */
export function removeData(text: string): string {
  if (text.search(RUN) === -1) return text;
  let inBlock = false;
  const lines = text.split("\n").map((line) => {
    const kept = line.replace(RUN, (run) => (isData(run) ? "…" : run));
    const tail = inBlock && ALL_DATA.test(line);
    inBlock = kept !== line && ALL_DATA.test(line);
    return tail ? "…" : kept;
  });
  return lines.join("\n");
}

function isData(run: string): boolean {
  if (run.length >= CERTAIN_DATA) return true;
  let changes = 0;
  for (let at = 1; at < run.length; at += 1) {
    if (classifyCharacter(run.charCodeAt(at)) !== classifyCharacter(run.charCodeAt(at - 1))) changes += 1;
  }
  return changes / run.length > CHANGES;
}

function classifyCharacter(unit: number): number {
  if (unit >= 0x61) return 0;
  if (unit >= 0x41) return 1;
  return unit >= 0x30 ? 2 : 3;
}

/** Words that do not identify the topic of a sentence, including those of commands and prohibitions. */
const STOP = new Set(
  `a about after again all also always am an and any are as at be because been before being but by can could did do does doing don done dont for
  from had has have having he her here his how i if in into is isn it its just let like make me more most must my need needs never no nor not now
  of off ok okay on once one only or other our out please prefer put really same shall she should so some such sure than that the their them then
  there these they this those to too up us use used using very want was way we were what when where which while who why will with would you your
  use ensure instead always without avoid`.split(/\s+/),
);

const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * The keywords of a text: lower case, without common words and English endings, so that "updating the tests" and "update
 * test" match. In scripts without spaces, each pair of characters is a word. Linear.
 */
export function collectKeywords(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) for (const pair of splitIntoPairs(word)) found.add(pair);
    else if (!STOP.has(word) && (word.length > 2 || /\p{N}/u.test(word))) found.add(stem(word));
  }
  return found;
}

/** Share of `wanted` that is in `given`; 1 if nothing is wanted. */
export function computeOverlap(wanted: ReadonlySet<string>, given: ReadonlySet<string>): number {
  if (wanted.size === 0) return 1;
  let both = 0;
  for (const word of wanted) if (given.has(word)) both += 1;
  return both / wanted.size;
}

// A crude stem suffices, because both sides are compared after it.
function stem(word: string): string {
  const short = word.replace(/(?:ing|ed|es|s|e)$/, "");
  return short.length > 2 ? short : word;
}

function splitIntoPairs(run: string): readonly string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

const COMMAND_OF_HOST = /^\/[a-z-]*$/i;

/** True if a text is a request: not a slash command, "continue", "thanks", an emoji or the path of an image. Pasted code is one. */
export function isRequest(text: string): boolean {
  const prose = extractProse(text).trim();
  if (prose === "") return extractCode(text).trim() !== "";
  return !(isSmallTalk(prose) || COMMAND_OF_HOST.test(prose));
}

/** True if a text only acknowledges a reply. The model's answer to it is ignored. */
export function isThanks(text: string): boolean {
  return isThanksAlone(extractProse(text).trim());
}

const CONTRADICTS = /^(?:no|nope|stop|nein|non|não|нет)\b(?!\s+(?:problem|worries|rush))|\b(?:undo|undid|revert(?:ed)?)\b/i;

/** True if a request contradicts the work before it. */
export function isContradiction(request: string): boolean {
  return CONTRADICTS.test(extractProse(request).trim());
}

const MAX_RULE_CHARS = 300;
/** Longer sentences are pasted text. */
const MAX_SENTENCE_CHARS = 600;

const RULE_WORDS =
  /\b(?:must(?:n['’]?t)?|never|always|do not|don['’]?t|(?:should|shall) (?:not|never|only|always)|shouldn['’]?t|make sure|ensure that|prefer|use only|only (?:use|ever)|at all times|under no circumstances|not allowed|no longer allowed)\b|^(?:please )?(?:avoid|only)\b/i;
/** A statement about an opinion or about behavior, not a rule. */
const STATEMENT =
  /\b(?:i|it|they|he|she|that|this|which|who|users?|people)\s+(?:really\s+)?(?:do not|don['’]?t)\b|\bdon['’]?t (?:you )?(?:think|know|understand|see|care|mind|worry|believe)\b|\b(?:i|we) must (?:have|admit|say)\b|\b(?:can|could|do|did|does|would|is|are) (?:i|you|we) (?:\w+ )?(?:always|never)\b/i;
/** With these words a sentence is a rule even if it also states an opinion. */
const CERTAIN_RULE = /\b(?:must|never)\b/i;

/**
 * The sentences of a user's text that state a rule: with must, never, always, don't, do not, make sure, only, prefer,
 * avoid. Linear.
 */
export function findRules(prose: string): readonly string[] {
  return splitSentences(prose)
    .map(({ text }) => text)
    .filter((text) => text.length <= MAX_SENTENCE_CHARS && isRule(text))
    .map((text) => shortLine(text, MAX_RULE_CHARS));
}

/** True if a sentence states a rule. */
export function isRule(sentence: string): boolean {
  if (!RULE_WORDS.test(sentence) || /\bi must\b/i.test(sentence)) return false;
  return CERTAIN_RULE.test(sentence) || !(STATEMENT.test(sentence) || sentence.endsWith("?"));
}
