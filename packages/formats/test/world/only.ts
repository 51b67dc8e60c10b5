/** The one item of a list. */
export function only<T>(all: readonly T[]): T {
  const [first, ...others] = all;
  if (first === undefined || others.length > 0) throw new RangeError(`there are ${all.length}, not one`);
  return first;
}

/** The lines of a log with these records. */
export function jsonl(records: readonly object[]): Buffer {
  return Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

/** Lines of a tree with short names for the ids that are derived. */
export function derivedNamed(lines: readonly string[]): readonly string[] {
  const derived = lines.flatMap((line) => /^([0-9a-y]{12}) </.exec(line)?.[1] ?? []);
  return lines.map((line) => line.replace(/\b[0-9a-y]{12}\b/g, (id) => (derived.includes(id) ? `#${derived.indexOf(id) + 1}` : id)));
}
