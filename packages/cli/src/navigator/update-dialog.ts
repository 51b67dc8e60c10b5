import { editField, newField } from "../tui/field.js";
import { helpLines } from "../tui/key-table.js";
import { scrollText } from "../tui/list.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { Dialog, NavigatorModel, NavigatorStep } from "./model.js";
import { panesOf } from "./panes.js";
import { moveTo, visitSubagent } from "./update-entry.js";
import { LEAVING_CHOICES, scrollableRows } from "./view-dialog.js";

// Indices of LEAVING_CHOICES.
const WITH_SUMMARY = 1;
const WITH_FOCUS = 2;

type DialogOf<Kind extends Dialog["kind"]> = Extract<Dialog, { kind: Kind }>;

const closeDialog = (model: NavigatorModel): NavigatorStep => withoutEffects({ ...model, dialog: { kind: "none" } });

/** The navigator after input while a dialog is open. The dialog takes all input. */
export function updateDialog(model: NavigatorModel, event: TerminalEvent): NavigatorStep {
  const { dialog } = model;
  if (event.kind === "key" && (event.key === "escape" || event.key === "ctrl+c")) return cancelDialog(model);
  switch (dialog.kind) {
    case "none":
    case "working":
      return withoutEffects(model);
    case "help":
    case "comparison":
      return scrollDialog(model, dialog, event);
    case "label":
    case "focus":
    case "exporting":
      return updateField(model, dialog, event);
    case "forking":
      return updateForking(model, dialog, event);
    case "subagents":
    case "leaving":
      return updateChoices(model, dialog, event);
    case "compacting":
      return updateConfirmation(model, dialog, event);
  }
}

/** Running work is only cancelled: its dialog closes when the work has ended. */
function cancelDialog(model: NavigatorModel): NavigatorStep {
  const { dialog } = model;
  if (dialog.kind === "focus") {
    const { entryId, left } = dialog;
    return withoutEffects({ ...model, dialog: { kind: "leaving", entryId, left, choice: WITH_FOCUS } });
  }
  if (dialog.kind !== "working") return closeDialog(model);
  return { model: { ...model, dialog: { ...dialog, isCancelled: true } }, effects: [{ kind: "cancel" }] };
}

function scrollDialog(model: NavigatorModel, dialog: DialogOf<"help" | "comparison">, event: TerminalEvent): NavigatorStep {
  const { length } = dialog.kind === "comparison" ? dialog.lines : helpLines(model.keys, model.size.columns, model.glyphs);
  const scroll = scrollText(event, dialog.scroll, length, scrollableRows(panesOf(model).body));
  if (scroll !== undefined) return withoutEffects({ ...model, dialog: { ...dialog, scroll } });
  const isEnd = event.kind === "key" && ["q", "?", "enter"].includes(event.key);
  return isEnd ? closeDialog(model) : withoutEffects(model);
}

function updateField(model: NavigatorModel, dialog: DialogOf<"label" | "focus" | "exporting">, event: TerminalEvent): NavigatorStep {
  if (event.kind === "key" && event.key === "enter") return submitField(model, dialog);
  const field = editField(dialog.field, event);
  return field === undefined ? withoutEffects(model) : withoutEffects({ ...model, dialog: { ...dialog, field } });
}

function submitField(model: NavigatorModel, { kind, entryId, field }: DialogOf<"label" | "focus" | "exporting">): NavigatorStep {
  const text = field.text.trim();
  if (kind === "label") return { model: { ...model, dialog: { kind: "none" } }, effects: [{ kind: "label", entryId, label: text }] };
  if (kind === "focus") return rememberChoice(moveTo(model, entryId, true, text === "" ? null : text), WITH_FOCUS);
  if (text === "") return withoutEffects(model);
  return { model: { ...model, dialog: { kind: "none" } }, effects: [{ kind: "export", entryId, path: text }] };
}

/** The keys of a list of choices: mark another one, take the marked one, or one by its number. */
function updateChoices(model: NavigatorModel, dialog: DialogOf<"leaving" | "subagents">, event: TerminalEvent): NavigatorStep {
  if (event.kind !== "key") return withoutEffects(model);
  if (event.key === "q") return closeDialog(model);
  const { choice } = dialog;
  const count = dialog.kind === "leaving" ? LEAVING_CHOICES.length : dialog.list.length;
  const by = { up: -1, k: -1, down: 1, j: 1, tab: 1 }[event.key];
  if (by !== undefined) return withoutEffects({ ...model, dialog: { ...dialog, choice: (choice + by + count) % count } });
  const at = event.key === "enter" ? choice : Number(event.key) - 1;
  if (dialog.kind === "leaving") return at >= 0 && at < count ? applyChoice(model, dialog, at) : withoutEffects(model);
  const chosen = dialog.list[at];
  return chosen === undefined ? withoutEffects(model) : visitSubagent(model, chosen);
}

function applyChoice(model: NavigatorModel, { entryId, left }: DialogOf<"leaving">, choice: number): NavigatorStep {
  if (choice === WITH_FOCUS) return withoutEffects({ ...model, dialog: { kind: "focus", entryId, left, field: newField() } });
  return rememberChoice(moveTo(model, entryId, choice === WITH_SUMMARY), choice);
}

function rememberChoice({ model, effects }: NavigatorStep, choice: number): NavigatorStep {
  return { model: { ...model, lastChoice: choice }, effects: [...effects, { kind: "remember", choice }] };
}

function updateForking(model: NavigatorModel, { entryId }: DialogOf<"forking">, event: TerminalEvent): NavigatorStep {
  if (event.kind !== "key") return withoutEffects(model);
  if (event.key === "q") return closeDialog(model);
  if (event.key !== "enter" && event.key !== "n") return withoutEffects(model);
  return { model: { ...model, dialog: { kind: "none" } }, effects: [{ kind: "fork", entryId, opens: event.key === "enter" }] };
}

function updateConfirmation(model: NavigatorModel, { entryId }: DialogOf<"compacting">, event: TerminalEvent): NavigatorStep {
  if (event.kind !== "key") return withoutEffects(model);
  if (event.key === "n" || event.key === "q") return closeDialog(model);
  if (event.key !== "y" && event.key !== "enter") return withoutEffects(model);
  const dialog = { kind: "working" as const, text: "Summarizing the entries before this one", sinceMs: null, isCancelled: false };
  return { model: { ...model, dialog }, effects: [{ kind: "compact", entryId }] };
}
