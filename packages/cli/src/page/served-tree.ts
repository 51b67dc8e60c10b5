import { isOnlyCalls } from "@bough/session-core/view";
import { filterBit } from "../tree/filter.js";
import { NONE } from "../tree/tree-index.js";
import type { BranchLine, BranchShape, Segment } from "./branches.js";
import type { Masks } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import { withoutMarks } from "./plain-text.js";
import type { ChunkState } from "./sent.js";
import type { ServedSession } from "./served-session.js";
import { mergeCalls, ROWS_OF_CHUNK, type RowPlace, rowHtml, rowKind, type TreeRow } from "./tree-nav.js";

/** A row of a line, and the branch that it opens. */
interface Item {
  readonly row: TreeRow;
  readonly place: RowPlace;
  readonly opens: string | undefined;
}

/**
 * The tree of a served session, in chunks of 100 rows: each line of it, from where it leaves another one to its end, is a list, and its
 * branches are lists of their own, which are sent when they are unfolded.
 */
export class ServedTree {
  readonly #served: ServedSession;
  readonly #masks: Masks;
  #shape: BranchShape | undefined;
  readonly #lines = new Map<string, BranchLine>();
  readonly #items = new Map<string, readonly Item[]>();

  constructor(served: ServedSession, masks: Masks) {
    this.#served = served;
    this.#masks = masks;
  }

  /** The lines that begin with first entries, the active one first. */
  get roots(): readonly string[] {
    this.#renew();
    return [...this.#lines].filter(([, { level }]) => level === 1).map(([key]) => key);
  }

  /** The chunks of a line; undefined: there is no such line. */
  chunks(key: string): readonly ChunkState[] | undefined {
    const items = this.#itemsOf(key);
    if (items === undefined) return undefined;
    const chunks: ChunkState[] = [];
    for (let at = 0; at < items.length; at += ROWS_OF_CHUNK) {
      const part = items.slice(at, at + ROWS_OF_CHUNK);
      chunks.push([part.length, versionOf(part, this.#served.revision), part[0]?.row.step ?? 0]);
    }
    return chunks;
  }

  /** The rows of a chunk. The groups of branches in it are empty chunks. */
  chunk(key: string, number: number): Html {
    const items = this.#itemsOf(key)?.slice(number * ROWS_OF_CHUNK, (number + 1) * ROWS_OF_CHUNK) ?? [];
    return joinHtml(items.map((item) => this.#itemHtml(item)));
  }

  /** The chunks of a line; the first `filled` ones with their rows. */
  lineHtml(key: string, filled: number): Html {
    const chunks = this.chunks(key) ?? [];
    return joinHtml(
      chunks.map(
        ([rows, version, first], number) =>
          html`<div role="none" class="rows" data-line="${key}" data-chunk="${number}" data-rows="${rows}" data-version="${version}" data-first="${first}">${number < filled ? this.chunk(key, number) : NOTHING}</div>`,
      ),
    );
  }

  #itemHtml({ row, place, opens }: Item): Html {
    const text = withoutMarks(this.#masks.maskLine(row.text));
    const label = row.label === undefined ? undefined : this.#masks.maskLine(row.label);
    const written = rowHtml({ ...row, text, label }, place);
    return opens === undefined || !place.isFolder ? written : html`${written}<div role="group" hidden>${this.lineHtml(opens, 0)}</div>`;
  }

  #itemsOf(key: string): readonly Item[] | undefined {
    this.#renew();
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const line = this.#lines.get(key);
    if (line === undefined) return undefined;
    const items = this.#lineItems(line);
    this.#items.set(key, items);
    return items;
  }

  /** Forgets the lines of an older state of the session. */
  #renew(): void {
    const { shape } = this.#served;
    if (shape === this.#shape) return;
    this.#shape = shape;
    this.#lines.clear();
    this.#items.clear();
    for (const line of shape.lines()) this.#lines.set(keyOf(line), line);
  }

  #lineItems(line: BranchLine): readonly Item[] {
    const items: Item[] = [];
    // The first row of a branch is drawn by the line that it leaves.
    let isHead = line.level > 1;
    for (const [at, segment] of line.segments.entries()) {
      const rows = this.#rowsOf(segment);
      for (const [number, row] of rows.entries()) {
        if (!isHead) {
          const branches = number === rows.length - 1 ? branchesAt(line, at) : 0;
          items.push({ row, place: { level: line.level, branches, isHead: false, entries: 0, isFolder: false }, opens: undefined });
        }
        isHead = false;
      }
      for (const branch of segment.branches) items.push(...this.#headOf(branch));
    }
    return items;
  }

  /** The first row of a branch; none: it has nothing that the tree shows. */
  #headOf(branch: BranchLine): readonly Item[] {
    for (const [at, segment] of branch.segments.entries()) {
      const rows = this.#rowsOf(segment);
      const [row] = rows;
      if (row === undefined && segment.branches.length === 0) continue;
      if (row === undefined) return [];
      const branches = rows.length === 1 ? branchesAt(branch, at) : 0;
      const isFolder = rows.length > 1 || at < branch.segments.length - 1 || segment.branches.length > 0;
      return [{ row, place: { level: branch.level - 1, branches, isHead: true, entries: branch.entries, isFolder }, opens: keyOf(branch) }];
    }
    return [];
  }

  #rowsOf({ rows }: Segment): readonly TreeRow[] {
    const { index, labels, drawnLeaf } = this.#served;
    const shown = rows.filter((at) => ((index.filterBits[at] ?? 0) & filterBit("default")) !== 0 && !this.#served.isPrivate(at));
    return mergeCalls(
      shown.map((at) => {
        const { id, preview } = index.row(at);
        const calls = index.callsOf(at);
        const isCalls = calls.length > 0 && isOnlyCalls(index.row(at));
        return {
          ...{ step: at, id, kind: rowKind(index.row(at)), text: preview, label: labels.get(id), isLeaf: at === drawnLeaf },
          ...(isCalls ? { calls } : {}),
        };
      }),
    );
  }
}

/** The row number of its first entry. */
function keyOf(line: BranchLine): string {
  return String(line.segments[0]?.rows[0] ?? NONE);
}

/** The number of branches that leave the end of a segment; 0: none. */
function branchesAt({ segments }: BranchLine, at: number): number {
  const branches = segments[at]?.branches.length ?? 0;
  return branches === 0 ? 0 : branches + (at < segments.length - 1 ? 1 : 0);
}

function versionOf(items: readonly Item[], revision: number): number {
  let hash = revision;
  for (const { row, place } of items)
    for (const figure of [row.step, place.branches, place.entries, row.calls?.length ?? 0, row.isLeaf ? 1 : 0])
      hash = (Math.imul(hash, 31) + figure) | 0;
  return hash >>> 0;
}
