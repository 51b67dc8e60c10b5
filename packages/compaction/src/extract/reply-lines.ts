import { type Line, toSafeLine, toSafeLines } from "./blocks.js";
import { type ExtractMaterial, getPreviousLines, rankInOrder, rankNewestFirst, type WeightedLine } from "./material.js";
import { extractProse, type Sentence, splitSentences } from "./prose.js";
import { collectOutcomes, findLastRuns, hasFailed, type Turn } from "./timeline.js";
import { isContradiction } from "./user-intent.js";

interface At extends WeightedLine {
  readonly at: number;
}

/**
 * What was done: what the model said of work that did not fail, in its own words, commands whose output tells what came of
 * them, and what its own list calls done. A reply behind which nothing was changed or run, one after a command that went
 * wrong and did not run well since, and one that the person contradicted say nothing here.
 */
export function listDone(material: ExtractMaterial): readonly Line[] {
  const { story, limits } = material;
  const stood = story.turns.filter((_turn, at) => !isContradiction(story.turns[at + 1]?.request?.text ?? ""));
  const found = [...stood.flatMap(listConclusions), ...listResults(story.turns)].sort((a, b) => a.at - b.at);
  const todos = story.todos.filter(({ state }) => state === "done").map(({ text }) => ({ text, work: 1 }));
  const lines = [...todos, ...found].map(({ text, work }) => ({ text: toSafeLine(text, limits.lineChars), work }));
  return rankNewestFirst([...getPreviousLines(material, "done"), ...lines], 20, 3);
}

function listConclusions({ finalReplies }: Turn): readonly At[] {
  return finalReplies.flatMap(({ text, at, work }) => {
    const said = work > 0 ? findConclusion(text) : null;
    return said === null ? [] : [{ at, text: said, work }];
  });
}

function listResults(turns: readonly Turn[]): readonly At[] {
  return [...findLastRuns(collectOutcomes(turns))].flatMap(([command, outcome]) => {
    // A part of a longer command has its line with the whole.
    if (hasFailed(outcome) || outcome.result === null || command !== outcome.command) return [];
    return [{ at: outcome.at, text: `\`${command}\`: ${outcome.result}`, work: 1 }];
  });
}

/** Says that one way was taken and another was not, or why something is as it is. */
const DECIDES =
  /\b(?:decided|chose|chosen|opted|went with|instead of|rather than|trade-?off|because|root cause|(?:issue|problem|cause|reason|bug|culprit) (?:is|was|were)|turned out|caus(?:ed|ing))\b/i;
const SHORTEST = 25;
const LONGEST = 320;

/**
 * What was decided and why: what the model said beside calls that changed something and did not fail, sentences of its
 * replies after such work that decide or explain, and questions that the person answered in a word.
 */
export function listDecisions(material: ExtractMaterial): readonly Line[] {
  const { story, limits } = material;
  const maxChars = Math.floor(limits.lineChars * 1.4);
  const remarks = story.remarks.filter(({ carriedOut }) => carriedOut).map(({ text, at }) => ({ at, text: findReason(text, maxChars) }));
  const endings = story.turns.flatMap(({ finalReplies: all }) => all.filter(({ work }) => work > 0));
  const explained = endings.flatMap(({ text, at }) => findExplanations(text).map((one) => ({ at, text: one })));
  const answers = story.answers.map(({ text, at, question }) => ({ at, text: `${question} ${text}` }));
  const found = [...remarks, ...explained, ...answers].filter(({ text }) => text !== "").sort((a, b) => a.at - b.at);
  return rankNewestFirst([...getPreviousLines(material, "decisions"), ...found.map(({ text }) => toSafeLine(text, maxChars))], 21, 3);
}

function findExplanations(reply: string): readonly string[] {
  // What is listed as done is not said twice.
  const done = findConclusion(reply) ?? "";
  const sentences = splitSentences(extractProse(reply)).map(({ text }) => text);
  return sentences.filter(
    (text) => text.length >= SHORTEST && text.length <= LONGEST && DECIDES.test(text) && !/[?:]$/.test(text) && !done.includes(text),
  );
}

const QUOTE_LINES = 10;

