/** pi's structured summary, Claude Code's nine sections, and their like; with or without the mark of a heading. */
const GOAL = /^(?:#{1,3} )?(?:1\. )?(?:Goal|Primary Request(?: and Intent)?|Overall Goal|Objective)s?:?\s*$/i;
const HEADING = /^#{1,3} |^\d{1,2}\. [A-Z][^.]{2,60}:\s*$/;

/** A summary that a model wrote, and the section of it that says what is wanted. */
export interface SummaryGoal {
  /** null: it has no such section. */
  readonly goal: string | null;
  readonly rest: string;
}

/** Takes the section about the goal out of a summary, wherever it stands. Linear. */
export function takeGoal(summary: string): SummaryGoal {
  const lines = summary.split("\n");
  const start = lines.findIndex((line) => GOAL.test(line));
  if (start === -1) return { goal: null, rest: summary };
  const next = lines.findIndex((line, at) => at > start && HEADING.test(line));
  const end = next === -1 ? lines.length : next;
  const goal = lines
    .slice(start + 1, end)
    .join("\n")
    .trim();
  return goal === "" ? { goal: null, rest: summary } : { goal, rest: [...lines.slice(0, start), ...lines.slice(end)].join("\n") };
}
