import type { ContextEntry, ContextPath } from "../port/records.js";
import { ShownEntry } from "./shown-entry.js";

/** The entries behind a context, and from which position on they are new since the one before; 0: all of them count anew. */
export interface WindowView {
  readonly entries: readonly ShownEntry[];
  readonly newFrom: number;
}

/**
 * The parsed entries behind the last context of a handle. Entries never change and the path of an entry never changes,
 * so a window stays true for ever; it is continued when the leaf moved on below its end, and read anew otherwise.
 */
export class ContextWindow {
  #entries: ShownEntry[] = [];
  /** The window holds every entry of its path from this row on; 0: the whole path. */
  #from = 0;
  #end: number | null = null;

  /** The last entry of the window: what `contextPath` may continue from. */
  get end(): number | null {
    return this.#end;
  }

  /**
   * The window for `path`, which was asked for with `asked` as the known end. undefined: it cannot be made from what is
   * held; ask again without a known end.
   */
  take(path: ContextPath, asked: number | null): WindowView | undefined {
    const start = path.firstKeptSeq ?? path.compactionSeq ?? 0;
    // Another context was built meanwhile, or a compaction was undone, so that older entries count again.
    if (path.continues && (asked !== this.#end || start < this.#from)) return undefined;
    const newFrom = path.continues ? this.#continue(path.entries, start) : this.#replace(path.entries, start);
    this.#end = path.leaf.seq;
    return { entries: this.#entries, newFrom };
  }

  /** Entries of another path of the session; those that the window holds too are given as it has them. */
  shared(entries: readonly ContextEntry[]): ShownEntry[] {
    let at = 0;
    return entries.map((entry) => {
      // Both are in order of arrival, and a place is never given twice.
      while ((this.#entries[at]?.seq ?? entry.seq) < entry.seq) at += 1;
      const known = this.#entries[at];
      return known?.seq === entry.seq ? known : new ShownEntry(entry);
    });
  }

  #replace(entries: readonly ContextEntry[], start: number): number {
    this.#entries = this.shared(entries);
    this.#from = start;
    return 0;
  }

  #continue(entries: readonly ContextEntry[], start: number): number {
    const known = this.#entries.length;
    for (const entry of entries) this.#entries.push(new ShownEntry(entry));
    if (start === this.#from) return known;
    this.#entries = this.#entries.filter((entry) => entry.seq >= start);
    this.#from = start;
    return 0;
  }
}
