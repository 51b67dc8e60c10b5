import { type Line, toSafeLine, toSafeLines } from "./blocks.js";
import { findErrorLines } from "./commands.js";
import { type ExtractMaterial, getPreviousLines, rankInOrder, rankNewestFirst } from "./material.js";
import { extractProse } from "./prose.js";
import { countWork, type Turn, type UserRequest } from "./timeline.js";
import { findRules, isContradiction } from "./user-intent.js";

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
export function listGoal(material: ExtractMaterial): readonly Line[] {
  const carried = getPreviousLines(material, "goal");
  // What a model wrote stands before what was extracted later.
  const lines = carried.length > 0 && material.goal === null ? carried : quoteGoal(material);
  return lines.map((text, at) => ({ text, rank: at === 0 ? 0 : 3 + at }));
}

function quoteGoal(material: ExtractMaterial): readonly string[] {
  const { goal, limits } = material;
  const [first, ...later] = filterAskedTurns(material);
  if (goal !== null) return toSafeLines(goal, { maxLines: QUOTE_LINES, maxChars: limits.goalChars });
  // Where nothing was asked later, the goal has the room of that too.
  return later.length > 0
    ? quoteRequest(first?.request, limits.goalChars)
    : quoteRequest(first?.request, limits.goalChars + limits.latestChars, 2 * QUOTE_LINES);
}

/**
 * What was asked between the first request and the last, one line each: corrections whole and sooner, the others newest
 * first. What is told among the rules is left out here.
 */
export function listLaterRequests(material: ExtractMaterial): readonly Line[] {
  const turns = filterAskedTurns(material);
  const lineChars = Math.floor(material.limits.lineChars * PLAIN);
  const between = selectMiddleTurns(material).filter(({ request }) => !isRuleAsWhole(request));
  const goalOfOld = material.goal === null ? [] : getPreviousLines(material, "goal").slice(0, 1);
  const lastOfOld = turns.length === 0 ? [] : getPreviousLines(material, "latest").slice(0, 1);
  const carried = [...goalOfOld, ...getPreviousLines(material, "requests"), ...lastOfOld];
  const corrections = new Set(between.filter(isCorrection).map((turn) => formatRequest(turn.request, WHOLE_CHARS)));
  const lines = between.map((turn) => ({
    text: formatRequest(turn.request, isCorrection(turn) ? WHOLE_CHARS : lineChars),
    work: countWork(turn.outcomes),
  }));
  const ranked = rankNewestFirst([...carried, ...lines], 20, 3);
  const newest = ranked
    .map(({ text }) => text)
    .filter((text) => corrections.has(text))
    .reverse();
  return ranked.map((line) => (corrections.has(line.text) ? { ...line, rank: 8 + 2 * newest.indexOf(line.text) } : line));
}

/** What was asked last, as much of it as there is room for; nothing where that is the goal. */
export function listLatestRequest(material: ExtractMaterial): readonly Line[] {
  const turns = filterAskedTurns(material);
  const last = turns.at(-1)?.request;
  if (last === undefined) return rankInOrder(getPreviousLines(material, "latest"), 1, 3);
  if (turns.length === 1 && !hasEarlier(material)) return [];
  const answers = last.text.trim().length < SHORT && last.question !== null ? [`(in answer to: ${last.question})`] : [];
  const lines = [...quoteRequest(last, material.limits.latestChars), ...answers.map((text) => toSafeLine(text, material.limits.lineChars))];
  return lines.map((text, at) => ({ text, rank: at === 0 ? 1 : 4 + at }));
}

/** What the person said must be, must not be, or is always so, word for word: before anything but the goal and the last request. */
export function listRules(material: ExtractMaterial): readonly Line[] {
  const whole = new Set(selectMiddleTurns(material).map(({ request }) => request));
  const found = filterAskedTurns(material).flatMap(({ request }) => {
    if (whole.has(request) && isRuleAsWhole(request)) return [formatRequest(request, WHOLE_CHARS)];
    return findRules(stripCode(request.text)).map((rule) => toSafeLine(rule, WHOLE_CHARS));
  });
  return rankNewestFirst([...getPreviousLines(material, "rules"), ...found], 2.5, 1);
}

/** A short message with a rule in it is quoted whole: what else it says tells what the rule is about. */
function isRuleAsWhole({ text }: UserRequest): boolean {
  const words = takeOwnWords(text);
  return words.length <= WHOLE_CHARS && findRules(words).length > 0;
}

/** The person stopped the model, contradicted it, or told it something to remember, for which it did nothing. */
function isCorrection({ request, outcomes, reply }: AskedTurn): boolean {
  const remembered =
    outcomes.length === 0 && reply?.ends === true && reply.text.length <= ACKNOWLEDGED_CHARS && !/[?？]/.test(request.text);
  return request.interrupts || remembered || isContradiction(request.text) || CORRECTS.test(takeOwnWords(request.text));
}

type AskedTurn = Turn & { readonly request: UserRequest };

function filterAskedTurns({ story }: ExtractMaterial): readonly AskedTurn[] {
  return story.turns.filter((turn): turn is AskedTurn => turn.request !== null);
}

/** Without the first and the last request, which are quoted. Where the goal is known from before, the first is a later one. */
function selectMiddleTurns(material: ExtractMaterial): readonly AskedTurn[] {
  return filterAskedTurns(material).slice(hasEarlier(material) ? 0 : 1, -1);
}

function hasEarlier({ old, goal }: ExtractMaterial): boolean {
  return old !== null || goal !== null;
}

function quoteRequest(request: UserRequest | undefined, maxChars: number, maxLines: number = QUOTE_LINES): readonly string[] {
  return request === undefined ? [] : toSafeLines(stripCode(request.text), { maxLines, maxChars });
}

/** A request on one line; a short one with the question it answers, one with pasted text with the error in that. */
function formatRequest({ text, question }: UserRequest, maxChars: number): string {
  const words = takeOwnWords(text);
  if (words.length < SHORT && question !== null) return toSafeLine(`${words} (in answer to: ${question})`, maxChars);
  const line = toSafeLine(words, maxChars);
  const error = findErrorLines(text, false)[0];
  return error === undefined || line.includes(error) ? line : `${line} [${toSafeLine(error, maxChars)}]`;
}

/** Without code blocks, unless there is nothing else. */
function stripCode(text: string): string {
  const prose = extractProse(text).trim();
  return prose === "" ? text : prose;
}

/** What somebody says before what they paste: paragraphs up to one that tells something or holds an error, without the path of a picture. */
function takeOwnWords(text: string): string {
  const paragraphs = stripCode(text)
    .replace(IMAGE, "")
    .trim()
    .split(/\n\s*\n/);
  let words = "";
  for (const paragraph of paragraphs) {
    const pasted = words !== "" && findErrorLines(paragraph, false).length > 0;
    if (words.length >= TELLING || pasted) break;
    words = `${words} ${paragraph}`.trim();
  }
  return words;
}

const IMAGE = /^['"]?\/\S[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$/gim;
/** In characters. */
const TELLING = 80;
