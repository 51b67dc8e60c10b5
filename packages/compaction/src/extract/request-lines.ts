import { type Line, toSafeLine, toSafeLines } from "./blocks.js";
import { type ExtractMaterial, getPreviousLines, rankInOrder, rankNewestFirst } from "./material.js";
import { extractCode, extractProse, findRules, isContradiction } from "./prose.js";
import { countWork, type Turn, type UserRequest } from "./timeline.js";
import { findErrorLines } from "./tool-calls.js";

/** A shorter request is listed with the question that it answers. In characters. */
const SHORT_CHARS = 40;
const MAX_QUOTE_LINES = 8;
/** Rules and corrections up to this length are quoted whole. */
const MAX_WHOLE_CHARS = 300;
/** Share of the length of a line for a request that is neither a rule nor a correction. */
const OTHER_REQUEST_SHARE = 0.8;
/** Longest acknowledgment of a request to remember something. */
const ACKNOWLEDGED_CHARS = 160;
// `fitBlocks` takes lines in the order of their rank, lowest first: the goal, the last request and the rules first, then
// corrections, then other requests. `_STEP` is the difference between two lines of one list.
const GOAL_RANK = 0;
const GOAL_REST_RANK = 3;
const LATEST_RANK = 1;
const LATEST_REST_RANK = 4;
const OLD_LATEST_STEP = 3;
const RULE_RANK = 2.5;
const RULE_STEP = 1;
const CORRECTION_RANK = 8;
const CORRECTION_STEP = 2;
const REQUEST_RANK = 20;
const REQUEST_STEP = 3;
const CORRECTS = /^(?:wait|actually)\b|\b(?:instead|not the|should(?:n['’]?t)?(?: not)? (?:be|stay|have))\b/i;

/** The first request. It is never dropped, even after many compactions. */
export function listGoal(material: ExtractMaterial): readonly Line[] {
  const carried = getPreviousLines(material, "goal");
  // The goal in a summary by a model is older than that of an extract.
  const lines = carried.length > 0 && material.goal === null ? carried : quoteGoal(material);
  return lines.map((text, at) => ({ text, rank: at === 0 ? GOAL_RANK : GOAL_REST_RANK + at }));
}

function quoteGoal(material: ExtractMaterial): readonly string[] {
  const { goal, limits } = material;
  const [first, ...later] = filterAskedTurns(material);
  if (goal !== null) return toSafeLines(goal, { maxLines: MAX_QUOTE_LINES, maxChars: limits.goalChars });
  // Without a later request, the goal also uses the space reserved for the last request.
  return later.length > 0
    ? quoteRequest(first?.request, limits.goalChars)
    : quoteRequest(first?.request, limits.goalChars + limits.latestChars, 2 * MAX_QUOTE_LINES);
}

/**
 * The requests between the first and the last, one line each: corrections in full and with a lower rank, the others newest
 * first. Requests listed among the rules are omitted.
 */
export function listLaterRequests(material: ExtractMaterial): readonly Line[] {
  const turns = filterAskedTurns(material);
  const lineChars = Math.floor(material.limits.lineChars * OTHER_REQUEST_SHARE);
  const between = selectMiddleTurns(material).filter(({ request }) => !isRuleAsWhole(request));
  const previousGoal = material.goal === null ? [] : getPreviousLines(material, "goal").slice(0, 1);
  const previousLatest = turns.length === 0 ? [] : getPreviousLines(material, "latest").slice(0, 1);
  const carried = [...previousGoal, ...getPreviousLines(material, "requests"), ...previousLatest];
  const corrections = new Set(between.filter(isCorrection).map((turn) => formatRequest(turn.request, MAX_WHOLE_CHARS)));
  const lines = between.map((turn) => ({
    text: formatRequest(turn.request, isCorrection(turn) ? MAX_WHOLE_CHARS : lineChars),
    work: countWork(turn.outcomes),
  }));
  const ranked = rankNewestFirst([...carried, ...lines], REQUEST_RANK, REQUEST_STEP);
  const newest = ranked
    .map(({ text }) => text)
    .filter((text) => corrections.has(text))
    .reverse();
  return ranked.map((line) =>
    corrections.has(line.text) ? { ...line, rank: CORRECTION_RANK + CORRECTION_STEP * newest.indexOf(line.text) } : line,
  );
}

/** The last request, as much of it as fits; none if it is the goal. */
export function listLatestRequest(material: ExtractMaterial): readonly Line[] {
  const turns = filterAskedTurns(material);
  const last = turns.at(-1)?.request;
  if (last === undefined) return rankInOrder(getPreviousLines(material, "latest"), LATEST_RANK, OLD_LATEST_STEP);
  if (turns.length === 1 && !hasEarlier(material)) return [];
  const answers = last.text.trim().length < SHORT_CHARS && last.question !== null ? [`(in answer to: ${last.question})`] : [];
  const lines = [...quoteRequest(last, material.limits.latestChars), ...answers.map((text) => toSafeLine(text, material.limits.lineChars))];
  return lines.map((text, at) => ({ text, rank: at === 0 ? LATEST_RANK : LATEST_REST_RANK + at }));
}

/** The user's rules, word for word, ranked directly after the goal and the last request. */
export function listRules(material: ExtractMaterial): readonly Line[] {
  const whole = new Set(selectMiddleTurns(material).map(({ request }) => request));
  const found = filterAskedTurns(material).flatMap(({ request }) => {
    if (whole.has(request) && isRuleAsWhole(request)) return [formatRequest(request, MAX_WHOLE_CHARS)];
    return findRules(stripCode(request.text)).map((rule) => toSafeLine(rule, MAX_WHOLE_CHARS));
  });
  return rankNewestFirst([...getPreviousLines(material, "rules"), ...found], RULE_RANK, RULE_STEP);
}

/** A short message with a rule is quoted whole, because the rest gives its context. */
function isRuleAsWhole({ text }: UserRequest): boolean {
  const words = takeOwnWords(text);
  return words.length <= MAX_WHOLE_CHARS && findRules(words).length > 0;
}

/** The user stopped the model, contradicted it, or told it to remember something. */
function isCorrection({ request, outcomes, reply }: AskedTurn): boolean {
  const remembered =
    outcomes.length === 0 && reply?.ends === true && reply.text.length <= ACKNOWLEDGED_CHARS && !/[?？]/.test(request.text);
  return request.interrupts || remembered || isContradiction(request.text) || CORRECTS.test(takeOwnWords(request.text));
}

type AskedTurn = Turn & { readonly request: UserRequest };

function filterAskedTurns({ timeline }: ExtractMaterial): readonly AskedTurn[] {
  return timeline.turns.filter((turn): turn is AskedTurn => turn.request !== null);
}

/** The requests except the first and the last. If the goal is known from an earlier summary, the first is included. */
function selectMiddleTurns(material: ExtractMaterial): readonly AskedTurn[] {
  return filterAskedTurns(material).slice(hasEarlier(material) ? 0 : 1, -1);
}

function hasEarlier({ old, goal }: ExtractMaterial): boolean {
  return old !== null || goal !== null;
}

function quoteRequest(request: UserRequest | undefined, maxChars: number, maxLines: number = MAX_QUOTE_LINES): readonly string[] {
  return request === undefined ? [] : toSafeLines(stripCode(request.text), { maxLines, maxChars });
}

/** A request on one line: a short one with the question that it answers, one with pasted text with the error in it. */
function formatRequest({ text, question }: UserRequest, maxChars: number): string {
  const words = takeOwnWords(text);
  if (words.length < SHORT_CHARS && question !== null) return toSafeLine(`${words} (in answer to: ${question})`, maxChars);
  const line = toSafeLine(words, maxChars);
  const error = findErrorLines(text, false)[0];
  return error === undefined || line.includes(error) ? line : `${line} [${toSafeLine(error, maxChars)}]`;
}

/** Removes code blocks, unless nothing else remains. */
function stripCode(text: string): string {
  const prose = extractProse(text).trim();
  return prose || extractCode(text).trim() || text;
}

/** The text before pasted content: paragraphs up to the first long one or the first with an error, without paths of images. */
function takeOwnWords(text: string): string {
  const paragraphs = stripCode(text)
    .replace(IMAGE, "")
    .trim()
    .split(/\n\s*\n/);
  let words = "";
  for (const paragraph of paragraphs) {
    const pasted = words !== "" && findErrorLines(paragraph, false).length > 0;
    if (words.length >= ENOUGH_CHARS || pasted) break;
    words = `${words} ${paragraph}`.trim();
  }
  return words;
}

const IMAGE = /^['"]?\/\S[^\n]*\.(?:png|jpe?g|gif|webp)['"]?$/gim;
/** Enough to describe a request. In characters. */
const ENOUGH_CHARS = 80;
