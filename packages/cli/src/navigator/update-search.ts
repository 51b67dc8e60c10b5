import type { EntryId } from "@bough/session-core";
import { goToPlace, placeCount, withLines } from "../preview/pane.js";
import { Folds } from "../tree/folds.js";
import type { Direction } from "../tree/row-order.js";
import { editField, newField } from "../tui/field.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { HitSnippet, NavigatorEvent, NavigatorModel, NavigatorStep, NavigatorTree, Search } from "./model.js";
import { panesOf } from "./panes.js";
import { refreshLayout, refreshLayoutAt, selectAndReveal, selectedId, showSelection } from "./selection.js";

/** A search before its first result. */
const NEW_SEARCH: Search = {
  isGiven: false,
  field: newField(),
  isTyping: true,
  queryId: 0,
  hits: null,
  total: 0,
  snippets: new Map(),
  words: null,
  showsAncestors: false,
  problem: null,
  foldsBefore: null,
};

/** The search that a navigator is opened with. Its query runs once the tree is read. */
export function givenSearch(query: string): Search {
  return { ...NEW_SEARCH, field: newField(query), isGiven: true, isTyping: false };
}

/** Runs the query of the search that the navigator was opened with. */
export function startGivenSearch(model: NavigatorModel): NavigatorStep {
  const { search } = model;
  return search?.isGiven === true && search.queryId === 0 ? startQuery(model, search.field.text.trim(), search) : withoutEffects(model);
}

/** Opens the search field, with the query of the current search. */
export function openSearch(model: NavigatorModel): NavigatorStep {
  const search = model.search ?? NEW_SEARCH;
  return showSelection({ ...model, search: { ...search, isTyping: true, isGiven: false } });
}

/** Removes the search; the selected entry stays selected, and is unfolded. */
export function endSearch(model: NavigatorModel): NavigatorStep {
  return refreshLayoutAt({ ...withFoldsBefore(model), search: null, notice: null }, model.selected);
}

/** The navigator after a key or paste in the search field; undefined: the event is for the list. */
export function updateSearchField(model: NavigatorModel, search: Search, event: TerminalEvent): NavigatorStep | undefined {
  if (event.kind === "key" && event.key === "escape") return endSearch(model);
  if (event.kind === "key" && event.key === "enter") return leaveField(model, search);
  const field = editField(search.field, event);
  if (field === undefined) return undefined;
  if (field.text === search.field.text) return withoutEffects({ ...model, search: { ...search, field } });
  return startQuery(model, field.text.trim(), { ...search, field });
}

/** Keys act on the list again. An empty field ends the search. */
function leaveField(model: NavigatorModel, search: Search): NavigatorStep {
  if (search.field.text.trim() === "") return endSearch(model);
  return showSelection({ ...model, search: { ...search, isTyping: false } });
}

function startQuery(before: NavigatorModel, query: string, search: Search): NavigatorStep {
  const queryId = before.lastQueryId + 1;
  const model = { ...before, lastQueryId: queryId };
  // The hits so far stay until the new ones arrive. An empty query has no hits.
  if (query === "") {
    const empty = { ...search, queryId, hits: null, words: null, total: 0, problem: null, foldsBefore: null };
    return refreshLayout({ ...withFoldsBefore(model), search: empty });
  }
  return { model: { ...model, search: { ...search, queryId, problem: null } }, effects: [{ kind: "search", query, queryId }] };
}

/** Adds a page of hits. The first page replaces the hits so far, and selects the nearest hit unless the selected row is one. */
export function addHits(model: NavigatorModel, event: Extract<NavigatorEvent, { kind: "hits" }>): NavigatorStep {
  const { search, tree } = model;
  if (search === null || tree === undefined || search.queryId !== event.queryId) return withoutEffects(model);
  const rows = rowsOf(
    tree,
    event.hits.map(({ entryId }) => entryId),
  );
  // The hit that the navigator was opened at may be on a later page.
  const opensAt = event.isMore || model.opensAt === null ? -1 : tree.index.indexOf(model.opensAt);
  const given = opensAt < 0 ? [] : [opensAt];
  const labeled = event.isMore ? [] : [...rowsWithLabel(tree, search.field.text), ...given];
  const hits = [...new Set([...(event.isMore ? (search.hits ?? []) : []), ...rows, ...labeled])];
  const snippets = new Map<number, HitSnippet>(event.isMore ? search.snippets : []);
  for (const { entryId, snippet, matches } of event.hits) snippets.set(tree.index.indexOf(entryId), { snippet, matches });
  // The pages of one query have the same words: the same object, so that the preview is not requested again.
  const words = event.isMore ? (search.words ?? event.words) : event.words;
  const total = Math.max(event.total, hits.length);
  // No fold hides a hit. Those that the user made before come back when the search ends.
  const foldsBefore = search.hits === null ? model.folds : search.foldsBefore;
  const folds = search.hits === null ? Folds.none : model.folds;
  const next = { ...model, folds, opensAt: null, search: { ...search, hits, total, snippets, words, problem: null, foldsBefore } };
  if (opensAt >= 0) return refreshLayoutAt(next, opensAt);
  if (event.isMore || hits.length === 0 || hits.includes(model.selected)) return refreshLayout(next);
  return refreshLayoutAt(next, nearestTo(hits, model.selected));
}

