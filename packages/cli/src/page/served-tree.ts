import { isOnlyCalls } from "@bough/session-core/view";
import { filterBit } from "../tree/filter.js";
import { NONE } from "../tree/tree-index.js";
import type { BranchLine, BranchShape, Segment } from "./branches.js";
import type { Masks } from "./content.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import { withoutMarks } from "./plain-text.js";
import type { ChunkState } from "./sent.js";
import type { ServedSession } from "./served-session.js";
import { lineItems, mergeCalls, ROWS_OF_CHUNK, rowHtml, rowKind, type TreeItem, type TreeRow } from "./tree-nav.js";

/**
 * The tree of a served session, in chunks of 100 rows: each line of it, from where it leaves another one to its end, is a list, and its
 * branches are lists of their own, which are sent when they are unfolded.
 */
export class ServedTree {
  readonly #served: ServedSession;
  readonly #masks: Masks;
  #shape: BranchShape | undefined;
  readonly #lines = new Map<string, BranchLine>();
  readonly #items = new Map<string, readonly TreeItem[]>();

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

  #itemHtml({ row, place, branch }: TreeItem): Html {
    const text = withoutMarks(this.#masks.maskLine(row.text));
    const label = row.label === undefined ? undefined : this.#masks.maskLine(row.label);
    const written = rowHtml({ ...row, text, label }, place);
    if (branch === undefined || !place.isFolder) return written;
    return html`${written}<div role="group" hidden>${this.lineHtml(keyOf(branch), 0)}</div>`;
  }

  #itemsOf(key: string): readonly TreeItem[] | undefined {
    this.#renew();
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const line = this.#lines.get(key);
    if (line === undefined) return undefined;
    const items = [...lineItems(line, (segment) => this.#rowsOf(segment))];
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

function versionOf(items: readonly TreeItem[], revision: number): number {
  let hash = revision;
  for (const { row, place } of items)
    for (const figure of [row.step, place.branches, place.entries, row.calls?.length ?? 0, row.isLeaf ? 1 : 0])
      hash = (Math.imul(hash, 31) + figure) | 0;
  return hash >>> 0;
}
