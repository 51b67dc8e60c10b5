import type { SessionContext } from "@bough/session-core";
import { count } from "../format/numbers.js";
import { roughMessageTokens, roughTokens } from "../format/rough-tokens.js";

/** What a context costs, in tokens. */
export interface ContextTokens {
  /** What counted: a vocabulary's name, or `rough` for the rule of thumb. */
  readonly counter: string;
  readonly system: number;
  /** `messages[i]` is what the context's `messages[i]` has. */
  readonly messages: readonly number[];
  readonly total: number;
}

/** By the rule of thumb, which needs no tables. */
export function roughContextTokens(context: SessionContext): ContextTokens {
  const system = context.system === null ? 0 : roughTokens(context.system);
  const messages = context.messages.map(roughMessageTokens);
  return { counter: "rough", system, messages, total: messages.reduce((sum, one) => sum + one, system) };
}

/** A number of tokens in words: a tilde where it is rough. */
export function tokenText({ counter }: ContextTokens, tokens: number): string {
  return `${counter === "rough" ? "~" : ""}${count(tokens)} ${tokens === 1 ? "token" : "tokens"}`;
}