/** The navigator with the folds that it had before the search. */
function withFoldsBefore(model: NavigatorModel): NavigatorModel {
  return { ...model, folds: model.search?.foldsBefore ?? model.folds };
}

/** Labels are not in the search index, so they are searched here. */
function rowsWithLabel(tree: NavigatorTree, query: string): readonly number[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  const labeled = [...tree.labels].filter(([, label]) => label.toLowerCase().includes(wanted));
  return rowsOf(
    tree,
    labeled.map(([id]) => id),
  );
}

/** Leaves out entries of other writers whose rows were not read yet. */
function rowsOf({ index }: NavigatorTree, ids: readonly EntryId[]): readonly number[] {
  return ids.map((id) => index.indexOf(id)).filter((at) => at >= 0);
}

/** The hit that arrived nearest to a row. */
function nearestTo(hits: readonly number[], row: number): number {
  let best = hits[0] ?? row;
  for (const hit of hits) if (Math.abs(hit - row) < Math.abs(best - row)) best = hit;
  return best;
}

/** Shows that a query is invalid. The hits so far stay. */
export function showQueryProblem(model: NavigatorModel, queryId: number, problem: string): NavigatorStep {
  const { search } = model;
  return search === null || search.queryId !== queryId
    ? withoutEffects(model)
    : withoutEffects({ ...model, search: { ...search, problem } });
}

/** Shows the ancestors of hits too, or the hits only. */
export function toggleAncestors(model: NavigatorModel): NavigatorStep {
  const { search } = model;
  if (search === null) return withoutEffects({ ...model, notice: { text: "Without a search all ancestors are shown.", isError: false } });
  return refreshLayout({ ...model, search: { ...search, showsAncestors: !search.showsAncestors } });
}

/**
 * Goes to the next place of the words in the preview. After the last one, and without a preview, it goes to the next hit, also one
 * inside a fold; after the last hit to the first.
 */
export function goToMatch(model: NavigatorModel, direction: Direction): NavigatorStep {
  const { layout, selected, preview } = model;
  const place = preview.place + direction;
  if (hasPlaces(model) && place >= 0 && place < placeCount(preview)) return showPlace(model, place);
  const next = layout?.nextHit(selected, direction) ?? -1;
  const row = next < 0 ? (layout?.nextHit(-1, direction) ?? -1) : next;
  if (row < 0) return withoutEffects({ ...model, notice: { text: "No hits are shown.", isError: false } });
  const goesTo = direction === 1 ? "first" : "last";
  // The only hit: its places again.
  if (row === selected && hasPlaces(model)) return showPlace(model, direction === 1 ? 0 : placeCount(preview) - 1);
  return selectAndReveal({ ...model, preview: { ...preview, goesTo } }, row);
}

/** True if the preview shows the selected entry with marked words. */
export function hasPlaces(model: NavigatorModel): boolean {
  const { preview } = model;
  return preview.isShown && preview.goesTo === "keep" && preview.places.length > 0 && preview.entryId === selectedId(model);
}

/** The preview with new lines, scrolled to the first or last place if it was requested for that. */
export function showPreview(model: NavigatorModel, event: Extract<NavigatorEvent, { kind: "previewed" }>): NavigatorStep {
  const { preview } = model;
  const { entryId, width, lines, words, places } = event;
  // Lines that were requested for another selection, width or search.
  if (preview.entryId !== entryId || preview.width !== width || preview.words !== words) return withoutEffects(model);
  const next = withLines({ ...preview, goesTo: "keep" as const }, lines, places, preview.goesTo, previewRows(model));
  return showSelection({ ...model, preview: next });
}

function showPlace(model: NavigatorModel, place: number): NavigatorStep {
  return withoutEffects({ ...model, preview: goToPlace(model.preview, place, previewRows(model)) });
}

function previewRows(model: NavigatorModel): number {
  return panesOf(model).preview?.rows ?? 1;
}
