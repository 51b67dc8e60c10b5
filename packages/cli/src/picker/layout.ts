import { wrapLine } from "../format/wrap.js";
import { type Line, styled } from "../terminal/line.js";
import { helpLines as keyHelpLines } from "../tui/key-table.js";
import { itemAtLine, type ListShape, topOf } from "../tui/list.js";
import type { Size } from "../tui/screen.js";
import { isSearching, type PickerModel, type Scope } from "./model.js";
import { promptLines } from "./prompt.js";

const MAX_PROMPT_ROWS = 3;

/** From this width on the preview is shown beside the list, not below it. */
const MIN_COLUMNS_SIDE_BY_SIDE = 120;

/** With fewer rows the column headings are left out. */
const MIN_ROWS_WITH_HEADINGS = 8;

/** The parts of the screen and their sizes. */
export interface Layout {
  readonly prompt: readonly Line[];
  readonly hasHeadings: boolean;
  readonly list: Size;
  /** undefined: closed, or no room for it. `below` takes one more row for the rule above it. */
  readonly preview: (Size & { readonly position: "beside" | "below" }) | undefined;
}

/** Divides the screen. Independent of the number of sessions. */
export function computeLayout(model: PickerModel): Layout {
  const { columns, rows } = model.size;
  const prompt = wrapPrompt(model);
  const hasHeadings = rows >= MIN_ROWS_WITH_HEADINGS;
  // The title and the prompt are above the list, the key hints below it.
  const space = Math.max(1, rows - 2 - prompt.length - (hasHeadings ? 1 : 0));
  const whole = { prompt, hasHeadings, list: { columns, rows: space }, preview: undefined };
  if (!model.preview.isOpen) return whole;
  if (columns >= MIN_COLUMNS_SIDE_BY_SIDE) {
    const list = Math.floor(columns * 0.6);
    return { ...whole, list: { columns: list, rows: space }, preview: { position: "beside", columns: columns - list - 3, rows: space } };
  }
  const below = Math.floor(space / 2);
  if (below < 2) return whole;
  return { ...whole, list: { columns, rows: space - below }, preview: { position: "below", columns, rows: below - 1 } };
}

function wrapPrompt(model: PickerModel): readonly Line[] {
  const { columns, rows } = model.size;
  // A field scrolls horizontally in one row.
  if (model.mode.kind === "search" || model.mode.kind === "rename") return promptLines(model);
  const wrapped = promptLines(model).flatMap((line) => wrapLine(line, Math.max(columns - 1, 1)));
  if (model.mode.kind !== "delete") return wrapped.slice(0, MAX_PROMPT_ROWS);
  // A question is shown whole; where the screen is too low, with its end, which says how to answer.
  const most = Math.max(MAX_PROMPT_ROWS, rows - 5);
  return wrapped.length <= most ? wrapped : [...wrapped.slice(0, most - 1), ...wrapped.slice(-1)];
}

/** Screen rows of a list row: a text match has its snippet below it. */
export function rowHeight(model: PickerModel, at: number): 1 | 2 {
  return isSearching(model) && at >= model.nameMatchCount && at < model.rows.length ? 2 : 1;
}

/** The list of sessions. */
export function listOf(model: PickerModel): ListShape {
  return { count: model.rows.length, rows: computeLayout(model).list.rows, heightOf: (at) => rowHeight(model, at) };
}

/** Scrolls the list until the selected row is visible. */
export function scrollToSelection(model: PickerModel): PickerModel {
  const selected = Math.max(0, Math.min(model.selected, model.rows.length - 1));
  return { ...model, selected, top: topOf(listOf(model), { selected, top: model.top }) };
}

/** The row under the pointer; undefined: there is none. A row of a text search has two lines. */
export function rowAtLine(model: PickerModel, pointer: { readonly row: number; readonly column: number }): number | undefined {
  const { list, prompt, hasHeadings } = computeLayout(model);
  if (pointer.column >= list.columns) return undefined;
  return itemAtLine(listOf(model), model.top, pointer.row - 1 - prompt.length - (hasHeadings ? 1 : 0));
}

export type ColumnName = "directory" | "count" | "age" | "model" | "size";

/** A column beside the title. */
export interface PickerColumn {
  readonly name: ColumnName;
  readonly heading: string;
  readonly width: number;
  readonly align: "left" | "right";
}

/** Spaces between two columns. */
export const COLUMN_GAP = 2;

/** Width of the markers before a title: selected, current, and a space. */
export const MARKER_COLUMNS = 3;

/** The columns from left to right. Each is left out if the title would become narrower than `minTitle`. */
const COLUMNS: readonly (PickerColumn & { readonly minTitle: number })[] = [
  { name: "directory", heading: "directory", width: 20, align: "left", minTitle: 24 },
  { name: "count", heading: "msgs", width: 6, align: "right", minTitle: 20 },
  { name: "age", heading: "age", width: 4, align: "right", minTitle: 20 },
  { name: "model", heading: "model", width: 18, align: "left", minTitle: 30 },
  { name: "size", heading: "size", width: 8, align: "right", minTitle: 28 },
];

/** Narrow screens leave out the last ones. */
const BY_IMPORTANCE: readonly ColumnName[] = ["age", "count", "directory", "model", "size"];

/** The columns for a list of this width, and the width left for the title. `directory` is shown for all directories only. */
export function chooseColumns(width: number, scope: Scope): { readonly columns: readonly PickerColumn[]; readonly title: number } {
  let title = width - MARKER_COLUMNS;
  const chosen = new Set<ColumnName>();
  for (const name of BY_IMPORTANCE) {
    const column = COLUMNS.find((one) => one.name === name);
    if (column === undefined || (name === "directory" && scope === "here")) continue;
    if (title - column.width - COLUMN_GAP < column.minTitle) break;
    title -= column.width + COLUMN_GAP;
    chosen.add(name);
  }
  return { columns: COLUMNS.filter(({ name }) => chosen.has(name)), title: Math.max(title, 1) };
}

const SEARCH_FIELD_HELP =
  "In the search field letters are typed; arrows, PgUp, PgDn, Enter and Tab work as in the list. Esc returns to the list and keeps the results; Esc again clears them.";

/** The help screen: the bound keys in groups, then the keys of the search field; long lines are wrapped. */
export function helpLines({ settings, size }: Pick<PickerModel, "settings" | "size">): readonly Line[] {
  const bound = settings.keys.filter(({ keys }) => keys.length > 0);
  const searchField = wrapLine([styled("dim", SEARCH_FIELD_HELP)], Math.max(size.columns - 1, 1));
  return [...keyHelpLines(bound, size.columns, settings.glyphs), [], ...searchField];
}
