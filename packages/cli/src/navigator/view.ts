import { count, counted } from "@bough/session-core/view";
import { paneLines, placeCount } from "../preview/pane.js";
import { BEING_WRITTEN } from "../session/store-watcher.js";
import { describeMatched } from "../session/typed-text.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { visibleField } from "../tui/field.js";
import { keyName } from "../tui/key-table.js";
import { type Frame, type FrameLine, plainLine, type Size } from "../tui/screen.js";
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
  const search = model.search === null ? undefined : searchLine(model.search, panes.columns, searchStatus(model, model.search));
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
  const shown = previewLines(model, preview);
  if (preview.place === "over") return shown;
  const list = listLines(model, panes.list);
  if (preview.place === "below") {
    const rule = plainLine(styled("dim", model.glyphs.rule.repeat(panes.columns)));
    return [...list, rule, ...shown];
  }
  return list.map((line, at) => ({ line: joinPanes(line, panes.list.columns, shown[at] ?? plainLine(), model) }));
}

/** In a divided screen the selected row is bold: an inverted line would extend into the preview. */
function joinPanes({ line, isSelected }: FrameLine, columns: number, right: FrameLine, { glyphs }: NavigatorModel): Line {
  const left = isSelected === true ? line.map((piece) => (typeof piece === "string" ? styled("bold", piece) : piece)) : line;
  const rest = " ".repeat(Math.max(columns - lineWidth(line), 0));
  return [...left, rest, styled("dim", glyphs.bar), ...right.line];
}

function listLines(model: NavigatorModel, { columns, rows }: Size): readonly FrameLine[] {
  const { tree, layout, top, folds } = model;
  if (tree === undefined || layout === undefined)
    return padLines([plainLine(...fitLine([styled("dim", "Reading the session "), model.glyphs.ellipsis], columns, ""))], rows);
  const lines = viewRows(model, tree, layout.window(top, rows, folds), columns);
  return padLines(lines.length === 0 ? emptyLines(model, tree, columns) : lines, rows);
}

/** Explains why the list is empty: no entries, no hits, or a filter. */
function emptyLines(model: NavigatorModel, { index }: NavigatorTree, columns: number): readonly FrameLine[] {
  const message = (text: string) => [plainLine(...fitLine([styled("dim", text)], columns, model.glyphs.ellipsis))];
  if (index.size === 0) return message("No entries yet.");
  if (model.search?.hits?.length === 0) return message("No hits. Esc ends the search.");
  return message("No entry matches the filter. Ctrl-D shows the conversation, Ctrl-A everything.");
}

function previewLines({ preview, glyphs }: NavigatorModel, pane: Size): readonly FrameLine[] {
  return padLines(
    paneLines(preview, pane, "J K", glyphs).map((line) => plainLine(...line)),
    pane.rows,
  );
}

function padLines(lines: readonly FrameLine[], rows: number): readonly FrameLine[] {
  return lines.length >= rows ? lines.slice(0, rows) : [...lines, ...Array.from({ length: rows - lines.length }, () => plainLine())];
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
  const room = Math.max(columns - lineWidth(right), 0);
  const name = fitLine([styled("bold", title)], room, glyphs.ellipsis);
  const gap = " ".repeat(Math.max(room - lineWidth(name), 0));
  return plainLine(...fitLine([...name, gap, ...right], columns, glyphs.ellipsis));
}

/** Describes how much of the tree was read, and how many keys wait for the rest. */
function readingText({ done, total, held }: Reading): string {
  const keys = held.length === 0 ? "" : `, ${counted(held.length, "key")} waiting`;
  return `reading ${count(Math.min(done, total))} of ${counted(total, "entry", "entries")}${keys}`;
}

type KeyHint = readonly [key: string, action: string];

const LIST_HINTS: readonly (readonly [action: NavigatorAction, text: string])[] = [
  ["go", "go"],
  ["help", "all keys"],
  ["close", "close"],
  ["search", "search"],
  ["preview", "preview"],
  ["fold", "fold"],
  ["label", "label"],
];
const LEAVING_HINTS: readonly KeyHint[] = [
  ["Enter", "choose"],
  ["Up/Down", "another"],
  ["Esc", "stay here"],
];
const SEARCH_HINTS: readonly KeyHint[] = [
  ["Enter", "to the list"],
  ["Esc", "end the search"],
  ["Up/Down", "choose"],
];

/** The notice, else hints on keys. */
function footLine(model: NavigatorModel, columns: number): FrameLine {
  const { notice, glyphs } = model;
  if (notice !== null)
    return plainLine(...fitLine([notice.isError ? styled("error", notice.text) : notice.text], columns, glyphs.ellipsis));
  if (model.dialog.kind === "leaving") return hintLine(LEAVING_HINTS, columns);
  if (model.dialog.kind !== "none") return plainLine();
  if (model.search?.isTyping === true) return hintLine(SEARCH_HINTS, columns);
  const hints = LIST_HINTS.flatMap(([action, text]) => {
    const key = model.keys.find((binding) => binding.action === action)?.keys[0];
    return key === undefined ? [] : [[keyName(key, glyphs.isAscii), text] as const];
  });
  return hintLine(hints, columns);
}

/** As many hints as fit, the first ones first. */
function hintLine(hints: readonly KeyHint[], columns: number): FrameLine {
  const line: (string | Span)[] = [];
  let used = 0;
  for (const [key, text] of hints) {
    const piece: Line = [styled("bold", key), styled("dim", ` ${text}  `)];
    used += lineWidth(piece);
    if (used - 2 > columns) break;
    line.push(...piece);
  }
  return plainLine(...fitLine(line, columns, ""));
}

const SEARCH_SIGN = "/ ";

/** The search field and the number of hits; `column` is that of the cursor. */
function searchLine(search: Search, columns: number, status: string): { readonly line: FrameLine; readonly column: number } {
  const right = status === "" ? "" : ` ${safe(status)} `;
  const room = Math.max(columns - SEARCH_SIGN.length - lineWidth([right]), 10);
  const { text, column } = visibleField(search.field, room);
  const gap = " ".repeat(Math.max(room - lineWidth([text]), 0));
  const style = search.problem === null ? "dim" : "error";
  const line = fitLine([styled(search.isTyping ? "match" : "dim", SEARCH_SIGN), text, gap, styled(style, right)], columns, "");
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
