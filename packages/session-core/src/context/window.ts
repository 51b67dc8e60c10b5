import type { ContextEntry, ContextPath } from "../port/records.js";

/**
 * The parsed entries behind the last context of a handle. Entries never change and the path of an entry never changes,
 * so a window stays true for ever; it is continued when the leaf moved on below its end, and read anew otherwise.
 */
export class ContextWindow {
  #entries: ContextEntry[] = [];
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
  take(path: ContextPath, asked: number | null): readonly ContextEntry[] | undefined {
    const start = path.firstKeptSeq ?? path.compactionSeq ?? 0;
    if (!path.continues) this.#replace(path.entries, start);
    // Another context was built meanwhile, or a compaction was undone, so that older entries count again.
    else if (asked !== this.#end || start < this.#from) return undefined;
    else this.#continue(path.entries, start);
    this.#end = path.leaf.seq;
    return this.#entries;
  }

  #replace(entries: readonly ContextEntry[], start: number): void {
    this.#entries = entries.map(frozen);
    this.#from = start;
  }

  #continue(entries: readonly ContextEntry[], start: number): void {
    for (const entry of entries) this.#entries.push(frozen(entry));
    if (start === this.#from) return;
    this.#entries = this.#entries.filter((entry) => entry.seq >= start);
    this.#from = start;
  }
}

// Contexts share these objects, so a change by one reader would be sent to the model by the next. Frozen, it throws.
function frozen(entry: ContextEntry): ContextEntry {
  freeze(entry.payload);
  return entry;
}

function freeze(value: object): void {
  Object.freeze(value);
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null && !Object.isFrozen(member)) freeze(member);
  }
}
