import { AGENT_FILTERS } from "@bough/formats/agents";
import { InvalidQueryError, type SessionId, type SessionRecord, type SessionTotals, type Store } from "@bough/session-core";
import type { PriceList } from "@bough/session-core/view";
import type { KeptSessions } from "./kept-sessions.js";
import { agentOf } from "./names.js";
import { listSessions } from "./paging.js";
import { usdOf } from "./prices.js";
import { bothOf, meetsRecord, type SearchConditions, type SessionConditions, type TypedQuery } from "./typed-filters.js";

/** The world of filters that a search of entries cannot answer. */
export interface SessionsWorld {
  readonly store: Store;
  readonly prices: () => Promise<PriceList>;
  /** Lists that are kept from one query to the next; undefined: each query reads its own. */
  readonly kept?: KeptSessions | undefined;
}

type Listing = Pick<SessionsWorld, "store" | "kept">;

/**
 * The conditions of a typed query for a search: filters by directory, model and cost become the sessions that meet them. Cost: with one of
 * these, or an agent outside the list of those that Bough reads, a list of all sessions, about 10 ms for 1,000, and for model and cost their
 * totals; else nothing.
 *
 * @throws {InvalidQueryError} a filter has no valid value, or no session is of an agent that it names.
 */
export async function searchConditions(world: SessionsWorld, query: TypedQuery): Promise<SearchConditions> {
  if (query.problem !== undefined) throw query.problem;
  await checkAgents(world, query);
  const { directory, model, costUsd } = query.sessions;
  if (directory === undefined && model === undefined && costUsd === undefined) return query.search;
  const records = await listAll(world, { search: {}, sessions: query.sessions });
  const chosen = await withTotals(world, records, query.sessions);
  return bothOf(query.search, { sessionIds: chosen.map(({ id }) => id) });
}

async function checkAgents(world: Listing, { search: { agents = [] }, filters }: TypedQuery): Promise<void> {
  const found = await findUnknownAgent(world, agents);
  if (found === undefined) return;
  const { unknown, known } = found;
  const typed = filters.join(" ");
  throw new InvalidQueryError(typed, `the agent ${unknown} is unknown: choose from ${known.join(", ")}; in quotation marks it is text`);
}

/**
 * The first of some agents that Bough does not read by itself and no session is of, with those that are known; undefined: there is none. Cost:
 * for an agent that Bough does not read a list of all sessions.
 */
export async function findUnknownAgent(
  world: Listing,
  agents: readonly string[],
): Promise<{ readonly unknown: string; readonly known: readonly string[] } | undefined> {
  const others = agents.filter((agent) => !AGENT_FILTERS.includes(agent));
  if (others.length === 0) return undefined;
  const known = new Set([...AGENT_FILTERS, ...(await listAll(world, { search: {}, sessions: {} })).map(agentOf)]);
  const unknown = others.find((agent) => !known.has(agent));
  return unknown === undefined ? undefined : { unknown, known: [...known] };
}

/** The records, all archived ones and those of subagents too, that meet conditions on records. */
async function listAll({ store, kept }: Listing, conditions: Pick<TypedQuery, "search" | "sessions">): Promise<readonly SessionRecord[]> {
  const filter = { kind: "all", archived: "all", empty: true } as const;
  const records = await (kept?.list(filter) ?? listSessions(store, filter));
  return records.filter((record) => meetsRecord(record, conditions));
}

/** Those of some sessions that meet the conditions on model and cost. Reads the totals of all of them if there is such a condition. */
export async function withTotals(
  { store, prices }: SessionsWorld,
  records: readonly SessionRecord[],
  { model, costUsd }: SessionConditions,
): Promise<readonly SessionRecord[]> {
  if ((model === undefined && costUsd === undefined) || records.length === 0) return records;
  const totals = await store.totalsOf(records.map(({ id }) => id));
  const list = await prices();
  const chosen: SessionRecord[] = [];
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
