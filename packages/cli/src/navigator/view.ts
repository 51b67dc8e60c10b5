import { count, counted } from "@bough/session-core/view";
import { paneLines, placeCount, splitLines } from "../preview/pane.js";
import { BEING_WRITTEN } from "../session/store-watcher.js";
import { describeMatched } from "../session/typed-text.js";
import { fitLine, type Line, lineWidth, spreadLine, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { visibleField } from "../tui/field.js";
import { type ActionHints, hintLine, hintsOf } from "../tui/key-table.js";
import { type Frame, type FrameLine, padFrame, plainLine, type Size } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";
import type { NavigatorModel, NavigatorTree, Reading, Search } from "./model.js";
import { type Panes, panesOf } from "./panes.js";
import { selectedPosition, visibleCount } from "./selection.js";
import { hasPlaces } from "./update-search.js";
import { type DialogView, viewDialog } from "./view-dialog.js";
import { viewRows } from "./view-rows.js";

/** The frame of the navigator: heading, list and preview, dialog, search field, footer. */
export function view(model: NavigatorModel): Frame {
  const panes = panesOf(model);
  const body = bodyLines(model, panes);
  const dialog = fitDialog(viewDialog(model, panes.body), panes.body);
  const search =
    model.search === null ? undefined : searchLine(model.search, panes.columns, searchStatus(model, model.search), model.glyphs.ellipsis);
  const lines = [
    ...(panes.head > 0 ? [headLine(model, panes.columns)] : []),
    ...linesAboveDialog(model, panes, body, dialog.lines.length),
    ...dialog.lines,
    ...(search === undefined ? [] : [search.line]),
    ...(panes.foot > 0 ? [footLine(model, panes.columns)] : []),
  ].slice(0, model.size.rows);
  const at = cursorOf(model, panes, dialog, search?.column);
  if (at === undefined) return { lines };
  // On a terminal of a few columns the name of a field alone may be wider than the terminal.
  return { lines, cursor: { row: Math.min(at.row, lines.length - 1), column: Math.min(at.column, Math.max(panes.columns - 1, 0)) } };
}

/** The part of the body above a dialog of `covered` lines, scrolled so that the selected row is visible. */
function linesAboveDialog(model: NavigatorModel, { preview }: Panes, body: readonly FrameLine[], covered: number): readonly FrameLine[] {
  const room = body.length - covered;
  const at = preview?.place === "over" ? 0 : selectedPosition(model) - model.top;
  const from = Math.min(Math.max(at - room + 1, 0), covered);
  return body.slice(from, from + room);
}

/** The cursor is in the field of the dialog, else in the search field. */
function cursorOf({ search }: NavigatorModel, { head, body }: Panes, dialog: DialogView, column: number | undefined): Frame["cursor"] {
  if (dialog.cursor !== undefined) return { row: head + body - dialog.lines.length + dialog.cursor.row, column: dialog.cursor.column };
  if (dialog.lines.length > 0 || column === undefined || search?.isTyping !== true) return undefined;
  return { row: head + body, column };
}

/** A dialog that is higher than the body loses its rule, then its last lines. */
function fitDialog({ lines, cursor }: DialogView, rows: number): DialogView {
  if (lines.length <= rows) return { lines, cursor };
  return { lines: lines.slice(1, 1 + rows), cursor: cursor && { row: cursor.row - 1, column: cursor.column } };
}

function bodyLines(model: NavigatorModel, panes: Panes): readonly FrameLine[] {
  const { preview } = panes;
  if (preview === undefined) return listLines(model, panes.list);
  const shown = paneLines(model.preview, preview, "J K", model.glyphs);
  if (preview.place !== "over") return splitLines(listLines(model, panes.list), shown, panes, model.glyphs);
  return padFrame(
    shown.map((line) => plainLine(...line)),
    preview.rows,
  );
}

function listLines(model: NavigatorModel, { columns, rows }: Size): readonly FrameLine[] {
  const { tree, layout, top, folds } = model;
  if (tree === undefined || layout === undefined)
    return padFrame([plainLine(...fitLine([styled("dim", "Reading the session "), model.glyphs.ellipsis], columns, ""))], rows);
  const lines = viewRows(model, tree, layout.window(top, rows, folds), columns);
  return padFrame(lines.length === 0 ? emptyLines(model, tree, columns) : lines, rows);
}

/** Explains why the list is empty: no entries, no hits, or a filter. */
function emptyLines(model: NavigatorModel, { index }: NavigatorTree, columns: number): readonly FrameLine[] {
  const message = (text: string) => [plainLine(...fitLine([styled("dim", text)], columns, model.glyphs.ellipsis))];
  if (index.size === 0) return message("No entries yet.");
  if (model.search?.hits?.length === 0) return message("No hits. Esc ends the search.");
  return message("No entry matches the filter. Ctrl-D shows the conversation, Ctrl-A everything.");
}

/** Session, position, number of rows, and filter. */
function headLine(model: NavigatorModel, columns: number): FrameLine {
  const { title, tree, filter, glyphs } = model;
  const visible = visibleCount(model);
  const position = selectedPosition(model) + 1;
  const total = tree?.index.size ?? 0;
  const hidden = visible === total ? "" : ` of ${counted(total, "entry", "entries")}`;
  const place = model.reading === null ? `${count(position)}/${count(visible)}${hidden}` : readingText(model.reading);
  const held = tree?.isHeld === true ? [styled("summary", ` ${BEING_WRITTEN}`)] : [];
  const right: Line = [...held, styled("dim", ` ${place} `), styled("label", `[${filter}]`)];
  return plainLine(...fitLine(spreadLine([styled("bold", title)], right, columns, glyphs.ellipsis, 0), columns, glyphs.ellipsis));
}

/** Describes how much of the tree was read, and how many keys wait for the rest. */
function readingText({ done, total, held }: Reading): string {
  const keys = held.length === 0 ? "" : `, ${counted(held.length, "key")} waiting`;
  return `reading ${count(Math.min(done, total))} of ${counted(total, "entry", "entries")}${keys}`;
}

const LIST_HINTS: ActionHints<NavigatorAction> = [
  ["go", "go"],
  ["help", "all keys"],
  ["close", "close"],
  ["search", "search"],
  ["preview", "preview"],
  ["fold", "fold"],
  ["label", "label"],
];
const LEAVING_HINTS = [
  ["Enter", "choose"],
  ["Up/Down", "another"],
  ["Esc", "stay here"],
] as const;
const SEARCH_HINTS = [
  ["Enter", "to the list"],
  ["Esc", "end the search"],
  ["Up/Down", "choose"],
] as const;

/** The notice, else hints on keys. */
function footLine(model: NavigatorModel, columns: number): FrameLine {
  const { notice, glyphs } = model;
  if (notice !== null)
    return plainLine(...fitLine([notice.isError ? styled("error", notice.text) : notice.text], columns, glyphs.ellipsis));
  if (model.dialog.kind === "leaving") return plainLine(...hintLine(LEAVING_HINTS, columns));
  if (model.dialog.kind !== "none") return plainLine();
  const hints = model.search?.isTyping === true ? SEARCH_HINTS : hintsOf(model.keys, LIST_HINTS, glyphs.isAscii);
  return plainLine(...hintLine(hints, columns));
}

const SEARCH_SIGN = "/ ";

/** The search field and the number of hits; `column` is that of the cursor. */
function searchLine(
  search: Search,
  columns: number,
  status: string,
  ellipsis: string,
): { readonly line: FrameLine; readonly column: number } {
  const right = status === "" ? "" : ` ${safe(status)}`;
  // A status that leaves too little room for what is typed gives it up to half of the line.
  const typed = Math.min(lineWidth([safe(search.field.text), " "]), Math.floor(columns / 2));
  const room = Math.max(columns - SEARCH_SIGN.length - lineWidth([right, " "]), typed);
  const { text, column } = visibleField(search.field, room);
  const gap = " ".repeat(Math.max(room - lineWidth([text]), 0));
  const style = search.problem === null ? "dim" : "error";
  const line = fitLine([styled(search.isTyping ? "match" : "dim", SEARCH_SIGN), text, gap, styled(style, right)], columns, ellipsis);
  return { line: { line }, column: SEARCH_SIGN.length + column };
}

function searchStatus(model: NavigatorModel, { hits, total, words, problem }: Search): string {
  if (problem !== null) return problem;
  if (hits === null || words === null) return "";
  const number = model.layout?.hitNumber(model.selected) ?? 0;
  const loading = hits.length < total ? ` (${count(hits.length)} shown)` : "";
  if (number === 0) return `${counted(total, "hit")}${loading}${describeMatched(words.matched)}`;
  const place = hasPlaces(model) ? `match ${model.preview.place + 1} of ${placeCount(model.preview)} ${model.glyphs.dot} ` : "";
  return `${place}hit ${count(number)} of ${count(total)}${loading}${describeMatched(words.matched)}`;
}
