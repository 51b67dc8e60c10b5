import { pathDifference } from "../tree/tree-index.js";
import { withoutEffects } from "../tui/screen.js";
import type { NavigatorModel } from "./model.js";
import { type NavigatorStep, selectedId, showSelection } from "./select.js";

type EntryAction = "go" | "goWithSummary" | "undo" | "redo" | "mark" | "compare" | "fork" | "export" | "compact" | "copy";

const said = (model: NavigatorModel, text: string): NavigatorStep => withoutEffects({ ...model, notice: { text, isError: false } });

/** Leads to an entry; `summarize` undefined: the settings or the person decide. */
export function moveTo(model: NavigatorModel, entryId: string, summarize: boolean, focus: string | null = null): NavigatorStep {
  const says = summarize ? "Summarising the branch that is left" : "Moving";
  const dialog = { kind: "working" as const, says, sinceMs: null, isCancelled: false };
  return { model: { ...model, dialog }, effects: [{ kind: "move", entryId, summarize, focus }] };
}

const go =
  (wanted: boolean | undefined) =>
  (model: NavigatorModel): NavigatorStep => {
    const { tree, selected, leaving } = model;
    const entryId = selectedId(model);
    if (tree === undefined || entryId === undefined) return withoutEffects(model);
    if (entryId === tree.leafId) return said(model, "The session stands here already.");
    const left =
      tree.leafId === null ? 0 : pathDifference(tree.index, tree.index.indexOf(tree.leafId), targetPlace(model, selected)).onlyA.length;
    if (left === 0) return moveTo(model, entryId, false);
    if (wanted !== undefined) return moveTo(model, entryId, wanted);
    if (leaving !== "ask") return moveTo(model, entryId, leaving === "summary");
    return withoutEffects({ ...model, dialog: { kind: "leaving", entryId, left, choice: model.lastChoice } });
  };

/** Where the leaf will stand: above a message that comes back to be edited. -1: before the first entry. */
function targetPlace({ tree }: NavigatorModel, place: number): number {
  if (tree === undefined) return place;
  const row = tree.index.row(place);
  const comesBack = row.type === "custom_message" || (row.type === "message" && (row.role === "user" || row.role === "custom"));
  return comesBack ? tree.index.parentOf(place) : place;
}

const undo =
  (redo: boolean) =>
  (model: NavigatorModel): NavigatorStep => ({ model, effects: [{ kind: "undo", redo }] });

const onEntry = (kind: "fork" | "export" | "copy") => (model: NavigatorModel) => {
  const entryId = selectedId(model);
  return entryId === undefined ? withoutEffects(model) : { model, effects: [{ kind, entryId }] };
};

const mark = (model: NavigatorModel): NavigatorStep => {
  const entryId = selectedId(model);
  if (entryId === undefined) return withoutEffects(model);
  const { marks } = model;
  // A third mark takes the place of the first.
  const next = marks.includes(entryId) ? marks.filter((id) => id !== entryId) : [...marks, entryId].slice(-2);
  return withoutEffects({ ...model, marks: next });
};

const compare = (model: NavigatorModel): NavigatorStep => {
  const here = selectedId(model);
  const [a, b = here] = model.marks;
  if (a === undefined) return said(model, "Mark an entry first, then compare it with this one or with a second mark.");
  if (b === undefined || a === b) return said(model, "Mark another entry, or select one, to compare with the marked one.");
  return { model, effects: [{ kind: "compare", entryIds: [a, b], width: Math.max(model.size.columns - 4, 20) }] };
};

const compact = (model: NavigatorModel): NavigatorStep => {
  const { tree, selected } = model;
  const entryId = selectedId(model);
  if (tree === undefined || entryId === undefined) return withoutEffects(model);
  const leaf = tree.leafId === null ? -1 : tree.index.indexOf(tree.leafId);
  if (leaf < 0 || pathDifference(tree.index, selected, leaf).onlyA.length > 0)
    return said(model, "Only the branch where the session stands can be compacted. Go there first.");
  const count = tree.index.depthOf(selected);
  return count === 0
    ? said(model, "There is nothing before this entry.")
    : withoutEffects({ ...model, dialog: { kind: "compacting", entryId, count } });
};

/** What is done with the selected entry. */
export const ENTRY_ACTIONS: Readonly<Record<EntryAction, (model: NavigatorModel) => NavigatorStep>> = {
  go: go(undefined),
  goWithSummary: go(true),
  undo: undo(false),
  redo: undo(true),
  mark: (model) => showSelection(mark(model).model),
  compare,
  fork: onEntry("fork"),
  export: onEntry("export"),
  copy: onEntry("copy"),
  compact,
};
