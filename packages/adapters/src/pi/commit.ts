import type { Write as BoughWrite } from "@bough/session-core";
import type { NewEntry, SessionStats, UsageRow, Write } from "@earendil-works/pi-agent-core/harness/session";
import { toBoughEntry } from "./entries.js";
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

/** The batch of Bough for the writes of one commit, and their numbers. */
export interface CommitPlan {
  readonly batch: readonly BoughWrite[];
  /** One for each write. */
  readonly stamps: readonly Stamp[];
  /** The new name of the session; null: none; undefined: unchanged. */
  readonly name: string | null | undefined;
  readonly stats: SessionStats;
  readonly totals: StoredTotals;
}

/** Converts the writes of one commit to one batch of Bough, and numbers them. */
export function planCommit(writes: readonly Write[], context: CommitContext): CommitPlan {
  const { totals, timestamp, leaf, labelled, tails } = context;
  const path = newPath(writes, context);
  const batch: BoughWrite[] = [];
  const stamps: Stamp[] = [];
  const tips = new Map<string, string | null>();
  const labels = new Map<string, string | null>();
  let name: string | null | undefined;
  let last: Stamp = totals.last;
  let { entries } = totals;
  let { messageCount, usage } = totals.stats;

  const advance = () => {
    last = typeof last === "number" ? last + 1 : [last[0], last[1] + 1];
    return last;
  };
  const put = (key: string, held: { readonly value: unknown } | { readonly row: Omit<UsageRow, "seq"> } | undefined) => {
    const seq = advance();
    batch.push({ kind: "value", key, value: held === undefined ? undefined : { seq, ...held } });
  };
  // Makes the batch fail if the id is that of a row of usage: ids of entries and of usage are of one set.
  const requireNoUsage = (id: string) => batch.push({ kind: "value", key: usageKey(id), value: undefined, ifEquals: undefined });
  const addEntry = (entry: NewEntry) => {
    const stored = { ...toBoughEntry(entry, timestamp), ...tails.get(entry.id) };
    requireNoUsage(entry.id);
    batch.push(path.has(entry.id) ? { kind: "entry", entry: stored } : { kind: "entry", entry: stored, parentId: entry.parentId });
    last = [entry.id, 0];
    entries += 1;
    if (entry.type === "message") messageCount += 1;
  };
  // Notes a value that is also a leaf, a label or the title of the session.
  const mirror = (namespace: string, key: string, value: unknown) => {
    const text = typeof value === "string" ? value : null;
    if (namespace === TIPS && value !== undefined) tips.set(key, text);
    else if (namespace === LABELS && labelled.has(key)) labels.set(key, text);
    else if (namespace === NAME && key === "") name = text;
  };
  const add = (write: Write) => {
    switch (write.kind) {
      case "entry":
        addEntry(write.entry);
        break;
      case "usage":
        usage = addUsage(usage, write.row.usage);
        requireNoUsage(write.row.id);
        put(usageKey(write.row.id), { row: write.row });
        break;
      case "value":
        mirror(write.namespace, write.key, write.op === "set" ? write.value : undefined);
        put(valueKey(write), write.op === "set" ? { value: write.value } : undefined);
        break;
      case "list":
        if (write.op === "append") put(listPrefix(write) + elementKey(totals.last, stamps.length), { value: write.value });
        else {
          advance();
          batch.push({ kind: "deleteValues", prefix: listPrefix(write) });
        }
    }
    stamps.push(last);
  };

  for (const write of writes) add(write);
  // The appends of the batch move the leaf to the last of them.
  const appendedId = batch.findLast((write) => write.kind === "entry" && write.parentId === undefined);
  const endId = appendedId?.kind === "entry" ? appendedId.entry.id : leaf.entryId;
  for (const [tip, to] of tips) {
    if (tip !== leaf.name) batch.push({ kind: "moveLeaf", to, leaf: tip });
    else if (to !== leaf.entryId && to !== endId) batch.push({ kind: "moveLeaf", to });
  }
  for (const [entryId, label] of labels) batch.push({ kind: "label", entryId, label });
  const stored = { last, shift: totals.sequence.shift, entries, messages: messageCount, usage };
  batch.push({ kind: "value", key: STATE_KEY, value: stored, ifEquals: totals.stored });
  return { batch, stamps, name, stats: { messageCount, usage }, totals: stored };
}

/**
 * The new entries that continue the leaf down to its new position. They are appended to the leaf, so that this is no move
 * that a person could undo; all others are appended below their parent.
 */
function newPath(writes: readonly Write[], { leaf: { name, entryId } }: CommitContext): ReadonlySet<string> {
  const parents = new Map(writes.flatMap((write) => (write.kind === "entry" ? [[write.entry.id, write.entry.parentId] as const] : [])));
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
