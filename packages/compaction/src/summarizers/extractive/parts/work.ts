import { contradicts } from "../../../facts/kinds/requests.js";
import { conclusionOf } from "../conclusion.js";
import { type Material, newestFirst, oldLines, type Weighted } from "../material.js";
import type { Line } from "../outline.js";
import { lastRuns, outcomesOf, wentWrong } from "../runs.js";
import { safeLine } from "../safe-line.js";
import type { Turn } from "../story.js";

interface At extends Weighted {
  readonly at: number;
}

/**
 * What was done: what the model said of work that did not fail, in its own words, commands whose output tells what came of
 * them, and what its own list calls done. A reply behind which nothing was changed or run, one after a command that went
 * wrong and did not run well since, and one that the person contradicted say nothing here.
 */
export function doneLines(material: Material): readonly Line[] {
  const { story, limits } = material;
  const stood = story.turns.filter((_turn, at) => !contradicts(story.turns[at + 1]?.request?.text ?? ""));
  const found = [...stood.flatMap(concluded), ...results(story.turns)].sort((a, b) => a.at - b.at);
  const todos = story.todos.filter(({ state }) => state === "done").map(({ text }) => ({ text, work: 1 }));
  const lines = [...todos, ...found].map(({ text, work }) => ({ text: safeLine(text, limits.lineChars), work }));
  return newestFirst([...oldLines(material, "done"), ...lines], 20, 3);
}

function concluded({ endings }: Turn): readonly At[] {
  return endings.flatMap(({ text, at, work }) => {
    const said = work > 0 ? conclusionOf(text) : null;
    return said === null ? [] : [{ at, text: said, work }];
  });
}

function results(turns: readonly Turn[]): readonly At[] {
  return [...lastRuns(outcomesOf(turns))].flatMap(([command, outcome]) => {
    // A part of a longer command has its line with the whole.
    if (wentWrong(outcome) || outcome.result === null || command !== outcome.command) return [];
    return [{ at: outcome.at, text: `\`${command}\`: ${outcome.result}`, work: 1 }];
  });
}
