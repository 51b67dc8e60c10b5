import type { EntryId, SessionRecord } from "@bough/session-core";
import { EMPTY_PANE } from "../preview/pane.js";
import { sessionTitle } from "../session/names.js";
import { glyphsFor } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import type { TreeFilter } from "../tree/filter-names.js";
import { Folds } from "../tree/folds.js";
import { type KeyOverrides, rebindKeys } from "../tui/key-table.js";
import type { Screen, Size } from "../tui/screen.js";
import { NAVIGATOR_KEYS } from "./keys.js";
import type { Leaving, NavigatorEffect, NavigatorEvent, NavigatorModel, NavigatorResult, NavigatorStep, NavigatorWorld } from "./model.js";
import { LEAST_LIST, panesOf } from "./panes.js";
import { NavigatorPerformer } from "./perform.js";
import { update } from "./update.js";
import { givenSearch } from "./update-search.js";
import { view } from "./view.js";

/** The settings of the navigator. */
export interface NavigatorPreferences {
  readonly filter?: TreeFilter | undefined;
  readonly preview?: boolean | undefined;
  readonly leaving?: Leaving | undefined;
  /** Index of the last choice about a branch that was left: 0, 1 or 2. */
  readonly lastChoice?: number | undefined;
  readonly keys?: KeyOverrides | undefined;
  /** Default: true. */
  readonly mouse?: boolean | undefined;
}

/** The place at which a navigator opens; by default the leaf. */
export interface NavigatorOpening {
  /** The entry to select; null: the leaf. */
  readonly entryId?: EntryId | null | undefined;
  /** A search that is active from the start; the entry is one of its hits. Closing the navigator then does not end the search first. */
  readonly query?: string | undefined;
  /** True if closing it returns to another navigator. */
  readonly isVisit?: boolean | undefined;
}

/** The navigator of one session, as a screen. */
export type NavigatorScreen = Screen<NavigatorModel, NavigatorEffect, NavigatorEvent, NavigatorResult>;

/**
 * Shows the tree of a session on the whole terminal, to search, label, compare, fork and compact it, and to move in it. It opens
 * at the leaf and shows changes by other processes.
 *
 * @example
 * const result = await runScreen(terminal, navigatorScreen(world, record, {}));
 * if (result.kind === "moved" && result.text !== null) editor.insert(result.text);
 */
export function navigatorScreen(
  world: NavigatorWorld,
  record: SessionRecord,
  preferences: NavigatorPreferences,
  opening: NavigatorOpening = {},
): NavigatorScreen {
  return {
    kind: "full",
    hasMouse: preferences.mouse !== false,
    start: (size) => startNavigator(world, record, preferences, size, opening),
    update,
    view,
    performer: (host) => new NavigatorPerformer(world, host),
    result: ({ result }) => result,
  };
}

/** The navigator before the tree was read. */
export function startNavigator(
  { io }: { readonly io: Pick<Io, "env" | "now"> },
  record: SessionRecord,
  { filter = "default", preview = false, leaving = "ask", lastChoice = 0, keys = {} }: NavigatorPreferences,
  size: Size,
  { entryId = null, query, isVisit = false }: NavigatorOpening = {},
): NavigatorStep {
  const model: NavigatorModel = {
    size,
    title: sessionTitle(record),
    sessionId: record.id,
    glyphs: glyphsFor(io.env),
    keys: rebindKeys(NAVIGATOR_KEYS, keys),
    nowMs: io.now(),
    tree: undefined,
    reading: null,
    filter,
    layouts: new Map(),
    layout: undefined,
    folds: Folds.none,
    selected: -1,
    top: 0,
    search: query === undefined ? null : givenSearch(query),
    opensAt: entryId,
    isVisit,
    parent: record.parent,
    subagents: new Map(),
    lastQueryId: 0,
    preview: { ...EMPTY_PANE, isShown: preview, entryId: null, width: 0, words: null, goesTo: "keep" },
    showsTimes: false,
    marks: [],
    dialog: { kind: "none" },
    leaving,
    lastChoice,
    notice: null,
    result: undefined,
  };
  return {
    model: showPreviewOfHit(model),
    effects: [{ kind: "load", entries: record.entryCount, rows: size.rows }],
  };
}

/** With a search from the start the preview is shown where it does not cover the tree. */
function showPreviewOfHit(model: NavigatorModel): NavigatorModel {
  if (model.search === null) return model;
  const shown = { ...model, preview: { ...model.preview, isShown: true } };
  const { list, preview } = panesOf(shown);
  return preview?.place === "over" || list.rows <= LEAST_LIST ? model : shown;
}
