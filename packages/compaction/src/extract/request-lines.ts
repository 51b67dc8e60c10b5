import { type Line, safeLine, safeLines } from "./blocks.js";
import { errorLines } from "./commands.js";
import { firstFirst, type Material, newestFirst, oldLines } from "./material.js";
import { proseOf } from "./prose.js";
import { type Request, type Turn, workIn } from "./timeline.js";
import { contradicts, rulesIn } from "./user-intent.js";

/** A shorter request is an answer to something, which is said with it. In characters. */
const SHORT = 40;
const QUOTE_LINES = 8;
/** A rule or a correction is quoted whole up to here. */
const WHOLE_CHARS = 300;
/** Share of a line that another request has. */
const PLAIN = 0.8;
/** The model's answer to what it is only to remember is no longer. */
const ACKNOWLEDGED_CHARS = 160;
const CORRECTS = /^(?:wait|actually)\b|\b(?:instead|not the|should(?:n['’]?t)?(?: not)? (?:be|stay|have))\b/i;

/** What was asked first; never lost, however often it is carried on. */
export function goalLines(material: Material): readonly Line[] {
  const carried = oldLines(material, "goal");
  // What a model wrote stands before what was extracted later.
  const lines = carried.length > 0 && material.goal === null ? carried : firstGoal(material);
  return lines.map((text, at) => ({ text, rank: at === 0 ? 0 : 3 + at }));
}

function firstGoal(material: Material): readonly string[] {
  const { goal, limits } = material;
  const [first, ...later] = turnsAsked(material);
  if (goal !== null) return safeLines(goal, { maxLines: QUOTE_LINES, maxChars: limits.goalChars });
  // Where nothing was asked later, the goal has the room of that too.
  return later.length > 0
    ? quoted(first?.request, limits.goalChars)
    : quoted(first?.request, limits.goalChars + limits.latestChars, 2 * QUOTE_LINES);
}

/**
 * What was asked between the first request and the last, one line each: corrections whole and sooner, the others newest
 * first. What is told among the rules is left out here.
 */
export function laterLines(material: Material): readonly Line[] {
  const turns = turnsAsked(material);
  const lineChars = Math.floor(material.limits.lineChars * PLAIN);
  const between = betweenOf(material).filter(({ request }) => !isRuleAsWhole(request));
  const goalOfOld = material.goal === null ? [] : oldLines(material, "goal").slice(0, 1);
  const lastOfOld = turns.length === 0 ? [] : oldLines(material, "latest").slice(0, 1);
  const carried = [...goalOfOld, ...oldLines(material, "requests"), ...lastOfOld];
  const corrections = new Set(between.filter(isCorrection).map((turn) => requestLine(turn.request, WHOLE_CHARS)));
  const lines = between.map((turn) => ({
    text: requestLine(turn.request, isCorrection(turn) ? WHOLE_CHARS : lineChars),
    work: workIn(turn.outcomes),
  }));
  const ranked = newestFirst([...carried, ...lines], 20, 3);
  const newest = ranked
    .map(({ text }) => text)
    .filter((text) => corrections.has(text))
    .reverse();
  return ranked.map((line) => (corrections.has(line.text) ? { ...line, rank: 8 + 2 * newest.indexOf(line.text) } : line));
}

/** What was asked last, as much of it as there is room for; nothing where that is the goal. */
export function latestLines(material: Material): readonly Line[] {
  const turns = turnsAsked(material);
  const last = turns.at(-1)?.request;
  if (last === undefined) return firstFirst(oldLines(material, "latest"), 1, 3);
  if (turns.length === 1 && !hasEarlier(material)) return [];
  const answers = last.text.trim().length < SHORT && last.question !== null ? [`(in answer to: ${last.question})`] : [];
  const lines = [...quoted(last, material.limits.latestChars), ...answers.map((text) => safeLine(text, material.limits.lineChars))];
  return lines.map((text, at) => ({ text, rank: at === 0 ? 1 : 4 + at }));
}

/** What the person said must be, must not be, or is always so, word for word: before anything but the goal and the last request. */
export function ruleLines(material: Material): readonly Line[] {
  const whole = new Set(betweenOf(material).map(({ request }) => request));
  const found = turnsAsked(material).flatMap(({ request }) => {
    if (whole.has(request) && isRuleAsWhole(request)) return [requestLine(request, WHOLE_CHARS)];
    return rulesIn(spoken(request.text)).map((rule) => safeLine(rule, WHOLE_CHARS));
  });
  return newestFirst([...oldLines(material, "rules"), ...found], 2.5, 1);
}

/** A short message with a rule in it is quoted whole: what else it says tells what the rule is about. */
function isRuleAsWhole({ text }: Request): boolean {
  const words = wordsOf(text);
  return words.length <= WHOLE_CHARS && rulesIn(words).length > 0;
}

/** The person stopped the model, contradicted it, or told it something to remember, for which it did nothing. */
function isCorrection({ request, outcomes, reply }: Asked): boolean {
  const remembered =
    outcomes.length === 0 && reply?.ends === true && reply.text.length <= ACKNOWLEDGED_CHARS && !/[?？]/.test(request.text);
  return request.interrupts || remembered || contradicts(request.text) || CORRECTS.test(wordsOf(request.text));
}

type Asked = Turn & { readonly request: Request };

function turnsAsked({ story }: Material): readonly Asked[] {
  return story.turns.filter((turn): turn is Asked => turn.request !== null);
}

/** Without the first and the last request, which are quoted. Where the goal is known from before, the first is a later one. */
function betweenOf(material: Material): readonly Asked[] {
  return turnsAsked(material).slice(hasEarlier(material) ? 0 : 1, -1);
}

function hasEarlier({ old, goal }: Material): boolean {
  return old !== null || goal !== null;
}

function quoted(request: Request | undefined, maxChars: number, maxLines: number = QUOTE_LINES): readonly string[] {
  return request === undefined ? [] : safeLines(spoken(request.text), { maxLines, maxChars });
}

/** A request on one line; a short one with the question it answers, one with pasted text with the error in that. */
function requestLine({ text, question }: Request, maxChars: number): string {
  const words = wordsOf(text);
  if (words.length < SHORT && question !== null) return safeLine(`${words} (in answer to: ${question})`, maxChars);
  const line = safeLine(words, maxChars);
  const error = errorLines(text, false)[0];
  return error === undefined || line.includes(error) ? line : `${line} [${safeLine(error, maxChars)}]`;
}

/** Without code blocks, unless there is nothing else. */
function spoken(text: string): string {
  const prose = proseOf(text).trim();
  return prose === "" ? text : prose;
}

/** What somebody says before what they paste: paragraphs up to one that tells something or holds an error, without the path of a picture. */
function wordsOf(text: string): string {
  const paragraphs = spoken(text)
    .replace(IMAGE, "")
    .trim()
    .split(/\n\s*\n/);
  let words = "";
  for (const paragraph of paragraphs) {
    const pasted = words !== "" && errorLines(paragraph, false).length > 0;
    if (words.length >= TELLING || pasted) break;
    words = `${words} ${paragraph}`.trim();
  }
  return words;
}

const IMAGE = /^['"]?\/\S[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$/gim;
/** In characters. */
const TELLING = 80;
