import { editField, newField } from "../tui/field.js";
import { helpLines } from "../tui/key-table.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { Dialog, NavigatorModel } from "./model.js";
import { panesOf } from "./panes.js";
import type { NavigatorStep } from "./select.js";
import { moveTo } from "./update-entry.js";
import { LEAVING_CHOICES, scrollableRows } from "./view-dialog.js";

const FOCUS = 2;

const NONE: Dialog = { kind: "none" };
const closed = (model: NavigatorModel): NavigatorStep => withoutEffects({ ...model, dialog: NONE });

/** What a key means to the dialog that is open. Every key is the dialog's as long as there is one. */
export function updateDialog(model: NavigatorModel, event: TerminalEvent): NavigatorStep {
  const { dialog } = model;
  if (event.kind === "key" && (event.key === "escape" || event.key === "ctrl+c")) return escaped(model);
  switch (dialog.kind) {
    case "none":
    case "working":
      return withoutEffects(model);
    case "help":
    case "comparison":
      return scrolled(model, dialog, event);
    case "label":
    case "focus":
      return typed(model, dialog, event);
    case "leaving":
      return choosing(model, dialog, event);
    case "compacting":
      return confirming(model, dialog, event);
  }
}

/** Work that goes on is cancelled and says itself when it has ended; everything else closes. */
function escaped(model: NavigatorModel): NavigatorStep {
  const { dialog } = model;
  if (dialog.kind === "focus")
    return withoutEffects({ ...model, dialog: { kind: "leaving", entryId: dialog.entryId, left: dialog.left, choice: FOCUS } });
  if (dialog.kind !== "working") return closed(model);
  return { model: { ...model, dialog: { ...dialog, isCancelled: true } }, effects: [{ kind: "cancel" }] };
}

function scrolled(model: NavigatorModel, dialog: Extract<Dialog, { scroll: number }>, event: TerminalEvent): NavigatorStep {
  if (event.kind !== "key") return withoutEffects(model);
  const page = scrollableRows(panesOf(model.size, model.preview.isShown, model.search !== null).body);
  const { length } = dialog.kind === "comparison" ? dialog.lines : helpLines(model.keys, model.size.columns, model.glyphs);
  const most = Math.max(length - page, 0);
  const steps: Readonly<Record<string, number>> = {
    ...{ up: -1, k: -1, down: 1, j: 1, pageup: -page, pagedown: page, space: page },
    ...{ home: -length, g: -length, end: length, G: length },
  };
  const by = steps[event.key];
  if (by === undefined) return event.key === "q" || event.key === "?" || event.key === "enter" ? closed(model) : withoutEffects(model);
  // A terminal that has grown since may show more than it could be scrolled to.
  return withoutEffects({ ...model, dialog: { ...dialog, scroll: Math.min(Math.max(Math.min(dialog.scroll, most) + by, 0), most) } });
}

function typed(model: NavigatorModel, dialog: Extract<Dialog, { kind: "label" | "focus" }>, event: TerminalEvent): NavigatorStep {
  if (event.kind === "key" && event.key === "enter") return entered(model, dialog);
  const field = editField(dialog.field, event);
  return field === undefined ? withoutEffects(model) : withoutEffects({ ...model, dialog: { ...dialog, field } });
}

function entered(model: NavigatorModel, { kind, entryId, field }: Extract<Dialog, { kind: "label" | "focus" }>): NavigatorStep {
  const text = field.text.trim();
  if (kind === "label") return { model: { ...model, dialog: NONE }, effects: [{ kind: "label", entryId, label: text }] };
  return remembered(moveTo(model, entryId, true, text === "" ? null : text), FOCUS);
}

function choosing(model: NavigatorModel, dialog: Extract<Dialog, { kind: "leaving" }>, event: TerminalEvent): NavigatorStep {
  if (event.kind !== "key") return withoutEffects(model);
  const count = LEAVING_CHOICES.length;
  const { choice } = dialog;
  const number = Number(event.key) - 1;
  if (number >= 0 && number < count) return chosen(model, dialog, number);
  switch (event.key) {
    case "up":
    case "k":
      return withoutEffects({ ...model, dialog: { ...dialog, choice: (choice + count - 1) % count } });
    case "down":
    case "j":
    case "tab":
      return withoutEffects({ ...model, dialog: { ...dialog, choice: (choice + 1) % count } });
    case "enter":
      return chosen(model, dialog, choice);
    case "q":
      return closed(model);
    default:
      return withoutEffects(model);
  }
}

function chosen(model: NavigatorModel, { entryId, left }: Extract<Dialog, { kind: "leaving" }>, choice: number): NavigatorStep {
  if (choice === FOCUS) return withoutEffects({ ...model, dialog: { kind: "focus", entryId, left, field: newField() } });
  return remembered(moveTo(model, entryId, choice === 1), choice);
}

function remembered({ model, effects }: NavigatorStep, choice: number): NavigatorStep {
  return { model: { ...model, lastChoice: choice }, effects: [...effects, { kind: "remember", choice }] };
}

function confirming(model: NavigatorModel, { entryId }: Extract<Dialog, { kind: "compacting" }>, event: TerminalEvent): NavigatorStep {
  if (event.kind !== "key") return withoutEffects(model);
  if (event.key === "n" || event.key === "q") return closed(model);
  if (event.key !== "y" && event.key !== "enter") return withoutEffects(model);
  const dialog = { kind: "working" as const, says: "Summarising what stands before", sinceMs: null, isCancelled: false };
  return { model: { ...model, dialog }, effects: [{ kind: "compact", entryId }] };
}
