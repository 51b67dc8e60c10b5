import { count, counted } from "../format/numbers.js";
import { fitLine, type Line, lineWidth, styled } from "../terminal/line.js";
import { safe } from "../terminal/safe.js";
import { visibleField } from "../tui/field.js";
import { keyName } from "../tui/key-table.js";
import { type Frame, type FrameLine, plainLine } from "../tui/screen.js";
import type { NavigatorAction } from "./keys.js";
import type { NavigatorModel, NavigatorTree, Search } from "./model.js";
import { type Panes, panesOf } from "./panes.js";
import { selectedPosition, visibleCount } from "./select.js";
import { type DialogView, viewDialog } from "./view-dialog.js";
import { rowLine, wordsOf } from "./view-rows.js";

const SEARCH_SIGN = "/ ";

/** What the navigator's screen shows. */
export function view(model: NavigatorModel): Frame {
  const panes = panesOf(model.size, model.preview.isShown, model.search !== null);
  const body = bodyLines(model, panes);
  const dialog = fittingDialog(viewDialog(model, panes.body), panes.body);
  const search = model.search === null ? undefined : searchLine(model.search, panes.columns, model.layout?.hitNumber(model.selected) ?? 0);
  const lines = [
    ...(panes.head > 0 ? [headLine(model, panes.columns)] : []),
    ...aboveDialog(model, panes, body, dialog.lines.length),
    ...dialog.lines,
    ...(search === undefined ? [] : [search.line]),
    ...(panes.foot > 0 ? [footLine(model, panes.columns)] : []),
  ].slice(0, model.size.rows);
  const at = cursorOf(model, panes, dialog, search?.column);
  if (at === undefined) return { lines };
  // A terminal of a few columns has less room than the names of fields.
  return { lines, cursor: { row: Math.min(at.row, lines.length - 1), column: Math.min(at.column, Math.max(panes.columns - 1, 0)) } };
}

/** What a dialog of `lines` lines leaves of the body: the row that it is about stays in sight. */
function aboveDialog(model: NavigatorModel, { preview }: Panes, body: readonly FrameLine[], lines: number): readonly FrameLine[] {
  const room = body.length - lines;
  const at = preview?.place === "over" ? 0 : selectedPosition(model) - model.top;
  const from = Math.min(Math.max(at - room + 1, 0), lines);
  return body.slice(from, from + room);
}

/** The cursor stands where something is typed: in the dialog, else in the search. */
function cursorOf({ search }: NavigatorModel, { head, body }: Panes, dialog: DialogView, column: number | undefined): Frame["cursor"] {
  if (dialog.cursor !== undefined) return { row: head + body - dialog.lines.length + dialog.cursor.row, column: dialog.cursor.column };
  // Keys are the dialog's as long as there is one.
  if (dialog.lines.length > 0 || column === undefined || search?.isTyping !== true) return undefined;
  return { row: head + body, column };
}

/** Where a dialog is higher than the body, its rule leaves first, then what stands last. */
function fittingDialog({ lines, cursor }: DialogView, rows: number): DialogView {
  if (lines.length <= rows) return { lines, cursor };
  return { lines: lines.slice(1, 1 + rows), cursor: cursor && { row: cursor.row - 1, column: cursor.column } };
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
    return padded([plainLine(...fitLine([styled("dim", "Reading the session "), model.glyphs.ellipsis], columns, ""))], rows);
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
  if (rest > 0)
    shown[rows - 1] = plainLine(...fitLine([styled("dim", `${glyphs.ellipsis} ${rest + 1} more lines (J K scroll)`)], columns, ""));
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
  const { text, column } = visibleField(field, room);
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

/** The first line: which session, which filter, and where in it the person is. */
export function headLine(model: NavigatorModel, columns: number): FrameLine {
  const { title, tree, filter, glyphs } = model;
  const shown = visibleCount(model);
  const position = selectedPosition(model) + 1;
  const total = tree?.index.size ?? 0;
  const hidden = shown === total ? "" : ` of ${counted(total, "entry", "entries")}`;
  const place: Line = [styled("dim", ` ${count(position)}/${count(shown)}${hidden} `), styled("label", `[${filter}]`)];
  const room = Math.max(columns - lineWidth(place), 0);
  const name = fitLine([styled("bold", title)], room, glyphs.ellipsis);
  const gap = " ".repeat(Math.max(room - lineWidth(name), 0));
  return plainLine(...fitLine([...name, gap, ...place], columns, glyphs.ellipsis));
}

const HINTS: readonly (readonly [action: NavigatorAction, says: string])[] = [
  ["go", "go"],
  ["help", "all keys"],
  ["close", "close"],
  ["search", "search"],
  ["preview", "preview"],
  ["fold", "fold"],
  ["label", "label"],
];

/** The last line: what just happened, or which keys there are. */
export function footLine(model: NavigatorModel, columns: number): FrameLine {
  const { notice, glyphs } = model;
  if (notice !== null)
    return plainLine(...fitLine([notice.isError ? styled("error", notice.text) : notice.text], columns, glyphs.ellipsis));
  if (model.dialog.kind === "leaving")
    return hintLine(
      [
        ["Enter", "choose"],
        ["Up/Down", "another"],
        ["Esc", "stay here"],
      ],
      columns,
    );
  if (model.dialog.kind !== "none") return plainLine();
  if (model.search?.isTyping === true)
    return hintLine(
      [
        ["Enter", "to the list"],
        ["Esc", "end the search"],
        ["Up/Down", "choose"],
      ],
      columns,
    );
  const hints = HINTS.flatMap(([action, says]) => {
    const key = model.keys.find((binding) => binding.action === action)?.keys[0];
    return key === undefined ? [] : [[keyName(key, glyphs.isAscii), says] as const];
  });
  return hintLine(hints, columns);
}

/** As many hints as fit; the first are the most important. */
function hintLine(hints: readonly (readonly [key: string, says: string])[], columns: number): FrameLine {
  const line: (string | ReturnType<typeof styled>)[] = [];
  let used = 0;
  for (const [key, says] of hints) {
    const piece: Line = [styled("bold", key), styled("dim", ` ${says}  `)];
    used += lineWidth(piece);
    if (used - 2 > columns) break;
    line.push(...piece);
  }
  return plainLine(...fitLine(line, columns, ""));
}
