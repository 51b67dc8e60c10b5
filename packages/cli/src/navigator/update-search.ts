import type { EntryId } from "@bough/session-core";
import { editField, newField } from "../tui/field.js";
import { type TerminalEvent, withoutEffects } from "../tui/screen.js";
import type { NavigatorModel, NavigatorTree, Search } from "./model.js";
import { type NavigatorStep, refreshLayout, refreshLayoutAt, showSelection } from "./select.js";

/** Opens the search field, with what was searched for. */
export function openSearch(model: NavigatorModel): NavigatorStep {
  const search = model.search ?? { field: newField(), isTyping: true, queryId: 0, hits: null, total: 0, problem: null };
  return showSelection({ ...model, search: { ...search, isTyping: true } });
}

/** Takes the search away; the selected entry stays selected. */
export function endSearch(model: NavigatorModel): NavigatorStep {
  return refreshLayout({ ...model, search: null, notice: null });
}

/** What a key or a paste means while the field is typed in; undefined: it is about the list. */
export function updateSearchField(model: NavigatorModel, search: Search, event: TerminalEvent): NavigatorStep | undefined {
  if (event.kind === "key" && event.key === "escape") return endSearch(model);
  if (event.kind === "key" && event.key === "enter") return closedField(model, search);
  const field = editField(search.field, event);
  if (field === undefined) return undefined;
  if (field.text === search.field.text) return withoutEffects({ ...model, search: { ...search, field } });
  return asked(model, field.text.trim(), { ...search, field });
}

/** The letters act on the list again; an empty field leaves nothing behind. */
function closedField(model: NavigatorModel, search: Search): NavigatorStep {
  if (search.field.text.trim() === "") return endSearch(model);
  return showSelection({ ...model, search: { ...search, isTyping: false } });
}

function asked(model: NavigatorModel, query: string, search: Search): NavigatorStep {
  const question = model.lastQueryId + 1;
  const asking = { ...model, questions: question };
  // What is shown stays until the answer is there, except for an empty question, which has none.
  if (query === "") return refreshLayout({ ...asking, search: { ...search, queryId: question, hits: null, total: 0, problem: null } });
  return { model: { ...asking, search: { ...search, queryId: question, problem: null } }, effects: [{ kind: "search", query, question }] };
}

/** A page of hits; the first one replaces what was shown, and its best hit is selected. */
export function addHits(
  model: NavigatorModel,
  event: { readonly question: number; readonly ids: readonly EntryId[]; readonly total: number; readonly isMore: boolean },
): NavigatorStep {
  const { search, tree } = model;
  if (search === null || tree === undefined || search.queryId !== event.question) return withoutEffects(model);
  const places = placesOf(tree, event.ids);
  const labelled = event.isMore ? [] : placesOfLabels(model, search.field.text);
  const hits = [...new Set([...(event.isMore ? (search.hits ?? []) : []), ...places, ...labelled])];
  const next = { ...model, search: { ...search, hits, total: Math.max(event.total, hits.length), problem: null } };
  // The row that is selected stays, if it is a hit itself.
  if (event.isMore || hits.length === 0 || hits.includes(model.selected)) return refreshLayout(next);
  return refreshLayoutAt(next, nearestTo(hits, model.selected));
}

/** Labels are few and in memory; the index does not have them. */
function placesOfLabels({ tree }: NavigatorModel, text: string): readonly number[] {
  const wanted = text.trim().toLowerCase();
  if (tree === undefined || wanted === "") return [];
  const named = [...tree.labels].filter(([, label]) => label.toLowerCase().includes(wanted));
  return placesOf(
    tree,
    named.map(([id]) => id),
  );
}

/** Another writer's entries can be found before their rows have come; they are left out. */
function placesOf({ index }: NavigatorTree, ids: readonly EntryId[]): readonly number[] {
  return ids.map((id) => index.indexOf(id)).filter((place) => place >= 0);
}

/** The hit that is nearest by order of arrival: where the person looks already. */
function nearestTo(hits: readonly number[], place: number): number {
  let best = hits[0] ?? place;
  for (const hit of hits) if (Math.abs(hit - place) < Math.abs(best - place)) best = hit;
  return best;
}

/** The query cannot be read. What was found before stays. */
export function showQueryProblem(model: NavigatorModel, question: number, problem: string): NavigatorStep {
  const { search } = model;
  return search === null || search.queryId !== question
    ? withoutEffects(model)
    : withoutEffects({ ...model, search: { ...search, problem } });
}
