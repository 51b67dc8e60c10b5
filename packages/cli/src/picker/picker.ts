import type { SessionId, Store } from "@bough/session-core";
import { findPlace } from "../session/place.js";
import type { Glyphs } from "../terminal/glyphs.js";
import type { Io } from "../terminal/io.js";
import { newField } from "../tui/field.js";
import type { KeyTable } from "../tui/key-table.js";
import type { Screen, Size } from "../tui/screen.js";
import { PICKER_KEYS, type PickerAction } from "./keys.js";
import type { PickerEffect, PickerEvent, PickerModel, PickerResult, PickerSettings, PickerStep } from "./model.js";
import { PickerPerformer } from "./perform.js";
import { showScope, UNREAD_LIST } from "./session-lists.js";
import { update } from "./update.js";
import { view } from "./view.js";

/** Options of the picker. */
export interface PickerOptions {
  readonly store: Store;
  /** Sessions may have been recorded under the real path of `cwd` or under `PWD`; both are listed. */
  readonly io: Pick<Io, "cwd" | "env" | "home" | "now">;
  readonly glyphs: Glyphs;
  /** Default: `PICKER_KEYS`. */
  readonly keys?: KeyTable<PickerAction> | undefined;
  /** The session that is open in the shell: it is marked, and cannot be deleted. */
  readonly currentSessionId?: SessionId | undefined;
  /** Starts with the sessions of all directories, for example because the current one has none. */
  readonly everywhere?: boolean | undefined;
  /** Default: true. */
  readonly mouse?: boolean | undefined;
}

/**
 * The session picker: a full screen whose result is a session to open, a new session, or a cancellation. It renames,
 * archives and deletes sessions itself, and shows failures of the store on the screen.
 *
 * @example
 * const result = await runScreen(terminal, pickerScreen({ store, io, glyphs }));
 */
export function pickerScreen(options: PickerOptions): Screen<PickerModel, PickerEffect, PickerEvent, PickerResult> {
  const { store, io } = options;
  return {
    kind: "full",
    hasMouse: options.mouse !== false,
    start: (size) => startPicker(options, size),
    update,
    view,
    performer: (host) => new PickerPerformer({ store, place: findPlace(io), io }, host),
    result: ({ result }) => result,
  };
}

/** The directory in the heading: the root of the repository, else the current directory by the name that the user knows. */
function placeDirectory(io: Pick<Io, "cwd" | "env" | "home">): string {
  const { kind, directories } = findPlace(io);
  return (kind === "repository" ? directories[0] : undefined) ?? (io.env["PWD"] || io.cwd);
}

function startPicker({ io, glyphs, keys = PICKER_KEYS, currentSessionId, everywhere }: PickerOptions, size: Size): PickerStep {
  const settings: PickerSettings = {
    glyphs,
    keys,
    currentId: currentSessionId,
    directory: placeDirectory(io),
    home: io.home,
  };
  const { model, effects } = showScope(initialModel(settings, size, io.now()), everywhere === true ? "all" : "here");
  return { model, effects: [{ kind: "watch" }, ...effects] };
}

function initialModel(settings: PickerSettings, size: Size, nowMs: number): PickerModel {
  return {
    settings,
    size,
    nowMs,
    scope: "here",
    sort: "threads",
    withArchived: false,
    mode: { kind: "list" },
    lists: { here: UNREAD_LIST, all: UNREAD_LIST },
    pool: [],
    sortedRows: [],
    rows: [],
    nameMatchCount: 0,
    search: { field: newField(), number: 0, hits: new Map(), state: "idle", reason: "", more: false, chosen: null },
    selected: 0,
    isChosen: false,
    top: 0,
    models: new Map(),
    held: new Set(),
    requestedModels: [],
    preview: { isOpen: false, end: "last", number: 0, id: undefined, isStale: false, messages: undefined },
    notice: undefined,
    result: undefined,
  };
}
