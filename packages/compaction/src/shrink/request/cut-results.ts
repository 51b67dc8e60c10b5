import { cutMessage } from "./cut-message.js";
import { type Counted, type CountMessage, partsWith, type RequestParts, type Shaping, savedBy, unchanged } from "./request-parts.js";

/** The most that one tool result may take. */
export interface ResultCap {
  /** 0: there is no cap. */
  readonly capTokens: number;
  readonly headShare: number;
}

/**
 * Cuts the middle out of each tool result that is over the cap, whatever the request has in all. VS Code's rule; here also
 * for the output of a command that the person ran. Linear.
 */
export function cutResults(parts: RequestParts, { capTokens, headShare }: ResultCap, count: CountMessage): Shaping {
  if (capTokens <= 0) return unchanged(parts);
  const changed = new Map<number, Counted>();
  for (const [at, message] of parts.messages.entries()) {
    const tokens = parts.tokens[at] ?? 0;
    if ((message.role !== "toolResult" && message.role !== "bashExecution") || tokens <= capTokens) continue;
    const cut = cutMessage({ message, tokens }, { budgetTokens: capTokens, headShare, count });
    if (cut.message !== message) changed.set(at, cut);
  }
  if (changed.size === 0) return unchanged(parts);
  const change = { kind: "cut-tool-results", results: changed.size, tokens: savedBy(parts, changed) } as const;
  return { parts: partsWith(parts, changed), changes: [change] };
}
