import { count, counted } from "@bough/session-core/view";
import { sessionTitle } from "../session/names.js";
import { type Line, type Span, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";
import { type Field, visibleField } from "../tui/field.js";
import { firstKeyName as nameOfFirstKey } from "../tui/key-table.js";
import type { PickerAction } from "./keys.js";
import { isSearching, type PickerModel, type PickerSettings } from "./model.js";

const MAX_TITLE_COLUMNS = 40;

const LABELS = { search: "Search: ", rename: "Title: " } as const;

/** A title in quotes, shortened for use in a sentence. */
export function quoteTitle(title: string, { glyphs }: Pick<PickerSettings, "glyphs">): string {
  return `"${truncate(safe(title), MAX_TITLE_COLUMNS, glyphs.ellipsis)}"`;
}

/** The display name of the first key of an action; empty if it has none. */
export function firstKeyName({ keys, glyphs }: PickerSettings, action: PickerAction): string {
  return nameOfFirstKey(keys, action, glyphs.isAscii);
}

/** The lines below the title: the field, the question, or the notice. Fields fit the width; the caller wraps the rest. */
export function promptLines(model: PickerModel): readonly Line[] {
  const { mode, notice } = model;
  const shown = notice === undefined ? [] : [[styled(notice.kind === "error" ? "error" : "label", notice.text)]];
  switch (mode.kind) {
    case "search":
      return [fieldLine(model, LABELS.search, model.search.field), ...(shown.length > 0 ? shown.slice(0, 1) : [searchStateText(model)])];
    case "rename":
      return [fieldLine(model, LABELS.rename, mode.field), [styled("dim", "Enter saves, Esc cancels, an empty title removes it")]];
    case "delete":
      return [deleteQuestion(model, mode)];
    case "list":
    case "help":
      return shown.length > 0 ? shown : [searchLine(model)];
  }
}

function searchLine(model: PickerModel): Line {
  if (!isSearching(model)) return [];
  return [styled("bold", LABELS.search), model.search.field.text, "  ", ...searchStateText(model)];
}

function deleteQuestion({ settings }: PickerModel, { record, subagents }: Extract<PickerModel["mode"], { kind: "delete" }>): Line {
  const others = subagents === 0 ? "" : ` and ${counted(subagents, "session of its subagents", "sessions of its subagents")}`;
  const what = `${quoteTitle(sessionTitle(record), settings)} with ${counted(record.messageCount, "message")}${others}`;
  return [styled("error", "Delete "), what, styled("error", " permanently? "), styled("bold", "y/n")];
}

function fieldLine({ size }: PickerModel, label: string, field: Field): Line {
  return [styled("bold", label), visibleField(field, Math.max(size.columns - label.length - 1, 1)).text];
}

/** The cursor position in a field, so that input methods open there; undefined: no field is active. */
export function promptCursor(model: PickerModel): { readonly row: number; readonly column: number } | undefined {
  const { mode, size } = model;
  if (mode.kind !== "search" && mode.kind !== "rename") return undefined;
  const [label, field] = mode.kind === "search" ? [LABELS.search, model.search.field] : [LABELS.rename, mode.field];
  const { column } = visibleField(field, Math.max(size.columns - label.length - 1, 1));
  return { row: 1, column: label.length + column };
}

/** The numbers of matches, or why messages were not searched. */
function searchStateText(model: PickerModel): readonly (string | Span)[] {
  const { search, rows, nameMatchCount, settings } = model;
  if (!isSearching(model))
    return [styled("dim", 'words, "phrases", prefix*; matches in titles come before matches in messages; agent:pi dir:api since:2w')];
  const names = `${count(nameMatchCount)} by name`;
  const texts = count(rows.length - nameMatchCount);
  switch (search.state) {
    case "idle":
    case "running":
      return [styled("dim", `${names}, searching messages${settings.glyphs.ellipsis}`)];
    case "done":
      return [styled("dim", `${names}, ${texts} by text${search.more ? " (the best hits only)" : ""}`)];
    case "invalid":
      return [styled("dim", `${names}; messages were not searched: ${search.reason}`)];
    case "failed":
      return [styled("error", `${names}; messages could not be searched: ${search.reason}`)];
  }
}
