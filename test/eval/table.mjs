// The report as an aligned table.

const KINDS = ["request", "rule", "file", "error", "command", "identifier", "number"];

/** Over the columns of `rowOf`. */
export const HEADINGS = ["session", "entries", "tokens before", "after", ...KINDS, "by recall", "score", "ms"];

/** Over the columns of `examRow`. */
export const EXAM_HEADINGS = ["session", "answered", "questions", "characters", "tokens"];

/** Over the columns of `recallRow`. */
export const RECALL_HEADINGS = [
  "session",
  "questions",
  "answered by one call",
  "by reading three hits too",
  "characters of an answer",
  "at most",
];

/** Over the columns of `questionRows`. */
export const QUESTION_HEADINGS = ["questions", "asked", "first", "in 5", "in 10", "median ms"];

/** The cells of the answers of each kind of question, and of all. */
export function questionRows(answers) {
  const row = (title, asked) => {
    const within = (most) => `${Math.round((100 * asked.filter(({ place }) => place >= 1 && place <= most).length) / asked.length)} %`;
    const median = asked.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(asked.length / 2)];
    return [title, String(asked.length), within(1), within(5), within(10), median.toFixed(1)];
  };
  const kinds = [...new Set(answers.map(({ kind }) => kind))];
  return [
    ...kinds.map((kind) =>
      row(
        kind,
        answers.filter((one) => one.kind === kind),
      ),
    ),
    ...(answers.length === 0 ? [] : [row("all", answers)]),
  ];
}

/** The cells of one exam of recall. */
export function recallRow({ title, questions, answered, afterReading, meanChars, mostChars }) {
  return [title, ...[questions, answered, answered + afterReading, meanChars, mostChars].map(String)];
}

/** The cells of one exam. */
export function examRow({ title, answered, questions, chars, tokens }) {
  return [title, ...[answered, questions, chars, tokens].map(String)];
}

/** The cells of one session. */
export function rowOf({ session, entries, tokensBefore, tokensAfter, fidelity, ms, outcome }) {
  if (fidelity === null) return [session, String(entries), String(tokensBefore), outcome];
  const cells = KINDS.map((kind) => (fidelity.found[kind] === 0 ? "-" : `${fidelity.inSummary[kind]}/${fidelity.found[kind]}`));
  return [
    session,
    ...[entries, tokensBefore, tokensAfter].map(String),
    ...cells,
    String(byRecall(fidelity)),
    percent(fidelity.score),
    ms.toFixed(0),
  ];
}

/** The last row: everything summed, the score as the mean over sessions in which a fact was found. */
export function totals(results) {
  const done = results.filter(({ fidelity }) => fidelity !== null);
  if (done.length < 2) return [];
  const sum = (pick) => done.reduce((total, one) => total + pick(one), 0);
  const kinds = KINDS.map((kind) => `${sum(({ fidelity }) => fidelity.inSummary[kind])}/${sum(({ fidelity }) => fidelity.found[kind])}`);
  const scored = done.filter(({ fidelity }) => fidelity.total > 0);
  const mean = scored.reduce((total, { fidelity }) => total + fidelity.score, 0) / Math.max(1, scored.length);
  const counts = [sum(({ entries }) => entries), sum(({ tokensBefore }) => tokensBefore), sum(({ tokensAfter }) => tokensAfter)];
  const recall = sum(({ fidelity }) => byRecall(fidelity));
  return [[`${done.length} sessions`, ...counts.map(String), ...kinds, String(recall), percent(mean), sum(({ ms }) => ms).toFixed(0)]];
}

function byRecall({ total, inSummary }) {
  return total - KINDS.reduce((sum, kind) => sum + inSummary[kind], 0);
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** Rows of cells as lines: the first column to the left, the others to the right; a row shorter than the first ends in words. */
export function table(rows) {
  const full = rows[0].length;
  const widths = rows[0].map((_heading, at) =>
    Math.max(...rows.filter((row) => row.length === full || at < 3).map((row) => (row[at] ?? "").length)),
  );
  const line = (row) =>
    row.map((cell, at) => (at === 0 || row.length < full ? cell.padEnd(at < 3 ? widths[at] : 0) : cell.padStart(widths[at]))).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}
