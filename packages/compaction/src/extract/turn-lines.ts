import { describeCall, shareLine } from "@bough/session-core/view";
import {
  type ExtractMaterial,
  getPreviousLines,
  type Line,
  rankInOrder,
  rankNewestFirst,
  toSafeLine,
  toSafeLines,
  type WeightedLine,
} from "./blocks.js";
import { extractCode, extractProse, findRules, isContradiction, type Sentence, splitSentences } from "./prose.js";
import { collectOutcomes, countWork, findLastRuns, hasFailed, type Turn, type UserRequest } from "./timeline.js";
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

interface At extends WeightedLine {
  readonly at: number;
}

/**
 * Finished work: what the model said about work that did not fail, commands whose output has a result, and finished
 * todos. Omitted are replies without a call that changed or ran something, replies after a command that failed and did
 * not succeed since, and replies that the user contradicted.
 */
export function listDone(material: ExtractMaterial): readonly Line[] {
  const { timeline, limits } = material;
  const accepted = timeline.turns.filter((_turn, at) => !isContradiction(timeline.turns[at + 1]?.request?.text ?? ""));
  const found = [...accepted.flatMap(listConclusions), ...listResults(timeline.turns)].sort((a, b) => a.at - b.at);
  const todos = timeline.todos.filter(({ state }) => state === "done").map(({ text }) => ({ text, work: 1 }));
  const lines = [...todos, ...found].map(({ text, work }) => ({ text: toSafeLine(text, limits.lineChars), work }));
  return rankNewestFirst([...getPreviousLines(material, "done"), ...lines], 20, 3);
}

function listConclusions({ finalReplies }: Turn): readonly At[] {
  return finalReplies.flatMap(({ text, at, work }) => {
    const conclusion = work > 0 ? findConclusion(text) : null;
    return conclusion === null || !tellsOfWork(conclusion) ? [] : [{ at, text: conclusion, work }];
  });
}

