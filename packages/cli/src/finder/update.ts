import type { SearchHit } from "@bough/session-core";
import { groupBy } from "@bough/session-core/engine";
import { type GoesTo, goToPlace, isOverPane, placeCount, scrollByHalf, scrollByWheel, withLines } from "../preview/pane.js";
import { editField } from "../tui/field.js";
import { actionOf, helpLines, helpRows } from "../tui/key-table.js";
import { type ListShape, pageFrom, scrollText, stepFrom, topOf, turnWheel } from "../tui/list.js";
import { type MouseEvent, type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { FinderAction } from "./keys.js";
import {
  type FinderEvent,
  type FinderModel,
  type FinderRow,
  type FinderStep,
  type Found,
  panesOf,
  queryOf,
  ROLE_FILTERS,
} from "./model.js";

/** The lines above the list: heading and query. */
const HEAD_ROWS = 2;

/** The finder after an event. */
export function update(model: FinderModel, event: TerminalEvent | FinderEvent): FinderStep {
  switch (event.kind) {
    case "resize":
      return showSelection({ ...model, size: event.size });
    case "key":
    case "paste":
      return model.help === null ? updateByInput(model, event) : updateHelp(model, model.help, event);
    case "mouse":
      return model.help === null ? updateByMouse(model, event) : updateHelp(model, model.help, event);
    case "found":
      return event.queryId === model.queryId ? showFound(model, event) : withoutEffects(model);
    case "failed":
      return withoutEffects(event.queryId === model.queryId ? { ...model, isSearching: false, problem: event.problem } : model);
    case "previewed":
      return withoutEffects(showPreview(model, event));
  }
}

function updateByInput(model: FinderModel, event: Extract<TerminalEvent, { kind: "key" | "paste" }>): FinderStep {
  const action = event.kind === "key" ? actionOf(model.keys, event.key) : undefined;
  if (action !== undefined) return ACTIONS[action](model);
  const field = editField(model.field, event);
  if (field === undefined) return withoutEffects(model);
  return field.text.trimStart() === model.field.text.trimStart() ? withoutEffects({ ...model, field }) : startQuery({ ...model, field });
}

/** The wheel scrolls the list or the preview, a click selects a hit, a double click opens it. */
function updateByMouse(model: FinderModel, event: MouseEvent): FinderStep {
  const isOverPreview = isOverPane(panesOf(model), event, HEAD_ROWS);
  if (event.action !== "press") {
    const direction = event.action === "wheelUp" ? -1 : 1;
    if (!isOverPreview) return showSelection({ ...model, ...turnWheel(listOf(model), model, direction) });
    return withoutEffects({ ...model, preview: scrollByWheel(model.preview, previewRows(model), direction) });
  }
  const line = event.row - HEAD_ROWS;
  const selected = model.top + line;
  if (line < 0 || line >= panesOf(model).list.rows || isOverPreview || model.rows[selected]?.kind !== "hit") return withoutEffects(model);
  const step = showSelection({ ...model, selected });
  return event.isDouble === true ? open(step.model) : step;
}

/** The wheel and the keys of a text scroll the help; other keys close it. */
function updateHelp(model: FinderModel, top: number, event: TerminalEvent): FinderStep {
  const { length } = helpLines(model.keys, model.size.columns, model.glyphs);
  const help = scrollText(event, top, length, helpRows(model.size));
  return withoutEffects(help !== undefined ? { ...model, help } : event.kind === "key" ? { ...model, help: null } : model);
}

/** Runs the query of the field with the filters. The hits so far stay until the new ones arrive; without a query there are none. */
export function startQuery(model: FinderModel): FinderStep {
  const queryId = model.queryId + 1;
  const query = model.field.text.trimStart();
  const { words, filters } = queryOf(model);
  if (words.trim() === "" && filters.length === 0)
    return showSelection({ ...model, queryId, isSearching: false, found: null, problem: null, rows: [], selected: -1, top: 0 });
  const sessionId = model.within?.id ?? null;
  return {
    model: { ...model, queryId, isSearching: true, problem: null },
    effects: [{ kind: "search", query, queryId, role: model.role, sessionId }],
  };
}

/** The first page of a query selects the best hit; further pages keep the selected one. */
function showFound(model: FinderModel, { found, isLast, nowMs }: Extract<FinderEvent, { kind: "found" }>): FinderStep {
  const rows = groupBySession(found);
  const isMore = model.found?.words.query === found.words.query && model.found.hits[0]?.seq === found.hits[0]?.seq;
  const kept = isMore ? rows.findIndex((row) => row.kind === "hit" && isSameHit(row.hit, selectedHit(model))) : -1;
  const selected = kept >= 0 ? kept : rows.findIndex(({ kind }) => kind === "hit");
  return showSelection({ ...model, nowMs, found, rows, selected, top: kept >= 0 ? model.top : 0, isSearching: !isLast, problem: null });
}

/** Sessions in the order of their best hits, each with its hits, best first. */
function groupBySession({ hits, sessions }: Found): readonly FinderRow[] {
  return [...groupBy(hits, ({ sessionId }) => sessionId)].flatMap(([id, own]): readonly FinderRow[] => {
    const session = sessions.get(id);
    if (session === undefined) return [];
    return [{ kind: "session", session, count: own.length }, ...own.map((hit) => ({ kind: "hit" as const, hit }))];
  });
}

function isSameHit(a: SearchHit, b: SearchHit | undefined): boolean {
  return b !== undefined && a.sessionId === b.sessionId && a.entryId === b.entryId;
}

/** The selected hit; undefined: there is none. */
export function selectedHit({ rows, selected }: FinderModel): SearchHit | undefined {
  const row = rows[selected];
  return row?.kind === "hit" ? row.hit : undefined;
}

/** The list of hits; the heading of a session is no item that can be selected. */
function listOf(model: FinderModel): ListShape {
  const { rows } = model;
  return { count: rows.length, rows: panesOf(model).list.rows, isSelectable: (index) => rows[index]?.kind === "hit" };
}

/** Scrolls the list to the selected row, and requests the preview if hit or width changed. */
export function showSelection(model: FinderModel, goesTo: GoesTo = "first"): FinderStep {
  const { preview } = panesOf(model);
  const hit = selectedHit(model);
  const next = { ...model, top: topOf(listOf(model), model) };
  if (preview === undefined || hit === undefined || model.found === null) return withoutEffects(next);
  const isSame = model.preview.hit === hit;
  if (isSame && model.preview.width === preview.columns) return withoutEffects(next);
  // The old lines stay until the new ones arrive: an empty pane in between would flicker.
  const requested = { ...model.preview, hit, width: preview.columns, goesTo, scroll: isSame ? model.preview.scroll : 0, place: -1 };
  return { model: { ...next, preview: requested }, effects: [{ kind: "preview", hit, width: preview.columns, words: model.found.words }] };
}

function showPreview(model: FinderModel, { hit, width, lines, places }: Extract<FinderEvent, { kind: "previewed" }>): FinderModel {
  const { preview } = model;
  if (preview.hit !== hit || preview.width !== width) return model;
  return { ...model, preview: withLines({ ...preview, goesTo: "keep" as const }, lines, places, preview.goesTo, previewRows(model)) };
}

function previewRows(model: FinderModel): number {
  return panesOf(model).preview?.rows ?? 1;
}

type Act = (model: FinderModel) => FinderStep;

/** Selects the next hit in a direction; wraps around at both ends. */
const moveByHit =
  (direction: 1 | -1, goesTo: GoesTo = "first"): Act =>
  (model) =>
    showSelection({ ...model, selected: stepFrom(listOf(model), model.selected, direction, "wrap") }, goesTo);

/** Selects the hit about one page away, and stops at the ends. */
const moveByPage =
  (direction: 1 | -1): Act =>
  (model) =>
    showSelection({ ...model, selected: pageFrom(listOf(model), model.selected, direction) });

/** Selects the best hit of the next session, or of the one before; wraps around at both ends. */
const moveBySession =
  (direction: 1 | -1): Act =>
  (model) => {
    const headings = model.rows.flatMap((row, at) => (row.kind === "session" ? [at] : []));
    const own = headings.findLastIndex((at) => at < model.selected);
    const heading = headings.at((own + direction) % Math.max(headings.length, 1));
    // Each session of the list has a hit below its heading.
    return heading === undefined ? withoutEffects(model) : showSelection({ ...model, selected: heading + 1 });
  };

const goToMatch =
  (direction: 1 | -1): Act =>
  (model) => {
    const { preview } = model;
    const place = preview.place + direction;
    const isShown = preview.goesTo === "keep" && place >= 0 && place < placeCount(preview);
    if (isShown) return withoutEffects({ ...model, preview: goToPlace(preview, place, previewRows(model)) });
    const moved = moveByHit(direction, direction === 1 ? "first" : "last")(model);
    if (moved.model.selected !== model.selected || preview.goesTo !== "keep") return moved;
    // The only hit: its places again.
    const again = direction === 1 ? Math.min(0, placeCount(preview) - 1) : placeCount(preview) - 1;
    return withoutEffects({ ...model, preview: goToPlace(preview, again, previewRows(model)) });
  };

const scrollPreview =
  (direction: 1 | -1): Act =>
  (model) =>
    withoutEffects({ ...model, preview: scrollByHalf(model.preview, previewRows(model), direction) });

const toggleSession: Act = (model) => {
  if (model.within !== null) return startQuery({ ...model, within: null });
  const hit = selectedHit(model);
  const within = hit === undefined ? undefined : model.found?.sessions.get(hit.sessionId);
  return within === undefined ? withoutEffects(model) : startQuery({ ...model, within });
};

const nextRole: Act = (model) => {
  const at = (ROLE_FILTERS.indexOf(model.role) + 1) % ROLE_FILTERS.length;
  return startQuery({ ...model, role: ROLE_FILTERS[at] ?? "all" });
};

const open: Act = (model) => {
  const hit = selectedHit(model);
  if (hit === undefined) return withoutEffects(model);
  const { sessionId, entryId } = hit;
  return withoutEffects({ ...model, result: { kind: "open", sessionId, entryId, query: queryOf(model).words.trim() } });
};

const ACTIONS: Readonly<Record<FinderAction, Act>> = {
  up: moveByHit(-1),
  down: moveByHit(1),
  pageUp: moveByPage(-1),
  pageDown: moveByPage(1),
  sessionUp: moveBySession(-1),
  sessionDown: moveBySession(1),
  next: goToMatch(1),
  previous: goToMatch(-1),
  previewUp: scrollPreview(-1),
  previewDown: scrollPreview(1),
  session: toggleSession,
  role: nextRole,
  open,
  help: (model) => withoutEffects({ ...model, help: 0 }),
  close: (model) => withoutEffects({ ...model, result: { kind: "closed" } }),
};
