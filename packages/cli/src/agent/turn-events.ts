import type { TokenUse } from "@bough/compaction";
import type { EntryId } from "@bough/session-core";
import type { ToolInput } from "./tools/tool.js";

/** An event of a running turn. */
export type TurnEvent =
  /** A request is sent. `round` starts at 1. */
  | { readonly kind: "request"; readonly round: number; readonly use: TokenUse }
  | { readonly kind: "text"; readonly delta: string }
  | { readonly kind: "thinking"; readonly delta: string }
  /** The reply, complete or not, was stored. */
  | { readonly kind: "reply"; readonly entryId: EntryId }
  /** The next tool call. It runs if its arguments are valid and it is allowed. */
  | { readonly kind: "tool"; readonly id: string; readonly name: string; readonly input: ToolInput }
  /** The result of the call was stored. */
  | {
      readonly kind: "tool-result";
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly entryId: EntryId;
    }
  /** The request failed and is sent again: attempt `attempt` of `attempts` comes in `waitMs`; 0: now. `reason` is short. */
  | {
      readonly kind: "wait";
      readonly reason: string;
      readonly attempt: number;
      readonly attempts: number;
      readonly waitMs: number;
    }
  /** The context was too long for the model. It was compacted, and the request is sent again. */
  | { readonly kind: "retry"; readonly message: string };

/** The result of a turn. All content was stored, except `unstored`. */
export type TurnResult =
  /** The model replied without further calls. `stopReason` is the stored one: `stop`, `length`, `contentFilter`. */
  | { readonly kind: "done"; readonly entryId: EntryId; readonly stopReason: string; readonly rounds: number }
  /** The signal was aborted. `entryId`: the last entry of this turn; null: there is none. */
  | { readonly kind: "stopped"; readonly entryId: EntryId | null }
  /** The model called tools in every allowed round; all results are stored. */
  | { readonly kind: "too-many-rounds"; readonly rounds: number }
  /**
   * The request failed, or the reply could not be stored. `message` is one line. `code` is that of a BoughError
   * (`SESSION_NOT_FOUND`, `STORE_READ_ONLY`…); null: the model failed. `unstored`: text of the reply or output of a tool that
   * could not be stored.
   */
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly code: string | null;
      readonly entryId: EntryId | null;
      readonly unstored: string | null;
    };
