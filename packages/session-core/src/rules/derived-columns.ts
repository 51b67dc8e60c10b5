import { Buffer } from "node:buffer";
import type { Entry, EntryPayload } from "../entry/entry.js";
import { customTypeOf, toEntryKind, toKindNumber } from "../entry/kinds.js";
import type { Message } from "../entry/message.js";
import { toPayloadJson } from "../entry/stored-payload.js";
import { betterTitle, isPrivate, isTyped, previewOf } from "../entry/text.js";
import { type AddedUsage, UsageSums, usageOf } from "../entry/usage.js";
import type { ValidatedEntry } from "../entry/validate.js";
import { InvalidReferenceError } from "../errors/session-errors.js";
import type { EntryId, EntrySeq } from "../ids/ids.js";
import type { EntryFacts, PathEffect, PreparedEntry } from "../port/entry-facts.js";
import { listOperations } from "../tools/file-operations.js";
import type { FileTools } from "../tools/known-tools.js";

// The rules of a path, for every storage engine.

/**
 * The state of a path at its last entry: which compaction, model, thinking level and system message apply there. Each entry
 * stores it, so that neither an append nor a context has to walk the path for it.
 */
export interface PathState {
  readonly entryId: EntryId | null;
  readonly seq: EntrySeq | null;
  /** The number of entries above it; -1 before the first entry. */
  readonly depth: number;
  readonly compactionSeq: EntrySeq | null;
  readonly modelSeq: EntrySeq | null;
  readonly thinkingSeq: EntrySeq | null;
  readonly systemSeq: EntrySeq | null;
}

/** The state of a path that ends at an entry. */
export type EntryPathState = PathState & { readonly entryId: EntryId; readonly seq: EntrySeq };

/** The state before the first entry. */
export const EMPTY_PATH: PathState = {
  entryId: null,
  seq: null,
  depth: -1,
  compactionSeq: null,
  modelSeq: null,
  thinkingSeq: null,
  systemSeq: null,
};

/** Numbers of the kinds of entries that change what applies below them. */
export const SYSTEM = toKindNumber("message", "system");
export const COMPACTION = toKindNumber("compaction", null);
export const EDIT = toKindNumber("context_edit", null);

/** A context_edit of an entry. */
export interface EditOf {
  readonly seq: EntrySeq;
  /** It has no replacement. */
  readonly omits: boolean;
}

/** The facts about the entries of a session that the rules read. */
export interface PathFacts {
  /** The entry with this id, or undefined. */
  find(id: EntryId): EntrySeq | undefined;
  /** True if `ancestor` is `seq` or above it. */
  isOnPath(ancestor: EntrySeq, seq: EntrySeq | null): boolean;
  /** True if the entry is of this kind. */
  isKind(seq: EntrySeq, kind: typeof SYSTEM | typeof COMPACTION): boolean;
  /** The system messages of the session up to `seq`, newest first. */
  systemsUpTo(seq: EntrySeq): readonly EntrySeq[];
  /** The compactions of the session before `seq`, newest first. */
  compactionsBefore(seq: EntrySeq): readonly EntrySeq[];
  /** The edits of an entry, newest first. */
  editsOf(target: EntrySeq): readonly EditOf[];
}

type EditEffect = Extract<PathEffect, { readonly type: "context_edit" }>;

/** The path state at a new entry, and the entry that it refers to: the first kept one or the edited one. */
export interface DerivedState {
  readonly state: EntryPathState;
  readonly targetSeq: EntrySeq | null;
}

/**
 * Computes the path state at a new entry below `parent`.
 *
 * @throws {InvalidReferenceError} the entry refers to an entry that is not on its path or not in its session.
 */
