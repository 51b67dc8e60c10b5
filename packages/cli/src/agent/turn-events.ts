import type { TokenUse } from "@bough/compaction";
import type { EntryId, Usage } from "@bough/session-core";
import type { ToolInput } from "./tools/tool.js";

/** What happens while a turn runs. */
export type TurnEvent =
  /** A request goes out. `round` counts from 1. */
  | { readonly kind: "request"; readonly round: number; readonly use: TokenUse }
  | { readonly kind: "text"; readonly delta: string }
  | { readonly kind: "thinking"; readonly delta: string }
  /** What the request cost, as the provider reported it. */
  | { readonly kind: "usage"; readonly usage: Usage }
  /** A reply is in the store, as far as it came. */
  | { readonly kind: "reply"; readonly entryId: EntryId }
  /** A call; it runs next, unless the person or the turn says otherwise. */
  | { readonly kind: "tool"; readonly id: string; readonly name: string; readonly input: ToolInput }
  /** Its result, which is in the store. */
  | {
      readonly kind: "tool-result";
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly entryId: EntryId;
    }
  /** The context was too long for the model; it was shortened and is sent once more. */
  | { readonly kind: "retry"; readonly message: string };

/** How a turn ended. Whatever came is in the store, but for `unstored`. */
export type TurnResult =
  /** The model has answered. `stopReason` as it is stored: `stop`, `length`, `contentFilter`. */
  | { readonly kind: "done"; readonly entryId: EntryId; readonly stopReason: string; readonly rounds: number }
  /** The signal was aborted. `entryId`: the newest entry of this turn; null: nothing had come. */
  | { readonly kind: "stopped"; readonly entryId: EntryId | null }
  /** The model still called tools after the last round that it may have; all results are stored. */
  | { readonly kind: "too-many-rounds"; readonly rounds: number }
  /**
   * The model could not be asked, or its answer could not be stored. `message` is one line; `code` is that of an error of
   * ours (`SESSION_NOT_FOUND`, `STORE_READ_ONLY`…), null for a model's failure. `unstored`: text of the reply, or
   * output of the tool, that the store did not take, for the person to keep.
   */
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly code: string | null;
      readonly entryId: EntryId | null;
      readonly unstored: string | null;
    };
