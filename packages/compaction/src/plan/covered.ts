import type { ContextMessage } from "@bough/session-core";
import type { PathItem } from "../path/path-item.js";
import type { Compactable } from "./plan.js";

/** The items that a plan takes out of the context, oldest first. */
export function coveredItems({ summarize, prefix }: Compactable): readonly PathItem[] {
  return [...summarize, ...prefix];
}

/** Their messages. */
export function coveredMessages(plan: Compactable): readonly ContextMessage[] {
  return coveredItems(plan).flatMap(({ messages }) => messages);
}

/** Their tokens. */
export function coveredTokens(plan: Compactable): number {
  return coveredItems(plan).reduce((sum, { tokens }) => sum + tokens, 0);
}
