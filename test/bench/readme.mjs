// The figures of README.md: sentences made from docs/benchmarks.json and docs/recall-exam.md, so that none is typed in by hand.

export const START = "<!-- figures: written by npm run bench -- --document -->";
export const END = "<!-- end of figures -->";

/** The README with the figures of a benchmark document and of the exam of recall between its markers. */
export function withFigures(readme, document, exam) {
  const [before, rest] = readme.split(START);
  const [, after] = (rest ?? "").split(END);
  if (after === undefined) throw new Error("README.md has no markers for the figures");
  return `${before}${START}\n\n${figures(document, exam)}\n\n${END}${after}`;
}

function figures({ machine, rows }, exam) {
  const row = (work, size) => {
    const found = rows.find((one) => one.work === work && one.size === size);
    if (found === undefined) throw new Error(`docs/benchmarks.json has no row "${work}" of ${size}`);
    return found;
  };
  const opened = row("pi: open a compacted session and build its context", "100,000");
  const append = row("append, full, p50", "100,000");
  const search = row("search, index warm", "1000 of 50");
  const key = row("navigator, a row up, 120×40", "100,000");
  const [packed, unpacked] = ["packed", "before packing"].map((state) => row(`store against JSONL, ${state}: both together`, ""));
  return [
    `- Opening a compacted session of 100,000 entries and building its context: ${ms(opened.ours)}; pi-agent-core 0.87 with its JSONL file:
  ${ms(opened.baseline)} (${Math.round(opened.baseline / opened.ours)} ×; one process, files cached, medians).`,
    `- An append to that session, synced to the disk: ${ms(append.ours)}; bare better-sqlite3 doing the same: ${ms(append.baseline)}.`,
    `- A search over 1,000 sessions of 50 entries: ${ms(search.ours)}. A key in the tree of 100,000 entries, on 120 × 40: ${ms(key.ours)}.`,
    `- A store of real sessions, with its search index: ${packed.value.toFixed(2)} of the JSONL they came from once packed, ${unpacked.value.toFixed(2)} before.`,
    examSentence(exam),
    "",
    `${machine.cpu}, ${machine.cores} cores; ${machine.system}; Node ${machine.node}.`,
  ].join("\n");
}

/** The first row of the exam: questions about a session of pi with 1,020 entries. */
function examSentence(exam) {
  const [session, questions, byOneCall, byReading] =
    exam
      .split("\n")
      .find((line) => line.startsWith("| pi/"))
      ?.split("|")
      .slice(1)
      .map((cell) => cell.trim()) ?? [];
  if (byReading === undefined) throw new Error("docs/recall-exam.md has no row of pi's session");
  return `- Of ${questions} questions about a real session (${session}) that a compaction hid completely, recall answers ${byOneCall} in one call that
  searches for the question as it stands, ${byReading} after reading three hits. A model that chooses its words does better.`;
}

function ms(value) {
  return value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(value < 10 ? 2 : 0)} ms`;
}
