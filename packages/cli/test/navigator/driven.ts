import type { EntryId, LeafRecord, OutlineRow } from "@bough/session-core";
import type { NavigatorEffect, NavigatorEvent, NavigatorModel } from "../../src/navigator/model.js";
import { type NavigatorPreferences, startNavigator } from "../../src/navigator/navigator.js";
import { selectedId } from "../../src/navigator/selection.js";
import { update } from "../../src/navigator/update.js";
import { view } from "../../src/navigator/view.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import type { KeyEvent, Size, TerminalEvent } from "../../src/tui/screen.js";
import { record } from "../picker/driven.js";
import { NOON } from "../world.js";

/** What is marked in the tree that a navigator is shown. */
export interface Marked {
  /** Default: the last row. */
  readonly leafId?: EntryId | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly leaves?: readonly LeafRecord[];
}

/** How the navigator is started. */
export interface Around {
  readonly size?: Size;
  readonly env?: Readonly<Record<string, string>>;
  readonly preferences?: NavigatorPreferences;
  readonly title?: string;
}

/** A navigator without a world: events go in, its effects and its screen are looked at. */
export class Driven {
  model: NavigatorModel;
  readonly #effects: NavigatorEffect[] = [];

  constructor({ size = { columns: 80, rows: 23 }, env = {}, preferences = {}, title = "Parser" }: Around = {}) {
    const io = { env, now: () => NOON };
    const step = startNavigator({ io }, record(title, 1), preferences, size);
    this.model = step.model;
    this.#effects.push(...step.effects);
  }

  event(event: TerminalEvent | NavigatorEvent): this {
    const { model, effects } = update(this.model, event);
    this.model = model;
    this.#effects.push(...effects);
    return this;
  }

  /** The tree, as if it had been read. */
  loaded(rows: readonly OutlineRow[], marked: Marked = {}): this {
    return this.event({ kind: "loaded", tree: { index: TreeIndex.of(rows), leafName: "main", isHeld: false, ...standing(rows, marked) } });
  }

  /** Rows that another writer added, and where things stand then. */
  changed(rows: readonly OutlineRow[], marked: Marked = {}): this {
    const { labels, leaves, leafId } = standing(rows, { leafId: this.model.tree?.leafId ?? null, ...marked });
    const listed = [...labels].map(([entryId, label]) => ({ entryId, label, createdAtMs: NOON }));
    return this.event({ kind: "changed", rows, labels: listed, leaves, leafId, isHeld: false });
  }

  /** Presses keys: names of keys, or characters that also type. */
  press(...keys: readonly string[]): this {
    for (const key of keys) this.event(keyEvent(key));
    return this;
  }

  /** Types a text, character by character. */
  type(text: string): this {
    return this.press(...text);
  }

  resize(columns: number, rows: number): this {
    return this.event({ kind: "resize", size: { columns, rows } });
  }

  /** The answer to the newest question of the search. */
  hits(...ids: readonly EntryId[]): this {
    return this.event(hitsEvent(this.queryId, ids, { query: this.model.search?.field.text ?? "" }));
  }

  get queryId(): number {
    return this.model.search?.queryId ?? -1;
  }

  /** The effects since this was asked last. */
  wanted(): readonly NavigatorEffect[] {
    return this.#effects.splice(0);
  }

  /** The kind of the open dialog. */
  get dialog(): string {
    return this.model.dialog.kind;
  }

  /** The id of the selected entry. */
  get at(): string | undefined {
    return selectedId(this.model);
  }

  /** What is on the screen, blanks at the ends of lines left out. */
  get lines(): readonly string[] {
    return view(this.model).lines.map(({ line }) => textOfLine(line).trimEnd());
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** The row that is selected as it is drawn; undefined: it is not on the screen. */
  get selectedLine(): string | undefined {
    return this.lines.slice(1).find((line) => line.startsWith(this.model.glyphs.cursor));
  }

  /** Columns of the widest line. */
  get widest(): number {
    return Math.max(...view(this.model).lines.map(({ line }) => lineWidth(line)));
  }
}

/** What a query dispatches; the snippet of each hit is the query. `total`: default as many as there are. */
export function hitsEvent(
  queryId: number,
  ids: readonly EntryId[],
  {
    query = "a",
    total = ids.length,
    isMore = false,
    snippet = query,
  }: { query?: string; total?: number; isMore?: boolean; snippet?: string } = {},
): Extract<NavigatorEvent, { kind: "hits" }> {
  const hits = ids.map((entryId) => ({ entryId, snippet, matches: [[0, query.length]] as const }));
  return { kind: "hits", queryId, hits, total, isMore, words: { query, matched: { kind: "all" } } };
}

function standing(rows: readonly OutlineRow[], { leafId = rows.at(-1)?.id ?? null, labels = {}, leaves }: Marked) {
  return {
    leafId,
    labels: new Map(Object.entries(labels)),
    leaves: leaves ?? [{ name: "main", entryId: leafId }],
  };
}

/** The event of a key by its name, with the text it types if it types one. */
export function keyEvent(key: string): KeyEvent {
  if (key === "space" || key === " ") return { kind: "key", key: "space", text: " " };
  return [...key].length === 1 ? { kind: "key", key, text: key } : { kind: "key", key };
}
