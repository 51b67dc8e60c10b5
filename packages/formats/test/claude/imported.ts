import type { EntryPayload, ImportProblem } from "@bough/session-core";
import type { SourceHeader, SourceRecord } from "@bough/session-core/engine";
import { validateEntry } from "@bough/session-core/wire";
import { expect } from "vitest";
import { claudeFormat } from "../../src/claude/format.js";
import { fileOf, type Line } from "./claude-file.js";

/** An entry as it would be written: judged, and hanging on an entry written before it. */
interface Written {
  readonly id: string;
  readonly parentId: string | null;
  readonly line: number;
  readonly createdAtMs: number;
  readonly payload: EntryPayload;
}

/** One session, written the way the importer writes it. */
export interface Imported {
  readonly header: SourceHeader;
  readonly records: readonly SourceRecord[];
  readonly entries: readonly Written[];
  readonly problems: readonly ImportProblem[];
  /** Parents that were not there when their child came. */
  readonly missing: readonly string[];
  readonly leaf: string | null;
}

/** The sessions of a file, each judged and linked. */
export function importAll(path: string): readonly Imported[] {
  return Array.from(claudeFormat.sessions(path), ({ header, records }) => written(header, [...records()]));
}

/** The one session of a file with these lines. */
export function importLines(lines: readonly (Line | string)[]): Imported {
  const [session, ...others] = importAll(fileOf(lines));
  expect(others).toEqual([]);
  if (session === undefined) throw new RangeError("the file has no session");
  return session;
}

function written(header: SourceHeader, records: readonly SourceRecord[]): Imported {
  const entries = new Map<string, Written>();
  const missing: string[] = [];
  let leaf: string | null = null;
  for (const record of records) {
    if (record.kind === "leaf") leaf = record.entryId;
    if (record.kind !== "entry") continue;
    expect(entries.has(record.id)).toBe(false);
    const { payload } = validateEntry({ ...(record.payload as object), id: record.id, createdAtMs: record.createdAtMs });
    const isKnown = record.parentId === null || entries.has(record.parentId);
    if (!isKnown) missing.push(record.parentId ?? "");
    const parentId = isKnown ? record.parentId : leaf;
    entries.set(record.id, { id: record.id, parentId, line: record.line, createdAtMs: record.createdAtMs, payload });
    leaf = record.id;
  }
  const problems = records.flatMap((record) => (record.kind === "problem" ? [record.problem] : []));
  return { header, records, entries: [...entries.values()], problems, missing, leaf };
}

/** Ids from the first entry to the leaf, or to `to`. */
export function pathOf(session: Imported, to: string | null = session.leaf): readonly string[] {
  const entry = session.entries.find(({ id }) => id === to);
  return entry === undefined ? [] : [...pathOf(session, entry.parentId ?? ""), entry.id];
}

/** Each entry with more than one child, with its children; null stands for the top. */
export function branchPoints(session: Imported): ReadonlyMap<string | null, readonly string[]> {
  const children = new Map<string | null, Written[]>();
  for (const entry of session.entries) children.set(entry.parentId, [...(children.get(entry.parentId) ?? []), entry]);
  const points = [...children].filter(([, entries]) => entries.length > 1);
  return new Map(points.map(([parent, entries]) => [parent, entries.map(({ id }) => id)]));
}

/** The payload of an entry. */
export function payloadOf(session: Imported, id: string): EntryPayload {
  const entry = session.entries.find((candidate) => candidate.id === id);
  if (entry === undefined) throw new RangeError(`no entry ${id}`);
  return entry.payload;
}

/** The message of an entry. */
export function messageOf(session: Imported, id: string): Extract<EntryPayload, { type: "message" }>["message"] {
  const payload = payloadOf(session, id);
  if (payload.type !== "message") throw new RangeError(`${id} is a ${payload.type}`);
  return payload.message;
}
