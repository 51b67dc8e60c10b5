import { conclusionOf } from "../conclusion.js";
import { type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { safeLine } from "../safe-line.js";
import type { Outcome, Turn } from "../story.js";

/** Commands whose success is a result of the work: they check it, or they hand it on. */
const COUNTS =
  /\b(?:tests?|check|build|lint|typecheck|tsc|tsgo|pytest|vitest|jest|mocha|cargo|make|mvn|gradle|bench|verify|ci)\b|\bgit\s+(?:commit|push|tag|merge|rebase|revert)\b|\bpublish\b|\bdeploy\b|\brelease\b/;

interface At {
  readonly at: number;
  readonly text: string;
}

/** What came of each turn, in the model's own words, and the checks that passed in the end. */
export function doneLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const turns = story.turns.flatMap((turn) => concluded(turn));
  const found = [...turns, ...passed(story.turns)].sort((a, b) => a.at - b.at).map(({ text }) => safeLine(text, limits.lineChars));
  const todos = story.todos.filter(({ state }) => state === "done").map(({ text }) => safeLine(text, limits.lineChars));
  return newestFirst([...oldLines(material, "done"), ...todos, ...found], 20, 3);
}

function concluded({ request, reply, outcomes }: Turn): readonly At[] {
  if (reply === null || !reply.ends) return [];
  const text = conclusionOf(reply.text);
  return text === null ? [] : [{ at: outcomes.at(-1)?.at ?? request?.at ?? 0, text }];
}

function passed(turns: readonly Turn[]): readonly At[] {
  return [...lastRuns(turns)].flatMap(([command, { failed, at, passed: count }]) => {
    if (failed || !COUNTS.test(command)) return [];
    return [{ at, text: count === null ? `\`${command}\` succeeded` : `\`${command}\`: ${count}` }];
  });
}

/** The last run of each command. */
export function lastRuns(turns: readonly Turn[]): ReadonlyMap<string, Outcome> {
  const runs = new Map<string, Outcome>();
  for (const { outcomes } of turns) {
    for (const outcome of outcomes) if (outcome.command !== null) runs.set(outcome.command, outcome);
  }
  return runs;
}
