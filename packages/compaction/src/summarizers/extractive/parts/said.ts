import { proseOf } from "../../../facts/text/prose.js";
import { sentencesOf } from "../../../facts/text/sentences.js";
import { conclusionOf, reasonOf } from "../conclusion.js";
import { firstFirst, type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine, safeLines } from "../safe-line.js";

/** Says that one way was taken and another was not, or why something is as it is. */
const DECIDES =
  /\b(?:decided|chose|chosen|opted|went with|instead of|rather than|trade-?off|because|root cause|(?:issue|problem|cause|reason|bug|culprit) (?:is|was|were)|turned out|caus(?:ed|ing))\b/i;
const SHORTEST = 25;
const LONGEST = 320;

/**
 * What was decided and why: what the model said beside calls that changed something and did not fail, sentences of its
 * replies after such work that decide or explain, and questions that the person answered in a word.
 */
export function decisionLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const maxChars = Math.floor(limits.lineChars * 1.4);
  const remarks = story.remarks.filter(({ carriedOut }) => carriedOut).map(({ text, at }) => ({ at, text: reasonOf(text, maxChars) }));
  const endings = story.turns.flatMap(({ endings: all }) => all.filter(({ work }) => work > 0));
  const explained = endings.flatMap(({ text, at }) => explanations(text).map((one) => ({ at, text: one })));
  const answers = story.answers.map(({ text, at, question }) => ({ at, text: `${question} ${text}` }));
  const found = [...remarks, ...explained, ...answers].filter(({ text }) => text !== "").sort((a, b) => a.at - b.at);
  return newestFirst([...oldLines(material, "decisions"), ...found.map(({ text }) => safeLine(text, maxChars))], 21, 3);
}

function explanations(reply: string): readonly string[] {
  // What is listed as done is not said twice.
  const done = conclusionOf(reply) ?? "";
  const sentences = sentencesOf(proseOf(reply)).map(({ text }) => text);
  return sentences.filter(
    (text) => text.length >= SHORTEST && text.length <= LONGEST && DECIDES.test(text) && !/[?:]$/.test(text) && !done.includes(text),
  );
}

const QUOTE_LINES = 10;

/** What the model said last, without code. */
export function lastLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const { lastSaid } = story;
  const lines =
    lastSaid === null ? oldLines(material, "last") : safeLines(proseOf(lastSaid), { maxLines: QUOTE_LINES, maxChars: limits.lastChars });
  return lines.map((text, at) => ({ text, rank: 2 + at / 10 }));
}

const STEP =
  /^(?:next|then|after that|finally|remaining|still|todo|to do|now (?:we|i|you|let))\b|\b(?:i['’]ll|i will|let me|let['’]s|we (?:should|need|still|can|could) |you (?:should|need|can|could|may want)|should i|shall i|would you like|do you want|want me to|remains? to|still needs?|not yet)\b/i;
const LEADS_TO_STEPS = /\b(?:steps?|next|remaining|to ?do|plan|options?)\b[^.]*:$/i;
const MAX_STEPS = 8;

/** What the model said it, or the user, would do next. */
export function nextLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  if (story.lastSaid === null) return firstFirst(oldLines(material, "next"), 5, 1);
  const sentences = sentencesOf(proseOf(story.lastSaid));
  const steps: string[] = [];
  let inList = false;
  for (const { text, listed } of sentences) {
    const leads = LEADS_TO_STEPS.test(text);
    inList = leads || (inList && listed);
    if (!leads && (inList || STEP.test(text))) steps.push(safeLine(text, limits.lineChars));
  }
  return steps.slice(0, MAX_STEPS).map((text, at) => ({ text, rank: 5 + at }));
}
