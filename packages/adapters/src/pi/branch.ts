import { type Entry, type EntryPayload, pagesOf, type Session } from "@bough/session-core";
import type { EntryType, StorageBranchScan } from "@earendil-works/pi-agent-core/harness/session";

/** The fields of a node that a branch query reads. */
export interface BranchNode {
  readonly id: string;
  readonly seq: number;
  readonly type: EntryType;
  readonly customType?: string | undefined;
}

/**
 * Selects the nodes of a path that a query asks for. Show it the nodes in the order of the query, until `isDone`. Stops apply
 * before filters, and the node at a stop belongs to the result.
 */
export class BranchSelection {
  readonly #query: StorageBranchScan;
  #left: number;
  #isStopped = false;

  constructor(query: StorageBranchScan) {
    this.#query = query;
    this.#left = query.limit ?? Number.POSITIVE_INFINITY;
  }

  get isDone(): boolean {
    return this.#isStopped || this.#left <= 0;
  }

  /** True if the node belongs to the result. */
  takes(node: BranchNode): boolean {
    const { stopAtId, stopAtType } = this.#query;
    this.#isStopped = node.id === stopAtId || node.type === stopAtType;
    if (!isWanted(node, this.#query)) return false;
    this.#left -= 1;
    return true;
  }
}

function isWanted(node: BranchNode, { type, customType, cursor, order }: StorageBranchScan): boolean {
  if (type !== undefined && node.type !== type) return false;
  if (customType !== undefined && node.customType !== customType) return false;
  if (cursor === undefined) return true;
  return order === "oldestFirst" ? node.seq > cursor.seq : node.seq < cursor.seq;
}

type BoughType = EntryPayload["type"];

const OTHER_TYPES = ["model_change", "thinking_level_change", "context_edit", "foreign"] as const satisfies readonly BoughType[];

/** The types of Bough that a query of pi asks for, and the `customType` if it selects within them. */
export function boughFilter({ type, customType }: { type?: EntryType; customType?: string }) {
  if (customType !== undefined) {
    const other = OTHER_TYPES.find((name) => name === customType);
    return other === undefined ? { types: ["custom"] as const, customType } : { types: ["custom", other] as const };
  }
  switch (type) {
    case undefined:
      return {};
    case "message":
      return { types: ["message", "custom_message"] as const };
    case "custom":
      return { types: ["custom", ...OTHER_TYPES] as const };
    default:
      return { types: [type] as const };
  }
}

const PAGE = 256;

/** The entries of the path of a query, in its order. Without stops only those that fit its types, from its cursor on. */
export async function* branchEntries(
  session: Session,
  query: StorageBranchScan,
  cursorId: string | undefined,
): AsyncGenerator<Entry, void, void> {
  const isStopped = query.stopAtId !== undefined || query.stopAtType !== undefined;
  const down = query.order === "oldestFirst";
  const from =
    isStopped || cursorId === undefined ? { leafId: query.start } : down ? { leafId: query.start, stopAt: cursorId } : { leafId: cursorId };
  const filter = isStopped ? {} : boughFilter(query);
  const limit = Math.max(1, Math.min(query.limit ?? PAGE, PAGE)) + 1;
  const scan = { ...from, ...filter, order: down ? "down" : "up", limit: down ? PAGE * 4 : limit } as const;
  for await (const { items } of pagesOf((cursor) => session.scan({ ...scan, cursor }))) yield* items;
}
