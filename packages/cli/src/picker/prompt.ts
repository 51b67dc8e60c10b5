import { count, counted } from "../format/numbers.js";
import { sessionTitle } from "../session/choose-session.js";
import { type Line, type Span, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";
import { type Field, visibleField } from "../tui/field.js";
import { keyName } from "../tui/key-table.js";
import type { PickerAction } from "./keys.js";
import { isSearching, type PickerModel, type PickerSettings } from "./model.js";

/** Longest title in a question, in columns; the list shows the whole of it. */
const MAX_TITLE_COLUMNS = 40;

/** What stands before the text of each field. */
const LABELS = { search: "Search: ", rename: "Title: " } as const;

/** A title between quotes, short enough for a question. */
export function quoteTitle(title: string, { glyphs }: Pick<PickerSettings, "glyphs">): string {
  return `"${truncate(safe(title), MAX_TITLE_COLUMNS, glyphs.ellipsis)}"`;
}

/** The first key of an action as people call it; empty: it has none. */
export function firstKeyName({ keys, glyphs }: PickerSettings, action: PickerAction): string {
  const first = keys.find((binding) => binding.action === action)?.keys[0];
  return first === undefined ? "" : keyName(first, glyphs.arrow === "<-");
}

/** The part below the title: the field, the question, or what happened. Fields fit the width; the rest is to be wrapped. */
export function promptLines(model: PickerModel): readonly Line[] {
  const { mode, notice } = model;
  const said = notice === undefined ? [] : [[styled(notice.kind === "error" ? "error" : "label", notice.text)]];
  switch (mode.kind) {
    case "search":
      return [fieldLine(model, LABELS.search, model.search.field), ...(said.length > 0 ? said.slice(0, 1) : [searchStateText(model)])];
    case "rename":
      return [fieldLine(model, LABELS.rename, mode.field), [styled("dim", "Enter saves, Esc keeps the old one, empty removes it")]];
    case "delete":
      return [deleteQuestion(model, mode)];
    case "list":
    case "help":
      return said.length > 0 ? said : [searchLine(model)];
  }
}

function searchLine(model: PickerModel): Line {
  if (!isSearching(model)) return [];
  return [styled("bold", LABELS.search), model.search.field.text, "  ", ...searchStateText(model)];
}

function deleteQuestion({ settings }: PickerModel, { record, subagents }: Extract<PickerModel["mode"], { kind: "delete" }>): Line {
  const beside = subagents === 0 ? "" : ` and ${counted(subagents, "session of its subagents", "sessions of its subagents")}`;
  const what = `${quoteTitle(sessionTitle(record), settings)} with ${counted(record.messageCount, "message")}${beside}`;
  return [styled("error", "Delete "), what, styled("error", " for good? "), styled("bold", "y/n")];
}

function fieldLine({ size }: PickerModel, label: string, field: Field): Line {
  return [styled("bold", label), visibleField(field, Math.max(size.columns - label.length - 1, 1)).text];
}

/** Where the cursor stands while something is typed (regression R189). */
export function promptCursor(model: PickerModel): { readonly row: number; readonly column: number } | undefined {
  const { mode, size } = model;
  if (mode.kind !== "search" && mode.kind !== "rename") return undefined;
  const [label, field] = mode.kind === "search" ? [LABELS.search, model.search.field] : [LABELS.rename, mode.field];
  const { column } = visibleField(field, Math.max(size.columns - label.length - 1, 1));
  return { row: 1, column: label.length + column };
}

/** What the search came to: counts of both kinds, or why texts were not searched. */
function searchStateText(model: PickerModel): readonly (string | Span)[] {
  const { search, rows, nameMatchCount, settings } = model;
  if (!isSearching(model)) return [styled("dim", 'words, "phrases", begin*; names first, then texts')];
  const names = `${count(nameMatchCount)} by name`;
  const texts = count(rows.length - nameMatchCount);
  switch (search.state) {
    case "idle":
    case "running":
      return [styled("dim", `${names}, searching the texts${settings.glyphs.ellipsis}`)];
    case "done":
      return [styled("dim", `${names}, ${texts} by text${search.more ? " (the best hits only)" : ""}`)];
    case "invalid":
      return [styled("dim", `${names}; texts are not searched: ${search.reason}`)];
    case "failed":
      return [styled("error", `${names}; texts could not be searched: ${search.reason}`)];
  }
}
