import { touchedFiles } from "../../facts/kinds/file-paths.js";
import { toolKind } from "../../facts/kinds/tool-kind.js";
import type { Outcome, Turn } from "./story.js";

/** Whether a command failed, or wrote what surely is an error: a pipe hides how its first command ended. */
export function wentWrong({ failed, errors }: Outcome): boolean {
  return failed || errors.length > 0;
}

/** Whether a command only brings files into place: the files tell it, and nobody runs it again. */
export function movesFiles(command: string): boolean {
  return /^(?:sed|cp|mv|rm|ln|chmod|touch|code|open|tee|kill|git add)\s/.test(command);
}

/** Whether a call changed or ran something, so that its success is one of the work. */
export function acts({ command, call }: Outcome): boolean {
  if (command !== null || call === null) return command !== null;
  return touchedFiles(call).some(({ changed }) => changed) || toolKind(call.name) === "other";
}

/** How many calls changed or ran something without going wrong; 0 where the last run of any command went wrong. */
export function workIn(outcomes: readonly Outcome[]): number {
  const failing = [...lastRuns(outcomes).values()].some(wentWrong);
  return failing ? 0 : outcomes.filter((one) => acts(one) && !wentWrong(one)).length;
}

/** The last run of each command, in the order of these runs; `a && b` that ran well was one of `b` too. */
export function lastRuns(outcomes: readonly Outcome[]): ReadonlyMap<string, Outcome> {
  const runs = new Map<string, Outcome>();
  for (const outcome of outcomes) {
    for (const command of commandsOf(outcome)) {
      // Again, so that it stands where it ran last.
      runs.delete(command);
      runs.set(command, outcome);
    }
  }
  return runs;
}

function commandsOf(outcome: Outcome): readonly string[] {
  if (outcome.command === null) return [];
  const steps = outcome.command.split(" && ");
  return wentWrong(outcome) || steps.length === 1 ? [outcome.command] : [outcome.command, ...steps];
}

/** When each command last ran well, and each file was last touched without an error: index of the message that says so. */
export function lastSuccesses(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const well = new Map<string, number>();
  const outcomes = outcomesOf(turns);
  for (const [command, outcome] of lastRuns(outcomes)) if (!wentWrong(outcome)) well.set(command, outcome.at);
  for (const { call, failed, at } of outcomes) {
    if (call !== null && !failed) for (const { path } of touchedFiles(call)) well.set(path, at);
  }
  return well;
}

/** What came of all calls and commands, in order. */
export function outcomesOf(turns: readonly Turn[]): readonly Outcome[] {
  return turns.flatMap(({ outcomes }) => outcomes);
}
