import type { SessionRecord } from "@bough/session-core";
import { bytes, count } from "@bough/session-core/view";
import { pathEnd, shortDirectory } from "../format/path.js";
import { age } from "../format/time.js";
import { snippetFromMatch } from "../preview/snippet.js";
import { sessionTitle } from "../session/names.js";
import type { SessionRow, TextHit } from "../session/session-rows.js";
import { BEING_WRITTEN } from "../session/store-watcher.js";
import { fitLine, type Line, lineWidth, padLine, type Span, styled } from "../terminal/line.js";
import { displayWidth, padStart } from "../terminal/width.js";
import { visibleItems } from "../tui/list.js";
import { type FrameLine, plainLine } from "../tui/screen.js";
import { COLUMN_GAP, type ColumnName, chooseColumns, type Layout, listOf, MARKER_COLUMNS, type PickerColumn, rowHeight } from "./layout.js";
import { isSearching, type PickerModel } from "./model.js";
import { firstKeyName } from "./prompt.js";

/** The line of column headings. */
export function headingLine(model: PickerModel, layout: Layout): Line {
  const { columns, title } = chooseColumns(layout.list.columns, model.scope);
  const cells = columns.map((column) => formatCell([styled("dim", column.heading)], column.width, column.align, model));
  return [" ".repeat(MARKER_COLUMNS), ...formatCell([styled("dim", "session")], title, "left", model), ...joinCells(cells)];
}

/** The visible rows, at most as many lines as the list has rows. */
export function rowLines(model: PickerModel, layout: Layout): readonly FrameLine[] {
  const lines: FrameLine[] = [];
  const { from, to } = visibleItems(listOf(model), model.top);
  for (let index = from; index < to; index += 1) {
    const row = model.rows[index];
    if (row === undefined) continue;
    // Inversion covers the whole screen width, so beside a preview only the marker and the bold title show the selection.
    lines.push({
      line: rowLine(model, layout, row, index === model.selected),
      isSelected: index === model.selected && layout.preview?.position !== "beside",
    });
    const hit = rowHeight(model, index) === 2 ? model.search.hits.get(row.session.record.id) : undefined;
    if (hit !== undefined) lines.push(plainLine(...snippetLine(model, layout, hit)));
  }
  return lines.slice(0, layout.list.rows);
}

function rowLine(model: PickerModel, layout: Layout, row: SessionRow, isSelected: boolean): Line {
  const { record } = row.session;
  const { glyphs, currentId } = model.settings;
  const { columns, title } = chooseColumns(layout.list.columns, model.scope);
  const cells = columns.map(({ name, width, align }) => formatCell(cellContent(model, record, name, width), width, align, model));
  const mark = record.id === currentId ? styled("leaf", glyphs.onPath) : " ";
  return [
    isSelected ? styled("bold", ">") : " ",
    mark,
    " ",
    ...formatCell(titleLine(model, row, title, isSelected), title, "left", model),
    ...joinCells(cells),
  ];
}

function joinCells(cells: readonly Line[]): Line {
  return cells.flatMap((one) => [" ".repeat(COLUMN_GAP), ...one]);
}

function formatCell(line: Line, width: number, align: PickerColumn["align"], { settings }: PickerModel): Line {
  return padLine(line, width, settings.glyphs.ellipsis, align);
}

function titleLine(model: PickerModel, row: SessionRow, width: number, isSelected: boolean): Line {
  const { record } = row.session;
  const title = sessionTitle(record);
  const badges = [
    ...(record.archivedAtMs === null ? [] : [styled("label", "[archived] ")]),
    ...(model.held.has(record.id) ? [styled("summary", `[${BEING_WRITTEN}] `)] : []),
  ];
  const name: string | Span = isSelected
    ? styled("bold", title)
    : record.title === null && record.firstText === null
      ? styled("dim", title)
      : title;
  return [styled("dim", threadGutter(model, row, width)), ...badges, name];
}

/** The branch lines before a fork. A deep fork shows only the last levels, so that 20 columns are left for the title. */
function threadGutter({ settings: { glyphs } }: PickerModel, row: SessionRow, width: number): string {
  if (row.depth === 0) return "";
  const most = Math.max(1, Math.min(5, Math.floor((width - 20) / displayWidth(glyphs.branch))));
  const parts = [row.isLast ? glyphs.lastBranch : glyphs.branch];
  let at = row.parent;
  for (; at !== null && at.depth > 0 && parts.length < most; at = at.parent) parts.unshift(at.isLast ? glyphs.nothing : glyphs.through);
  if (at !== null && at.depth > 0 && parts.length > 1) parts[0] = padStart(glyphs.ellipsis, displayWidth(glyphs.branch));
  return parts.join("");
}

function cellContent(model: PickerModel, record: SessionRecord, name: ColumnName, width: number): Line {
  switch (name) {
    case "age":
      return [styled("dim", age(record.activeAtMs, model.nowMs))];
    case "count":
      return [count(record.messageCount)];
    case "size":
      return [styled("dim", bytes(record.payloadBytes))];
    case "model":
      return [styled("dim", model.models.get(record.id) ?? "")];
    case "directory":
      return [styled("dim", pathEnd(shortDirectory(record.cwd ?? "", model.settings.home), width, model.settings.glyphs.ellipsis))];
  }
}

function snippetLine(model: PickerModel, layout: Layout, { hit, count: hits }: TextHit): Line {
  const { glyphs } = model.settings;
  const { columns } = layout.list;
  const left: Line = ["     ", ...(hits > 1 ? [styled("dim", `${count(hits)}${model.search.more ? "+" : ""} hits  `)] : [])];
  const snippet = snippetFromMatch(hit, columns - lineWidth(left), glyphs) ?? [hit.snippet];
  const dimmed = snippet.map((piece) => (typeof piece === "string" ? styled("dim", piece) : piece));
  return fitLine([...left, ...dimmed], columns, glyphs.ellipsis);
}

/** The text shown when there are no rows: why, and which key helps. */
export function emptyLines(model: PickerModel): readonly string[] {
  const { state, sessions } = model.lists[model.scope];
  if (state === "reading" && sessions.length === 0) return [`Reading the sessions${model.settings.glyphs.ellipsis}`];
  if (state === "failed") return ["Could not read the sessions."];
  if (isSearching(model)) return noMatchLines(model);
  const begin = `${firstKeyName(model.settings, "new")} starts a session.`;
  if (sessions.length > 0) {
    const are = sessions.length === 1 ? "The only session here is archived." : `All ${count(sessions.length)} sessions here are archived.`;
    return [are, `${firstKeyName(model.settings, "archived")} shows archived sessions.`];
  }
  if (model.scope === "here")
    return ["No sessions in this directory.", `${firstKeyName(model.settings, "scope")} shows all directories.`, begin];
  return ["The store has no sessions yet.", `${begin} bough import imports sessions of other agents.`];
}

function noMatchLines(model: PickerModel): readonly string[] {
  if (model.search.state === "running") return [`Searching messages${model.settings.glyphs.ellipsis}`];
  const of = model.scope === "here" ? "in this directory" : "in all directories";
  const none =
    model.pool.length === 1 ? `The only session ${of} does not match.` : `None of the ${count(model.pool.length)} sessions ${of} matches.`;
  const wider = model.scope === "here" ? [`${firstKeyName(model.settings, "scope")} searches all directories.`] : [];
  const archived = model.withArchived ? [] : ["Archived sessions are not searched."];
  return [none, ...wider, ...archived];
}
