import { cpus, release, totalmem, type } from "node:os";

/** Rows as they come: each is printed at once, because the whole takes minutes. */
export class Report {
  rows = [];

  constructor(print) {
    this.print = print;
  }

  /** Ours against a baseline: `limit` is the greatest quotient of the two. */
  ratio(work, size, ours, baseline, limit, note) {
    this.quotient(work, size, ours, baseline, limit, "ms", note);
  }

  /** The same for other units. */
  quotient(work, size, ours, baseline, limit, unit, note) {
    this.#add({ work, size, ours, baseline, unit, value: ours / baseline, valueUnit: "×", limit, note });
  }

  /** What ours takes beyond a baseline, in milliseconds. */
  extra(work, size, ours, baseline, limit, note) {
    this.#add({ work, size, ours, baseline, unit: "ms", value: ours - baseline, valueUnit: "ms more", limit, note });
  }

  /** A figure by itself; `baseline` is for information. */
  absolute(work, size, ours, limit, { unit = "ms", baseline = null, note } = {}) {
    this.#add({ work, size, ours, baseline, unit, value: ours, valueUnit: unit, limit, note });
  }

  /** How much is done in a second: `least` is the limit from below. */
  rate(work, size, ours, least, { baseline = null, note } = {}) {
    this.#add({ work, size, ours, baseline, unit: "MB/s", value: ours, valueUnit: "MB/s", limit: least, isLeast: true, note });
  }

  /** How much the first of `figures` grows to the last: that a cost does not depend on the size. */
  flat(work, figures, limit, unit = "ms") {
    const [first, last] = [figures[0], figures.at(-1)];
    if (figures.length < 2) return;
    const size = `${count(first.size)} → ${count(last.size)}`;
    this.#add({ work, size, ours: last.value, baseline: first.value, unit, value: last.value / first.value, valueUnit: "×", limit });
  }

  skipped(work, note) {
    this.#add({ work, size: "", ours: null, baseline: null, unit: "", value: null, valueUnit: "", limit: null, note });
  }

  #add({ limit = null, note = null, isLeast = false, ...row }) {
    const isKept = isLeast ? row.value >= limit : row.value <= limit;
    const verdict = row.value === null ? "skipped" : limit === null ? "–" : isKept ? "ok" : "MISSED";
    const whole = { ...row, size: typeof row.size === "number" ? count(row.size) : row.size, limit, isLeast, verdict, note };
    this.rows.push(whole);
    this.print(whole);
  }

  get missed() {
    return this.rows.filter(({ verdict }) => verdict === "MISSED");
  }
}

function count(number) {
  return number.toLocaleString("en-US");
}

function figure(value, unit) {
  if (value === null) return "";
  const digits = unit === "×" || Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(value < 0.1 ? 3 : digits)}${unit === "" ? "" : ` ${unit}`}`;
}

export const HEADINGS = ["work", "size", "ours", "baseline", "result", "limit", ""];

/** The cells of a row as text, below `HEADINGS`. */
export function rowCells({ work, size, ours, baseline, unit, value, valueUnit, limit, isLeast, verdict }) {
  const bound = limit === null ? "" : `${isLeast ? "≥" : "≤"} ${figure(limit, valueUnit)}`;
  return [work, size, figure(ours, unit), figure(baseline, unit), figure(value, valueUnit), bound, verdict];
}

const WIDTHS = [58, 19, 11, 11, 15, 15, 7];

export function tableLine(texts) {
  return texts
    .map((text, at) => (at < 2 || at === 6 ? text.padEnd(WIDTHS[at]) : text.padStart(WIDTHS[at])))
    .join("  ")
    .trimEnd();
}

export function rowLine(row) {
  const line = tableLine(rowCells(row));
  return row.note === null ? line : `${line}\n    ${row.note}`;
}

export function machine() {
  const memoryGB = Math.round(totalmem() / 2 ** 30);
  return { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, memoryGB, system: `${type()} ${release()}`, node: process.version };
}
