import { findAgentFolders, type ImportProgress, type SyncedAgent, type SyncReport, syncSessions } from "@bough/formats";
import { openStore, type Store } from "@bough/session-core";
import { count, counted } from "@bough/session-core/view";
import { CommandError, NoStoreError, UsageError } from "../errors.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { sourceEnvironment } from "../session/known-agents.js";
import { withStore } from "../session/open-store.js";
import type { StoreLocation } from "../session/store-location.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Command, CommonOptions, Invocation } from "./command.js";
import { withProgress } from "./progress.js";
import { indexImported, printHeld, printProblems, throwForProblems } from "./report-import.js";

interface SyncCommandOptions extends CommonOptions {
  readonly agent?: readonly string[];
  readonly dryRun?: boolean;
  readonly verbose?: boolean;
  readonly watch?: boolean;
  readonly install?: boolean;
  readonly uninstall?: boolean;
  readonly yes?: boolean;
}

/** `bough sync`: imports what is new in the folders of every agent on this machine. */
export const runSync: Command<SyncCommandOptions> = async (invocation) => {
  const { io, out, options } = invocation;
  if (options.install === true) return (await import("./sync-service.js")).installService(invocation);
  if (options.uninstall === true) return (await import("./sync-service.js")).uninstallService(invocation);
  if (options.agent !== undefined) await requireAgents(io, options.agent);
  if (options.watch === true) {
    const { syncAndWatch } = await import("./sync-watch.js");
    return withStore(io, options.store, "create", (store) => syncAndWatch(invocation, store));
  }
  await withSyncedStore(invocation, async (store, place) => {
    const report = await syncOnce(invocation, store);
    if (options.json === true) out.json({ store: place, dryRun: options.dryRun === true, agents: report.agents.map(toJson) });
    else await printSync(invocation, report, place);
    if (report.agents.length === 0)
      throw new CommandError(
        "AGENTS_NOT_FOUND",
        `No agent has a folder in ${io.home === "" ? "a home directory" : io.home}. To import other files: bough import PATH.`,
      );
    throwForProblems(merge(report));
  });
};

/** A dry run writes nothing: without a store it compares with an empty one. */
async function withSyncedStore(
  { io, options }: Invocation<SyncCommandOptions>,
  work: (store: Store, place: string) => Promise<void>,
): Promise<void> {
  const located = (store: Store, { name }: StoreLocation) => work(store, name);
  if (options.dryRun !== true) return withStore(io, options.store, "create", located);
  try {
    await withStore(io, options.store, "read", located);
  } catch (error) {
    if (!(error instanceof NoStoreError)) throw error;
    const store = await openStore({ path: ":memory:" });
    await work(store, "").finally(() => store.close());
  }
}

async function syncOnce({ io, out, options }: Invocation<SyncCommandOptions>, store: Store): Promise<SyncReport> {
  const { agent: agents, dryRun } = options;
  const cancelled = "Interrupted; the sessions so far were imported. Run `bough sync` again for the others.";
  return withProgress(io, out, { operation: "importing", cancelled }, async (progress, signal) => {
    const onProgress = (at: ImportProgress) => progress.update(at.bytesDone, at.bytesTotal, at.path);
    const report = await syncSessions(store, { agents, dryRun, environment: sourceEnvironment(io), signal, onProgress });
    progress.end();
    if (countAdded(report.agents) > 0) await indexImported(store, io, out, signal);
    return report;
  });
}

/** @throws {UsageError} no agent has one of these names. */
async function requireAgents(io: Io, given: readonly string[]): Promise<void> {
  const folders = await findAgentFolders(sourceEnvironment(io));
  const names = new Set(folders.flatMap(({ agent, format }) => [agent, format]));
  const isKnown = (name: string) => [...names].some((known) => known.toLowerCase() === name.toLowerCase());
  const unknown = given.find((name) => !isKnown(name));
  if (unknown !== undefined) throw new UsageError(`No agent is named ${unknown}. Agents: ${[...names].join(", ")}.`);
}

function merge({ agents }: SyncReport) {
  return { sessions: agents.flatMap(({ sessions }) => sessions), failed: agents.flatMap(({ failed }) => failed) };
}

function countAdded(agents: readonly SyncedAgent[]): number {
  return agents.flatMap(({ sessions }) => sessions).reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
}

function toJson({ failed, ...agent }: SyncedAgent) {
  return { ...agent, failed: failed.map(({ path, error }) => ({ path, code: error.code, message: error.message })) };
}

const COLUMNS: readonly ItemColumn<SyncedAgent>[] = [
  { heading: "agent", shrinksTo: 8, cell: ({ agent }) => [agent] },
  { heading: "files", align: "right", optional: true, cell: ({ files }) => [count(files)] },
  { heading: "new", align: "right", optional: true, cell: ({ newFiles }) => [count(newFiles)] },
  { heading: "changed", align: "right", optional: true, cell: ({ changedFiles }) => [count(changedFiles)] },
  { heading: "gone", align: "right", optional: true, cell: ({ goneFiles }) => [count(goneFiles)] },
  { heading: "sessions", cell: outcomesCell },
  { heading: "entries", align: "right", cell: (agent) => [countAdded([agent]) === 0 ? "0" : `+${count(countAdded([agent]))}`] },
];

async function printSync({ out, options }: Invocation<SyncCommandOptions>, { agents }: SyncReport, place: string): Promise<void> {
  if (agents.length === 0) return;
  // A dry run reads no file, so it knows no sessions.
  const shown = options.dryRun === true ? COLUMNS.length - 2 : COLUMNS.length;
  for (const { path, target } of agents.flatMap(({ links }) => links))
    out.line(styled("dim", `link    ${path} leads out of the folder of the agent, to ${target}`));
  printProblems(out, merge({ agents }), options.verbose === true);
  await printTable(out, COLUMNS.slice(0, shown), agents);
  printHeld(out, merge({ agents }).sessions);
  const read = agents.reduce((sum, { newFiles, changedFiles }) => sum + newFiles + changedFiles, 0);
  const added = countAdded(agents);
  if (options.dryRun === true) out.line(`${counted(read, "file")} would be read. Nothing was written.`);
  else if (added === 0) out.line(`Everything was up to date in ${place}.`);
  else out.line(`${counted(added, "new entry", "new entries")} in ${place}.`);
}

function outcomesCell({ sessions }: SyncedAgent): Line {
  const made = sessions.filter(({ outcome }) => outcome === "created").length;
  const updated = sessions.filter(({ outcome }) => outcome === "extended").length;
  const outcomes = [made > 0 ? `${count(made)} new` : "", updated > 0 ? `${count(updated)} updated` : ""].filter(Boolean).join(", ");
  return outcomes === "" ? [styled("dim", "unchanged")] : [outcomes];
}
