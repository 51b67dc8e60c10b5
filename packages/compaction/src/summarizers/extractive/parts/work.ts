import { conclusionOf } from "../conclusion.js";
import { type Material, newestFirst, oldLines } from "../material.js";
import type { Line } from "../outline.js";
import { lastRuns, wentWrong } from "../runs.js";
import { safeLine } from "../safe-line.js";
import type { Turn } from "../story.js";

/** Commands whose success is a result of the work: they check it, or they hand it on. */
const COUNTS =
  /\b(?:tests?|check|build|lint|typecheck|tsc|tsgo|pytest|vitest|jest|mocha|cargo|make|mvn|gradle|bench|verify|ci)\b|\bgit\s+(?:commit|push|tag|merge|rebase|revert)\b|\bpublish\b|\bdeploy\b|\brelease\b/;

/** A tool of files, whatever their names are. */
const NO_RESULT = /^(?:sed|cp|mv|rm|ln|chmod|touch|code|open|perl|tee|curl|wget)\s/;

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

function concluded({ endings }: Turn): readonly At[] {
  return endings.flatMap(({ text, at }) => {
    const said = conclusionOf(text);
    return said === null ? [] : [{ at, text: said }];
  });
}

function passed(turns: readonly Turn[]): readonly At[] {
  return [...lastRuns(turns)].flatMap(([command, outcome]) => {
    const { at, passed: count } = outcome;
    // A part of a longer command has its line with the whole.
    if (wentWrong(outcome) || command !== outcome.command || NO_RESULT.test(command) || !COUNTS.test(command)) return [];
    return [{ at, text: count === null ? `\`${command}\` succeeded` : `\`${command}\`: ${count}` }];
  });
}
