import type { EntryId } from "@bough/session-core";
import type { ComparedMark } from "../preview/comparison.js";
import { toFileName } from "../session/write-file.js";
import { returnsToPrompt } from "../tree/filter.js";
import { leafRow } from "../tree/shown-rows.js";
import { pathDifference } from "../tree/tree-index.js";
import { newField } from "../tui/field.js";
import { withoutEffects } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";
import type { NavigatorModel, NavigatorStep, NavigatorTree, Subagent } from "./model.js";
import { selectedId, showSelection } from "./selection.js";

/** Moves the leaf to an entry; `focus`: what the summary is about. */
export function moveTo(model: NavigatorModel, entryId: string, summarize: boolean, focus: string | null = null): NavigatorStep {
  const text = summarize ? "Summarizing the branch you leave" : "Moving";
  const dialog = { kind: "working" as const, text, sinceMs: null, isCancelled: false };
  return { model: { ...model, dialog }, effects: [{ kind: "move", entryId, summarize, focus }] };
}

const showNotice = (model: NavigatorModel, text: string): NavigatorStep => withoutEffects({ ...model, notice: { text, isError: false } });

/** An action on the selected entry, which changes nothing if none is selected. */
const onEntry =
  (act: (model: NavigatorModel, entryId: EntryId, tree: NavigatorTree) => NavigatorStep) =>
  (model: NavigatorModel): NavigatorStep => {
    const entryId = selectedId(model);
    return model.tree === undefined || entryId === undefined ? withoutEffects(model) : act(model, entryId, model.tree);
  };

/** `summarize` undefined: the setting decides, or the user in a dialog. */
const go = (summarize: boolean | undefined) =>
  onEntry((model, entryId, tree) => {
    const { selected, leaving } = model;
    if (selected === leafRow(tree.index, tree.leafId, { filter: model.filter, labeled: tree.labels }))
      return showNotice(model, "This is the current position already.");
    const left =
      tree.leafId === null ? 0 : pathDifference(tree.index, tree.index.indexOf(tree.leafId), targetRow(tree, selected)).onlyA.length;
    if (left === 0) return moveTo(model, entryId, false);
    if (summarize !== undefined) return moveTo(model, entryId, summarize);
    if (leaving !== "ask") return moveTo(model, entryId, leaving === "summary");
    return withoutEffects({ ...model, dialog: { kind: "leaving", entryId, left, choice: model.lastChoice } });
  });

/** The row of the leaf after a move: the parent of a message that returns to the prompt. -1: before the first entry. */
function targetRow({ index }: NavigatorTree, at: number): number {
  return returnsToPrompt(index.filterBits[at] ?? 0) ? index.parentOf(at) : at;
}

const undo =
  (redo: boolean) =>
  (model: NavigatorModel): NavigatorStep => ({ model, effects: [{ kind: "undo", redo }] });

const copy = (kind: "copy" | "copyBranch") => onEntry((model, entryId) => ({ model, effects: [{ kind, entryId }] }));

const fork = onEntry((model, entryId, { index }) =>
  withoutEffects({ ...model, dialog: { kind: "forking", entryId, count: index.depthOf(model.selected) + 1 } }),
);

const exportPath = onEntry((model, entryId) => {
  const path = `bough-${toFileName(model.sessionId)}-${toFileName(entryId)}.md`;
  return withoutEffects({ ...model, dialog: { kind: "exporting", entryId, field: newField(path) } });
});

/** Goes into the session of the subagent that the entry started; of several the user chooses one. */
const visit = (model: NavigatorModel): NavigatorStep => {
  const list = model.subagents.get(selectedId(model) ?? "") ?? [];
  const [first] = list;
  if (first === undefined) return showNotice(model, "This entry started no subagent that was imported.");
  return list.length === 1 ? visitSubagent(model, first) : withoutEffects({ ...model, dialog: { kind: "subagents", list, choice: 0 } });
};

/** Shows the session of a subagent. */
export function visitSubagent(model: NavigatorModel, { id }: Subagent): NavigatorStep {
  return withoutEffects({ ...model, dialog: { kind: "none" }, result: { kind: "visit", sessionId: id, entryId: null } });
}

/** Returns to the navigator before this one; else goes to the entry that started this session, or at which it was forked. */
const back = (model: NavigatorModel): NavigatorStep => {
  if (model.isVisit) return withoutEffects({ ...model, result: { kind: "closed" } });
  const { parent } = model;
  if (parent === null) return showNotice(model, "No other session started this one.");
  return withoutEffects({ ...model, result: { kind: "visit", sessionId: parent.sessionId, entryId: parent.entryId } });
};

const toggleMark = onEntry((model, entryId) => {
  const { marks } = model;
  // A third mark replaces the first one.
  const next = marks.includes(entryId) ? marks.filter((id) => id !== entryId) : [...marks, entryId].slice(-2);
  return showSelection({ ...model, marks: next });
});

const compare = (model: NavigatorModel): NavigatorStep => {
  const [a, b = selectedId(model)] = model.marks;
  if (a === undefined) return showNotice(model, "Mark an entry first, then compare it with the selected or a second marked one.");
  if (b === undefined || a === b) return showNotice(model, "Mark or select another entry to compare with the marked one.");
  const marks = [comparedMark(model, a), comparedMark(model, b)] as const;
  return { model, effects: [{ kind: "compare", marks, width: Math.max(model.size.columns - 4, 20) }] };
};

/** A mark on the first entry of a branch, which is the row that stays of a folded one, means the whole branch. Linear in the rows after it. */
function comparedMark({ tree }: NavigatorModel, entryId: EntryId): ComparedMark {
  const at = tree?.index.indexOf(entryId) ?? -1;
  if (tree === undefined || at < 0) return { entryId, endId: entryId };
  const parent = tree.index.parentOf(at);
  const beginsBranch = parent >= 0 && tree.index.isBranchPoint(parent);
  return { entryId, endId: beginsBranch ? tree.index.idOf(branchEnd(tree, at)) : entryId };
}

/** The leaf if it is at or below a row, else the newest row there. */
function branchEnd({ index, leafId }: NavigatorTree, at: number): number {
  const leaf = leafId === null ? -1 : index.indexOf(leafId);
  const { parents } = index;
  const isBelow = new Set([at]);
  let end = at;
  for (let row = at + 1; row < parents.length; row += 1) {
    if (!isBelow.has(parents[row] ?? -1)) continue;
    isBelow.add(row);
    end = row;
  }
  return isBelow.has(leaf) ? leaf : end;
}

const compact = onEntry((model, entryId, tree) => {
  const { selected } = model;
  const leaf = tree.leafId === null ? -1 : tree.index.indexOf(tree.leafId);
  if (leaf < 0 || pathDifference(tree.index, selected, leaf).onlyA.length > 0)
    return showNotice(model, "Only the current branch can be compacted. Go to it first.");
  const count = tree.index.depthOf(selected);
  return count === 0
    ? showNotice(model, "There is nothing before this entry.")
    : withoutEffects({ ...model, dialog: { kind: "compacting", entryId, count } });
});

/** The actions on the selected entry. */
export const ENTRY_ACTIONS = {
  go: go(undefined),
  goWithSummary: go(true),
  undo: undo(false),
  redo: undo(true),
  mark: toggleMark,
  compare,
  visit,
  back,
  fork,
  export: exportPath,
  copy: copy("copy"),
  copyBranch: copy("copyBranch"),
  compact,
} satisfies Partial<Record<NavigatorAction, (model: NavigatorModel) => NavigatorStep>>;
