import type { SearchHit } from "@bough/session-core";
import { describeCopies } from "@bough/session-core/engine";
import { count, counted } from "@bough/session-core/view";
import { hitKind } from "../format/entry-lines.js";
import { age } from "../format/time.js";
import { wrapLine } from "../format/wrap.js";
import { markLine } from "../preview/marks.js";
import { paneLines, placeCount, splitLines } from "../preview/pane.js";
import { snippetFromMatch } from "../preview/snippet.js";
import { describeMatched, TYPED_FILTER_LINE } from "../session/typed-text.js";
import { fitLine, type Line, lineWidth, type Style, spreadLine, styled } from "../terminal/line.js";
import { visibleField } from "../tui/field.js";
import { type ActionHints, firstKeyName, helpLines, helpScreen, hintLine, hintsOf } from "../tui/key-table.js";
import { type Frame, type FrameLine, padFrame, plainLine, type Size } from "../tui/screen.js";
import type { FinderAction } from "./keys.js";
import { type FinderModel, type FinderRow, panesOf, queryOf } from "./model.js";

const FIELD_SIGN = "/ ";

/** Below this width the heading has only the number of the hit. */
const NARROW = 60;

/** The frame of the finder: heading, query, hits and preview, key hints. */
export function view(model: FinderModel): Frame {
  const { columns, rows } = model.size;
  const fitted = (lines: readonly FrameLine[]) =>
    lines.slice(0, rows).map(({ line, isSelected }) => ({ line: fitLine(line, columns, model.glyphs.ellipsis), isSelected }));
  if (model.help !== null) {
    const lines = helpLines(model.keys, columns, model.glyphs);
    return {
      lines: fitted(helpScreen("Keys of the search", lines, model.help, model.size, "all other keys edit the query. Esc goes back")),
    };
  }
  const field = visibleField(model.field, Math.max(columns - FIELD_SIGN.length, 1));
  const lines = [
    plainLine(...headLine(model)),
    plainLine(styled("match", FIELD_SIGN), field.text),
    ...bodyLines(model),
    plainLine(...hintLine(hintsOf(model.keys, HINTS, model.glyphs.isAscii), columns)),
  ];
  return { lines: fitted(lines), cursor: { row: Math.min(1, rows - 1), column: Math.min(FIELD_SIGN.length + field.column, columns - 1) } };
}

/** Draws the scope of the search and the number of hits. */
function headLine(model: FinderModel): Line {
  const { within, glyphs, size, role, conditions } = model;
  const status = styled(model.problem === null ? "dim" : "error", ` ${statusText(model)} `);
  const isLeftOut = role === "all" && size.columns < NARROW;
  const right: Line = [status, ...(isLeftOut ? [] : [styled("label", `[${role === "all" ? "all roles" : role}]`)])];
  const left: Line = [
    styled("heading", "Search"),
    ` ${glyphs.dot} `,
    styled("bold", within?.title ?? "all sessions"),
    styled("label", [conditions, ...queryOf(model).filters].map((one) => (one === "" ? "" : ` ${one}`)).join("")),
  ];
  return spreadLine(left, right, size.columns, glyphs.ellipsis);
}

function statusText(model: FinderModel): string {
  const { found: results, problem, glyphs, rows, selected, preview } = model;
  if (problem !== null) return problem;
  if (results === null) return model.isSearching ? `searching${glyphs.ellipsis}` : "";
  const number = rows.slice(0, selected + 1).filter(({ kind }) => kind === "hit").length;
  const isWide = model.size.columns >= NARROW;
  const places = isWide && preview.goesTo === "keep" && preview.place >= 0 && panesOf(model).preview !== undefined;
  const place = places ? `match ${preview.place + 1} of ${placeCount(preview)} ${glyphs.dot} ` : "";
  const hits = results.hits.length === 0 ? "no hits" : `${place}hit ${count(number)} of ${count(results.total)}`;
  return `${hits}${describeMatched(results.words.matched)}${model.isSearching ? glyphs.ellipsis : ""}`;
}

