import { actionOf } from "../tui/key-table.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorEvent, NavigatorModel, NavigatorTree } from "./model.js";
import { type NavigatorStep, rebuildLayouts, refreshLayout, showSelection } from "./select.js";
import { updateDialog } from "./update-dialog.js";
import { performAction } from "./update-list.js";
import { addHits, showQueryProblem, updateSearchField } from "./update-search.js";

/** The navigator after a key, a paste, a new size, or news. Pure, but for the index of the tree, which grows. */
export function update(model: NavigatorModel, event: TerminalEvent | NavigatorEvent): NavigatorStep {
  switch (event.kind) {
    case "resize":
      return showSelection({ ...model, size: event.size });
    case "key":
    case "paste":
      return typed(model, event);
    default:
      return updateByEvent(model, event);
  }
}

/** A notice goes with the next key, wherever that leads: it stands where the hints are. */
function typed(before: NavigatorModel, event: Extract<TerminalEvent, { kind: "key" | "paste" }>): NavigatorStep {
  const model = before.notice === null ? before : { ...before, notice: null };
  if (model.dialog.kind !== "none") return updateDialog(model, event);
  const { search } = model;
  const inField = search?.isTyping === true ? updateSearchField(model, search, event) : undefined;
  if (inField !== undefined) return inField;
  const action = event.kind === "key" ? actionOf(model.keys, event.key) : undefined;
  return action === undefined ? withoutEffects(model) : performAction(model, action);
}

function updateByEvent(model: NavigatorModel, event: NavigatorEvent): NavigatorStep {
  switch (event.kind) {
    case "loaded":
      return loaded(model, event.tree);
    case "changed":
      return changed(model, event);
    case "previewed":
      return previewed(model, event);
    case "hits":
      return addHits(model, event);
    case "badQuery":
      return showQueryProblem(model, event.question, event.problem);
    case "moved":
      return withoutEffects({ ...model, result: event.result });
    case "notice":
      return withoutEffects({ ...model, notice: { text: event.text, isError: event.isError } });
    case "worked":
      return withoutEffects({ ...model, dialog: { kind: "none" }, notice: { text: event.text, isError: event.isError } });
    case "compared":
      // What was opened meanwhile stays: it may hold something typed, or work that must remain cancellable.
      return model.dialog.kind === "none"
        ? withoutEffects({ ...model, dialog: { kind: "comparison", lines: event.lines, scroll: 0 } })
        : withoutEffects(model);
    case "tick":
      return withoutEffects(ticked(model, event.nowMs));
    case "gone":
      return withoutEffects({ ...model, result: { kind: "gone" } });
  }
}

/** Only the world knows the time: work counts from the first tick after it was asked for. */
function ticked(model: NavigatorModel, nowMs: number): NavigatorModel {
  const { dialog } = model;
  return { ...model, nowMs, dialog: dialog.kind === "working" ? { ...dialog, sinceMs: dialog.sinceMs ?? nowMs } : dialog };
}

/** It opens where the session stands. */
function loaded(model: NavigatorModel, tree: NavigatorTree): NavigatorStep {
  const selected = tree.leafId === null ? tree.index.size - 1 : tree.index.indexOf(tree.leafId);
  return refreshLayout({ ...model, tree, selected, top: 0 });
}

/** Another writer, or this screen itself, changed the session. The selected entry stays selected. */
function changed(model: NavigatorModel, event: Extract<NavigatorEvent, { kind: "changed" }>): NavigatorStep {
  const { tree } = model;
  if (tree === undefined) return withoutEffects(model);
  tree.index.append(event.rows);
  const labels = new Map(event.labels.map(({ entryId, label }) => [entryId, label]));
  // The preview tells of labels and branches too: it is asked for again.
  const preview = { ...model.preview, width: 0 };
  return rebuildLayouts({ ...model, preview, tree: { ...tree, labels, leaves: event.leaves, leafId: event.leafId } });
}

/** Lines for a row that is no longer selected come too late. */
function previewed(model: NavigatorModel, { entryId, width, lines }: Extract<NavigatorEvent, { kind: "previewed" }>): NavigatorStep {
  const { preview } = model;
  if (preview.entryId !== entryId || preview.width !== width) return withoutEffects(model);
  return showSelection({ ...model, preview: { ...preview, lines } });
}
