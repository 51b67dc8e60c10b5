import type { ImportProblem, SessionId } from "@bough/session-core";
import { isObject, type JsonObject, numberAt, objectAt, parseJsonObject } from "@bough/session-core/wire";

/** A message or a part of opencode, as it lies in a store. */
export interface StoredRecord {
  /** The name of the file, or the key of the row. */
  readonly id: string;
  /** undefined: it is no JSON object. */
  readonly value: JsonObject | undefined;
  readonly problem: ImportProblem | undefined;
}

/** A place where opencode keeps messages and parts: files, a database, or one exported session. */
export interface MessageStore {
  /** The messages of a session in order of time. */
  messages(session: SessionId): Iterable<StoredRecord>;
  /** The parts of a message in their order. */
  parts(message: StoredRecord): Iterable<StoredRecord>;
  /** Returns the time of the last write of a session, in milliseconds since 1970; undefined: not known. */
  changedAtMs?(session: SessionId): number | undefined;
}

/** A record from its JSON text. `place` names it in the message of a problem, in a file with several records. */
export function toStoredRecord(id: string, text: unknown, path: string, place?: string): StoredRecord {
  const value = typeof text === "string" ? parseJsonObject(text) : undefined;
  if (value !== undefined) return { id, value, problem: undefined };
  const message = `${place === undefined ? "" : `${place}: `}no JSON object; the record was left out`;
  return { id, value, problem: { code: "malformed-line", path, line: null, message } };
}

/** The parts that lie in the record of their message; undefined: they lie elsewhere. */
export function inlineParts({ id, value }: StoredRecord): readonly StoredRecord[] | undefined {
  const parts = value?.parts;
  if (!Array.isArray(parts)) return undefined;
  return parts.filter(isObject).map((part, at) => ({ id: `${id}:${at}`, value: part, problem: undefined }));
}

/** Messages in opencode's order: by the time of their creation, then by id. */
export function inOrder(messages: readonly StoredRecord[]): readonly StoredRecord[] {
  const timeOf = ({ value }: StoredRecord) => numberAt(objectAt(value ?? {}, "time") ?? {}, "created") ?? Number.POSITIVE_INFINITY;
  const timed = messages.map((record) => ({ record, time: timeOf(record) }));
  const sorted = timed.sort((a, b) => (a.time === b.time ? (a.record.id < b.record.id ? -1 : 1) : a.time - b.time));
  return sorted.map(({ record }) => record);
}
