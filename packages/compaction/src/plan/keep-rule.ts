import type { EntryId } from "@bough/session-core";
import { rules } from "@bough/session-core/internals";
import { KEEP, KEEP_BOUNDS } from "../arguments/shapes.js";
import type { CompactionSettings } from "../settings/settings.js";

/** How much of the newest is kept word for word. */
export type KeepRule =
  /** Up to `tokens`. The newest turn is kept whole up to `wholeTurnTokens`; 0: it is cut like any other. */
  | { readonly by: "tokens"; readonly tokens: number; readonly wholeTurnTokens: number }
  /** Up to so many messages, and up to `mostTokens` where that is given. */
  | { readonly by: "messages"; readonly messages: number; readonly mostTokens?: number | undefined }
  /** A round is a reply with the results of its calls. At most those of the newest turn, and up to `mostTokens`. */
  | { readonly by: "rounds"; readonly rounds: number; readonly mostTokens?: number | undefined }
  | { readonly by: "nothing" }
  /** This entry and all behind it, as somebody chose; where a path may not be cut before it, from the next place above. */
  | { readonly by: "entry"; readonly entryId: EntryId };

/** What the rule depends on besides the settings. */
export interface KeepBounds {
  readonly limitTokens: number;
  /** No rule keeps more, but for the newest message with its results and a prompt without an answer. */
  readonly mostKeptTokens: number;
  /** Prompt tokens that the provider reported to those that we estimated; 1 or more. */
  readonly ratio: number;
  readonly trigger: "manual" | "automatic";
  /** Where somebody said from which entry on everything is kept. */
  readonly keepFrom?: EntryId | undefined;
}

// co-cli: fewer than four messages are no context to go on with.
const MIN_MESSAGES = 4;

/** The rule that settings mean in a window. Pure. Where the provider counts more than we do, less is kept (oh-my-pi). */
export function keepRuleOf(keep: CompactionSettings["keep"], bounds: KeepBounds): KeepRule {
  rules.checkArgument("keep", keep, KEEP);
  rules.checkArgument("bounds", bounds, KEEP_BOUNDS);
  const { limitTokens, mostKeptTokens, ratio, trigger, keepFrom } = bounds;
  if (keepFrom !== undefined) return { by: "entry", entryId: keepFrom };
  if (trigger === "manual" && keep.manual === "nothing") return { by: "nothing" };
  const adapted = (tokens: number) => Math.floor(Math.min(tokens, mostKeptTokens) / (keep.adaptive ? Math.max(1, ratio) : 1));
  const mostTokens = adapted(mostKeptTokens);
  switch (keep.by) {
    case "nothing":
      return { by: "nothing" };
    case "tokens":
      return { by: "tokens", tokens: adapted(keep.recentTokens), wholeTurnTokens: 0 };
    case "share":
      return { by: "tokens", tokens: adapted(Math.floor(keep.recentShare * limitTokens)), wholeTurnTokens: mostTokens };
    case "messages":
      return { by: "messages", messages: Math.max(MIN_MESSAGES, keep.recentMessages), mostTokens };
    case "rounds":
      return { by: "rounds", rounds: Math.max(1, keep.recentRounds), mostTokens };
  }
}
