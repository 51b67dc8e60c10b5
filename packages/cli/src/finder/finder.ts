import { EMPTY_PANE } from "../preview/pane.js";
import { glyphsFor } from "../terminal/glyphs.js";
import { newField } from "../tui/field.js";
import { type KeyOverrides, rebindKeys } from "../tui/key-table.js";
import type { Screen, Size } from "../tui/screen.js";
import { FINDER_KEYS } from "./keys.js";
import type { FinderEffect, FinderEvent, FinderModel, FinderResult, FinderStep } from "./model.js";
import { FinderPerformer, type FinderWorld } from "./perform.js";
import { showSelection, startQuery, update } from "./update.js";
import { view } from "./view.js";

/** The start of a finder: a query, or its state when a hit was opened. */
export type FinderStart = { readonly query: string; readonly keys?: KeyOverrides | undefined } | { readonly resumed: FinderModel };

/** The result of a finder, and its state, from which it can be resumed. */
export interface FinderEnd {
  readonly result: FinderResult;
  readonly model: FinderModel;
}

/**
 * The finder: a full screen that searches all sessions while the query is typed. Its hits are grouped by session; beside or below
 * them is the selected entry, scrolled to the first match. `mouse`: false turns the mouse off.
 *
 * @example
 * const { result, model } = await runScreen(terminal, finderScreen({ store, io, conditions: {} }, { query: "theme" }, true));
 */
export function finderScreen(
  world: FinderWorld,
  start: FinderStart,
  mouse: boolean | undefined,
): Screen<FinderModel, FinderEffect, FinderEvent, FinderEnd> {
  return {
    kind: "full",
    hasMouse: mouse !== false,
    start: (size) => ("resumed" in start ? resume(start.resumed, size) : startFinder(world, start, size)),
    update,
    view,
    performer: (host) => new FinderPerformer(world, host),
    result: (model) => (model.result === undefined ? undefined : { result: model.result, model }),
  };
}

/** The finder before its first query. */
function startFinder(
  { io, described = "" }: Pick<FinderWorld, "io" | "described">,
  { query, keys = {} }: Extract<FinderStart, { query: string }>,
  size: Size,
): FinderStep {
  return startQuery({
    size,
    glyphs: glyphsFor(io.env),
    keys: rebindKeys(FINDER_KEYS, keys),
    nowMs: io.now(),
    field: newField(query),
    conditions: described,
    role: "all",
    within: null,
    queryId: 0,
    isSearching: false,
    found: null,
    problem: null,
    rows: [],
    selected: -1,
    top: 0,
    preview: { ...EMPTY_PANE, hit: null, width: 0, goesTo: "keep" },
    help: null,
    result: undefined,
  });
}

/** The finder as it was. A search that was running runs again, and a preview that was being read is read again. */
function resume(model: FinderModel, size: Size): FinderStep {
  const preview = model.preview.goesTo === "keep" ? model.preview : { ...model.preview, hit: null };
  const shown = { ...model, size, preview, result: undefined };
  return model.isSearching ? startQuery(shown) : showSelection(shown);
}
