import { proseOf } from "../text/prose.js";

const PLEASANTRY =
  /^(?:ok(?:ay)?|yes|yep|yeah|no|nope|y|n|continue|go on|go ahead|proceed|next|thanks?(?: you)?|thx|great|good|nice|perfect|cool|sure|stop|wait|hi|hello|hey|done|please)[\s.!,]*$/i;
const COMMAND_OF_HOST = /^\/[a-z-]*$/i;
const IMAGE_ALONE = /^['"]?\/.*\.(?:png|jpe?g|gif|webp)['"]?$/i;

/**
 * Whether a text asks for something that one could write down: no slash command, no "continue" or "thanks", not the path
 * of a picture alone.
 */
export function isRequest(text: string): boolean {
  const said = proseOf(text).trim();
  if (said.length < 2 || !/[\p{L}\p{N}]/u.test(said)) return false;
  return !(PLEASANTRY.test(said) || COMMAND_OF_HOST.test(said) || IMAGE_ALONE.test(said));
}