export function derivePathState(facts: PathFacts, parent: PathState, id: string, seq: EntrySeq, effect: PathEffect): DerivedState {
  const { compactionSeq, modelSeq, thinkingSeq, systemSeq } = parent;
  const next = { entryId: id, seq, depth: parent.depth + 1, compactionSeq, modelSeq, thinkingSeq, systemSeq };
  if (typeof effect === "string") return { state: afterSetting(next, effect), targetSeq: null };
  switch (effect.type) {
    case "compaction":
      return { state: { ...next, compactionSeq: seq }, targetSeq: resolveFirstKept(facts, parent, effect.firstKeptEntryId) };
    case "context_edit":
      return derivedFromEdit(facts, parent, next, effect);
    case "branch_summary":
      requireEntry(facts, "fromId", effect.fromId);
      return { state: next, targetSeq: null };
  }
}

function afterSetting(state: EntryPathState, sets: Extract<PathEffect, string>): EntryPathState {
  switch (sets) {
    case "none":
      return state;
    case "model":
      return { ...state, modelSeq: state.seq };
    case "thinking":
      return { ...state, thinkingSeq: state.seq };
    case "system":
      return { ...state, systemSeq: state.seq };
  }
}

function requireEntry(facts: PathFacts, field: string, id: string): EntrySeq {
  const seq = facts.find(id);
  if (seq === undefined) throw new InvalidReferenceError(field, id, "is no entry of this session");
  return seq;
}

function requireEntryOnPath(facts: PathFacts, parent: PathState, field: string, id: string): EntrySeq {
  const seq = requireEntry(facts, field, id);
  if (!facts.isOnPath(seq, parent.seq)) throw new InvalidReferenceError(field, id, "is not on the path of this entry");
  return seq;
}

function resolveFirstKept(facts: PathFacts, parent: PathState, firstKept: EntryId | null): EntrySeq | null {
  return firstKept === null ? null : requireEntryOnPath(facts, parent, "firstKeptEntryId", firstKept);
}

/** Which compaction and system message apply below an edit. */
function derivedFromEdit(facts: PathFacts, parent: PathState, next: EntryPathState, edit: EditEffect): DerivedState {
  const target = requireEntryOnPath(facts, parent, "targetId", edit.targetId);
  const compactionSeq = compactionAfterEdit(facts, parent, target, edit);
  const systemSeq = systemAfterEdit(facts, parent, next.seq, target, edit);
  return { state: { ...next, compactionSeq, systemSeq }, targetSeq: target };
}

/** Returns the newest system message that is not omitted, or the edit that replaces it. */
function systemAfterEdit(facts: PathFacts, parent: PathState, seq: EntrySeq, target: EntrySeq, edit: EditEffect): EntrySeq | null {
  if (parent.seq === null || !facts.isKind(target, SYSTEM)) return parent.systemSeq;
  const isInForce = target === parent.systemSeq || facts.editsOf(target).some((one) => one.seq === parent.systemSeq);
  if (edit.omits && !isInForce) return parent.systemSeq;
  // All after the one in force are omitted.
  for (const system of facts.systemsUpTo(edit.omits ? target : parent.seq)) {
    if (!facts.isOnPath(system, parent.seq)) continue;
    const last = system === target ? { seq, omits: edit.omits } : findLastEdit(facts, system, parent);
    if (last === undefined) return system;
    if (!last.omits) return last.seq;
  }
  return null;
}

/**
 * Returns the compaction in force after an edit. Omitting the one in force restores the newest earlier one that is not
 * omitted; replacing an omitted one restores it. Edits of other entries change nothing.
 */
function compactionAfterEdit(facts: PathFacts, parent: PathState, target: EntrySeq, edit: EditEffect): EntrySeq | null {
  const inForce = parent.compactionSeq;
  if (edit.omits) return target === inForce ? findCompactionBefore(facts, target, parent) : inForce;
  return facts.isKind(target, COMPACTION) && target > (inForce ?? 0) ? target : inForce;
}

