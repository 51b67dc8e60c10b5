import type { Span } from "../path/read-span.js";
import type { Trigger } from "../rules/trigger.js";
import type { Look } from "./look.js";

/** What is to be written. */
export interface DraftOrder {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  readonly signal: AbortSignal;
  readonly look: Look;
  readonly span: Span;
}
