import { rules } from "@bough/session-core/internals";
import { COUNTER } from "../arguments/shapes.js";
import type { TokenCounter } from "./counter.js";
import { CALL_TOKENS } from "./message-tokens.js";

/**
 * Tokens of tool definitions, as the JSON that a provider is sent; what providers really count is a little less, as they
 * rewrite the schema. For `prepareRequest({ toolTokens })`; count once, as definitions seldom change.
 *
 * @example
 * await compactor.prepareRequest({ toolTokens: toolTokens(counter, tools) });
 */
export function toolTokens(counter: TokenCounter, tools: readonly unknown[]): number {
  rules.checkArgument("counter", counter, COUNTER);
  rules.checkArgument("tools", tools, rules.list(rules.OBJECT, "an array of tool definitions"));
  return tools.reduce<number>((sum, tool) => sum + CALL_TOKENS + counter.count(JSON.stringify(tool) ?? ""), 0);
}