// Not the `compactionSeq` of the parent: a compaction omitted at that time may have been restored since.
function findCompactionBefore(facts: PathFacts, compaction: EntrySeq, path: PathState): EntrySeq | null {
  const isInForce = (seq: EntrySeq) => facts.isOnPath(seq, compaction) && findLastEdit(facts, seq, path)?.omits !== true;
  return facts.compactionsBefore(compaction).find(isInForce) ?? null;
}

/** Returns the last edit of an entry on the path of `path`. */
function findLastEdit(facts: PathFacts, target: EntrySeq, path: PathState): EditOf | undefined {
  return facts.editsOf(target).find(({ seq }) => facts.isOnPath(seq, path.seq));
}

/** The longest custom type that is indexed, in UTF-16 code units. */
const MAX_LENGTH = 500;

/** Returns a custom type as it is stored in `entry.custom_type`: null if it is too long for an index. */
export function toStoredCustomType(customType: unknown): string | null {
  return typeof customType === "string" && customType.length <= MAX_LENGTH ? customType.toWellFormed() : null;
}

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

/** Columns of an entry, as both engines have them. */
export interface DerivedColumns {
  readonly seq: EntrySeq;
  readonly id: EntryId;
  readonly parent_seq: EntrySeq | null;
  readonly compaction_seq: EntrySeq | null;
  readonly target_seq: EntrySeq | null;
  readonly model_seq: EntrySeq | null;
  readonly thinking_seq: EntrySeq | null;
  readonly system_seq: EntrySeq | null;
  readonly kind: number;
  readonly depth: number;
  readonly created_at_ms: number;
  readonly call_id: string | null;
  readonly payload_bytes: number;
  readonly preview: string;
  readonly custom_type: string | null;
  readonly origin: string | null;
}

