/** Thanks, praise or a greeting without a request. */
const THANKS =
  /^(?:(?:ok(?:ay)?|thanks?(?: you)?|thx|great|good|nice|perfect|cool|awesome|done|hi|hello|hey|danke(?: dir| sch[öo]n)?|super|prima|merci|gracias|obrigado|grazie)[\s.!,]*)+$/i;
/** Approval or a short answer. */
const GO_AHEAD =
  /^(?:ok(?:ay)?|yes|yep|yeah|no|nope|y|n|continue|go on|go ahead|proceed|next|sure|stop|wait|please|ja|nein|weiter|oui|non|s[ií]|no)[\s.!,]*$/i;
const IMAGE_ALONE = /^['"]?\/.*\.(?:png|jpe?g|gif|webp)['"]?$/i;
const HAS_TEXT = /[\p{L}\p{N}]/u;

/** True if a text only thanks or greets, or has neither a letter nor a digit. */
export function isThanks(text: string): boolean {
  return !HAS_TEXT.test(text) || THANKS.test(text);
}

/** True if a text contains no request of its own: thanks, "continue", "yes", an emoji, the path of an image. */
export function isSmallTalk(text: string): boolean {
  return text.length < 2 || isThanks(text) || GO_AHEAD.test(text) || IMAGE_ALONE.test(text);
}
