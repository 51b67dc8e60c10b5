import type { EntryId } from "@bough/session-core";
import { leafRow } from "../tree/shown-rows.js";
import { actionOf } from "../tui/key-table.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorModel, NavigatorStep, NavigatorTree, Reading } from "./model.js";
import { panesOf } from "./panes.js";
import { refreshLayoutAt, refreshLayoutInPlace, selectedId, selectedPosition, selectPosition, visibleCount } from "./selection.js";

type InputEvent = Extract<TerminalEvent, { kind: "key" | "paste" }>;

/**
 * Shows a tree, the selected entry on its line of the screen. Without a selected entry it selects the leaf, or the last row if the
 * leaf is before the first entry. `reading`: the tree has only the end of the leaf's path.
 */
export function openTree(model: NavigatorModel, tree: NavigatorTree, reading: Reading | null): NavigatorStep {
  if (reading === null && model.opensAt !== null) return openAt({ ...model, tree, layouts: new Map() }, tree, model.opensAt);
  const leaf =
    tree.leafId === null ? tree.index.size - 1 : leafRow(tree.index, tree.leafId, { filter: model.filter, labeled: tree.labels });
  const before = selectedId(model);
  const selected = before === undefined ? leaf : tree.index.indexOf(before);
  const line = before === undefined ? undefined : selectedPosition(model) - model.top;
  // The preview shows labels and branches too: width 0 requests it again.
  const preview = { ...model.preview, width: 0 };
  return refreshLayoutInPlace({ ...model, tree, reading, selected, preview, layouts: new Map() }, line);
}

/** Selects an entry in a tree that was read. If the filter hides it, all entries are shown, unless hits of a search follow. */
function openAt(model: NavigatorModel, tree: NavigatorTree, entryId: EntryId): NavigatorStep {
  const row = tree.index.indexOf(entryId);
  const isFound = model.search === null;
  const opened = refreshLayoutAt({ ...model, reading: null, opensAt: isFound ? null : entryId }, row);
  if (row < 0 || !isFound || opened.model.selected === row) return opened;
  return refreshLayoutAt({ ...opened.model, filter: "all" }, row);
}

/** Shows how many rows were read. */
export function showProgress(model: NavigatorModel, done: number): NavigatorStep {
  return withoutEffects(model.reading === null ? model : { ...model, reading: { ...model.reading, done } });
}

/**
 * Input while the tree has only the end of the leaf's path: the keys that close work, and moves within that part. All other input,
 * and what follows it, is held until the rest is there: in a part of the tree it would do something else.
 */
export function updateWhileReading(model: NavigatorModel, reading: Reading, event: InputEvent): NavigatorStep {
  const action = event.kind === "key" ? actionOf(model.keys, event.key) : undefined;
  if (action === "close") return withoutEffects({ ...model, result: { kind: "closed" } });
  const page = Math.max(panesOf(model).list.rows - 1, 1);
  const rows = { up: -1, down: 1, pageUp: -page, pageDown: page }[String(action)];
  const position = selectedPosition(model) + (rows ?? 0);
  // A move past the ends of the part leads to rows that are not there yet.
  if (rows === undefined || position < 0 || position >= visibleCount(model) || reading.held.length > 0)
    return withoutEffects({ ...model, reading: { ...reading, held: [...reading.held, event] } });
  return selectPosition(model, position);
}
