import type { EntryId } from "@bough/session-core";
import { editField, newField } from "../tui/field.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorEvent, NavigatorModel, NavigatorStep, NavigatorTree, Search } from "./model.js";
import { refreshLayout, refreshLayoutAt, showSelection } from "./selection.js";

/** Opens the search field, with the query of the current search. */
export function openSearch(model: NavigatorModel): NavigatorStep {
  const search = model.search ?? { field: newField(), isTyping: true, queryId: 0, hits: null, total: 0, problem: null };
  return showSelection({ ...model, search: { ...search, isTyping: true } });
}

/** Removes the search; the selected entry stays selected. */
export function endSearch(model: NavigatorModel): NavigatorStep {
  return refreshLayout({ ...model, search: null, notice: null });
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
  if (query === "") return refreshLayout({ ...model, search: { ...search, queryId, hits: null, total: 0, problem: null } });
  return { model: { ...model, search: { ...search, queryId, problem: null } }, effects: [{ kind: "search", query, queryId }] };
}

/** Adds a page of hits. The first page replaces the hits so far, and selects the nearest hit unless the selected row is one. */
export function addHits(model: NavigatorModel, event: Extract<NavigatorEvent, { kind: "hits" }>): NavigatorStep {
  const { search, tree } = model;
  if (search === null || tree === undefined || search.queryId !== event.queryId) return withoutEffects(model);
  const found = rowsOf(tree, event.ids);
  const labeled = event.isMore ? [] : rowsWithLabel(tree, search.field.text);
  const hits = [...new Set([...(event.isMore ? (search.hits ?? []) : []), ...found, ...labeled])];
  const next = { ...model, search: { ...search, hits, total: Math.max(event.total, hits.length), problem: null } };
  if (event.isMore || hits.length === 0 || hits.includes(model.selected)) return refreshLayout(next);
  return refreshLayoutAt(next, nearestTo(hits, model.selected));
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
