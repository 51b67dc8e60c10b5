import { cleanText } from "@bough/session-core/internals";

/** What is read of one text, in UTF-16 code units: half from its start, half from its end. Nobody says more than that. */
const MAX_READ = 24_000;
const FENCE = /^\s{0,8}(?:```|~~~)/;
/** What agents put into a user's message on their own (Claude Code). */
const REMINDER_OPENS = /^\s*<(system-reminder|local-command-[a-z]+|command-[a-z]+)>/;

/** A text without its middle where it is longer than `maxChars`, in UTF-16 code units. Half pairs are mended by `cleanText`. */
export function cutToEdges(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n${text.slice(-half)}`;
}

/** What somebody says in a text: no code blocks, no data, no reminders of the host, no control characters. Linear. */
export function extractProse(text: string): string {
  let until: RegExp | null = null;
  const kept: string[] = [];
  for (const line of removeData(cleanText(cutToEdges(text, MAX_READ))).split("\n")) {
    if (until !== null) {
      if (until.test(line)) until = null;
      continue;
    }
    const reminder = REMINDER_OPENS.exec(line)?.[1];
    const closes = reminder === undefined ? null : new RegExp(`</${reminder}>`);
    if (FENCE.test(line)) until = FENCE;
    else if (closes === null) kept.push(line);
    else if (!closes.test(line)) until = closes;
  }
  return kept.join("\n");
}

/** What ends a sentence, also where people write without capitals; "e.g. x", "v1.2" and "a.ts" do not. */
const END = /(?<=[\p{L}\p{N}`"'’)\]]{2}[.!?]{1,3})(?<!\b(?:etc|vs|cf|approx|resp|incl)\.)\s+|(?<=[。！？])/u;
const MARKER = /^\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/;

/** A sentence, and whether a list marker stood before it. */
export interface Sentence {
  readonly text: string;
  readonly listed: boolean;
}

/**
 * The sentences of a prose in order, without list markers, heading marks and bold marks. A line break ends a sentence.
 * Linear.
 */
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
/** No word or path is that long without a dot or a space. */
const SURELY_DATA = 200;
/**
 * In data a character is seldom of the class (upper, lower, digit) of the one before it: base64 changes at 62 % of its
 * places, hexadecimal at 47 %, a path in camel case at no more than 30 %.
 */
const CHANGES = 0.35;
const ALL_DATA = /^\s*[A-Za-z0-9+/_-]+=*\s*$/;

/**
 * A text without base64, hexadecimal dumps and their like, each run of which becomes one "…": nothing is to be found in
 * them. The short last line of a block goes with it. Linear.
 */
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
  if (run.length >= SURELY_DATA) return true;
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

/** Words that say nothing about what a sentence is about; what commands and forbids is among them, as others say it with other words. */
const STOP = new Set(
  `a about after again all also always am an and any are as at be because been before being but by can could did do does doing don done dont for
  from had has have having he her here his how i if in into is isn it its just let like make me more most must my need needs never no nor not now
  of off ok okay on once one only or other our out please prefer put really same shall she should so some such sure than that the their them then
  there these they this those to too up us use used using very want was way we were what when where which while who why will with would you your
  use ensure instead always without avoid`.split(/\s+/),
);

const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * The words that say what a text is about: in lower case, without common words and without English endings, so that
 * "updating the tests" and "update test" are one. Where a script has no spaces, each pair of characters is a word. Linear.
 */
export function collectKeywords(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) for (const pair of splitIntoPairs(word)) found.add(pair);
    else if (!STOP.has(word) && (word.length > 2 || /\p{N}/u.test(word))) found.add(stem(word));
  }
  return found;
}

/** Share of `wanted` that is in `given`; 1 where nothing is wanted. */
export function computeOverlap(wanted: ReadonlySet<string>, given: ReadonlySet<string>): number {
  if (wanted.size === 0) return 1;
  let both = 0;
  for (const word of wanted) if (given.has(word)) both += 1;
  return both / wanted.size;
}

// Crude on purpose: both sides go through it, and a wrong stem is wrong on both.
function stem(word: string): string {
  const short = word.replace(/(?:ing|ed|es|s|e)$/, "");
  return short.length > 2 ? short : word;
}

function splitIntoPairs(run: string): readonly string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}
