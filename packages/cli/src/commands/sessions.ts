import type { SessionFilter, SessionId, SessionRecord, SessionTotals, Store } from "@bough/session-core";
import { type Cost, count } from "@bough/session-core/view";
import { UsageError } from "../errors.js";
import { shortDirectory } from "../format/path.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { age } from "../format/time.js";
import { agentOf, sessionTitle, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { hitPages, sessionPages } from "../session/paging.js";
import { findPlace, placeFilters } from "../session/place.js";
import { costCell, costJson, readPrices } from "../session/prices.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import { type Command, type CommonOptions, timeOption } from "./command.js";

/** Options that choose sessions. */
export interface SessionChoice {
  readonly here?: boolean;
  readonly agent?: string;
  readonly since?: string;
  readonly until?: string;
}

interface SessionsOptions extends CommonOptions, SessionChoice {
  readonly grep?: string;
  readonly archived?: boolean;
  readonly subagents?: boolean;
  readonly empty?: boolean;
  readonly orphaned?: boolean;
  readonly limit: number;
}

/** A session of the list. `hits`: entries and titles with the words of `--grep`. */
interface ListedSession {
  readonly record: SessionRecord;
  readonly totals: SessionTotals;
  readonly cost: Cost | null;
  readonly hits: number | null;
}

/** `bough sessions`: lists the sessions of the store, most recently active first. */
export const runSessions: Command<SessionsOptions> = async ({ io, out, options }) => {
  if (options.grep === "") throw new UsageError("The text of --grep is empty.");
  await withStore(io, options.store, "read", async (store) => {
    const { sessions, more } = await readSessions(store, io, options);
    if (options.json === true) return out.json({ sessions: sessions.map(toJson), more });
    if (sessions.length === 0) return out.line(await explainEmptyList(store, io, options));
    await printTable(out, columnsFor(out.width, sessions, { store, io }), sessions);
    if (more)
      out.line(styled("dim", `The newest ${sessions.length === 1 ? "session" : `${sessions.length} sessions`}; --limit N lists more.`));
  });
};

/** The filters of a choice; their lists together are the chosen sessions. */
export function chosenFilters(io: Io, { here, agent, since, until }: SessionChoice): readonly SessionFilter[] {
  const filter = { agent, sinceMs: timeOption("--since", since, io.now()), untilMs: timeOption("--until", until, io.now()) };
  const places = here === true ? placeFilters(findPlace(io)) : [{}];
  return places.map((place) => ({ ...filter, ...place }));
}

async function readSessions(store: Store, io: Io, options: SessionsOptions) {
  const hits = options.grep === undefined ? undefined : await countHits(store, options.grep);
  const orphans = options.orphaned === true ? await (await import("@bough/formats")).findOrphanedSessions(store) : undefined;
  const isChosen = ({ id }: SessionRecord) => hits?.has(id) !== false && orphans?.has(id) !== false;
  const records: SessionRecord[] = [];
  for (const chosen of chosenFilters(io, options)) {
    const filter: SessionFilter = {
      ...chosen,
      kind: options.subagents === true ? "all" : "conversation",
      archived: options.archived === true ? "all" : false,
      empty: options.empty === true,
    };
    records.push(...(await listMatching(store, filter, isChosen, options.limit + 1)));
  }
  const newest = records.sort((a, b) => b.activeAtMs - a.activeAtMs).slice(0, options.limit);
  const prices = await readPrices(io);
  const totals = await store.totalsOf(newest.map(({ id }) => id));
  const sessions = newest.flatMap((record): readonly ListedSession[] => {
    const of = totals.get(record.id);
    return of === undefined ? [] : [{ record, totals: of, cost: prices.total(of.usage), hits: hits?.get(record.id) ?? null }];
  });
  return { sessions, more: records.length > newest.length };
}

const PAGE = 1000;

async function listMatching(store: Store, filter: SessionFilter, matches: (record: SessionRecord) => boolean, limit: number) {
  const found: SessionRecord[] = [];
  for await (const page of sessionPages(store, { ...filter, limit: Math.min(limit, PAGE) })) {
    found.push(...page.filter(matches));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** The number of entries and titles with the words, by session. */
async function countHits(store: Store, query: string): Promise<ReadonlyMap<SessionId, number>> {
  const hits = new Map<SessionId, number>();
  for await (const page of hitPages(store, { query, relax: false, includePrivate: true, limit: PAGE }))
    for (const { sessionId } of page.hits) hits.set(sessionId, (hits.get(sessionId) ?? 0) + 1);
  return hits;
}

function gitBranchOf({ metadata }: SessionRecord): string | null {
  const branch = metadata["gitBranch"];
  return typeof branch === "string" && branch !== "" ? branch : null;
}

function toJson({ record, totals, cost, hits }: ListedSession) {
  const counted = hits === null ? {} : { hits };
  return {
    ...record,
    agent: agentOf(record),
    branches: totals.branches,
    ...costJson(cost),
    gitBranch: gitBranchOf(record),
    ...counted,
  };
}

/** The store of a list, and the program that it is printed by. */
interface ListWorld {
  readonly store: Store;
  readonly io: Io;
}

interface SessionColumn extends ItemColumn<ListedSession> {
  /** The width of the table from which on the column is shown, so that titles keep room. */
  readonly from?: number;
  /** True if a session has a value in the column. A column without a value for any session is left out. */
  readonly says?: (session: ListedSession) => boolean;
}

const columnsIn = ({ store, io }: ListWorld, now = io.now()): readonly SessionColumn[] => [
  { heading: "id", cell: async ({ record }, out) => [styled("label", await shortSessionId(store, record.id, out))] },
  { heading: "title", cell: titleCell },
  {
    heading: "fork of",
    from: 60,
    optional: true,
    says: ({ record }) => forkedFrom(record) !== undefined,
    cell: async ({ record }, out) => Promise.all((forkedFrom(record) ?? []).map((id) => shortSessionId(store, id, out))),
  },
  { heading: "agent", from: 60, optional: true, cell: ({ record }) => [agentOf(record)] },
  { heading: "messages", align: "right", optional: true, cell: ({ record }) => [count(record.messageCount)] },
  { heading: "active", align: "right", cell: ({ record }) => [age(record.activeAtMs, now)] },
  {
    heading: "hits",
    align: "right",
    optional: true,
    says: ({ hits }) => hits !== null,
    cell: ({ hits }) => [hits === null ? "" : count(hits)],
  },
  {
    heading: "directory",
    shrinksTo: 12,
    isPath: true,
    optional: true,
    cell: ({ record }) => [styled("dim", shortDirectory(record.cwd ?? "", io.home))],
  },
  {
    heading: "branches",
    align: "right",
    from: 90,
    optional: true,
    says: ({ totals }) => totals.branches > 1,
    cell: ({ totals }) => [count(totals.branches)],
  },
  {
    heading: "cost",
    align: "right",
    from: 100,
    optional: true,
    says: ({ cost }) => cost !== null,
    cell: ({ cost }) => [costCell(cost)],
  },
  {
    heading: "git branch",
    from: 110,
    shrinksTo: 8,
    optional: true,
    says: ({ record }) => gitBranchOf(record) !== null,
    cell: ({ record }) => [styled("dim", gitBranchOf(record) ?? "")],
  },
];

function columnsFor(width: number, sessions: readonly ListedSession[], world: ListWorld): readonly SessionColumn[] {
  const shown = columnsIn(world).filter(({ from = 0, says }) => width >= from && (says === undefined || sessions.some(says)));
  // Titles identify sessions: other columns are dropped before titles get less than two fifths of the width.
  return shown.map((column) => (column.cell === titleCell ? { ...column, shrinksTo: Math.max(12, Math.floor(width * 0.4)) } : column));
}

/** The session that this one is a fork of, in a list of one. */
function forkedFrom({ parent, kind }: SessionRecord): readonly [SessionId] | undefined {
  return parent === null || parent.toolCallId !== null || kind === "subagent" ? undefined : [parent.sessionId];
}

function titleCell({ record }: ListedSession): Line {
  const badge = record.kind === "subagent" ? "[subagent] " : record.archivedAtMs !== null ? "[archived] " : "";
  return [styled("dim", badge), sessionTitle(record)];
}

/** Explains an empty list, so that users can distinguish filters from an empty store. */
async function explainEmptyList(store: Store, io: Io, options: SessionsOptions): Promise<string> {
  const [any] = (await store.listSessions({ kind: "all", archived: "all", empty: true, limit: 1 })).items;
  if (any === undefined) return "The store is empty. Import sessions: bough import.";
  const { grep, agent, since, until, here, orphaned } = options;
  if (orphaned === true) return "The source of every session that matches is still there, or it never had one.";
  const given = Object.entries({ grep, agent, since, until }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  );
  if (given.length > 0) return `No session matches ${[...given, ...(here === true ? ["--here"] : [])].join(" and ")}.`;
  if (here === true) return `No session was recorded in this ${findPlace(io).kind}. Omit --here to list those of all directories.`;
  return "There are only archived, empty or subagent sessions: --archived, --empty and --subagents list them.";
}
