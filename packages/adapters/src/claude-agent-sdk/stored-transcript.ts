import type { SessionSummaryEntry } from "@anthropic-ai/claude-agent-sdk";
import type { Entry, Session } from "@bough/session-core";
import { groupBy, type StoredSourceEntry } from "@bough/session-core/engine";
import { isObject, type JsonObject } from "@bough/session-core/wire";
import { LineDeltas, type StoredLine } from "./line-delta.js";

/** The state of a stored transcript. A writer that finds another `version` than it has read must read again. */
export interface TranscriptState {
  readonly version: number;
  /** The lines whose entries are written, in `parts` values. */
  readonly lines: number;
  readonly parts: number;
  /** The entry that was written last. */
  readonly after: string | null;
  /** The position to which the transcript moved the leaf. */
  readonly leaf: string | null;
  /** Entries that the store has under another id than the transcript. */
  readonly renamed: Readonly<Record<string, string>>;
}

export const EMPTY_STATE: TranscriptState = { version: 0, lines: 0, parts: 0, after: null, leaf: null, renamed: {} };

/** The keys of the values of a session that hold its transcript. */
export const STATE = "claude.transcript";
export const WAITING = "claude.transcript.waiting";
/** Lines that are no part of the transcript file, each with its place among the lines. */
export const EXTRA = "claude.transcript.extra";
export const SUMMARY = "claude.summary";
const PARTS = "claude.lines/";

export const partKey = (part: number) => `${PARTS}${String(part).padStart(8, "0")}`;

/** A transcript as it is stored. */
export interface ReadTranscript {
  readonly state: TranscriptState;
  /** All lines of the file. */
  readonly lines: readonly JsonObject[];
  /** The number of them, at the end, that are in no entry yet. */
  readonly waiting: number;
  readonly extra: readonly ExtraLine[];
  /** The encoder in its state after the last stored line that is in an entry. */
  readonly deltas: LineDeltas;
}

export type ExtraLine = readonly [at: number, line: JsonObject];

/** Reads the transcript of a session. Cost: the lines and entries of the session. */
export async function readTranscript(session: Session): Promise<ReadTranscript | undefined> {
  // In one read, so that another process that writes meanwhile is seen wholly or not at all.
  const values = new Map((await session.values.list("claude.")).map(({ key, value }) => [key, value]));
  const state = values.get(STATE);
  if (!isState(state)) return undefined;
  const entries = new Map<string, Entry>();
  for await (const entry of session.entries()) entries.set(entry.id, entry);
  const deltas = new LineDeltas();
  const lines: JsonObject[] = [];
  for (let part = 0; part < state.parts; part += 1) {
    for (const line of storedLines(values.get(partKey(part)))) lines.push(deltas.decode(line, (id) => entries.get(id)));
  }
  const waiting = objects(values.get(WAITING));
  return { state, lines: [...lines, ...waiting], waiting: waiting.length, extra: extraLines(values.get(EXTRA)), deltas };
}

/** The lines with those that are no part of the file, in the order in which they were appended. */
export function withExtra({ lines, extra }: Pick<ReadTranscript, "lines" | "extra">): readonly JsonObject[] {
  if (extra.length === 0) return lines;
  const all: JsonObject[] = [];
  let next = 0;
  for (let at = 0; at <= lines.length; at += 1) {
    for (let more = extra[next]; more !== undefined && more[0] <= at; more = extra[++next]) all.push(more[1]);
    const line = lines[at];
    if (line !== undefined) all.push(line);
  }
  return all;
}

/** Encodes lines as their differences from their entries. `owners`: for each, the line of the record in whose entries it is. */
export function encodeLines(
  lines: readonly JsonObject[],
  owners: readonly number[],
  entries: readonly StoredSourceEntry[],
  deltas: LineDeltas,
): readonly StoredLine[] {
  const ofLine = groupBy(entries, ({ line }) => line);
  return lines.map((line, at) => deltas.encode(line, ofLine.get(owners[at] ?? 0) ?? []));
}

function isState(value: unknown): value is TranscriptState {
  return isObject(value) && typeof value["version"] === "number" && typeof value["parts"] === "number" && isObject(value["renamed"]);
}

/** True if a value under `SUMMARY` is a summary of the SDK. */
export function isSummary(value: unknown): value is SessionSummaryEntry {
  return isObject(value) && typeof value["sessionId"] === "string" && typeof value["mtime"] === "number" && isObject(value["data"]);
}

function storedLines(value: unknown): readonly StoredLine[] {
  return objects(value).filter((line): line is JsonObject & StoredLine => "l" in line);
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function extraLines(value: unknown): readonly ExtraLine[] {
  const pairs: readonly unknown[] = Array.isArray(value) ? value : [];
  return pairs.flatMap((pair) => (Array.isArray(pair) && isObject(pair[1]) ? [[Number(pair[0]), pair[1]] as const] : []));
}
