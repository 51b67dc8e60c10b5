import { proseOf } from "../../../facts/text/prose.js";
import { sentencesOf } from "../../../facts/text/sentences.js";
import { firstFirst, type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine, safeLines } from "../safe-line.js";

/** Says that one way was taken, and another was not. */
const DECIDES =
  /\b(?:decided|deciding|chose|chosen|opted|going with|went with|i['’]ll use|i will use|we['’]ll use|let['’]s use|instead of|rather than|best (?:solution|approach|way|option)|simplest (?:solution|approach|way|fix)|right (?:approach|fix)|trade-?off|better to|prefer(?:red)?)\b/i;
/** Says why something is as it is. */
const EXPLAINS = /\b(?:because|root cause|(?:issue|problem|cause|reason|bug|culprit) (?:is|was|were|here is)|turns out)\b/i;
const NO_DECISION = /\?$|:$|^(?:if|should|would|do you|want|maybe|probably|i bet|i think|let me|now let me|here)\b/i;
const SHORTEST = 25;
const LONGEST = 320;

/** Sentences of the model in which it decides or explains something; decisions have room before explanations. */
export function decisionLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const sentences = story.said.flatMap((text) => sentencesOf(proseOf(text))).map(({ text }) => text);
  const found = sentences.filter((text) => isDecision(text)).map((text) => safeLine(text, limits.lineChars));
  const lines = newestFirst([...oldLines(material, "decisions"), ...found], 22, 4);
  return lines.map(({ text, rank }) => ({ text, rank: DECIDES.test(text) ? rank : rank + 10 }));
}

function isDecision(text: string): boolean {
  return text.length >= SHORTEST && text.length <= LONGEST && (DECIDES.test(text) || EXPLAINS.test(text)) && !NO_DECISION.test(text);
}

const QUOTE_LINES = 10;

/** What the model said last, without code. */
export function lastLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const last = story.said.at(-1);
  const lines =
    last === undefined ? oldLines(material, "last") : safeLines(proseOf(last), { maxLines: QUOTE_LINES, maxChars: limits.lastChars });
  return lines.map((text, at) => ({ text, rank: 2 + at / 10 }));
}

const STEP =
  /^(?:next|then|after that|finally|remaining|still|todo|to do|now (?:we|i|you|let))\b|\b(?:i['’]ll|i will|let me|let['’]s|we (?:should|need|still|can|could) |you (?:should|need|can|could|may want)|should i|shall i|would you like|do you want|want me to|remains? to|still needs?|not yet)\b/i;
const LEADS_TO_STEPS = /\b(?:steps?|next|remaining|to ?do|plan|options?)\b[^.]*:$/i;
const MAX_STEPS = 8;

/** What the model said it, or the user, would do next. */
export function nextLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  if (story.said.length === 0) return firstFirst(oldLines(material, "next"), 5, 1);
  const sentences = sentencesOf(proseOf(story.said.at(-1) ?? ""));
  const steps: string[] = [];
  let inList = false;
  for (const { text, listed } of sentences) {
    const leads = LEADS_TO_STEPS.test(text);
    inList = leads || (inList && listed);
    if (!leads && (inList || STEP.test(text))) steps.push(safeLine(text, limits.lineChars));
  }
  return steps.slice(0, MAX_STEPS).map((text, at) => ({ text, rank: 5 + at }));
}
