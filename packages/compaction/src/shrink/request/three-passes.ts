import { type Group, type Layout, newestReply } from "./layout.js";
import type { Stage } from "./removal.js";

/**
 * Copilot CLI's truncator. Pass 1: replies before the newest prompt with their results, so that what the person said
 * stays longest; pass 2: everything before the newest prompt; pass 3: replies behind it too. Oldest first. Calls of
 * protected tools stay in passes 1 and 3; the newest prompt stays in all.
 *
 * Two things are better than there. Summaries are user messages to that truncator and go in pass 2; here they stay,
 * being all that is known of what is no longer there. And the newest reply stays, since a model that does not see what
 * it just did does it again. Both go only when nothing else is left: see `lastResort`.
 */
export function threePasses(layout: Layout): readonly Stage[] {
  const newest = newestReply(layout);
  return [
    { pass: 1, groups: layout.old.filter(isFreeReply) },
    { pass: 2, groups: layout.old.filter(({ kind }) => kind !== "summary") },
    { pass: 3, groups: layout.turn.filter((group) => isFreeReply(group) && group !== newest) },
  ];
}

function isFreeReply({ kind, isProtected }: Group): boolean {
  return kind === "reply" && !isProtected;
}
