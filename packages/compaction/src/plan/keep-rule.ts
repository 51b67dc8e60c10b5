import type { EntryId } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";

/** How much of the newest is kept word for word. */
export type KeepRule =
  /** Up to `tokens`. The newest turn is kept whole up to `wholeTurnTokens`; 0: it is cut like any other. */
  | { readonly by: "tokens"; readonly tokens: number; readonly wholeTurnTokens: number }
  | { readonly by: "messages"; readonly messages: number }
  /** A round is a reply with the results of its calls. At most those of the newest turn. */
  | { readonly by: "rounds"; readonly rounds: number }
  | { readonly by: "nothing" }
  /** This entry and all behind it, as somebody chose; where a path may not be cut before it, from the next place above. */
  | { readonly by: "entry"; readonly entryId: EntryId };

/** What the rule depends on besides the settings. */
export interface KeepBounds {
  readonly limitTokens: number;
  /** Prompt tokens that the provider reported to those that we estimated; 1 or more. */
  readonly ratio: number;
  readonly trigger: "manual" | "automatic";
  /** Where somebody said from which entry on everything is kept. */
  readonly keepFrom?: EntryId | undefined;
}

// co-cli: fewer than four messages are no context to go on with.
const MIN_MESSAGES = 4;

// A tail of more than half of the window would leave the summary nothing to win.
const MOST_OF_LIMIT = 0.5;

/** The rule that settings mean in a window. Pure. Where the provider counts more than we do, less is kept (oh-my-pi). */
export function keepRuleOf(keep: CompactionSettings["keep"], { limitTokens, ratio, trigger, keepFrom }: KeepBounds): KeepRule {
  if (keepFrom !== undefined) return { by: "entry", entryId: keepFrom };
  if (trigger === "manual" && keep.manual === "nothing") return { by: "nothing" };
  const most = Math.floor(MOST_OF_LIMIT * limitTokens);
  const adapted = (tokens: number) => Math.floor(Math.min(tokens, most) / (keep.adaptive ? Math.max(1, ratio) : 1));
  switch (keep.by) {
    case "nothing":
      return { by: "nothing" };
    case "tokens":
      return { by: "tokens", tokens: adapted(keep.recentTokens), wholeTurnTokens: 0 };
    case "share":
      return { by: "tokens", tokens: adapted(Math.floor(keep.recentShare * limitTokens)), wholeTurnTokens: adapted(most) };
    case "messages":
      return { by: "messages", messages: Math.max(MIN_MESSAGES, keep.recentMessages) };
    case "rounds":
      return { by: "rounds", rounds: Math.max(1, keep.recentRounds) };
  }
}
