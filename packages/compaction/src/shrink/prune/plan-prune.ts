import type { PathItem } from "../../path/path-item.js";
import type { CompactionSettings } from "../../settings/settings.js";

/** provisional */
export interface PruneEdit {
  readonly targetId: string;
  readonly replacement: { readonly content: string };
  readonly savedTokens: number;
}
/** provisional */
export function planPrune(_input: { items: readonly PathItem[]; settings: CompactionSettings["prune"]; idle: boolean }): {
  readonly edits: readonly PruneEdit[];
  readonly savedTokens: number;
} {
  return { edits: [], savedTokens: 0 };
}
