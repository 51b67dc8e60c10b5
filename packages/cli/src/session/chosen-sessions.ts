import type { SessionId, SessionRecord, SessionTotals, Store } from "@bough/session-core";
import type { PriceList } from "@bough/session-core/view";
import { usdOf } from "./prices.js";
import { bothOf, meetsRecord, type SearchConditions, type SessionConditions, type TypedQuery } from "./typed-filters.js";

/** The world of filters that a search of entries cannot answer. */
export interface SessionsWorld {
  readonly store: Store;
  readonly prices: () => Promise<PriceList>;
}

/**
 * The conditions of a typed query for a search: filters by directory, model and cost become the sessions that meet them. Cost: with one of
 * these a list of all sessions, about 10 ms for 1,000, and for model and cost their totals; else nothing.
 *
 * @throws {InvalidQueryError} a filter has no valid value.
 */
export async function searchConditions(world: SessionsWorld, query: TypedQuery): Promise<SearchConditions> {
  if (query.problem !== undefined) throw query.problem;
  const { directory, model, costUsd } = query.sessions;
  if (directory === undefined && model === undefined && costUsd === undefined) return query.search;
  const records = await listAll(world.store, { search: {}, sessions: query.sessions });
  const chosen = await withTotals(world, records, query.sessions);
  return bothOf(query.search, { sessionIds: chosen.map(({ id }) => id) });
}

/** The records, all archived ones and those of subagents too, that meet conditions on records. */
async function listAll(store: Store, conditions: Pick<TypedQuery, "search" | "sessions">): Promise<readonly SessionRecord[]> {
  const found: SessionRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.listSessions({ kind: "all", archived: "all", empty: true, cursor });
    for (const record of page.items) if (meetsRecord(record, conditions)) found.push(record);
    if (page.next === null) return found;
    cursor = page.next;
  }
}

/** Those of some sessions that meet the conditions on model and cost. Reads the totals of all of them if there is such a condition. */
export async function withTotals<Of extends Pick<SessionRecord, "id">>(
  { store, prices }: SessionsWorld,
  records: readonly Of[],
  { model, costUsd }: SessionConditions,
): Promise<readonly Of[]> {
  if ((model === undefined && costUsd === undefined) || records.length === 0) return records;
  const totals = await store.totalsOf(records.map(({ id }) => id));
  const list = await prices();
  const chosen: Of[] = [];
  for (const record of records) {
    const of = totals.get(record.id);
    if (of === undefined) continue;
    const cost = costUsd === undefined ? null : list.total(of.usage);
    const isOfCost = costUsd === undefined || (cost !== null && usdOf(cost) >= costUsd.atLeast && usdOf(cost) < costUsd.below);
    if (isOfCost && (model === undefined || (await hasModel(store, record.id, of, model)))) chosen.push(record);
  }
  return chosen;
}

/** A session without usage names its model in its settings only. */
async function hasModel(store: Store, id: SessionId, { usage, inheritedUsage }: SessionTotals, model: string): Promise<boolean> {
  const used = [...usage, ...inheritedUsage].map((one) => one.model).filter((name) => name !== "");
  if (used.length > 0) return used.some((name) => name.toLowerCase().includes(model));
  const settings = (await store.findSession(id)) === undefined ? undefined : await (await store.openSession(id)).settings();
  return settings?.model?.modelId.toLowerCase().includes(model) === true;
}
