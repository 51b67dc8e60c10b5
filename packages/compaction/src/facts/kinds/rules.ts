import { oneLine } from "../../text/one-line.js";
import { sentencesOf } from "../text/sentences.js";

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
export function rulesIn(prose: string): readonly string[] {
  return sentencesOf(prose)
    .map(({ text }) => text)
    .filter((text) => text.length <= LONGEST_SAID && isRule(text))
    .map((text) => oneLine(text, MAX_CHARS));
}

/** Whether a sentence commands or forbids. */
export function isRule(sentence: string): boolean {
  if (!COMMANDS.test(sentence) || /\bi must\b/i.test(sentence)) return false;
  return SURELY.test(sentence) || !(ONLY_TELLS.test(sentence) || sentence.endsWith("?"));
}
