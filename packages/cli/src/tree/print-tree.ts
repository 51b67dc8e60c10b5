import type { Label, LeafRecord, OutlineRow } from "@bough/session-core";
import { counted } from "../format/numbers.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import { displayWidth, padEnd } from "../terminal/width.js";
import type { TreeFilter } from "./filter.js";
import { gutterText, LEVEL_WIDTH } from "./gutter.js";
import { rowText } from "./row-text.js";
import { shortIds } from "./short-ids.js";
import { type Gutter, type PlacedRow, placedRows, type VisibleTree, visibleTree } from "./visible-tree.js";

/** What is drawn: the outline of a session in order of arrival, and what is said about its entries. */
export interface DrawnTree {
  readonly rows: readonly OutlineRow[];
  readonly labels: readonly Label[];
  readonly leaves: readonly LeafRecord[];
  /** The leaf whose path is marked. */
  readonly leafName: string;
}

/** How it is drawn. */
export interface DrawingOptions {
  /** Columns to stay within. */
  readonly width: number;
  readonly filter: TreeFilter;
  /** Long runs are drawn whole. */
  readonly full: boolean;
  readonly glyphs: Glyphs;
  /** What to say of an entry's time; undefined: nothing. */
  readonly time?: ((atMs: number) => string) | undefined;
}

/** A drawing, and how many rows it left out because of the filter. */
export interface Drawing {
  readonly lines: Iterable<Line>;
  readonly hidden: number;
}

const WIDEST_ID = 12;
const LEAST_TEXT = 40;

/** A tree as lines, each within the width. Pure: what is drawn depends on nothing else. Lines are made when asked for. */
export function drawTree(drawn: DrawnTree, options: DrawingOptions): Drawing {
  const labels = new Map(drawn.labels.map(({ entryId, label }) => [entryId, label]));
  const leafId = drawn.leaves.find(({ name }) => name === drawn.leafName)?.entryId ?? null;
  const tree = visibleTree({ ...drawn, labelled: labels, leafId, filter: options.filter });
  const placed = placedRows(tree);
  const leaves = leavesByEntry(drawn.leaves, drawn.leafName);
  const isLandmark = (at: number) => isLandmarkRow(tree.rows[at], labels, leaves);
  const rows = options.full ? placed : folded(placed, isLandmark);
  return { lines: new Drawer(tree, labels, leaves, rows, options).lines(), hidden: tree.rows.length - placed.length };
}

function leavesByEntry(leaves: readonly LeafRecord[], current: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const { name, entryId } of leaves) {
    if (entryId !== null) names.set(entryId, [...(names.get(entryId) ?? []), name === current ? "leaf" : `leaf ${name}`]);
  }
  return names;
}

function isLandmarkRow(row: OutlineRow | undefined, labels: ReadonlyMap<string, string>, leaves: ReadonlyMap<string, unknown>): boolean {
  if (row === undefined) return false;
  return row.type === "compaction" || row.type === "branch_summary" || (labels.size > 0 && labels.has(row.id)) || leaves.has(row.id);
}

class Drawer {
  readonly #ids: ReadonlyMap<string, string>;
  readonly #idWidth: number;
  readonly #mostLevels: number;

