import { count } from "@bough/session-core/view";
import { shortDirectory } from "../format/path.js";
import { wrapLine } from "../format/wrap.js";
import { fitLine, type Line, padLine, spreadLine, styled } from "../terminal/line.js";
import { safeLines } from "../terminal/safe.js";
import { type ActionHints, helpScreen, hintLine, hintsOf } from "../tui/key-table.js";
import { type Frame, type FrameLine, padFrame, plainLine } from "../tui/screen.js";
import type { PickerAction } from "./keys.js";
import { computeLayout, helpLines, type Layout } from "./layout.js";
import { isSearching, type PickerModel, type PreviewMessage, selectedRow } from "./model.js";
import { promptCursor } from "./prompt.js";
import { emptyLines, headingLine, rowLines } from "./view-rows.js";

/** Draws title, prompt, list, preview and key hints. The cost is independent of the number of sessions. */
export function view(model: PickerModel): Frame {
  const { columns, rows } = model.size;
  const lines =
    model.mode.kind === "help"
      ? helpScreen("Keys of the session picker", helpLines(model), model.mode.top, model.size, "Esc goes back")
      : listScreen(model);
  const { ellipsis } = model.settings.glyphs;
  const fitted = Array.from({ length: rows }, (_, at): FrameLine => {
    const { line, isSelected } = lines[at] ?? plainLine();
    return { line: fitLine(line, columns, ellipsis), isSelected };
  });
  return { lines: fitted, cursor: promptCursor(model) };
}

function listScreen(model: PickerModel): readonly FrameLine[] {
  const layout = computeLayout(model);
  return [
    plainLine(...titleLine(model)),
    ...layout.prompt.map((line) => plainLine(...line)),
    ...(layout.hasHeadings ? [plainLine(...headingLine(model, layout))] : []),
    ...bodyLines(model, layout),
    plainLine(...keysLine(model)),
  ];
}

function bodyLines(model: PickerModel, layout: Layout): readonly FrameLine[] {
  const rows = model.rows.length === 0 ? emptyLines(model).map((text) => plainLine("   ", text)) : rowLines(model, layout);
  const list = padFrame(rows, layout.list.rows);
  const preview = previewLines(model, layout);
  if (layout.preview === undefined) return list;
  if (layout.preview.position === "below") return [...list, plainLine(...previewRule(model)), ...preview.map((line) => plainLine(...line))];
  const { ellipsis, through } = model.settings.glyphs;
  const rule = styled("dim", ` ${through.trim()} `);
  return list.map(({ line, ...rest }, at) => ({
    ...rest,
    line: [...padLine(line, layout.list.columns, ellipsis), rule, ...(preview[at] ?? [])],
  }));
}

/** The directory, the number of sessions (in a search: matches of all), and the order. */
function titleLine(model: PickerModel): Line {
  const { settings, scope, size, sort } = model;
  const { dot, ellipsis } = settings.glyphs;
  const place = scope === "all" ? "all directories" : shortDirectory(settings.directory, settings.home);
  const of = isSearching(model) ? `${count(model.rows.length)} of ${count(model.pool.length)}` : count(model.pool.length);
  const reading = model.lists[scope].state === "reading" ? ellipsis : "";
  const order = isSearching(model) ? "best first" : sort === "name" ? "by name" : sort;
  const right = ` ${of}${reading} ${dot} ${order}${model.withArchived ? ` ${dot} with archived` : ""}`;
  return spreadLine([styled("heading", "Sessions"), ` ${dot} `, styled("bold", place)], [styled("dim", right)], size.columns, ellipsis, 10);
}

const HINTS: Readonly<Record<"list" | "search" | "rename" | "delete", ActionHints<PickerAction>>> = {
  list: [
    ["open", "open"],
    ["help", "help"],
    ["search", "search"],
    ["scope", "all/here"],
    ["preview", "preview"],
    ["new", "new"],
    ["rename", "rename"],
    ["delete", "delete"],
    ["archive", "archive"],
    ["sort", "sort"],
    ["cancel", "leave"],
  ],
  search: [
    ["open", "open"],
    ["scope", "all/here"],
  ],
  rename: [],
  delete: [],
};

/** Key hints for the mode, as many as fit. */
function keysLine(model: PickerModel): Line {
  const { mode, settings, size } = model;
  const hints = mode.kind === "help" ? [] : hintsOf(settings.keys, HINTS[mode.kind], settings.glyphs.isAscii);
  return hintLine(mode.kind === "search" ? [...hints, ["Esc", "back to the list"]] : hints, size.columns);
}

/** The lines of the preview, as many as it has rows. Wraps only the text that fits. */
function previewLines(model: PickerModel, { preview }: Layout): readonly Line[] {
  if (preview === undefined) return [];
  const lines = messagesPreview(model, preview.columns, preview.rows);
  return Array.from({ length: preview.rows }, (_, at) => fitLine(lines[at] ?? [], preview.columns, model.settings.glyphs.ellipsis));
}

/** The rule between the list and a preview below it. */
function previewRule({ preview, settings, size }: PickerModel): Line {
  const text = ` ${preview.end === "last" ? "the last messages" : "the first messages"} `;
  const sign = settings.glyphs.rule;
  return fitLine([styled("dim", sign.repeat(2) + text + sign.repeat(Math.max(0, size.columns - text.length - 2)))], size.columns, "");
}

function messagesPreview(model: PickerModel, columns: number, rows: number): readonly Line[] {
  const { messages, end } = model.preview;
  if (selectedRow(model) === undefined) return [[styled("dim", "(no session is selected)")]];
  if (messages === undefined) return [[styled("dim", `reading${model.settings.glyphs.ellipsis}`)]];
  if (messages.length === 0) return [[styled("dim", "(no messages on this branch)")]];
  return end === "first" ? firstMessages(messages, columns, rows) : lastMessages(messages, columns, rows);
}

function firstMessages(messages: readonly PreviewMessage[], columns: number, rows: number): readonly Line[] {
  const lines: Line[] = [];
  for (const message of messages) {
    if (lines.length >= rows) break;
    for (const line of messageLines(message, columns, rows)) lines.push(line);
  }
  return lines;
}

/** The last messages that fit, each from its start; a long last message takes all rows. */
function lastMessages(messages: readonly PreviewMessage[], columns: number, rows: number): readonly Line[] {
  const shown: (readonly Line[])[] = [];
  let room = rows;
  for (let at = messages.length - 1; at >= 0 && room > 0; at -= 1) {
    const message = messages[at];
    if (message === undefined) break;
    // An earlier message takes at most 6 rows.
    const lines = messageLines(message, columns, Math.min(room, shown.length === 0 ? rows : 6));
    shown.unshift(lines);
    room -= lines.length;
  }
  return shown.flat();
}

function messageLines({ role, text }: PreviewMessage, columns: number, most: number): readonly Line[] {
  const lines: Line[] = [];
  for (const part of safeLines(text)) {
    if (lines.length >= most) break;
    if (part === "") continue;
    for (const line of wrapLine([part], Math.max(columns - 3, 8))) lines.push(line);
  }
  const sign = role === "user" ? "> " : "  ";
  return lines.slice(0, most).map((line, at) => [styled(role, at === 0 ? sign : "  "), ...(role === "user" ? inUserStyle(line) : line)]);
}

function inUserStyle(line: Line): Line {
  return line.map((piece) => (typeof piece === "string" ? styled("user", piece) : piece));
}