function bodyLines(model: FinderModel): readonly FrameLine[] {
  const areas = panesOf(model);
  const hits = padFrame(listLines(model, areas.list), areas.list.rows);
  if (areas.preview === undefined) return hits;
  const shown = model.rows.length === 0 ? [] : paneLines(model.preview, areas.preview, "Shift-Up/Down", model.glyphs);
  return splitLines(hits, shown, areas, model.glyphs);
}

function listLines(model: FinderModel, { columns, rows }: Size): readonly FrameLine[] {
  if (model.rows.length === 0)
    return emptyText(model).flatMap((text) => wrapLine([styled("dim", text)], columns).map((line) => plainLine(...line)));
  const shown = model.rows.slice(model.top, model.top + rows);
  return shown.map((row, at) => {
    const isSelected = model.top + at === model.selected;
    const line = row.kind === "session" ? sessionLine(model, row, columns) : hitLine(model, row.hit, isSelected, columns);
    return { line: fitLine(line, columns, model.glyphs.ellipsis), isSelected };
  });
}

function emptyText(model: FinderModel): readonly string[] {
  const { isSearching, problem, within, glyphs, conditions, role, keys } = model;
  const { words, filters } = queryOf(model);
  if (problem !== null) return [problem];
  if (words.trim() === "" && filters.length === 0) {
    return [
      "Type words. All of them must occur in an entry; the last one may be unfinished.",
      '"several words" finds a phrase, /pattern/ a regular expression.',
      `Filters narrow it, as in agent:pi since:2w: ${TYPED_FILTER_LINE}`,
    ];
  }
  if (isSearching) return [`searching${glyphs.ellipsis}`];
  const where = within === null ? "of any session" : "of this session";
  const key = firstKeyName(keys, "role", glyphs.isAscii);
  const ofRole = role === "all" ? "" : ` Only ${ROLE_WORDS[role]} are searched${key === "" ? "" : ` (${key})`}.`;
  const given = [conditions, ...filters].filter((one) => one !== "").join(" ");
  const among = given === "" ? "" : ` Searched with ${given}.`;
  return [`No entry ${where} ${words.trim() === "" ? "is found" : "has these words"}.${ofRole}${among}`];
}

const ROLE_WORDS = {
  user: "messages of the user",
  assistant: "replies",
  tools: "results of tools",
  summaries: "summaries",
} as const;

function sessionLine(
  { glyphs, nowMs }: FinderModel,
  { session, count: hits }: Extract<FinderRow, { kind: "session" }>,
  columns: number,
): Line {
  const right: Line = [styled("dim", `  ${counted(hits, "hit")} ${glyphs.dot} ${age(session.activeAtMs, nowMs)}`)];
  const directory = session.cwd === null || columns < 60 ? "" : `  ${session.cwd.split("/").findLast((part) => part !== "") ?? ""}`;
  return spreadLine([styled("heading", session.title), styled("dim", directory)], right, columns, glyphs.ellipsis);
}

const ROLE_STYLES: Readonly<Record<string, Style>> = {
  user: "user",
  assistant: "assistant",
  compaction: "summary",
  branch_summary: "summary",
};

function hitLine({ glyphs, nowMs, within }: FinderModel, hit: SearchHit, isSelected: boolean, columns: number): Line {
  const copies = columns < 60 ? "" : describeCopies(hit, within !== null);
  const right: Line = columns < 40 ? [] : [styled("dim", `${copies === "" ? "" : ` ${copies}`} ${age(hit.createdAtMs, nowMs)}`)];
  const left: Line = [
    isSelected ? styled("leaf", `${glyphs.cursor} `) : "  ",
    styled(ROLE_STYLES[hit.role ?? hit.type] ?? "dim", `${hitKind(hit)}: `),
  ];
  const room = columns - lineWidth(left) - lineWidth(right);
  const text = snippetFromMatch(hit, room, glyphs) ?? markLine([hit.snippet], []);
  return spreadLine([...left, ...text], right, columns, glyphs.ellipsis);
}

const HINTS: ActionHints<FinderAction> = [
  ["open", "open in the tree"],
  ["close", "close"],
  ["next", "next match"],
  ["session", "this session"],
  ["role", "role"],
  ["sessionDown", "next session"],
  ["help", "keys"],
];
