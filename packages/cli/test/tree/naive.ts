import type { OutlineRow } from "@bough/session-core";
import fc from "fast-check";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { TREE_FILTERS, type TreeFilter } from "../../src/tree/filter-names.js";
import { Folds } from "../../src/tree/folds.js";
import type { LayoutOptions } from "../../src/tree/shown-rows.js";
import { gutterText, type VisibleRow } from "../../src/tree/visible-row.js";
import { anyOutline } from "../tree/outlines.js";

/** A row of the model, and of a layout brought into the same form. */
export interface SeenRow extends Omit<VisibleRow, "level" | "startsBranch" | "isFirst" | "position"> {
  readonly gutter: string;
}

/** A row of a layout with its lines drawn. */
export function seen(visible: VisibleRow): SeenRow {
  const { level, startsBranch, isFirst, position, ...row } = visible;
  return { ...row, gutter: gutterText(visible, 1000, glyphsFor({})) };
}

/** The tree as one would print it: by recursion, from scratch each time. */
export class NaiveTree {
  readonly parents: readonly number[];
  readonly shown: readonly boolean[];
  readonly path: ReadonlySet<number>;

  readonly rows: readonly OutlineRow[];
  readonly question: LayoutOptions;

  constructor(rows: readonly OutlineRow[], question: LayoutOptions) {
    this.rows = rows;
    this.question = question;

    this.parents = rows.map(({ parentSeq }) => rows.findIndex(({ seq }) => seq === parentSeq));
    this.path = new Set(this.upFrom(rows.findIndex(({ id }) => id === question.leafId)));
    this.shown = rows.map((_, at) => this.#isShown(at));
  }

  /** A row and all above it. */
  upFrom(at: number): number[] {
    return at === -1 ? [] : [at, ...this.upFrom(this.parents[at] ?? -1)];
  }

  /** The shown rows that hang on a row, in the order drawn: last the one that continues the column. */
  children(parent: number): number[] {
    const own = this.rows.flatMap((_, at) => (this.parents[at] === parent ? [at] : []));
    const all = own.flatMap((at) => (this.shown[at] ? [at] : this.children(at))).sort((a, b) => a - b);
    const newest = Math.max(...all.map((at) => this.#newestBelow(at)));
    const last = all.find((at) => this.path.has(at)) ?? all.find((at) => this.#newestBelow(at) === newest);
    return last === undefined ? [] : [...all.filter((at) => at !== last), last];
  }

  /** What is seen from top to bottom. */
  print(folds: ReadonlySet<number>): SeenRow[] {
    return this.#printAll(this.children(-1), "", folds);
  }

  #newestBelow(at: number): number {
    return Math.max(at, ...this.children(at).map((child) => this.#newestBelow(child)));
  }

  /** The nearest shown row at or above one, -1: none. */
  nearest(at: number): number {
    return this.upFrom(at).find((up) => this.shown[up]) ?? -1;
  }

  /** The shown rows at or above one, from the row upwards. */
  shownUpFrom(at: number): number[] {
    return this.upFrom(at).filter((up) => this.shown[up]);
  }

  /** Whether a shown row is a branch child or a first entry. */
  isSegmentStart(at: number): boolean {
    const parent = this.nearest(this.parents[at] ?? -1);
    return parent === -1 || this.children(parent).length > 1;
  }

  #printAll(siblings: readonly number[], lines: string, folds: ReadonlySet<number>): SeenRow[] {
    const first = this.children(-1)[0];
    return siblings.flatMap((at, place) =>
      place === siblings.length - 1
        ? this.#printOne(at, lines, lines, folds, false)
        : this.#printOne(at, `${lines}${at === first ? "┌─ " : "├─ "}`, `${lines}│  `, folds, true),
    );
  }

  #printOne(at: number, gutter: string, below: string, folds: ReadonlySet<number>, startsBranch: boolean): SeenRow[] {
    const children = this.children(at);
    const rows = this.#printAll(children, below, folds);
    const isFolded = folds.has(at) && children.length > 0;
    const isOnPath = this.path.has(at);
    const row: SeenRow = {
      at,
      gutter: gutter === "" ? (isOnPath ? "•" : " ") : gutter,
      isOnPath,
      branches: children.length > 1 ? children.length : 0,
      isHit: this.question.hits?.includes(at) ?? false,
      group: null,
      fold: isFolded ? "folded" : startsBranch && children.length > 0 ? "foldable" : "none",
      hiddenBelow: isFolded ? this.#printAll(children, "", new Set()).length : 0,
    };
    return isFolded ? [row] : [row, ...rows];
  }

  #isShown(at: number): boolean {
    const { hits } = this.question;
    if (hits === undefined) return this.#passes(at);
    if (hits.includes(at)) return true;
    return this.#passes(at) && hits.some((hit) => this.upFrom(hit).includes(at));
  }

  /** The row of the conversation or with a label at a leaf or above it, else its own. */
  #drawnAt(leafId: string | null): number {
    const own = this.rows.findIndex(({ id }) => id === leafId);
    if (this.question.filter === "all" || own < 0) return own;
    const isDrawn = (at: number) => isConversation(this.rows[at]) || this.question.labeled.has(this.rows[at]?.id ?? "");
    return [own, ...this.upFrom(own)].find(isDrawn) ?? own;
  }

  #passes(at: number): boolean {
    const { filter, leafId, leaves, labeled } = this.question;
    const row = this.rows[at];
    if (row === undefined || at === this.#drawnAt(leafId)) return row !== undefined;
    const hasLabel = labeled.has(row.id);
    const isLeaf = leaves.some(({ entryId }) => at === this.#drawnAt(entryId));
    const isSummary = row.type === "compaction" || row.type === "branch_summary";
    const isTalk = isConversation(row);
    const isCall = row.role === "assistant" && !row.isError && /^\[[^\]\s][^\]]*\]/.test(row.preview);
    switch (filter) {
      case "all":
        return true;
      case "default":
        return isTalk || hasLabel || isLeaf;
      case "no-tools":
        return (isTalk && !isCall) || hasLabel || isLeaf;
      case "user":
        return row.role === "user";
      case "labeled":
        return hasLabel;
      case "summaries":
        return isSummary;
    }
  }
}

