import type { Entry, EntryPayload } from "../entry/entry.js";
import { jsonText } from "../entry/json.js";
import { isSameJson } from "../entry/same-json.js";
import type { ValidatedEntry } from "../entry/validate.js";
import { EntryConflictError } from "../errors/session-errors.js";
import type { EntryId, SessionId } from "../ids/ids.js";
import type { EntryFacts } from "../port/entry-facts.js";
import type { EntrySeq } from "../port/rows.js";
import type { DerivedState, PathState } from "./path-rules.js";

/** A validated and serialized entry. */
export interface WritableEntry {
  readonly payload: EntryPayload;
  /** The JSON text of the payload without its type, which has a column of its own. */
  readonly payloadJson: string;
  readonly createdAtMs: number;
  /** 1 for a copy: the original counts. */
  readonly inherited: 0 | 1;
  /** See entry/origins.ts. */
  readonly origin: string | null;
}

/** Serializes a validated entry; without a time it gets the present one. */
export function toWritable({
  payload,
  createdAtMs = Date.now(),
  payloadJson = toPayloadJson(payload),
  origin,
}: ValidatedEntry): WritableEntry {
  return { payload, payloadJson, createdAtMs, inherited: 0, origin: origin ?? null };
}

/** Serializes a payload without its `type`, which has a column of its own. */
export function toPayloadJson(payload: EntryPayload): string {
  // The type usually comes first; removing it from the text is cheaper than copying the payload without it.
  if (firstMember(payload) === "type") return `{${jsonText(payload, "The entry").slice(`{"type":"${payload.type}",`.length)}`;
  const { type: _type, ...rest } = payload;
  return jsonText(rest, "The entry");
}

function firstMember(object: object): string | undefined {
  for (const name in object) return name;
  return undefined;
}

/** The columns of an entry that follow from its payload and its place in the tree. */
export function entryColumns<S extends number = EntrySeq>(
  facts: EntryFacts,
  { createdAtMs, origin }: Pick<WritableEntry, "createdAtMs" | "origin">,
  { state, targetSeq }: DerivedState<S>,
  parentSeq: S | null,
) {
  return {
    seq: state.seq,
    id: state.entryId,
    parent_seq: parentSeq,
    kind: facts.kind,
    depth: state.depth,
    created_at_ms: createdAtMs,
    compaction_seq: state.compactionSeq,
    target_seq: targetSeq,
    model_seq: state.modelSeq,
    thinking_seq: state.thinkingSeq,
    system_seq: state.systemSeq,
    call_id: facts.callId,
    payload_bytes: facts.payloadBytes,
    preview: facts.preview,
    custom_type: facts.customType,
    origin,
  };
}

/** True for a context_edit without a replacement. */
export function omits({ effect }: EntryFacts): boolean {
  return effect.type === "context_edit" && effect.omits;
}

/** The fields of an existing entry that an append compares. */
export interface ExistingEntry<S extends number> {
  readonly type: EntryPayload["type"];
  /** Its payload without the type. */
  readonly json: string;
  readonly parentSeq: S | null;
}

/**
 * Throws unless an entry equals the existing one of its id; with `parent`, unless that is also below this one.
 *
 * @throws {EntryConflictError} it differs.
 */
export function requireSameEntry<S extends number>(
  session: SessionId,
  { id = "", payload, payloadJson }: ValidatedEntry,
  existing: ExistingEntry<S>,
  parent?: PathState<S>,
): void {
  if (existing.type !== payload.type || !isSameJson(existing.json, payloadJson ?? toPayloadJson(payload)))
    throw new EntryConflictError(session, id, "with other content");
  if (parent !== undefined && parent.seq !== existing.parentSeq)
    throw new EntryConflictError(session, id, `that is not ${parent.entryId === null ? "a first entry" : `below ${parent.entryId}`}`);
}

/** The columns of an entry beside its payload. */
export interface EntryColumns {
  readonly id: EntryId;
  readonly seq: number;
  readonly parent_id: EntryId | null;
  readonly created_at_ms: number;
}

/** The entry of a row with this payload. */
export function entryOf(row: EntryColumns, payload: EntryPayload): Entry {
  const columns = { id: row.id, seq: row.seq, parentId: row.parent_id, createdAtMs: row.created_at_ms };
  // Spread, because an assignment to a member named __proto__ would set the prototype. The columns come first in the order of the
  // members, and win over members of the payload with the same names, which a file that was imported may have.
  return { ...columns, ...payload, ...columns };
}
