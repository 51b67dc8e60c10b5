import type { Session } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type { SessionStats } from "@earendil-works/pi-agent-core/harness/session";
import { NO_USAGE } from "../pi-messages.js";
import type { PiUsage } from "./entries.js";
import { STATE_KEY } from "./keys.js";
import { isStamp, Sequence, type Stamp, shiftFor } from "./sequence.js";

/** The totals that the storage keeps of a session, as one value that each commit replaces. */
export interface StoredTotals {
  /** The number of the last write. */
  readonly last: Stamp;
  readonly shift: number;
  /** All entries of the session at that write; more of them are entries that another program appended. */
  readonly entries: number;
  readonly messages: number;
  readonly usage: PiUsage;
}

/** The totals of an open session. */
export interface Totals {
  /** The number of the last write. */
  readonly last: number;
  readonly sequence: Sequence;
  readonly entries: number;
  readonly stats: SessionStats;
  /** The value in the store; undefined: none was written yet. */
  readonly stored: unknown;
}

/** Reads the totals of a session; counts the messages if another program has appended entries. */
export async function readTotals(session: Session): Promise<Totals> {
  const [stored, record] = [await session.values.get(STATE_KEY), await session.record()];
  const known = isStoredTotals(stored) ? stored : undefined;
  const rows = typeof known?.last === "object" ? new Map([[known.last[0], await rowOf(session, known.last[0])]]) : NO_ROWS;
  const newest = record.entryCount === 0 ? 0 : await newestRow(session);
  const shift = known === undefined ? 0 : Math.max(known.shift, typeof known.last === "number" ? shiftFor(known.last, newest) : 0);
  const sequence = new Sequence(shift);
  return {
    last: Math.max(sequence.ofStamp(known?.last ?? 0, rows), sequence.ofRow(newest)),
    sequence,
    entries: record.entryCount,
    stats: {
      messageCount: known?.entries === record.entryCount ? known.messages : await countMessages(session),
      usage: known?.usage ?? NO_USAGE,
    },
    stored,
  };
}

const NO_ROWS: ReadonlyMap<string, number> = new Map();

async function countMessages(session: Session): Promise<number> {
  const { byType } = await session.statistics();
  return (byType["message"] ?? 0) + (byType["custom_message"] ?? 0);
}

async function rowOf(session: Session, id: string): Promise<number> {
  return (await session.tree.path(id, 1))[0]?.seq ?? 0;
}

async function newestRow(session: Session): Promise<number> {
  return (await session.tree.outline({ order: "newest", limit: 1 }))[0]?.seq ?? 0;
}

function isStoredTotals(value: unknown): value is StoredTotals {
  return isObject(value) && isStamp(value.last) && typeof value.shift === "number" && isObject(value.usage);
}

/** The sum of two usages. A count that neither has stays missing. */
export function addUsage(a: PiUsage, b: PiUsage): PiUsage {
  const optional = (["cacheWrite1h", "reasoning"] as const).flatMap((key) =>
    a[key] === undefined && b[key] === undefined ? [] : [[key, (a[key] ?? 0) + (b[key] ?? 0)] as const],
  );
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...Object.fromEntries(optional),
    totalTokens: a.totalTokens + b.totalTokens,
    cost: {
      input: a.cost.input + b.cost.input,
      output: a.cost.output + b.cost.output,
      cacheRead: a.cost.cacheRead + b.cost.cacheRead,
      cacheWrite: a.cost.cacheWrite + b.cost.cacheWrite,
      total: a.cost.total + b.cost.total,
    },
  };
}