/** The columns of an entry that follow from its payload and its place in the tree. */
export function entryColumns(
  facts: EntryFacts,
  { createdAtMs, origin }: Pick<WritableEntry, "createdAtMs" | "origin">,
  { state, targetSeq }: DerivedState,
  parentSeq: EntrySeq | null,
): DerivedColumns {
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
  return typeof effect !== "string" && effect.type === "context_edit" && effect.omits;
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

/** The increments of a session's counts by new entries. */
export interface AddedCounts {
  readonly entries: number;
  readonly messages: number;
  readonly bytes: number;
  /** The time of the newest message; 0: there is none. */
  readonly activeAt: number;
  /** The best title among the first entries of a path; null: none that is new. */
  readonly firstText: string | null;
  /** The first text that was typed further down; a title if there is no other. */
  readonly laterText: string | null;
}

/** The increments of a session's totals by new entries. */
export interface AddedTotals {
  readonly counts: AddedCounts;
  /** The number of new entries by kind. */
  readonly kinds: ReadonlyMap<number, number>;
  /** One for each model. */
  readonly usage: readonly AddedUsage[];
}

/** The depth from which a text does not replace the first text, which is shown for a missing title. So most appends read no title. */
const TITLE_DEPTH = 64;

const NOTHING: AddedCounts = { entries: 0, messages: 0, bytes: 0, activeAt: 0, firstText: null, laterText: null };

/** Collects the increments of a session's totals by new entries: counts, also by kind, size, last activity and token usage. */
export class EntryTotals {
  #counts: { -readonly [K in keyof AddedCounts]: AddedCounts[K] } = { ...NOTHING };
  #kinds = new Map<number, number>();
  #usage = new UsageSums();

  /** `depth`: the number of entries above it. */
  add({ kind, preview, payloadBytes, usage, isTyped }: EntryFacts, createdAtMs: number, depth: number): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    const { role } = toEntryKind(kind);
    const counts = this.#counts;
    counts.entries += 1;
    counts.bytes += payloadBytes;
    if (role === "user" || role === "assistant") {
      counts.messages += 1;
      // Only conversation counts as activity, so that labels and settings do not reorder lists.
      counts.activeAt = Math.max(counts.activeAt, createdAtMs);
    }
    if (isTyped) {
      if (depth < TITLE_DEPTH) counts.firstText = betterTitle(counts.firstText, preview);
      else counts.laterText ??= preview === "" ? null : preview;
    }
    if (usage !== undefined) this.#usage.add(usage);
  }

  /** Returns the collected totals, and resets them to zero. */
  take(): AddedTotals {
    const taken = { counts: this.#counts, kinds: this.#kinds, usage: this.#usage.list() };
    this.#counts = { ...NOTHING };
    this.#kinds = new Map();
    this.#usage = new UsageSums();
    return taken;
  }
}

/** Returns the text to store as the first text: the better one of the stored and the new text; null: none is new. */
export function chooseFirstText({ firstText }: AddedCounts, stored: () => string | null): string | null {
  return firstText === null ? null : betterTitle(stored(), firstText);
}

/** The counts of kinds as counts of types, in the order of their names. */
export function sumTypes(kinds: readonly { readonly kind: number; readonly count: number }[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, count } of kinds) {
    const { type } = toEntryKind(kind);
    counts.set(type, (counts.get(type) ?? 0) + count);
  }
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The inputs of the facts of an entry beside the entry. */
export interface FactsContext {
  /** The directory of the session, by which paths in previews are shortened; null: unknown. Asked for only if an entry has calls. */
  readonly directory: string | null;
  /** The tools of the host that touch files. */
  readonly fileTools: FileTools;
}

/** Computes the facts of an entry. Cost: a pass over its text. */
export function factsOf({ payload, payloadJson }: Pick<WritableEntry, "payload" | "payloadJson">, context: FactsContext): EntryFacts {
  const message = payload.type === "message" ? payload.message : undefined;
  const role = message?.role ?? null;
  const customType = customTypeOf(payload);
  // Only the previews of replies depend on the directory.
  const preview = role === "assistant" ? previewOf(payload, context.directory) : previewOf(payload);
  return {
    effect: effectOf(payload),
    kind: toKindNumber(payload.type, role),
    callId: message?.role === "toolResult" ? message.toolCallId : null,
    isError: message?.role === "toolResult" && message.isError,
    isPrivate: isPrivate(payload),
    payloadBytes: Buffer.byteLength(payloadJson),
    customType: toStoredCustomType(customType),
    preview,
    isTyped: isTyped({ role, customType, preview }),
    usage: usageOf(payload),
    operations: message === undefined || message.role === "user" ? [] : listOperations(message, context.fileTools),
  };
}

/** The facts of an entry. Those that another thread has derived are taken if it knew the directory and the host's tools. */
export function factsOfImported(
  entry: { readonly payload: EntryPayload; readonly prepared?: PreparedEntry | undefined },
  payloadJson: string,
  context: FactsContext,
): EntryFacts {
  const derived = entry.prepared?.derived;
  if (derived !== undefined && derived.directory === context.directory && Object.keys(context.fileTools).length === 0) return derived.facts;
  return factsOf({ payload: entry.payload, payloadJson }, context);
}

function effectOf(payload: EntryPayload): PathEffect {
  switch (payload.type) {
    case "message":
      return effectOfMessage(payload.message);
    case "compaction":
      return { type: payload.type, firstKeptEntryId: payload.firstKeptEntryId };
    case "branch_summary":
      return payload.fromId === null ? "none" : { type: payload.type, fromId: payload.fromId };
    case "context_edit":
      return { type: payload.type, targetId: payload.targetId, omits: payload.replacement === null };
    case "model_change":
      return "model";
    case "thinking_level_change":
      return "thinking";
    case "custom_message":
    case "custom":
    case "foreign":
      return "none";
  }
}

// A reply that names its model sets the model, as a model_change does, so that imported sessions without a model_change have one.
function effectOfMessage(message: Message): PathEffect {
  if (message.role === "system") return "system";
  return message.role === "assistant" && message.model !== undefined ? "model" : "none";
}
