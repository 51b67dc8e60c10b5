import type { CopyOptions, CopyProgress, SessionCopyResult } from "@bough/session-core";
import { copyBetween } from "@bough/session-core/copies";
import { count, counted } from "@bough/session-core/view";
import { CancelledError, CommandError, RemoteEndedError, UsageError } from "../errors.js";
import { type ItemColumn, printTable } from "../format/table.js";
import { resolveSession, sessionTitle, shortSessionId } from "../session/names.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Command } from "./command.js";
import {
  type CopyCommandOptions,
  type CopyPair,
  type CopyRun,
  type OpenPlace,
  recordIn,
  requireTwoStores,
  withPlaces,
} from "./copy-places.js";
import { startProgress } from "./progress.js";

/** `bough copy`: copies sessions from one store to another, also of another machine. */
export const runCopy: Command<CopyCommandOptions> = async (invocation) => {
  const { io, out, options } = invocation;
  if (options.serve === true) return serve(invocation);
  await requireTwoStores(invocation);
  if (options.watch === true) return (await import("./copy-watch.js")).copyAndWatch(invocation);
  const { signal, end } = io.cancelOnInterrupt();
  try {
    await withPlaces(invocation, signal, async (pair) => {
      const results = await copyAll(invocation, pair, await namedSessions(invocation, pair.from), signal);
      const { from, to } = pair;
      if (options.json === true) out.json({ from: from.name, to: to.name, sessions: results.map(toJson) });
      else await printReport(out, pair, results, { ...options, place: to.name });
      throwForLeft(results, options.update === true);
    });
  } catch (error) {
    // Ctrl-C also ends the ssh of this terminal, so the end of the connection may be noticed first.
    throw signal.aborted && error instanceof RemoteEndedError ? interrupted(0, error) : error;
  } finally {
    end();
  }
};

async function serve({ io, args, options }: CopyRun): Promise<void> {
  if (args.length > 0 || options.from !== undefined || options.to !== undefined)
    throw new UsageError("--serve is what `bough copy` starts on the other machine; it takes no sessions and no other options.");
  const [{ serveCopies }, { Lines }] = await Promise.all([import("../remote/serve.js"), import("../remote/protocol.js")]);
  await serveCopies(io, new Lines(io.pipes.input), options.store);
}

function interrupted(done: number, cause: unknown): CancelledError {
  return new CancelledError(`Interrupted; ${counted(done, "session is", "sessions are")} done. Run the copy again for the others.`, {
    cause,
  });
}

async function namedSessions({ io, out, args }: CopyRun, { store, far }: OpenPlace): Promise<readonly string[]> {
  const names = args.flatMap((name) => (name === undefined ? [] : [name]));
  if (store !== undefined) return (await Promise.all(names.map((name) => resolveSession(store, io, out, name)))).map(({ id }) => id);
  return far === undefined ? [] : Promise.all(names.map((name) => far.find(name)));
}

async function copyAll(
  { io, out, options }: CopyRun,
  { from, to }: CopyPair,
  named: readonly string[],
  signal: AbortSignal,
): Promise<readonly SessionCopyResult[]> {
  const progress = await startProgress(io, out, options.dryRun === true ? "comparing" : "copying");
  let done = 0;
  const onProgress = ({ sessionsDone, sessionsTotal, sessionId, entriesDone, entriesTotal }: CopyProgress) => {
    done = sessionsDone;
    const part = entriesDone < entriesTotal ? ` ${count(entriesDone)} of ${counted(entriesTotal, "entry", "entries")}` : "";
    progress.update(sessionsDone, sessionsTotal, `${sessionId}${part}`);
  };
  const { update, check: verify, dryRun } = options;
  const chosen: CopyOptions = { update, verify, dryRun, signal, onProgress, sessions: named.length === 0 ? undefined : named };
  try {
    return (await copyBetween(from.place, to.place, chosen)).sessions;
  } catch (error) {
    if (signal.aborted) throw interrupted(done, error);
    throw error;
  } finally {
    progress.end();
  }
}

function toJson({ error, ...result }: SessionCopyResult) {
  return { ...result, error: error && { code: error.code, message: error.message } };
}

/** Maximum sessions without `--verbose`. */
const SHOWN_SESSIONS = 40;

const columnsIn = (pair: CopyPair): readonly ItemColumn<SessionCopyResult>[] => [
  { heading: "session", cell: async ({ sessionId }, out) => [styled("label", await shortIdIn(pair, sessionId, out))] },
  { heading: "title", shrinksTo: 12, cell: async ({ sessionId }) => [await titleIn(pair, sessionId)] },
  { heading: "outcome", cell: ({ outcome }) => [outcome === "failed" || outcome === "different" ? styled("error", outcome) : outcome] },
  { heading: "entries", align: "right", cell: ({ entriesAdded }) => [entriesAdded === 0 ? "0" : `+${count(entriesAdded)}`] },
  { heading: "digest", optional: true, cell: ({ digest }) => [styled("dim", digest?.slice(0, 12) ?? "")] },
];

interface ReportOptions extends CopyCommandOptions {
  readonly place: string;
}

async function printReport(out: Printer, pair: CopyPair, results: readonly SessionCopyResult[], options: ReportOptions): Promise<void> {
  const news = options.verbose === true ? results : results.filter(({ outcome }) => outcome !== "unchanged");
  const listed = options.verbose === true ? news : news.slice(0, SHOWN_SESSIONS);
  if (listed.length > 0) await printTable(out, columnsIn(pair), listed);
  if (listed.length < news.length) out.line(styled("dim", `and ${count(news.length - listed.length)} more; --verbose lists all`));
  for (const { sessionId, difference, error } of results) {
    const short = await shortIdIn(pair, sessionId, out);
    if (difference !== null) out.line(`${short} is there with other content: ${difference}.`);
    if (error !== null) out.line(styled("error", `${short}: ${error.message}`));
  }
  out.line(totals(results, options));
}

async function titleIn(pair: CopyPair, id: string): Promise<string> {
  const record = await recordIn(pair, id);
  return record === undefined ? "" : sessionTitle(record);
}

async function shortIdIn({ from, to }: CopyPair, id: string, out: Printer): Promise<string> {
  const own = from.store ?? to.store;
  return own === undefined || (await own.findSession(id)) === undefined ? id : shortSessionId(own, id, out);
}

function totals(results: readonly SessionCopyResult[], { place, dryRun }: ReportOptions): string {
  const by = (wanted: SessionCopyResult["outcome"]) => results.filter(({ outcome }) => outcome === wanted).length;
  const written = results.filter(({ outcome }) => outcome === "copied" || outcome === "updated");
  const entries = written.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const what = `${counted(written.length, "session")}, ${counted(entries, "entry", "entries")} ${dryRun === true ? "would be copied" : "copied"} to ${place}`;
  return `${what}; ${count(by("unchanged"))} unchanged, ${count(by("different"))} different, ${count(by("failed"))} failed.`;
}

function throwForLeft(results: readonly SessionCopyResult[], isUpdate: boolean): void {
  const different = results.filter(({ outcome }) => outcome === "different").length;
  const failed = results.filter(({ outcome }) => outcome === "failed").length;
  if (failed > 0) throw new CommandError("SESSIONS_LEFT", `${counted(failed, "session")} could not be copied.`);
  if (different > 0)
    throw new CommandError(
      "SESSIONS_LEFT",
      `${counted(different, "session is", "sessions are")} in the target with other content and ${different === 1 ? "was" : "were"} left. ${isUpdate ? "Those that are only longer there can be copied in the other direction" : "--update copies what is new in those that have the same first entries"}.`,
    );
}
