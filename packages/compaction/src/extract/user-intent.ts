import { shortLine } from "@bough/session-core/internals";
import { extractProse, splitSentences } from "./prose.js";

/** Says that all is well, and asks for nothing. */
const THANKS =
  /^(?:(?:ok(?:ay)?|thanks?(?: you)?|thx|great|good|nice|perfect|cool|awesome|done|hi|hello|hey|danke(?: dir| sch[öo]n)?|super|prima|merci|gracias|obrigado|grazie)[\s.!,]*)+$/i;
/** Lets the work go on, or answers a question. */
const GO_AHEAD =
  /^(?:ok(?:ay)?|yes|yep|yeah|no|nope|y|n|continue|go on|go ahead|proceed|next|sure|stop|wait|please|ja|nein|weiter|oui|non|s[ií]|no)[\s.!,]*$/i;
const COMMAND_OF_HOST = /^\/[a-z-]*$/i;
const IMAGE_ALONE = /^['"]?\/.*\.(?:png|jpe?g|gif|webp)['"]?$/i;

/**
 * Whether a text asks for something that one could write down: no slash command, no "continue" or "thanks", no thumbs up,
 * not the path of a picture alone.
 */
export function isRequest(text: string): boolean {
  const said = extractProse(text).trim();
  if (said.length < 2 || !SAYS.test(said)) return false;
  return !(THANKS.test(said) || GO_AHEAD.test(said) || COMMAND_OF_HOST.test(said) || IMAGE_ALONE.test(said));
}

/** Whether a text only says that it was read: thanks, a thumb up, nothing. What the model answers to it is no news. */
export function isThanks(text: string): boolean {
  const said = extractProse(text).trim();
  return !SAYS.test(said) || THANKS.test(said);
}

const SAYS = /[\p{L}\p{N}]/u;

const CONTRADICTS = /^(?:no|nope|stop|nein|non|não|нет)\b(?!\s+(?:problem|worries|rush))|\b(?:undo|undid|revert(?:ed)?)\b/i;

/** Whether a request says that what was done before it is not to be so. */
export function isContradiction(request: string): boolean {
  return CONTRADICTS.test(extractProse(request).trim());
}

const MAX_CHARS = 300;
/** Longer sentences are pasted text. */
const LONGEST_SAID = 600;

const COMMANDS =
  /\b(?:must(?:n['’]?t)?|never|always|do not|don['’]?t|(?:should|shall) (?:not|never|only|always)|shouldn['’]?t|make sure|ensure that|prefer|use only|only (?:use|ever)|at all times|under no circumstances|not allowed|no longer allowed)\b|^(?:please )?(?:avoid|only)\b/i;
/** Tells of somebody's state of mind, or of how something behaves; nobody is told to do anything. */
const ONLY_TELLS =
  /\b(?:i|it|they|he|she|that|this|which|who|users?|people)\s+(?:really\s+)?(?:do not|don['’]?t)\b|\bdon['’]?t (?:you )?(?:think|know|understand|see|care|mind|worry|believe)\b|\b(?:i|we) must (?:have|admit|say)\b|\b(?:can|could|do|did|does|would|is|are) (?:i|you|we) (?:\w+ )?(?:always|never)\b/i;
/** Where somebody tells of their mind and then of a rule, the rule is still one. */
const SURELY = /\b(?:must|never)\b/i;

/**
 * The sentences of a user's text that say what must, must never, or is always or not to be done: those with must, never,
 * always, don't, and their like (do not, make sure, only, prefer, avoid). Linear.
 */
export function findRules(prose: string): readonly string[] {
  return splitSentences(prose)
    .map(({ text }) => text)
    .filter((text) => text.length <= LONGEST_SAID && isRule(text))
    .map((text) => shortLine(text, MAX_CHARS));
}

/** Whether a sentence commands or forbids. */
export function isRule(sentence: string): boolean {
  if (!COMMANDS.test(sentence) || /\bi must\b/i.test(sentence)) return false;
  return SURELY.test(sentence) || !(ONLY_TELLS.test(sentence) || sentence.endsWith("?"));
}
