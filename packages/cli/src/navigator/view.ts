import { counted } from "../format/numbers.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { shownField } from "../tui/field.js";
import { type Frame, type FrameLine, plainLine } from "../tui/frame.js";
import { dialogLines } from "./dialog-view.js";
import { footLine, headLine } from "./edges-view.js";
import { wordsOf } from "./highlight.js";
import type { NavigatorModel, NavigatorTree, Search } from "./model.js";
import { type Panes, panesOf } from "./panes.js";
import { rowLine } from "./row-view.js";

const SEARCH_SIGN = "/ ";

/** What the navigator's screen shows. */
export function view(model: NavigatorModel): Frame {
  const panes = panesOf(model.size, model.preview.isShown, model.search !== null);
  const body = bodyLines(model, panes);
  const dialog = dialogLines(model);
  const search = model.search === null ? undefined : searchLine(model.search, panes.columns, model.layout?.hitNumber(model.selected) ?? 0);
  const lines = [
    headLine(model, panes.columns),
    ...over(body, dialog.lines),
    ...(search === undefined ? [] : [search.line]),
    footLine(model, panes.columns),
  ];
  const row = 1 + Math.max(body.length - dialog.lines.length, 0);
  if (dialog.cursor !== undefined) return { lines, cursor: { row: row + dialog.cursor.row, column: dialog.cursor.column } };
  if (search === undefined || model.search?.isTyping !== true) return { lines };
  return { lines, cursor: { row: 1 + body.length, column: search.column } };
}

/** A dialog covers the lowest lines of the body. */
function over(body: readonly FrameLine[], dialog: readonly FrameLine[]): readonly FrameLine[] {
  return [...body.slice(0, Math.max(body.length - dialog.length, 0)), ...dialog.slice(0, body.length)];
}

function bodyLines(model: NavigatorModel, panes: Panes): readonly FrameLine[] {
  const { preview } = panes;
  if (preview === undefined) return listLines(model, panes.list);
  const shown = previewLines(model, preview);
  if (preview.place === "over") return shown;
  const list = listLines(model, panes.list);
  if (preview.place === "below") return [...list, ruler(panes.columns, model), ...shown];
  return list.map((line, at) => ({ line: beside(line, panes.list.columns, shown[at] ?? plainLine(), model) }));
}

/** The selected row of a divided screen is marked by its sign and weight: an inverted line would cross the preview. */
function beside({ line, isSelected }: FrameLine, columns: number, right: FrameLine, { glyphs }: NavigatorModel): Line {
  const left = isSelected === true ? line.map((piece) => (typeof piece === "string" ? styled("bold", piece) : piece)) : line;
  const rest = " ".repeat(Math.max(columns - lineWidth(line), 0));
  return [...left, rest, styled("dim", glyphs.bar), ...right.line];
}

function ruler(columns: number, { glyphs }: NavigatorModel): FrameLine {
  return plainLine(styled("dim", glyphs.rule.repeat(columns)));
}

function listLines(model: NavigatorModel, { columns, rows }: { readonly columns: number; readonly rows: number }): readonly FrameLine[] {
  const { tree, layout, top, folds, search } = model;
  if (tree === undefined || layout === undefined)
    return padded([plainLine(styled("dim", "Reading the session "), model.glyphs.ellipsis)], rows);
  const look = {
    model,
    tree,
    columns,
    words: search === null ? [] : wordsOf(search.field.text),
    hits: new Set(search?.hits ?? []),
    leafNames: leafNames(tree),
  };
  const lines = layout.window(top, rows, folds).map((row) => rowLine(look, row));
  return padded(lines.length === 0 ? emptyLines(model, tree, columns) : lines, rows);
}

/** Empty, filtered and not found are different things (regression R190). */
function emptyLines(model: NavigatorModel, { index }: NavigatorTree, columns: number): readonly FrameLine[] {
  const said = (text: string) => [plainLine(...fitLine([styled("dim", text)], columns, model.glyphs.ellipsis))];
  if (index.size === 0) return said("No entries yet.");
  if (model.search?.hits?.length === 0) return said("Nothing fits the search. Esc ends it.");
  return said("No entry passes the filter. Ctrl-D shows the usual rows, Ctrl-A everything.");
}

function previewLines(
  { preview, glyphs }: NavigatorModel,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly FrameLine[] {
  const { lines, scroll } = preview;
  if (lines === null) return padded([plainLine(styled("dim", glyphs.ellipsis))], rows);
  const shown = lines.slice(scroll, scroll + rows).map((line) => plainLine(...fitLine(line, columns, glyphs.ellipsis)));
  const rest = lines.length - scroll - rows;
  if (rest > 0) shown[rows - 1] = plainLine(styled("dim", `${glyphs.ellipsis} ${rest + 1} more lines (J K scroll)`));
  return padded(shown, rows);
}

function padded(lines: readonly FrameLine[], rows: number): readonly FrameLine[] {
  return lines.length >= rows ? lines.slice(0, rows) : [...lines, ...Array.from({ length: rows - lines.length }, () => plainLine())];
}

function searchLine(
  { field, isTyping, hits, total, problem }: Search,
  columns: number,
  place: number,
): { readonly line: FrameLine; readonly column: number } {
  const says =
    problem !== null
      ? problem
      : hits === null
        ? ""
        : hits.length < total
          ? `${hits.length} of ${counted(total, "hit")}`
          : place > 0
            ? `${place} of ${counted(total, "hit")}`
            : counted(total, "hit");
  const count = says === "" ? "" : ` ${safe(says)} `;
  const room = Math.max(columns - SEARCH_SIGN.length - lineWidth([count]), 10);
  const { text, column } = shownField(field, room);
  const gap = " ".repeat(Math.max(room - lineWidth([text]), 0));
  const style = problem === null ? "dim" : "error";
  const line = fitLine([styled(isTyping ? "match" : "dim", SEARCH_SIGN), text, gap, styled(style, count)], columns, "");
  return { line: { line }, column: SEARCH_SIGN.length + column };
}

function leafNames({ leaves, leafName }: NavigatorTree): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const { name, entryId } of leaves)
    if (entryId !== null) names.set(entryId, [...(names.get(entryId) ?? []), name === leafName ? "leaf" : `leaf ${name}`]);
  return names;
}
