import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ImportProblem } from "@bough/session-core";
import type { SourceEntry, SourceRecord, SourceSession } from "@bough/session-core/engine";
import { validateEntry } from "@bough/session-core/wire";
import { onTestFinished } from "vitest";
import { piFormat } from "../../src/pi/format.js";

/** A folder that is gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "bough-pi-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Writes records as the lines of a session file; a text becomes a line as it is. */
export function write(path: string, records: readonly unknown[], end = "\n"): string {
  mkdirSync(dirname(path), { recursive: true });
  const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
  writeFileSync(path, lines.join("\n") + end);
  return path;
}

/** A session file of its own with these records. */
export function fileOf(records: readonly unknown[], end?: string): string {
  return write(join(folder(), "session.jsonl"), records, end);
}

export const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-01-02T03:04:05.006Z", cwd: "/project" };
const TIME = "2026-01-02T03:04:06.000Z";

/** A record of a tree: `at("b", "a", {...})` stands below `a`. */
export function at(id: string, parentId: string | null, record: Record<string, unknown>): Record<string, unknown> {
  return { id, parentId, timestamp: TIME, ...record };
}

/** A message record of a person. */
export function user(id: string, parentId: string | null, text = id): Record<string, unknown> {
  return at(id, parentId, { type: "message", message: { role: "user", content: text, timestamp: 1 } });
}

/** The first session in a file. */
export function sessionIn(path: string): SourceSession {
  const [session] = piFormat.sessions(path);
  if (session === undefined) throw new RangeError(`no session in ${path}`);
  return session;
}

/** All records below a header. */
export function recordsOf(records: readonly unknown[], header: unknown = HEADER): readonly SourceRecord[] {
  return [...sessionIn(fileOf([header, ...records])).records()];
}

/** The entries among records. */
export function entriesOf(records: Iterable<SourceRecord>): readonly SourceEntry[] {
  return [...records].flatMap((record) => (record.kind === "entry" ? [record] : []));
}

/** The problems among records. */
export function problemsOf(records: Iterable<SourceRecord>): readonly ImportProblem[] {
  return [...records].flatMap((record) => (record.kind === "problem" ? [record.problem] : []));
}

/** Each entry as "child<parent". */
export function treeOf(records: Iterable<SourceRecord>): readonly string[] {
  return entriesOf(records).map(({ id, parentId }) => `${id}<${parentId ?? ""}`);
}

/** Where the leaf stands after these records: at the last `leaf` record, or else at the last entry. */
export function leafOf(records: readonly SourceRecord[]): string | null | undefined {
  const leaves = records.flatMap((record) => (record.kind === "leaf" ? [record.entryId] : []));
  return leaves.length > 0 ? leaves.at(-1) : entriesOf(records).at(-1)?.id;
}

/** The payload of the one entry that this record becomes, as the gate lets it in. */
export function payloadOf(record: Record<string, unknown>): Record<string, unknown> {
  const [entry] = entriesOf(recordsOf([at("e", null, record)]));
  return { ...validateEntry(entry?.payload).payload };
}

/** The message of the one entry that this message becomes, as the gate lets it in. */
export function messageOf(message: Record<string, unknown>): unknown {
  return payloadOf({ type: "message", message }).message;
}
