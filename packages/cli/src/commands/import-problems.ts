import type { ImportProblem, ImportReport } from "@bough/session-core";
import { FilesFailedError, InvalidJsonError, InvalidRecordsError } from "../errors.js";
import { counted } from "../format/numbers.js";
import { type Line, styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";

/** What was imported, and what was not. */
type Imported = Pick<ImportReport, "sessions" | "failed">;

/** Maximum problems without `--verbose`. */
const SHOWN_PROBLEMS = 20;

/** Prints the files that failed, and the problems of the others. */
export function printProblems(out: Printer, { sessions, failed }: Imported, verbose: boolean): void {
  // Most messages contain the path.
  for (const { path, error } of failed)
    out.line(styled("error", "failed  "), error.message.includes(path) ? error.message : `${path}: ${error.message}`);
  const problems = sessions.flatMap((session) => session.problems);
  for (const problem of verbose ? problems : problems.slice(0, SHOWN_PROBLEMS)) out.line(...renderProblem(problem));
  const total = sessions.reduce((sum, { problemCount }) => sum + problemCount, 0);
  const unlisted = total - (verbose ? problems.length : Math.min(problems.length, SHOWN_PROBLEMS));
  if (unlisted > 0)
    out.line(styled("dim", `and ${counted(unlisted, "more problem", "more problems")}${verbose ? "" : "; --verbose lists them"}`));
}

function renderProblem({ path, line, code, message }: ImportProblem): Line {
  return [styled("error", code), `  ${line === null ? path : `${path}:${line}`}: ${message}`];
}

/** Throws for the most severe kind of problem. A truncated last line is no problem: the agent had not finished writing it. */
export function throwForProblems({ failed, sessions }: Imported): void {
  const unread = sessions.flatMap(({ problems }) => problems.filter(({ code }) => code === "unreadable-file"));
  const files = new Set([...failed, ...unread].map(({ path }) => path)).size;
  if (files > 0) throw new FilesFailedError(`${counted(files, "file")} could not be imported; see above.`);
  const malformed = countProblems("malformed-line", sessions);
  if (malformed > 0)
    throw new InvalidJsonError(`${counted(malformed, "line")} could not be parsed and were skipped; everything else was imported.`);
  const invalid = countProblems("invalid-record", sessions);
  if (invalid > 0) throw new InvalidRecordsError(`${counted(invalid, "record")} match no schema and were stored as foreign entries.`);
}

function countProblems(code: ImportProblem["code"], sessions: Imported["sessions"]): number {
  return sessions.reduce((sum, { problemCounts }) => sum + (problemCounts[code] ?? 0), 0);
}
