import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BoughError, type Store } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import fc from "fast-check";
import { expect } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
import { FORMATS } from "../../src/registry.js";
import { readHead } from "../../src/source/json-lines.js";
import { importPath } from "../../src/transfer/import-path.js";
import type { ImportReport } from "../../src/transfer/import-run.js";
import { drawing, MUTATIONS, mutated } from "./mutations.js";

/** A session file; `name` is its name without a folder. */
export interface CorpusFile {
  readonly name: string;
  readonly content: Buffer;
}

/** The lines of a file as every JSON reader sees them, by number; blank ones are none. */
function linesIn(content: Buffer): ReadonlyMap<number, unknown> {
  const lines = content
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split("\n");
  return new Map([...lines.entries()].filter(([, line]) => line.trim() !== "").map(([at, line]) => [at + 1, parsed(line)]));
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether this record says something of the session, or is a part of another record. Readers of other formats yield `merged` for these. */
function isMergedOrMark(format: string, record: JsonObject): boolean {
  if (!["bough", "pi", "claude"].includes(format)) return false;
  const type = typeof record.type === "string" ? record.type : "";
  if (format === "bough") return ["bough-session", "label", "leaf", "value"].includes(type);
  if (format === "pi") return ["label", "session_info", "title_change", "title"].includes(type);
  const { message } = record;
  const isPart = record.isCompactSummary === true || typeof record.uuid === "string" || (isObject(message) && message.id !== undefined);
  return isPart || ["custom-title", "ai-title", "summary", "tag"].includes(type);
}

/** What the reader of the file's format makes of it, session by session. */
function recordsIn(path: string): { readonly format: string; readonly records: readonly SourceRecord[] } {
  const head = readHead(path);
  const format = FORMATS.find((candidate) => candidate.detects(head));
  return { format: format?.name ?? "", records: [...(format?.sessions(path) ?? [])].flatMap((session) => [...session.records()]) };
}

/** Lines of which nothing was written, nothing was said and nothing is a part of anything: there must be none. */
function lostLines(content: Buffer, { format, records }: ReturnType<typeof recordsIn>): readonly number[] {
  const accounted = new Set(records.map(lineOf));
  const lines = [...linesIn(content)];
  // The header of a pi file is its first record of this type, also behind entries.
  const header = format === "pi" ? lines.find(([, value]) => isObject(value) && value.type === "session")?.[0] : undefined;
  const lost = lines.filter(
    ([number, value]) => !accounted.has(number) && number !== header && !(isObject(value) && isMergedOrMark(format, value)),
  );
  return lost.map(([number]) => number);
}

function lineOf(record: SourceRecord): number | null {
  if (record.kind === "problem") return record.problem.line;
  return record.kind === "entry" || record.kind === "merged" ? record.line : null;
}

const total = (report: ImportReport, of: (session: ImportReport["sessions"][number]) => number) =>
  report.sessions.reduce((sum, session) => sum + of(session), 0);

async function attempted(store: Store, path: string): Promise<ImportReport | BoughError> {
  try {
    return await importPath(store, path);
  } catch (error) {
    if (error instanceof BoughError) return error;
    throw error;
  }
}

const mutations = fc.array(fc.record({ name: fc.constantFrom(...MUTATIONS), seed: fc.nat() }), { minLength: 1, maxLength: 3 });

/** How many mutated files of each format are tried; the attack `properties` tries more. */
const RUNS = 60;

/**
 * The property of every format whose records are lines: of any mutation of its files, each line is an entry, merged, an annotation
 * or reported; errors are typed; the store has no violation; a second import adds nothing.
 */
export async function nothingIsLost(corpus: readonly CorpusFile[]): Promise<void> {
  const index = fc.nat(corpus.length - 1);
  await fc.assert(
    fc.asyncProperty(index, index, mutations, async (at, otherAt, changes) => {
      const [seed, other] = [corpus[at], corpus[otherAt]];
      if (seed === undefined || other === undefined) throw new RangeError("no such file");
      await judge(
        seed.name,
        changes.reduce((file, { name, seed: from }) => mutated(file, name, drawing(from), other.content), seed.content),
      );
    }),
    { numRuns: runs(RUNS) },
  );
}

async function judge(name: string, content: Buffer): Promise<void> {
  const path = join(tempFolder(), name);
  writeFileSync(path, content);
  const store = await openedStore();
  const report = await attempted(store, path);
  if (report instanceof BoughError) {
    // A file that is there can be read; this code would hide a failure of the reader.
    expect(report.code).not.toBe("SOURCE_UNREADABLE");
    expect([report.message.length < 2_000, (await store.statistics()).sessions]).toEqual([true, 0]);
    return;
  }
  const read = recordsIn(path);
  expect(lostLines(content, read)).toEqual([]);
  expect(total(report, ({ entriesAdded, entriesKnown }) => entriesAdded + entriesKnown)).toBe(
    read.records.filter(({ kind }) => kind === "entry").length,
  );
  expect(await findingsOf(store)).toEqual([]);
  const { sessions } = await store.statistics();
  const again = await importPath(store, path);
  expect([total(again, ({ entriesAdded }) => entriesAdded), (await store.statistics()).sessions]).toEqual([0, sessions]);
}