/** What the model said last, without code. */
export function listLastReply(material: ExtractMaterial): readonly Line[] {
  const { story, limits } = material;
  const { lastReply } = story;
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

/** What the model said it, or the user, would do next. */
export function listNextSteps(material: ExtractMaterial): readonly Line[] {
  const { story, limits } = material;
  if (story.lastReply === null) return rankInOrder(getPreviousLines(material, "next"), 5, 1);
  const sentences = splitSentences(extractProse(story.lastReply));
  const steps: string[] = [];
  let inList = false;
  for (const { text, listed } of sentences) {
    const leads = LEADS_TO_STEPS.test(text);
    inList = leads || (inList && listed);
    if (!leads && (inList || STEP.test(text))) steps.push(toSafeLine(text, limits.lineChars));
  }
  return steps.slice(0, MAX_STEPS).map((text, at) => ({ text, rank: 5 + at }));
}

/** Says that something is good, and not what. */
const INTERJECTION =
  /^(?:(?:oh|ah|hm+|wait|now|ok(?:ay)?|yes|yep|no|sure|of course|absolutely|exactly|right|true|indeed|alright|perfect|done|great|good|nice|excellent|wonderful|fixed|success|got it|my bad|sorry|i see|you(?:['’]re| are)(?: absolutely)? right|good (?:question|point|idea|catch)|great (?:question|point|idea|catch|news)|as (?:requested|you asked)|thank you|thanks|you(?:['’]re| are) welcome|no response requested)[\s,!.:;…✅🎉-]*)+$/iu;
const INTERJECTION_BEFORE =
  /^(?:(?:perfect|done|great|excellent|good|nice|success|ok(?:ay)?|yes|ah|oh|got it|you(?:['’]re| are)(?: absolutely)? right|alright)\s?[!,.:;—-]\s*)+(?=\S{2})/iu;
/** Says what comes next. */
const INTENTION =
  /^(?:now |next,? |then |first,? |so |but |ok(?:ay)?,? )?(?:let(?:['’]s| me| us)|i['’]ll|i will|i(?:['’]m| am) going to|i need to|we need to|i should)\b/i;
/** Notices or asks, and says nothing that is settled. */
const WONDERS = /^(?:oh|ah|hm+|wait|huh)\b|\?$/i;
/** Only leads to a list. */
const LEAD_IN =
  /^(?:here(?:['’]s| is| are)\b|what i(?:['’]ve)?\b|(?:key |main |the )?(?:changes?|summary|updates?|solution|results?|findings|fix(?:es)?)\b[^.]{0,40}|now|added|updated|fixed|changed|i (?:updated|changed|added|fixed|made)(?: the following)?)[^.]{0,60}:$/i;
/** Items of a list that are joined into one statement. */
const ITEMS = 3;
/** What says something has so many letters. */
const LEAST_LETTERS = 4;
/** A longer intention also says how, or why. */
const BARE_INTENTION = 60;
/** A shorter sentence beside a call is a cry. */
const BARE_STATEMENT = 25;

/** A sentence with what comes behind it. */
interface Open {
  readonly text: string;
  readonly after: readonly Sentence[];
}

/**
 * What a reply says was done or found: its first sentence that says so, with the first items of the list it leads to.
 * null: it says only what comes next, or nothing.
 *
 * @example
 * conclusionOf("Perfect! I've moved the lexer to its own file. Let me run the tests:"); // "I've moved the lexer to its own file."
 */
function findConclusion(reply: string): string | null {
  const sentences = splitSentences(extractProse(reply));
  for (const [at, { text }] of sentences.entries()) {
    const said = text.replace(INTERJECTION_BEFORE, "");
    if (isFiller(text) || INTENTION.test(said)) continue;
    return formatStatement({ text: text.replace(INTERJECTION_BEFORE, ""), after: sentences.slice(at + 1, at + 1 + ITEMS * 2) });
  }
  return null;
}

/**
 * What a model says beside calls about why it makes them: the first sentence that tells how things are, or what it will do
 * where it also tells how or why, and the next such one where both have room in `maxChars`. Empty: it says nothing of the kind.
 *
 * @example
 * reasonOf("The index is missing, so all is read. Let me add it:", 200); // "The index is missing, so all is read."
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
  return letters < LEAST_LETTERS || INTERJECTION.test(sentence) || WONDERS.test(sentence);
}

function formatStatement({ text, after }: Open): string {
  if (!text.endsWith(":")) return text;
  const items = after.filter(({ listed }) => listed).slice(0, ITEMS);
  if (items.length === 0) return text.slice(0, -1);
  const list = items.map((item) => item.text.replace(/[.;:]$/, "")).join("; ");
  return LEAD_IN.test(text) ? list : `${text} ${list}`;
}
