import { shortLine } from "@bough/session-core/internals";
import { extractProse, splitSentences } from "./prose.js";

/** Thanks or praise without a request. */
const THANKS =
  /^(?:(?:ok(?:ay)?|thanks?(?: you)?|thx|great|good|nice|perfect|cool|awesome|done|hi|hello|hey|danke(?: dir| sch[öo]n)?|super|prima|merci|gracias|obrigado|grazie)[\s.!,]*)+$/i;
/** Approval or a short answer. */
const GO_AHEAD =
  /^(?:ok(?:ay)?|yes|yep|yeah|no|nope|y|n|continue|go on|go ahead|proceed|next|sure|stop|wait|please|ja|nein|weiter|oui|non|s[ií]|no)[\s.!,]*$/i;
const COMMAND_OF_HOST = /^\/[a-z-]*$/i;
const IMAGE_ALONE = /^['"]?\/.*\.(?:png|jpe?g|gif|webp)['"]?$/i;

/** Whether a text is a request: not a slash command, "continue", "thanks", an emoji or the path of an image. */
export function isRequest(text: string): boolean {
  const prose = extractProse(text).trim();
  if (prose.length < 2 || !HAS_TEXT.test(prose)) return false;
  return !(THANKS.test(prose) || GO_AHEAD.test(prose) || COMMAND_OF_HOST.test(prose) || IMAGE_ALONE.test(prose));
}

/** Whether a text only acknowledges a reply. The model's answer to it is ignored. */
export function isThanks(text: string): boolean {
  const prose = extractProse(text).trim();
  return !HAS_TEXT.test(prose) || THANKS.test(prose);
}

const HAS_TEXT = /[\p{L}\p{N}]/u;

const CONTRADICTS = /^(?:no|nope|stop|nein|non|não|нет)\b(?!\s+(?:problem|worries|rush))|\b(?:undo|undid|revert(?:ed)?)\b/i;

/** Whether a request contradicts what was done before it. */
export function isContradiction(request: string): boolean {
  return CONTRADICTS.test(extractProse(request).trim());
}

const MAX_RULE_CHARS = 300;
/** Longer sentences are pasted text. */
const MAX_SENTENCE_CHARS = 600;

const RULE_WORDS =
  /\b(?:must(?:n['’]?t)?|never|always|do not|don['’]?t|(?:should|shall) (?:not|never|only|always)|shouldn['’]?t|make sure|ensure that|prefer|use only|only (?:use|ever)|at all times|under no circumstances|not allowed|no longer allowed)\b|^(?:please )?(?:avoid|only)\b/i;
/** A statement about somebody's opinion or about behavior, not a rule. */
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

/** Whether a sentence states a rule. */
export function isRule(sentence: string): boolean {
  if (!RULE_WORDS.test(sentence) || /\bi must\b/i.test(sentence)) return false;
  return CERTAIN_RULE.test(sentence) || !(STATEMENT.test(sentence) || sentence.endsWith("?"));
}
