import type { ImportedFileSession, ImportProblem, ImportReport, Store } from "@bough/session-core";
import { count, counted } from "../format/numbers.js";
import { type Column, tableLines } from "../format/table.js";
import { titleOf } from "../place/session-choice.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { shortSessionId } from "./sessions.js";

/** Problems that are listed without `--verbose`. */
const SHOWN_PROBLEMS = 20;

/** Sessions that are listed without `--verbose`. */
const SHOWN_SESSIONS = 40;

const COLUMNS: readonly Column[] = [
  { heading: "session" },
  { heading: "title", shrinksTo: 12 },
  { heading: "format", optional: true },
  { heading: "outcome" },
  { heading: "entries", align: "right" },
  { heading: "foreign", align: "right", optional: true },
  { heading: "problems", align: "right", optional: true },
];

interface ReportOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly storeFile: string;
  readonly now: number;
}

/** What became of every session, what was not right with the files, and what to type next. */
export async function printImport(out: Printer, store: Store, report: ImportReport, options: ReportOptions): Promise<void> {
  if (options.json === true) return out.json(asJson(report, options.storeFile));
  await printSessions(out, store, report.sessions, options);
  printIdentities(out, report.sessions);
  printProblems(out, report, options.verbose === true);
  printTotals(out, report, options.storeFile);
}

function asJson({ sessions, failed, otherFiles }: ImportReport, storeFile: string) {
  return {
    store: storeFile,
    sessions,
    failed: failed.map(({ path, error }) => ({ path, code: error.code, message: error.message })),
    otherFiles,
  };
}

async function printSessions(out: Printer, store: Store, sessions: readonly ImportedFileSession[], options: ReportOptions): Promise<void> {
  if (sessions.length === 0) return;
  const listed = options.verbose === true ? sessions : sessions.slice(0, SHOWN_SESSIONS);
  const rows = await Promise.all(listed.map((session) => row(store, session)));
  for (const line of await tableLines(COLUMNS, rows, out.width, out.glyphs.ellipsis)) out.line(...line);
  if (listed.length < sessions.length) out.line(styled("dim", `and ${count(sessions.length - listed.length)} more; --verbose lists all`));
}

async function row(store: Store, session: ImportedFileSession): Promise<readonly Line[]> {
  const record = await store.findSession(session.sessionId);
  return [
    [styled("label", await shortSessionId(store, session.sessionId))],
    [record === undefined ? "" : titleOf(record)],
    [session.format],
    [session.outcome],
    [session.entriesAdded === 0 ? "0" : `+${count(session.entriesAdded)}`],
    [count(session.foreignAdded)],
    [session.problemCount === 0 ? "0" : styled("error", count(session.problemCount))],
  ];
}

function printIdentities(out: Printer, sessions: readonly ImportedFileSession[]): void {
  for (const { claimedId, sessionId, path } of sessions) {
    if (claimedId === sessionId) continue;
    out.line(`${path} claims the id ${claimedId}, which holds a different session; it was imported as ${sessionId}.`);
  }
}

function printProblems(out: Printer, { sessions, failed }: ImportReport, verbose: boolean): void {
  // Most messages begin with the path already.
  for (const { path, error } of failed)
    out.line(styled("error", "failed  "), error.message.includes(path) ? error.message : `${path}: ${error.message}`);
  const problems = sessions.flatMap((session) => session.problems);
  for (const problem of verbose ? problems : problems.slice(0, SHOWN_PROBLEMS)) out.line(...problemLine(problem));
  const total = sessions.reduce((sum, { problemCount }) => sum + problemCount, 0);
  const unlisted = total - (verbose ? problems.length : Math.min(problems.length, SHOWN_PROBLEMS));
  if (unlisted > 0)
    out.line(styled("dim", `and ${counted(unlisted, "more problem", "more problems")}${verbose ? "" : "; --verbose lists them"}`));
}

function problemLine({ path, line, code, message }: ImportProblem): Line {
  return [styled("error", code), `  ${line === null ? path : `${path}:${line}`}: ${message}`];
}

function printTotals(out: Printer, { sessions, otherFiles }: ImportReport, storeFile: string): void {
  const added = sessions.reduce((sum, { entriesAdded }) => sum + entriesAdded, 0);
  const others = otherFiles === 0 ? "" : ` ${counted(otherFiles, "other file")} passed over.`;
  out.line(`${counted(sessions.length, "session")}, ${counted(added, "new entry", "new entries")} in ${storeFile}.${others}`);
  const [first] = sessions;
  if (first !== undefined) out.line(styled("dim", "Next: bough sessions, bough tree, bough search WORDS"));
}