  constructor(
    private readonly tree: VisibleTree,
    private readonly labels: ReadonlyMap<string, string>,
    private readonly leaves: ReadonlyMap<string, readonly string[]>,
    private readonly rows: readonly (PlacedRow | FoldedRows)[],
    private readonly options: DrawingOptions,
  ) {
    this.#ids = shortIds(tree.rows.map(({ id }) => id));
    let widest = 0;
    for (const row of rows) if (row.kind === "row") widest = Math.max(widest, displayWidth(this.#idOf(row.at)));
    this.#idWidth = Math.min(widest, WIDEST_ID);
    const { width } = options;
    const text = Math.min(LEAST_TEXT, Math.floor(width * 0.6));
    this.#mostLevels = Math.max(1, Math.floor((width - this.#idWidth - 3 - text) / LEVEL_WIDTH));
  }

  *lines(): Generator<Line, void, void> {
    for (const row of this.rows) yield row.kind === "row" ? this.#row(row) : this.#fold(row);
  }

  #idOf(at: number): string {
    const id = this.tree.rows[at]?.id ?? "";
    return this.#ids.get(id) ?? id;
  }

  #row({ at, gutter, starts }: PlacedRow): Line {
    const { glyphs, width, time } = this.options;
    const row = this.tree.rows[at];
    if (row === undefined) return [];
    const isOnPath = this.tree.onPath[at] === 1;
    const left: Line = [
      styled("dim", padEnd(this.#idOf(at), this.#idWidth)),
      " ",
      isOnPath ? styled("leaf", glyphs.onPath) : " ",
      " ",
      styled("dim", gutterText(gutter, starts, this.#mostLevels, glyphs)),
      ...(time === undefined ? [] : [styled("dim", `${time(row.createdAtMs)} `)]),
    ];
    return joined([...left, ...this.#badges(row)], rowText(row), this.#leafMarks(row), width, glyphs.ellipsis);
  }

  #badges(row: OutlineRow): Line {
    const label = this.labels.get(row.id);
    const badge = label === undefined ? [] : [styled("label", `[${label}] `)];
    return row.isError ? [...badge, styled("error", `${this.options.glyphs.error} `)] : badge;
  }

  #leafMarks(row: OutlineRow): Line {
    return (this.leaves.get(row.id) ?? []).map((name) => styled("leaf", ` ${this.options.glyphs.arrow} ${name}`));
  }

  #fold({ rows, gutter }: FoldedRows): Line {
    const { glyphs, width } = this.options;
    const said = rows.reduce((sum, at) => sum + (this.tree.rows[at]?.role === "user" ? 1 : 0), 0);
    const detail = said === 0 ? "" : `, ${said} from the user`;
    const lines = gutterText(gutter, false, this.#mostLevels, glyphs);
    const space = " ".repeat(this.#idWidth + 3);
    return fitLine(
      [space, styled("dim", `${lines}${glyphs.ellipsis} ${counted(rows.length, "more entry", "more entries")}${detail} (--full)`)],
      width,
      glyphs.ellipsis,
    );
  }
}

/** The middle gives way first: what marks a leaf must be seen. */
function joined(left: Line, middle: Line, right: Line, width: number, ellipsis: string): Line {
  const room = width - lineWidth(left) - lineWidth(right);
  const parts: (string | Span)[] = [...left, ...(room > 0 ? fitLine(middle, room, ellipsis) : []), ...right];
  return fitLine(parts, width, ellipsis);
}

/** Runs up to this length are drawn whole. */
export const LONGEST_RUN = 12;

/** How many rows of a folded run stay at each of its ends. */
const KEPT = 4;

/** A stretch of rows that is told instead of drawn. */
export interface FoldedRows {
  readonly kind: "fold";
  /** Indices of the rows that are not drawn. */
  readonly rows: readonly number[];
  readonly gutter: Gutter | null;
}

/**
 * Folds the middle of long runs: rows one below the other without a branch point between them. Landmarks (leaves,
 * labels, summaries) are never folded away and end a run.
 */
export function folded(placed: readonly PlacedRow[], isLandmark: (at: number) => boolean): readonly (PlacedRow | FoldedRows)[] {
  const drawn: (PlacedRow | FoldedRows)[] = [];
  let run: PlacedRow[] = [];
  const endRun = () => {
    for (const row of foldedRun(run)) drawn.push(row);
    run = [];
  };
  for (const row of placed) {
    if (row.starts) endRun();
    if (isLandmark(row.at)) {
      endRun();
      drawn.push(row);
    } else run.push(row);
  }
  endRun();
  return drawn;
}

function foldedRun(run: readonly PlacedRow[]): readonly (PlacedRow | FoldedRows)[] {
  const [first] = run;
  if (run.length <= LONGEST_RUN || first === undefined) return run;
  const middle = run.slice(KEPT, -KEPT);
  return [...run.slice(0, KEPT), { kind: "fold", rows: middle.map(({ at }) => at), gutter: first.gutter }, ...run.slice(-KEPT)];
}
