import { touchedFiles } from "../../facts/kinds/file-paths.js";
import type { Outcome, Turn } from "./story.js";

/** Whether a command failed, or wrote what surely is an error: a pipe hides how its first command ended. */
export function wentWrong({ failed, errors }: Outcome): boolean {
  return failed || errors.length > 0;
}

/** The last run of each command, in the order of these runs; `a && b` that ran well was one of `b` too. */
export function lastRuns(turns: readonly Turn[]): ReadonlyMap<string, Outcome> {
  const runs = new Map<string, Outcome>();
  for (const outcome of turns.flatMap(({ outcomes }) => outcomes)) {
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
  for (const [command, outcome] of lastRuns(turns)) if (!wentWrong(outcome)) well.set(command, outcome.at);
  for (const { call, failed, at } of turns.flatMap(({ outcomes }) => outcomes)) {
    if (call !== null && !failed) for (const { path } of touchedFiles(call)) well.set(path, at);
  }
  return well;
}
