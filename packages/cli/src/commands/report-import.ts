import type { ImportedFileSession, ImportReport } from "@bough/formats";
import type { ImportProblem, Store } from "@bough/session-core";
import { count, counted } from "@bough/session-core/view";
import { CancelledError, CommandError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { type Progress, startProgress } from "./progress.js";

/** The imported sessions, and the files that failed. */
type Imported = Pick<ImportReport, "sessions" | "failed">;

/** Maximum lines without `--verbose`. */
const SHOWN_LINES = 20;

/**
 * Prints the files that failed, and the problems of the others: without `verbose` one line for each file and kind of problem, so that
 * a file with a thousand odd records is one line.
 */
export function printProblems(out: Printer, { sessions, failed }: Imported, verbose: boolean): void {
  // Most messages contain the path.
  for (const { path, error } of failed)
    out.line(styled("error", "failed  "), error.message.includes(path) ? error.message : `${path}: ${error.message}`);
  if (verbose) printEach(out, sessions);
  else printGroups(out, groupProblems(sessions));
}

/** Names the files that were left out, and why. */
export function printSkipped(out: Printer, { skipped, otherFiles }: Pick<ImportReport, "skipped" | "otherFiles">): void {
  for (const { path, reason } of skipped) out.line(styled("dim", "skipped  "), `${path}: ${reason}`);
  if (otherFiles > skipped.length) out.line(styled("dim", `and ${counted(otherFiles - skipped.length, "other file")} skipped`));
}

function printEach(out: Printer, sessions: Imported["sessions"]): void {
  const problems = sessions.flatMap((session) => session.problems);
  for (const problem of problems) out.line(...renderProblem(problem));
  const unlisted = sessions.reduce((sum, { problemCount }) => sum + problemCount, 0) - problems.length;
  if (unlisted > 0) out.line(styled("dim", `and ${counted(unlisted, "more problem", "more problems")}`));
}

function renderProblem({ path, line, code, message }: ImportProblem): Line {
  return [styled("error", code), `  ${line === null ? path : `${path}:${line}`}: ${message}`];
}

/** The problems of one kind in one file. */
interface ProblemGroup {
  readonly first: ImportProblem;
  count: number;
}

function groupProblems(sessions: Imported["sessions"]): readonly ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const { problems, problemCounts } of sessions) {
    const unlisted = new Map(Object.entries(problemCounts));
    const ofSession = new Map<string, ProblemGroup>();
    for (const problem of problems) {
      const key = `${problem.code}\0${problem.path}`;
      const group = groups.get(key) ?? { first: problem, count: 0 };
      group.count += 1;
      groups.set(key, group);
      ofSession.set(problem.code, group);
      unlisted.set(problem.code, (unlisted.get(problem.code) ?? 0) - 1);
    }
    // Of many problems of one kind only the first thousand are listed; the others are counted for the same file.
    for (const [code, group] of ofSession) group.count += unlisted.get(code) ?? 0;
  }
  return [...groups.values()];
}

function printGroups(out: Printer, groups: readonly ProblemGroup[]): void {
  for (const group of groups.slice(0, SHOWN_LINES)) out.line(...renderGroup(group));
  const left = groups.slice(SHOWN_LINES).reduce((sum, group) => sum + group.count, 0);
  if (left > 0) out.line(styled("dim", `and ${counted(left, "more problem", "more problems")}; --verbose lists them`));
  else if (groups.some((group) => group.count > 1)) out.line(styled("dim", "--verbose lists each problem"));
}

function renderGroup({ first, count: times }: ProblemGroup): Line {
  if (times === 1) return renderProblem(first);
  const { code, path, line, message } = first;
  const place = line === null ? "the first" : `the first at line ${line}`;
  return [styled("error", code), `  ${path}: ${count(times)} times, ${place}: ${message}`];
}

/** Throws for the most severe kind of problem. A truncated last line is no problem: the agent had not finished writing it. */
export function throwForProblems({ failed, sessions }: Imported): void {
  const unread = sessions.flatMap(({ problems }) => problems.filter(({ code }) => code === "unreadable-file"));
  const files = new Set([...failed, ...unread].map(({ path }) => path)).size;
  if (files > 0) throw new CommandError("FILES_FAILED", `${counted(files, "file")} could not be imported; see above.`);
  const malformed = countProblems("malformed-line", sessions);
  if (malformed > 0)
    throw new CommandError(
      "INVALID_JSON",
      `${counted(malformed, "line")} could not be parsed and were skipped; everything else was imported.`,
    );
  const invalid = countProblems("invalid-record", sessions);
  if (invalid > 0)
    throw new CommandError("INVALID_RECORDS", `${counted(invalid, "record")} match no schema and were stored as foreign entries.`);
}

function countProblems(code: ImportProblem["code"], sessions: Imported["sessions"]): number {
  return sessions.reduce((sum, { problemCounts }) => sum + (problemCounts[code] ?? 0), 0);
}

/** Says of how many sessions the last reply is being written and was left out. */
export function printHeld(out: Printer, sessions: readonly Pick<ImportedFileSession, "heldUntilMs">[]): void {
  const held = sessions.filter(({ heldUntilMs }) => heldUntilMs !== null).length;
  if (held === 0) return;
  const whose = held === 1 ? "A reply is" : `The last replies of ${counted(held, "session")} are`;
  out.line(styled("dim", `${whose} still being written; a sync takes what is complete, or what has not changed for a while.`));
}

/** Entries to index between two updates of the progress bar. */
const INDEX_STEP = 2000;

/** Indexes and packs what was imported, with a progress bar for each. */
export async function indexImported(store: Store, io: Io, out: Printer, signal: AbortSignal): Promise<void> {
  await updateSearchIndex(store, out, await startProgress(io, out, "indexing for search"), signal);
  await packImported(store, await startProgress(io, out, "packing"), signal);
}

async function updateSearchIndex(store: Store, out: Printer, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    let left = await store.catchUpSearch(INDEX_STEP);
    const total = left;
    if (left > 0) await out.flush();
    for (; left > 0; left = await store.catchUpSearch(INDEX_STEP)) {
      progress.update(total - left, total, counted(left, "entry left", "entries left"));
      if (signal.aborted) throw new CancelledError("Interrupted; every session was imported. Searches find them; they are indexed later.");
    }
  } finally {
    progress.end();
  }
}

async function packImported(store: Store, progress: Progress, signal: AbortSignal): Promise<void> {
  try {
    const onProgress = (done: number, total: number) => progress.update(done, total, counted(done, "entry", "entries"));
    await store.pack({ scope: "old", signal, onProgress });
  } catch (error) {
    if (signal.aborted)
      throw new CancelledError("Interrupted; every session was imported. `bough pack` makes the store smaller.", { cause: error });
    throw error;
  } finally {
    progress.end();
  }
}