/** A case: a tree, a question about it, and rows that are folded. */
export interface Case {
  readonly rows: readonly OutlineRow[];
  readonly question: LayoutOptions;
  readonly folds: Folds;
  /** Any place in the tree. */
  readonly at: number;
}

/** Any place in a tree of the size; places only make sense where there are rows. */
const places = (size: number, maxLength: number) => fc.uniqueArray(fc.nat({ max: Math.max(0, size - 1) }), { maxLength });

/** Any tree that has a row, with any filter, search, marks and folds. */
export const anyCase: fc.Arbitrary<Case> = anyOutline
  .filter((rows) => rows.length > 0)
  .chain((rows) => {
    const place = fc.nat({ max: rows.length - 1 });
    const id = (at: number) => rows[at]?.id ?? "";
    return fc
      .record({
        filter: fc.constantFrom<TreeFilter[]>(...TREE_FILTERS),
        leaf: fc.option(place),
        other: fc.option(place),
        labels: places(rows.length, 4),
        hits: fc.option(places(rows.length, 5), { freq: 2 }),
        folded: places(rows.length, 8),
        at: place,
      })
      .map(({ filter, leaf, other, labels, hits, folded, at }) => ({
        rows,
        at,
        folds: new Folds(folded),
        question: {
          filter,
          leafId: leaf === null ? null : id(leaf),
          leaves: [{ name: "other", entryId: other === null ? null : id(other) }],
          labeled: new Set(labels.map(id)),
          ...(hits === null ? {} : { hits }),
        },
      }));
  });

function isConversation(row: OutlineRow | undefined): boolean {
  if (row === undefined) return false;
  const isSummary = row.type === "compaction" || row.type === "branch_summary";
  return (row.type === "message" && row.role !== "toolResult") || isSummary || row.type === "custom_message";
}
