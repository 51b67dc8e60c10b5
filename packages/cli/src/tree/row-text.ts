import type { EntryId, LeafRecord, OutlineRow } from "@bough/session-core";
import { isTyped, shortenPreview } from "@bough/session-core/view";
import type { Glyphs } from "../terminal/glyphs.js";
import { type Line, type Span, styled } from "../terminal/line.js";
import { displayWidth } from "../terminal/width.js";
import { leafRow } from "./shown-rows.js";
import { NONE, type TreeIndex } from "./tree-index.js";
import type { DrawnGroup } from "./visible-row.js";

/**
 * Returns an entry as one line, which is never empty. A reply is fitted to `maxWidth`, so that its calls keep the part that identifies
 * them; other texts may be wider.
 */
export function rowText(row: OutlineRow, maxWidth: number = Number.POSITIVE_INFINITY, ellipsis = "…"): Line {
  switch (row.type) {
    case "message":
      return messageText(row, maxWidth, ellipsis);
    case "compaction":
      return [styled("summary", "[compaction]"), ` ${row.preview}`];
    case "branch_summary":
      return [styled("summary", "[branch summary]"), ` ${withoutNote(row.preview)}`];
    case "model_change":
      return [styled("dim", `[model ${row.preview}]`)];
    case "thinking_level_change":
      return [styled("dim", `[thinking ${row.preview}]`)];
    case "context_edit":
      return [styled("dim", `[context edit] ${row.preview}`)];
    case "custom_message":
      return [styled("dim", "[custom message]"), ` ${row.preview}`];
    case "custom":
      return [styled("dim", `[custom ${row.preview}]`)];
    case "foreign":
      return [styled("dim", `[foreign ${row.preview}]`)];
  }
}

/** Rows that are drawn as one: `12 calls: read 5, edit 4, bash 3, 1 failed`, or `3 other branches: ` before the first one's words. */
export function groupText(group: DrawnGroup, first: Line): Line {
  if (group.kind === "branches") return [styled("summary", `${group.count} other branches: `), ...first];
  const names = group.byName.map(([name, calls]) => `${name} ${calls}`).join(", ");
  const failed: Line = group.failed === 0 ? [] : [styled("error", `, ${group.failed} failed`)];
  return [styled("dim", `${group.total} calls: ${names}`), ...failed];
}

/** Returns the number of branches that leave a row, as drawn after its text; empty: the row is no branch point. */
export function branchCount(branches: number, glyphs: Glyphs): Line {
  if (branches < 2) return [];
  return [styled("summary", glyphs.isAscii ? ` (${branches} branches)` : ` ├ ${branches}`)];
}

/** By entry: the names of the leaves that are drawn at it (`leafRow`): `leaf` for the current one, else `leaf NAME`. */
export function leafNames(
  index: TreeIndex,
  leaves: readonly LeafRecord[],
  current: string,
  shown: Parameters<typeof leafRow>[2],
): ReadonlyMap<EntryId, readonly string[]> {
  const names = new Map<EntryId, readonly string[]>();
  for (const { name, entryId } of leaves) {
    const at = leafRow(index, entryId, shown);
    if (at === NONE) continue;
    const id = index.idOf(at);
    names.set(id, [...(names.get(id) ?? []), name === current ? "leaf" : `leaf ${name}`]);
  }
  return names;
}

/** Branch summaries that Bough writes begin with the same note for the model. */
function withoutNote(preview: string): string {
  return preview.replace(/^<branch-note>.*?<\/branch-note>\s*/, "").replace(/^<branch-note> The user explored this branch[^.]*\.\s*/, "");
}

const ASSISTANT = "assistant: ";

function messageText(row: OutlineRow, maxWidth: number, ellipsis: string): Line {
  const { preview } = row;
  const role = isTyped(row) ? "user" : row.role;
  const text = preview === "" ? styled("dim", "(empty)") : preview;
  switch (role) {
    case "user":
      return [styled("user", "user: "), text];
    case "assistant":
      return [
        styled("assistant", ASSISTANT),
        preview === ""
          ? text
          : dimCalls(shortenPreview(preview, Math.max(0, maxWidth - ASSISTANT.length), { widthOf: displayWidth, ellipsis })),
      ];
    case "system":
      return [styled("dim", "system: "), text];
    case "toolResult":
      return [styled("dim", "result: "), text];
    case "bashExecution":
      return [styled("dim", "bash: "), text];
    case "custom":
      return [styled("dim", "custom: "), text];
    case null:
      return [text];
  }
}

/** A preview without text before its first call is dimmed. */
function dimCalls(text: string): string | Span {
  return text.startsWith("[") ? styled("dim", text) : text;
}
