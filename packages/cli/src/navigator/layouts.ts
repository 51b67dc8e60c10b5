import { Layout } from "../navigator-tree/layout.js";
import type { NavigatorFilter } from "../navigator-tree/navigator-filter.js";
import type { NavigatorModel, NavigatorTree } from "./model.js";
import { type NavigatorStep, selectPlace, selectRevealed } from "./select.js";

/** The model with the layout that its filter and search ask for; the selection stays, or goes to the nearest shown ancestor. */
export function laidOut(model: NavigatorModel): NavigatorStep {
  return selectPlace(withLayout(model), model.selected);
}

/** The same with another row selected, unfolded if it is folded away. */
export function laidOutAt(model: NavigatorModel, place: number): NavigatorStep {
  return selectRevealed(withLayout(model), place);
}

function withLayout(model: NavigatorModel): NavigatorModel {
  const { tree, search, filter } = model;
  if (tree === undefined) return model;
  const hits = search?.hits ?? null;
  if (hits !== null) return { ...model, layout: layoutOf(tree, filter, hits) };
  const known = model.layouts.get(filter);
  const layout = known ?? layoutOf(tree, filter, null);
  const layouts = known === undefined ? new Map([...model.layouts, [filter, layout] as const]) : model.layouts;
  return { ...model, layout, layouts };
}

/** The same after the tree changed: what was made for the old one is of no use. */
export function laidOutAnew(model: NavigatorModel): NavigatorStep {
  return laidOut({ ...model, layouts: new Map() });
}

function layoutOf({ index, labels, leaves, leafId }: NavigatorTree, filter: NavigatorFilter, hits: readonly number[] | null): Layout {
  return new Layout(index, { filter, leafId, labelled: labels, leaves, ...(hits === null ? {} : { hits }) });
}
