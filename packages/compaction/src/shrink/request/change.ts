import type { EntryId } from "@bough/session-core";

/**
 * Why messages were left out: the pass of Copilot CLI's truncator, VS Code's priorities, results without a call
 * (`orphans`), and, where all that was not enough, the `summaries`, and then everything but the prompt, its `turn` included.
 */
export type Removal = 1 | 2 | 3 | "priority" | "orphans" | "summaries" | "turn";

/** One thing that was done to a request. `tokens` is what it saved, unless it says that it added them. */
export type Change =
  | { readonly kind: "removed-messages"; readonly pass: Removal; readonly messages: number; readonly tokens: number }
  /** Results were put behind their calls again. */
  | { readonly kind: "moved-results"; readonly messages: number }
  /** Calls without a result were given one that says so. Added `tokens`. */
  | { readonly kind: "closed-calls"; readonly calls: number; readonly tokens: number }
  /** Calls without a result were taken out of their replies. */
  | { readonly kind: "dropped-calls"; readonly calls: number; readonly tokens: number }
  /** Old images became a line of text. `bytes` of base64. */
  | { readonly kind: "images"; readonly images: number; readonly bytes: number; readonly tokens: number }
  /** Old tool results were cut by characters. */
  | { readonly kind: "trimmed"; readonly results: number; readonly tokens: number }
  /** Tool results and output of commands lost their middle; where nothing else was left to go, what a host put in too. */
  | { readonly kind: "cut-tool-results"; readonly results: number; readonly tokens: number }
  /** The newest prompt lost its middle. */
  | { readonly kind: "cut-prompt"; readonly tokens: number }
  /** A thinking block was put before the first reply, which is of `entry`. Added `tokens`. */
  | { readonly kind: "reattached-thinking"; readonly entry: EntryId; readonly tokens: number };
