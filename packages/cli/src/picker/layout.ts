import { wrapLine } from "../format/wrap.js";
import type { Line } from "../terminal/line.js";
import type { Size } from "../tui/screen.js";
import { isSearching, type PickerModel } from "./model.js";
import { promptLines } from "./prompt.js";

/** Most rows that a question or a message may take. */
const MOST_PROMPT_ROWS = 3;

/** From this width on the preview stands beside the list. */
const BESIDE_FROM = 120;

/** Fewer rows than this leave no room for the names of the columns. */
const HEADINGS_FROM = 8;

/** Where the parts of the screen are, in columns and rows. */
export interface Layout {
  readonly prompt: readonly Line[];
  readonly hasHeadings: boolean;
  readonly list: Size;
  /** undefined: no preview, or no room for one. `below` has a line above it that takes one row more. */
  readonly preview: (Size & { readonly place: "beside" | "below" }) | undefined;
}

/** How the screen is divided. Takes the same time however many sessions there are. */
export function layoutOf(model: PickerModel): Layout {
  const { columns, rows } = model.size;
  const prompt = wrappedPrompt(model);
  const hasHeadings = rows >= HEADINGS_FROM;
  // Above it the title and the prompt, below it the keys.
  const space = Math.max(1, rows - 2 - prompt.length - (hasHeadings ? 1 : 0));
  const whole = { prompt, hasHeadings, list: { columns, rows: space }, preview: undefined };
  if (!model.preview.isOpen) return whole;
  if (columns >= BESIDE_FROM) {
    const list = Math.floor(columns * 0.6);
    return { ...whole, list: { columns: list, rows: space }, preview: { place: "beside", columns: columns - list - 3, rows: space } };
  }
  const below = Math.floor(space / 2);
  if (below < 2) return whole;
  return { ...whole, list: { columns, rows: space - below }, preview: { place: "below", columns, rows: below - 1 } };
}

function wrappedPrompt(model: PickerModel): readonly Line[] {
  const { columns } = model.size;
  // A field scrolls sideways in its one row.
  if (model.mode.kind === "search" || model.mode.kind === "rename") return promptLines(model);
  // The blank behind the last word of a line counts too.
  const wrapped = promptLines(model).flatMap((line) => wrapLine(line, Math.max(columns - 1, 1)));
  return wrapped.length === 0 ? [[]] : wrapped.slice(0, MOST_PROMPT_ROWS);
}

/** How many screen rows a row of the list takes: a hit in the text has its snippet below it. */
export function heightOf(model: PickerModel, at: number): 1 | 2 {
  return isSearching(model) && at >= model.byName && at < model.rows.length ? 2 : 1;
}

/** The model with its list scrolled so far that the selected row is in sight. Looks at no more rows than a screen has. */
export function scrolled(model: PickerModel): PickerModel {
  const { rows } = layoutOf(model).list;
  const last = Math.max(0, model.rows.length - 1);
  const selected = Math.max(0, Math.min(model.selected, last));
  const highest = Math.min(selected, firstWith(model, last, rows));
  return { ...model, selected, top: Math.max(firstWith(model, selected, rows), Math.min(model.top, highest)) };
}

/** The first row of a screen whose last one is `last`. */
function firstWith(model: PickerModel, last: number, rows: number): number {
  let first = last;
  let room = rows - heightOf(model, last);
  while (first > 0 && room >= heightOf(model, first - 1)) {
    first -= 1;
    room -= heightOf(model, first);
  }
  return first;
}

/** The rows of the list in sight, from the first to behind the last. A row of two lines may be cut. */
export function visibleRange(model: PickerModel): { readonly from: number; readonly to: number } {
  let room = layoutOf(model).list.rows;
  let to = model.top;
  while (to < model.rows.length && room > 0) {
    room -= heightOf(model, to);
    to += 1;
  }
  return { from: model.top, to };
}
