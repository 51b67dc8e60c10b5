import type { Write as BoughWrite } from "@bough/session-core";
import type { NewEntry, SessionStats, UsageRow, Write } from "@earendil-works/pi-agent-core/harness/session";
import { type PiUsage, toBoughEntry } from "./entries.js";
import type { StoredTail } from "./kept-tail.js";
import { elementKey, LABELS, listPrefix, NAME, STATE_KEY, TIPS, usageKey, valueKey } from "./keys.js";
import type { Stamp } from "./sequence.js";
import { addUsage, type StoredTotals, type Totals } from "./totals.js";

/** The data that a commit needs before it is planned. */
export interface CommitContext {
  readonly totals: Totals;
  readonly timestamp: number;
  /** The position of the leaf of the handle, and its name. */
  readonly leaf: { readonly name: string; readonly entryId: string | null };
  /** The ids of existing entries among those whose labels are set. */
  readonly labelled: ReadonlySet<string>;
  /** The fields in which each compaction stores its tail. */
  readonly tails: ReadonlyMap<string, StoredTail>;
}

/** Converts the writes of one commit to one batch of Bough, and numbers them. */
export class CommitPlan {
  readonly batch: BoughWrite[] = [];
  /** One for each write. */
  readonly stamps: Stamp[] = [];
  /** The new name of the session; null: none; undefined: unchanged. */
  name: string | null | undefined;
  readonly #context: CommitContext;
  readonly #tips = new Map<string, string | null>();
  readonly #labels = new Map<string, string | null>();
  #last: Stamp;
  #messages: number;
  #entries: number;
  #usage: PiUsage;

  constructor(writes: readonly Write[], context: CommitContext) {
    const { totals } = context;
    this.#context = context;
    this.#last = totals.last;
    this.#messages = totals.stats.messageCount;
    this.#entries = totals.entries;
    this.#usage = totals.stats.usage;
    const path = this.#newPath(writes);
    for (const write of writes) this.#add(write, path);
    for (const [leaf, to] of this.#tips) this.#moveLeaf(leaf, to);
    for (const [entryId, label] of this.#labels) this.batch.push({ kind: "label", entryId, label });
    this.batch.push({ kind: "value", key: STATE_KEY, value: this.totals, ifEquals: totals.stored });
  }

  get stats(): SessionStats {
    return { messageCount: this.#messages, usage: this.#usage };
  }

  get totals(): StoredTotals {
    const { sequence } = this.#context.totals;
    return { last: this.#last, shift: sequence.shift, entries: this.#entries, messages: this.#messages, usage: this.#usage };
  }

  /**
   * The new entries that continue the leaf down to its new position. They are appended to the leaf, so that this is no move
   * that a person could undo; all others are appended below their parent.
   */
  #newPath(writes: readonly Write[]): ReadonlySet<string> {
    const parents = new Map(writes.flatMap((write) => (write.kind === "entry" ? [[write.entry.id, write.entry.parentId] as const] : [])));
    const { name, entryId } = this.#context.leaf;
    const tip = writes.findLast((write) => write.kind === "value" && write.namespace === TIPS && write.key === name);
    let tipId = tip?.kind === "value" && tip.op === "set" && typeof tip.value === "string" ? tip.value : null;
    const path = new Set<string>();
    while (tipId !== null && tipId !== entryId) {
      const parent = parents.get(tipId);
      if (parent === undefined || path.has(tipId)) return new Set();
      path.add(tipId);
      tipId = parent;
    }
    return tipId === entryId ? path : new Set();
  }

  #add(write: Write, path: ReadonlySet<string>): void {
    switch (write.kind) {
      case "entry":
        this.#addEntry(write.entry, path);
        break;
      case "usage":
        this.#usage = addUsage(this.#usage, write.row.usage);
        this.#requireNoUsage(write.row.id);
        this.#put(usageKey(write.row.id), { row: write.row });
        break;
      case "value":
        this.#mirror(write.namespace, write.key, write.op === "set" ? write.value : undefined);
        this.#put(valueKey(write), write.op === "set" ? { value: write.value } : undefined);
        break;
      case "list":
        if (write.op === "append")
          this.#put(listPrefix(write) + elementKey(this.#context.totals.last, this.stamps.length), { value: write.value });
        else this.#clear(listPrefix(write));
    }
    this.stamps.push(this.#last);
  }

  #addEntry(entry: NewEntry, path: ReadonlySet<string>): void {
    const stored = { ...toBoughEntry(entry, this.#context.timestamp), ...this.#context.tails.get(entry.id) };
    this.#requireNoUsage(entry.id);
    this.batch.push(path.has(entry.id) ? { kind: "entry", entry: stored } : { kind: "entry", entry: stored, parentId: entry.parentId });
    this.#last = [entry.id, 0];
    this.#entries += 1;
    if (entry.type === "message") this.#messages += 1;
  }

  /** Makes the batch fail if the id is that of a row of usage: ids of entries and of usage are of one set. */
  #requireNoUsage(id: string): void {
    this.batch.push({ kind: "value", key: usageKey(id), value: undefined, ifEquals: undefined });
  }

  #advance(): Stamp {
    this.#last = typeof this.#last === "number" ? this.#last + 1 : [this.#last[0], this.#last[1] + 1];
    return this.#last;
  }

  #put(key: string, held: { readonly value: unknown } | { readonly row: Omit<UsageRow, "seq"> } | undefined): void {
    const seq = this.#advance();
    this.batch.push({ kind: "value", key, value: held === undefined ? undefined : { seq, ...held } });
  }

  #clear(prefix: string): void {
    this.#advance();
    this.batch.push({ kind: "deleteValues", prefix });
  }

  /** Notes a value that is also a leaf, a label or the title of the session. */
  #mirror(namespace: string, key: string, value: unknown): void {
    const text = typeof value === "string" ? value : null;
    if (namespace === TIPS && value !== undefined) this.#tips.set(key, text);
    else if (namespace === LABELS && this.#context.labelled.has(key)) this.#labels.set(key, text);
    else if (namespace === NAME && key === "") this.name = text;
  }

  #moveLeaf(leaf: string, to: string | null): void {
    const { name, entryId } = this.#context.leaf;
    if (leaf !== name) this.batch.push({ kind: "moveLeaf", to, leaf });
    else if (to !== entryId && !this.#appended(to)) this.batch.push({ kind: "moveLeaf", to });
  }

  /** True if the appends of the batch move the leaf to this entry. */
  #appended(id: string | null): boolean {
    const last = this.batch.findLast((write) => write.kind === "entry" && write.parentId === undefined);
    return last?.kind === "entry" && last.entry.id === id;
  }
}
