import type { EntryPayload } from "../../entry/entry.js";
import { isObject } from "../../entry/json.js";
import { contentKey, type EntryReference } from "../../entry/origins.js";
import { InvalidEntryError, TooLargeError, UnserializableValueError } from "../../errors/session-errors.js";
import { type EntryId, isId } from "../../ids/ids.js";
import type { DerivedEntry, PreparedEntry } from "../../port/entry-facts.js";
import type { SourceEntry, SourceRecord } from "../../port/source.js";
import type { Validate } from "../batch-writer.js";
import { factsOf, toPayloadJson, type WritableEntry } from "../derived-columns.js";
import type { ImportedEntry } from "./import-target.js";

/**
 * Prepares an entry for the thread that writes: validates it, writes its payload as text, and derives the columns and the key that the import
 * stores; half of the work of an import. Any other record, and an entry that is not valid, is returned as it is.
 *
 * @param session The session with its directory (null: unknown). undefined: nothing is derived; the writing thread parses the text and derives it.
 */
export function prepareRecord(
  record: SourceRecord,
  validate: Validate,
  session: { readonly directory: string | null } | undefined,
): SourceRecord {
  if (record.kind !== "entry") return record;
  try {
    const { payload } = validate(record.payload);
    // A payload that was changed by the validation has another text.
    const payloadJson = (payload === record.payload ? record.payloadJson : undefined) ?? toPayloadJson(payload);
    const derived = session && derivedOf(record, { payload, payloadJson }, session.directory);
    return preparedRecord(record, { type: payload.type, payloadJson, derived });
  } catch (error) {
    // The import meets the same error, and reports it.
    if (error instanceof InvalidEntryError || error instanceof UnserializableValueError || error instanceof TooLargeError) return record;
    throw error;
  }
}

function derivedOf(record: SourceEntry, entry: Pick<WritableEntry, "payload" | "payloadJson">, directory: string | null): DerivedEntry {
  const origin = hasReference(record) ? undefined : contentKey(entry.payload, record.createdAtMs, record.id);
  return { origin, facts: factsOf(entry, { directory, fileTools: {} }), directory };
}

/** The record without its payload. Only the members that it has: each takes time in the message to the thread that writes. */
function preparedRecord({ line, id, parentId, createdAtMs, formerId, origin }: SourceEntry, prepared: PreparedEntry): SourceEntry {
  const record = { kind: "entry", line, id, parentId, createdAtMs, payload: undefined, prepared } as const;
  return formerId === undefined && origin === undefined ? record : { ...record, formerId, origin };
}

/** True if a record names the entry of which it is a copy, by ids that a store accepts. */
export function hasReference({ origin }: SourceEntry): boolean {
  return origin !== undefined && isId(origin.sessionId) && isId(origin.entryId);
}

/** A prepared record whose payload is parsed when it is read: the counterpart of `prepareRecord`, in the thread that writes. */
export function withPayloadOnDemand(record: SourceRecord): SourceRecord {
  if (record.kind !== "entry" || record.prepared === undefined) return record;
  return new PreparedRecord(record, record.prepared);
}

// A class: an accessor of its own in each object takes several times as long to make.
class PreparedRecord implements SourceEntry {
  readonly kind = "entry";
  readonly line: number;
  readonly id: EntryId;
  readonly parentId: EntryId | null;
  readonly formerId: EntryId | undefined;
  readonly createdAtMs: number;
  readonly origin: EntryReference | undefined;
  readonly prepared: PreparedEntry;

  constructor({ line, id, parentId, formerId, createdAtMs, origin }: SourceEntry, prepared: PreparedEntry) {
    this.line = line;
    this.id = id;
    this.parentId = parentId;
    this.formerId = formerId;
    this.createdAtMs = createdAtMs;
    this.origin = origin;
    this.prepared = prepared;
  }

  get payload(): EntryPayload {
    return payloadOf(this.prepared);
  }
}

/** The payload of a prepared entry. Cost: its text is parsed. */
function payloadOf({ type, payloadJson }: PreparedEntry): EntryPayload {
  // Bytes stay encoded, as in a validated payload.
  const columns: unknown = JSON.parse(payloadJson);
  const payload: unknown = { type, ...(isObject(columns) ? columns : {}) };
  // `prepareRecord` wrote this text from a valid payload of this type.
  return payload as EntryPayload;
}

/** The validated form of a record that another thread has prepared. */
export class PreparedImport implements ImportedEntry {
  readonly id: EntryId;
  readonly createdAtMs: number;
  readonly origin: string | undefined;
  readonly prepared: PreparedEntry;
  #payload: EntryPayload | undefined;

  /** `reference`: the origin that the record names. */
  constructor(record: SourceEntry, prepared: PreparedEntry, createdAtMs: number, reference: string | undefined) {
    this.id = record.id;
    this.createdAtMs = createdAtMs;
    this.prepared = prepared;
    const { derived } = prepared;
    this.origin = reference ?? (derived === undefined ? contentKey(this.payload, record.createdAtMs, record.id) : derived.origin);
  }

  get payload(): EntryPayload {
    this.#payload ??= payloadOf(this.prepared);
    return this.#payload;
  }

  get payloadJson(): string {
    return this.prepared.payloadJson;
  }
}

/** The entry with another id. Not a spread: the payload of a prepared entry is an accessor of its class. */
export function withId({ createdAtMs, origin, payload, payloadJson }: ImportedEntry, id: EntryId): ImportedEntry {
  return { id, createdAtMs, origin, payload, payloadJson };
}

/** The entry with another payload, of which nothing is known. */
export function withPayload({ id, createdAtMs, origin }: ImportedEntry, payload: EntryPayload): ImportedEntry {
  return { id, createdAtMs, origin, payload };
}
