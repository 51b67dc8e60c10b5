import type { EntryId } from "@bough/session-core";

/** Why a result is pruned. */
export type PruneReason =
  /** It is older than what is protected. */
  | "age"
  /** The file that it shows was read again. */
  | "superseded"
  /** A later result is the same. */
  | "duplicate"
  /** Its tool said so. */
  | "useless";

/** One result to prune: the content of a `context_edit`. The original stays in the store. */
export interface PruneEdit {
  readonly targetId: EntryId;
  readonly replacement: { readonly content: string };
  /** Tokens that the context loses by it, at least. */
  readonly savedTokens: number;
  readonly because: PruneReason;
}

/** What to prune, in the order of the path; nothing where it is not worth it. */
export interface PrunePlan {
  readonly edits: readonly PruneEdit[];
  readonly savedTokens: number;
}
