import { type CopyOptions, type CopyProgress, copySessions, openStore, type SessionCopyResult, type Store } from "@bough/session-core";
import { count, counted } from "@bough/session-core/view";
import { CancelledError, NoStoreError, SessionsLeftError, UsageError } from "../errors.js";
import { type Column, tableLines } from "../format/table.js";
import { resolveSession, sessionTitle, shortSessionId } from "../session/names.js";
import { withStore } from "../session/open-store.js";
import { locateStore } from "../session/store-location.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import type { Command, CommonOptions, Invocation } from "./command.js";
import { startProgress } from "./progress.js";

interface CopyCommandOptions extends CommonOptions {
  readonly from?: string;
  readonly to: string;
  readonly update?: boolean;
  readonly check?: boolean;
  readonly dryRun?: boolean;
  readonly verbose?: boolean;
}

/** `bough copy`: copies sessions from one store to another. */
export const runCopy: Command<CopyCommandOptions> = async (invocation) => {
  const { io, out, args, options } = invocation;
  const [source, target] = [await locateStore(io, options.from ?? options.store), await locateStore(io, options.to)];
  if (source.address === target.address) throw new UsageError(`--from and --to are both ${source.name}. Name two stores.`);
  await withStore(io, options.from ?? options.store, "read", (from) =>
    withTarget(invocation, async (to) => {
      const ids = await Promise.all(args.flatMap((name) => (name === undefined ? [] : [resolveSession(from, io, out, name)])));
      const results = await copyAll(
        invocation,
        from,
        to,
        ids.map(({ id }) => id),
      );
      if (options.json === true) out.json({ from: source.name, to: target.name, sessions: results.map(toJson) });
      else await printReport(out, from, results, { ...options, place: target.name });
      throwForLeft(results);
    }),
  );
};

/** Opens the target, and creates it if it does not exist; a dry run creates nothing, so it then compares with an empty store. */
async function withTarget({ io, options }: Invocation<CopyCommandOptions>, work: (to: Store) => Promise<void>): Promise<void> {
  if (options.dryRun !== true) return withStore(io, options.to, "create", work);
  const opened = { isThere: false };
  try {
    await withStore(io, options.to, "read", (to) => {
      opened.isThere = true;
      return work(to);
    });
  } catch (error) {
    if (opened.isThere || !(error instanceof NoStoreError)) throw error;
    const empty = await openStore({ path: ":memory:" });
    await work(empty).finally(() => empty.close());
  }
}

async function copyAll(
  { io, out, options }: Invocation<CopyCommandOptions>,
  from: Store,
  to: Store,
  named: readonly string[],
): Promise<readonly SessionCopyResult[]> {
  const { signal, end } = io.cancelOnInterrupt();
  const progress = await startProgress(io, out, options.dryRun === true ? "comparing" : "copying");
  let done = 0;
  const onProgress = ({ sessionsDone, sessionsTotal, sessionId }: CopyProgress) => {
    done = sessionsDone;
    progress.update(sessionsDone, sessionsTotal, sessionId);
  };
  const { update, check: verify, dryRun } = options;
  const chosen: CopyOptions = { update, verify, dryRun, signal, onProgress, sessions: named.length === 0 ? undefined : named };
  try {
    return (await copySessions(from, to, chosen)).sessions;
  } catch (error) {
    if (signal.aborted)
      throw new CancelledError(`Interrupted; ${counted(done, "session is", "sessions are")} done. Run the copy again for the others.`, {
        cause: error,
      });
    throw error;
  } finally {
    progress.end();
    end();
  }
}

function toJson({ error, ...result }: SessionCopyResult) {
  return { ...result, error: error && { code: error.code, message: error.message } };
}

/** Maximum sessions without `--verbose`. */
const SHOWN_SESSIONS = 40;

const COLUMNS: readonly Column[] = [
  { heading: "session" },
  { heading: "title", shrinksTo: 12 },
  { heading: "outcome" },
  { heading: "entries", align: "right" },
  { heading: "digest", optional: true },
];

interface ReportOptions extends CopyCommandOptions {
  readonly place: string;
}

async function printReport(out: Printer, from: Store, results: readonly SessionCopyResult[], options: ReportOptions): Promise<void> {
  const news = options.verbose === true ? results : results.filter(({ outcome }) => outcome !== "unchanged");
  const listed = options.verbose === true ? news : news.slice(0, SHOWN_SESSIONS);
  const rows = await Promise.all(listed.map((result) => resultRow(out, from, result)));
  if (rows.length > 0) for (const line of await tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis)) out.line(...line);
  if (listed.length < news.length) out.line(styled("dim", `and ${count(news.length - listed.length)} more; --verbose lists all`));
  for (const { sessionId, difference, error } of results) {
    const short = await shortSessionId(from, sessionId, out);
    if (difference !== null) out.line(`${short} is there with other content: ${difference}.`);
    if (error !== null) out.line(styled("error", `${short}: ${error.message}`));
  }
  out.line(totals(results, options));
}

async function resultRow(
  out: Printer,
  from: Store,
  { sessionId, outcome, entriesAdded, digest }: SessionCopyResult,
): Promise<readonly Line[]> {
  const record = await from.findSession(sessionId);
  return [
    [styled("label", await shortSessionId(from, sessionId, out))],
    [record === undefined ? "" : sessionTitle(record)],
    [outcome === "failed" || outcome === "different" ? styled("error", outcome) : outcome],
    [entriesAdded === 0 ? "0" : `+${count(entriesAdded)}`],
    [digest === null ? "" : styled("dim", digest.slice(0, 12))],
  ];
}

function totals(results: readonly SessionCopyResult[], { place, dryRun }: ReportOptions): string {
  const by = (wanted: SessionCopyResult["outcome"]) => results.filter(({ outcome }) => outcome === wanted).length;
  const written = results.filter(({ outcome }) => outcome === "copied" || outcome === "updated");
  const entries = written.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const what = `${counted(written.length, "session")}, ${counted(entries, "entry", "entries")} ${dryRun === true ? "would be copied" : "copied"} to ${place}`;
  return `${what}; ${count(by("unchanged"))} unchanged, ${count(by("different"))} different, ${count(by("failed"))} failed.`;
}

function throwForLeft(results: readonly SessionCopyResult[]): void {
  const different = results.filter(({ outcome }) => outcome === "different").length;
  const failed = results.filter(({ outcome }) => outcome === "failed").length;
  if (failed > 0) throw new SessionsLeftError(`${counted(failed, "session")} could not be copied.`);
  if (different > 0)
    throw new SessionsLeftError(
      `${counted(different, "session is", "sessions are")} in the target with other content and ${different === 1 ? "was" : "were"} left. --update copies what is new in those that have the same first entries.`,
    );
}