/** True if a conclusion reports finished work. The acts of the user ("You typed ls"), thanks and emoji are none. */
function tellsOfWork(conclusion: string): boolean {
  return (
    (conclusion.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= 6 && !/^you\s+(?:typed|ran|said|asked|wrote|sent|pressed)\b/i.test(conclusion)
  );
}

function listResults(turns: readonly Turn[]): readonly At[] {
  return [...findLastRuns(collectOutcomes(turns))].flatMap(([command, outcome]) => {
    // A part of a longer command is listed with the whole.
    if (hasFailed(outcome) || outcome.result === null || command !== outcome.command) return [];
    return [{ at: outcome.at, text: `\`${command}\`: ${outcome.result}`, work: 1 }];
  });
}

/** A choice between alternatives, or a reason. */
const DECIDES =
  /\b(?:decided|chose|chosen|opted|went with|instead of|rather than|trade-?off|because|root cause|(?:issue|problem|cause|reason|bug|culprit) (?:is|was|were)|turned out|caus(?:ed|ing))\b/i;
const SHORTEST = 25;
const LONGEST = 320;

/**
 * Decisions and reasons: what the model said with successful calls that changed something, sentences of its replies
 * after such work that decide or explain, and questions that the user answered in a word.
 */
export function listDecisions(material: ExtractMaterial): readonly Line[] {
  const { timeline, limits } = material;
  const maxChars = Math.floor(limits.lineChars * 1.4);
  const remarks = timeline.remarks.filter(({ carriedOut }) => carriedOut).map(({ text, at }) => ({ at, text: findReason(text, maxChars) }));
  const endings = timeline.turns.flatMap(({ finalReplies: all }) => all.filter(({ work }) => work > 0));
  const explained = endings.flatMap(({ text, at }) => findExplanations(text).map((one) => ({ at, text: one })));
  const answers = timeline.answers.map(({ text, at, question }) => ({ at, text: `${question} ${text}` }));
  const found = [...remarks, ...explained, ...answers].filter(({ text }) => text !== "").sort((a, b) => a.at - b.at);
  return rankNewestFirst([...getPreviousLines(material, "decisions"), ...found.map(({ text }) => toSafeLine(text, maxChars))], 21, 3);
}

function findExplanations(reply: string): readonly string[] {
  // Lines listed as done are not repeated.
  const done = findConclusion(reply) ?? "";
  const sentences = splitSentences(extractProse(reply)).map(({ text }) => text);
  return sentences.filter(
    (text) => text.length >= SHORTEST && text.length <= LONGEST && DECIDES.test(text) && !/[?:]$/.test(text) && !done.includes(text),
  );
}

const QUOTE_LINES = 10;

/** The model's last reply, without code. */
export function listLastReply(material: ExtractMaterial): readonly Line[] {
  const { timeline, limits } = material;
  const { lastReply } = timeline;
  const lines =
    lastReply === null
      ? getPreviousLines(material, "last")
      : toSafeLines(extractProse(lastReply), { maxLines: QUOTE_LINES, maxChars: limits.lastChars });
  return lines.map((text, at) => ({ text, rank: 2 + at / 10 }));
}

const STEP =
  /^(?:next|then|after that|finally|remaining|still|todo|to do|now (?:we|i|you|let))\b|\b(?:i['’]ll|i will|let me|let['’]s|we (?:should|need|still|can|could) |you (?:should|need|can|could|may want)|should i|shall i|would you like|do you want|want me to|remains? to|still needs?|not yet)\b/i;
const LEADS_TO_STEPS = /\b(?:steps?|next|remaining|to ?do|plan|options?)\b[^.]*:$/i;
const MAX_STEPS = 8;

/** The next steps that the model's last reply announces or suggests. */
export function listNextSteps(material: ExtractMaterial): readonly Line[] {
  const { timeline, limits } = material;
  if (timeline.lastReply === null) return rankInOrder(getPreviousLines(material, "next"), 5, 1);
  const sentences = splitSentences(extractProse(timeline.lastReply));
  const steps: string[] = [];
  let inList = false;
  for (const { text, listed } of sentences) {
    const leads = LEADS_TO_STEPS.test(text);
    inList = leads || (inList && listed);
    if (!leads && (inList || STEP.test(text))) steps.push(toSafeLine(text, limits.lineChars));
  }
  return steps.slice(0, MAX_STEPS).map((text, at) => ({ text, rank: 5 + at }));
}

/** An interjection without content. */
const INTERJECTION =
  /^(?:(?:oh|ah|hm+|wait|now|ok(?:ay)?|yes|yep|no|sure|of course|absolutely|exactly|right|true|indeed|alright|perfect|done|great|good|nice|excellent|wonderful|fixed|success|got it|my bad|sorry|i see|you(?:['’]re| are)(?: absolutely)? right|good (?:question|point|idea|catch)|great (?:question|point|idea|catch|news)|as (?:requested|you asked)|thank you|thanks|you(?:['’]re| are) welcome|no response requested)[\s,!.:;…✅🎉-]*)+$/iu;
const INTERJECTION_BEFORE =
  /^(?:(?:perfect|done|great|excellent|good|nice|success|ok(?:ay)?|yes|ah|oh|got it|you(?:['’]re| are)(?: absolutely)? right|alright)\s?[!,.:;—-]\s*)+(?=\S{2})/iu;
/** Announces the next step. */
const INTENTION =
  /^(?:now |next,? |then |first,? |so |but |ok(?:ay)?,? )?(?:let(?:['’]s| me| us)|i['’]ll|i will|i(?:['’]m| am) going to|i need to|we need to|i should)\b/i;
/** A question or an observation without a result. */
const WONDERS = /^(?:oh|ah|hm+|wait|huh)\b|\?$/i;
/** Only introduces a list. */
const LEAD_IN =
  /^(?:here(?:['’]s| is| are)\b|what i(?:['’]ve)?\b|(?:key |main |the )?(?:changes?|summary|updates?|solution|results?|findings|fix(?:es)?)\b[^.]{0,40}|now|added|updated|fixed|changed|i (?:updated|changed|added|fixed|made)(?: the following)?)[^.]{0,60}:$/i;
/** List items that are joined into one statement. */
const ITEMS = 3;
/** Least letters of a statement. */
const MIN_LETTERS = 4;
/** A longer announcement also gives a method or reason. */
const BARE_INTENTION = 60;
/** Least length of a statement that accompanies a call. */
const BARE_STATEMENT = 25;

/** A sentence with those that follow it. */
interface Open {
  readonly text: string;
  readonly after: readonly Sentence[];
}

/**
 * The first sentence of a reply that states a result, with the first items of the list that it introduces. null: the
 * reply only announces the next step, or states nothing.
 *
 * @example
 * findConclusion("Perfect! I've moved the lexer to its own file. Let me run the tests:"); // "I've moved the lexer to its own file."
 */
function findConclusion(reply: string): string | null {
  const sentences = splitSentences(extractProse(reply));
  for (const [at, { text }] of sentences.entries()) {
    const bare = text.replace(INTERJECTION_BEFORE, "");
    if (isFiller(text) || INTENTION.test(bare)) continue;
    return formatStatement({ text: text.replace(INTERJECTION_BEFORE, ""), after: sentences.slice(at + 1, at + 1 + ITEMS * 2) });
  }
  return null;
}

/**
 * Returns the model's reason for its calls, from the text with them: the first sentence that states a fact or announces a step
 * with a reason, and the next such one if both are within `maxChars`. Empty: none.
 *
 * @example
 * findReason("The index is missing, so all is read. Let me add it:", 200); // "The index is missing, so all is read."
 */
function findReason(remark: string, maxChars: number): string {
  const [first = "", second = ""] = splitSentences(extractProse(remark))
    .map(({ text }) => text.replace(INTERJECTION_BEFORE, ""))
    .filter((text) => !isFiller(text) && !text.endsWith(":") && text.length >= BARE_STATEMENT)
    .filter((text) => !INTENTION.test(text) || text.length >= BARE_INTENTION);
  return second !== "" && first.length + 1 + second.length <= maxChars ? `${first} ${second}` : first;
}

function isFiller(sentence: string): boolean {
  const letters = sentence.replace(/[^\p{L}\p{N}]/gu, "").length;
  return letters < MIN_LETTERS || INTERJECTION.test(sentence) || WONDERS.test(sentence);
}

function formatStatement({ text, after }: Open): string {
  if (!text.endsWith(":")) return text;
  const items = after.filter(({ listed }) => listed).slice(0, ITEMS);
  if (items.length === 0) return text.slice(0, -1);
  const list = items.map((item) => item.text.replace(/[.;:]$/, "")).join("; ");
  return LEAD_IN.test(text) ? list : `${text} ${list}`;
}

const UNFINISHED = "What was asked last was not finished at this point";

/** The request without an answer, and the open items of the agent's todo list. */
export function listOpenWork(material: ExtractMaterial): readonly Line[] {
  const { timeline, kind } = material;
  const last = timeline.turns.at(-1);
  const unanswered = kind !== "turn-prefix" && last !== undefined && last.request !== null && last.reply?.ends !== true;
  return rankInOrder([...(unanswered ? [describeUnfinished(last)] : []), ...listTodos(material)], 6, 3);
}

function listTodos(material: ExtractMaterial): readonly string[] {
  const { todos } = material.timeline;
  if (todos.length === 0) return getPreviousLines(material, "open").filter((line) => !line.startsWith(UNFINISHED));
  const open = todos.filter(({ state }) => state !== "done").sort((a, b) => Number(b.state === "doing") - Number(a.state === "doing"));
  return open.map(({ text, state }) => toSafeLine(state === "doing" ? `${text} (being done)` : text, material.limits.lineChars));
}

function describeUnfinished({ outcomes }: Turn): string {
  const call = outcomes.at(-1)?.call;
  return call === undefined || call === null
    ? UNFINISHED
    : `${UNFINISHED}; the last step was ${toSafeLine(shareLine("", [describeCall(call)], 80), 80)}`;
}
