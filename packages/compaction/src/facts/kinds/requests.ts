import { proseOf } from "../text/prose.js";

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
  const said = proseOf(text).trim();
  if (said.length < 2 || !SAYS.test(said)) return false;
  return !(THANKS.test(said) || GO_AHEAD.test(said) || COMMAND_OF_HOST.test(said) || IMAGE_ALONE.test(said));
}

/** Whether a text only says that it was read: thanks, a thumb up, nothing. What the model answers to it is no news. */
export function isThanks(text: string): boolean {
  const said = proseOf(text).trim();
  return !SAYS.test(said) || THANKS.test(said);
}

const SAYS = /[\p{L}\p{N}]/u;

const CONTRADICTS = /^(?:no|nope|stop|nein|non|não|нет)\b(?!\s+(?:problem|worries|rush))|\b(?:undo|undid|revert(?:ed)?)\b/i;

/** Whether a request says that what was done before it is not to be so. */
export function contradicts(request: string): boolean {
  return CONTRADICTS.test(proseOf(request).trim());
}
