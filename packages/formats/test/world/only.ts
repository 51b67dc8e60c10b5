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
