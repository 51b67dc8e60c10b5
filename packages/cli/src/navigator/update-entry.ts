import { returnsToPrompt } from "../tree/filter.js";
import { pathDifference } from "../tree/tree-index.js";
import { withoutEffects } from "../tui/screen.js";
import type { NavigatorModel, NavigatorStep } from "./model.js";
import { selectedId, showSelection } from "./selection.js";

type EntryAction = "go" | "goWithSummary" | "undo" | "redo" | "mark" | "compare" | "fork" | "export" | "compact" | "copy";

/** Moves the leaf to an entry; `focus`: what the summary is about. */
export function moveTo(model: NavigatorModel, entryId: string, summarize: boolean, focus: string | null = null): NavigatorStep {
  const text = summarize ? "Summarizing the branch you leave" : "Moving";
  const dialog = { kind: "working" as const, text, sinceMs: null, isCancelled: false };
  return { model: { ...model, dialog }, effects: [{ kind: "move", entryId, summarize, focus }] };
}

const showNotice = (model: NavigatorModel, text: string): NavigatorStep => withoutEffects({ ...model, notice: { text, isError: false } });

/** `summarize` undefined: the setting decides, or the user in a dialog. */
const go =
  (summarize: boolean | undefined) =>
  (model: NavigatorModel): NavigatorStep => {
    const { tree, selected, leaving } = model;
    const entryId = selectedId(model);
    if (tree === undefined || entryId === undefined) return withoutEffects(model);
    if (entryId === tree.leafId) return showNotice(model, "This is the current position already.");
    const left =
      tree.leafId === null ? 0 : pathDifference(tree.index, tree.index.indexOf(tree.leafId), targetRow(model, selected)).onlyA.length;
    if (left === 0) return moveTo(model, entryId, false);
    if (summarize !== undefined) return moveTo(model, entryId, summarize);
    if (leaving !== "ask") return moveTo(model, entryId, leaving === "summary");
    return withoutEffects({ ...model, dialog: { kind: "leaving", entryId, left, choice: model.lastChoice } });
  };

/** The row of the leaf after a move: the parent of a message that returns to the prompt. -1: before the first entry. */
function targetRow({ tree }: NavigatorModel, at: number): number {
  if (tree === undefined) return at;
  return returnsToPrompt(tree.index.filterBits[at] ?? 0) ? tree.index.parentOf(at) : at;
}

const undo =
  (redo: boolean) =>
  (model: NavigatorModel): NavigatorStep => ({ model, effects: [{ kind: "undo", redo }] });

const onEntry = (kind: "fork" | "export" | "copy") => (model: NavigatorModel) => {
  const entryId = selectedId(model);
  return entryId === undefined ? withoutEffects(model) : { model, effects: [{ kind, entryId }] };
};

const toggleMark = (model: NavigatorModel): NavigatorStep => {
  const entryId = selectedId(model);
  if (entryId === undefined) return showSelection(model);
  const { marks } = model;
  // A third mark replaces the first one.
  const next = marks.includes(entryId) ? marks.filter((id) => id !== entryId) : [...marks, entryId].slice(-2);
  return showSelection({ ...model, marks: next });
};

const compare = (model: NavigatorModel): NavigatorStep => {
  const [a, b = selectedId(model)] = model.marks;
  if (a === undefined) return showNotice(model, "Mark an entry first, then compare it with the selected or a second marked one.");
  if (b === undefined || a === b) return showNotice(model, "Mark or select another entry to compare with the marked one.");
  return { model, effects: [{ kind: "compare", entryIds: [a, b], width: Math.max(model.size.columns - 4, 20) }] };
};

const compact = (model: NavigatorModel): NavigatorStep => {
  const { tree, selected } = model;
  const entryId = selectedId(model);
  if (tree === undefined || entryId === undefined) return withoutEffects(model);
  const leaf = tree.leafId === null ? -1 : tree.index.indexOf(tree.leafId);
  if (leaf < 0 || pathDifference(tree.index, selected, leaf).onlyA.length > 0)
    return showNotice(model, "Only the current branch can be compacted. Go to it first.");
  const count = tree.index.depthOf(selected);
  return count === 0
    ? showNotice(model, "There is nothing before this entry.")
    : withoutEffects({ ...model, dialog: { kind: "compacting", entryId, count } });
};

/** The actions on the selected entry. */
export const ENTRY_ACTIONS: Readonly<Record<EntryAction, (model: NavigatorModel) => NavigatorStep>> = {
  go: go(undefined),
  goWithSummary: go(true),
  undo: undo(false),
  redo: undo(true),
  mark: toggleMark,
  compare,
  fork: onEntry("fork"),
  export: onEntry("export"),
  copy: onEntry("copy"),
  compact,
};
