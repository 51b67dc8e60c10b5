import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReadingPosition, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { expect } from "vitest";
import { tempFolder } from "../../../session-core/test/world/stores.js";
import type { SourceFormat } from "../../src/source/source-format.js";

const LF = 0x0a;

/** The ends of the lines of a file from line `first` on, in bytes, at most `most`, spread over the file. */
function lineEnds(content: Buffer, most: number, first: number): readonly number[] {
  const ends = [...content.entries()].flatMap(([at, byte]) => (byte === LF ? [at + 1] : [])).slice(first - 1);
  const every = Math.max(1, Math.ceil(ends.length / most));
  return ends.filter((_, at) => at % every === 0);
}

/** The records but those that each reading repeats: of the leaf, only the last one counts. Marks of an open end are of one reading. */
function essence(records: readonly SourceRecord[]) {
  return {
    records: records.filter(({ kind }) => kind !== "leaf" && kind !== "title" && kind !== "value" && kind !== "open"),
    leaf: records.findLast(({ kind }) => kind === "leaf"),
    title: records.findLast(({ kind }) => kind === "title"),
  };
}

function only(sessions: Iterable<SourceSession>): SourceSession {
  const [session] = sessions;
  if (session === undefined) throw new TypeError("the file has no session");
  return session;
}

/**
 * Reads the first session of a file that grows: cut after any line (or `cutInto` the next one), and then from where that reading ended,
 * gives the same records as reading all of it. The position is kept as JSON in between. `most`: how many lines it is cut after;
 * `cutInto`: bytes of the next line; `first`: the line with which the file is complete enough to be detected.
 */
export function readsOnAlike(format: SourceFormat, name: string, content: Buffer, { most = 60, cutInto = 0, first = 1 } = {}): void {
  const path = join(tempFolder(), name);
  writeFileSync(path, content);
  const whole = essence([...only(format.sessions(path)).records()]);
  for (const end of lineEnds(content, most, first)) {
    writeFileSync(path, content.subarray(0, end + cutInto));
    const first = only(format.sessions(path));
    const before = [...first.records()];
    const position: ReadingPosition | undefined = JSON.parse(JSON.stringify(first.position?.() ?? null)) ?? undefined;
    expect(position?.offset ?? 0, `${name} at ${end}`).toBeLessThanOrEqual(end);
    writeFileSync(path, content);
    const after = [...only(format.sessions(path)).records(position)];
    const read = essence([...before.filter((record) => isBefore(record, position)), ...after]);
    expect(read, `${name}, cut at byte ${end + cutInto}`).toEqual({ ...whole, leaf: read.leaf === undefined ? undefined : whole.leaf });
  }
}

/** Records of lines after the position are read again. */
function isBefore(record: SourceRecord, position: ReadingPosition | undefined): boolean {
  const line = record.kind === "problem" ? (record.problem.line ?? 0) : "line" in record ? record.line : 0;
  return position !== undefined && line <= position.line && record.kind !== "leaf";
}
