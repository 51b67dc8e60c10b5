import type { EntryPayload, EntryType } from "../../entry/entry.js";
import { isObject } from "../../entry/json.js";
import { contentKey, type EntryReference } from "../../entry/origins.js";
import { type PayloadTexts, toPayloadTexts } from "../../entry/stored-payload.js";
import { InvalidEntryError, TooLargeError, UnserializableValueError } from "../../errors/session-errors.js";
import { type EntryId, isId } from "../../ids/ids.js";
import type { DerivedEntry, EntryFacts, PathEffect, PreparedEntry } from "../../port/entry-facts.js";
import type { SourceEntry, SourceRecord } from "../../port/source.js";
import type { Validate } from "../batch-writer.js";
import { factsOf } from "../derived-columns.js";
import type { ImportedEntry } from "./import-target.js";

/**
 * An entry as the thread that reads a file hands it to the one that writes: the members of its record, its payload as text, and what the store
 * derives from it. A message copies lists of values in a quarter of the time that objects with the same members take.
 */
export type PreparedRow = readonly [
  payloadJson: string,
  line: number,
  id: EntryId,
  parentId: EntryId | null,
  createdAtMs: number,
  formerId: EntryId | undefined,
  origin: EntryReference | undefined,
  type: EntryType,
  derived: DerivedRow | undefined,
];

/** A `DerivedEntry` without its directory. */
export type DerivedRow = readonly [
  origin: string | undefined,
  effect: PathEffect,
  kind: number,
  callId: string | null,
  isError: boolean,
  isPrivate: boolean,
  payloadBytes: number,
  customType: string | null,
  preview: string,
  isTyped: boolean,
  usage: EntryFacts["usage"],
  operations: EntryFacts["operations"],
];

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
): SourceRecord | PreparedRow {
  if (record.kind !== "entry") return record;
  try {
    const { payload } = validate(record.payload);
    const texts = textsOf(record, payload);
    const derived = session && derivedRow(record, payload, texts, session.directory);
    const { line, id, parentId, createdAtMs, formerId, origin } = record;
    return [texts.payloadJson, line, id, parentId, createdAtMs, formerId, origin, payload.type, derived];
  } catch (error) {
    // The import meets the same error, and reports it.
    if (error instanceof InvalidEntryError || error instanceof UnserializableValueError || error instanceof TooLargeError) return record;
    throw error;
  }
}

function textsOf(record: SourceEntry, payload: EntryPayload): PayloadTexts {
  // A payload that was changed by the validation has another text.
  const payloadJson = payload === record.payload ? record.payloadJson : undefined;
  return payloadJson === undefined ? toPayloadTexts(payload) : { payloadJson, contentJson: undefined };
}

function derivedRow(record: SourceEntry, payload: EntryPayload, texts: PayloadTexts, directory: string | null): DerivedRow {
  const { payloadJson, contentJson } = texts;
  const origin = hasReference(record) ? undefined : contentKey(payload, record.createdAtMs, record.id, contentJson);
  const facts = factsOf({ payload, payloadJson }, { directory, fileTools: {} });
  const { effect, kind, callId, isError, isPrivate, payloadBytes, customType, preview, isTyped, usage, operations } = facts;
  return [origin, effect, kind, callId, isError, isPrivate, payloadBytes, customType, preview, isTyped, usage, operations];
}

function toDerived(row: DerivedRow, directory: string | null): DerivedEntry {
  const [origin, effect, kind, callId, isError, isPrivate, payloadBytes, customType, preview, isTyped, usage, operations] = row;
  const facts = { effect, kind, callId, isError, isPrivate, payloadBytes, customType, preview, isTyped, usage, operations };
  return { origin, facts, directory };
}

/** True if a record names the entry of which it is a copy, by ids that a store accepts. */
export function hasReference({ origin }: SourceEntry): boolean {
  return origin !== undefined && isId(origin.sessionId) && isId(origin.entryId);
}

/**
 * The record of a prepared entry, whose payload is parsed when it is read: the counterpart of `prepareRecord`, in the thread that writes. Any
 * other record is returned as it is. `directory`: as in `prepareRecord`.
 */
export function toRecord(prepared: SourceRecord | PreparedRow, directory: string | null): SourceRecord {
  return isRow(prepared) ? new PreparedRecord(prepared, directory) : prepared;
}

function isRow(prepared: SourceRecord | PreparedRow): prepared is PreparedRow {
  return Array.isArray(prepared);
}

/** The length that counts for an entry without a JSON text: one that is not valid. */
const INVALID_LENGTH = 1 << 14;

/** The characters of a record's JSON text. */
export function textLength(prepared: SourceRecord | PreparedRow): number {
  if (isRow(prepared)) return prepared[0].length;
  return prepared.kind === "entry" ? INVALID_LENGTH : 0;
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

  constructor([payloadJson, line, id, parentId, createdAtMs, formerId, origin, type, derived]: PreparedRow, directory: string | null) {
    this.line = line;
    this.id = id;
    this.parentId = parentId;
    this.formerId = formerId;
    this.createdAtMs = createdAtMs;
    this.origin = origin;
    this.prepared = { type, payloadJson, derived: derived && toDerived(derived, directory) };
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
