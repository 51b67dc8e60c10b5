import { toKindNumber } from "../entry/kinds.js";
import { InvalidReferenceError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";
import type { PathEffect } from "../port/entry-facts.js";
import type { LeafState } from "../port/records.js";
import type { EntrySeq } from "../port/rows.js";

// The rules of a path, for every storage engine. `S`: the numbers of entries in order of arrival, as an engine types them.

/**
 * The state of a path at its last entry: which compaction, model, thinking level and system message apply there. Each entry
 * stores it, so that neither an append nor a context has to walk the path for it.
 */
export interface PathState<S extends number = EntrySeq> extends LeafState {
  readonly entryId: EntryId | null;
  readonly seq: S | null;
  /** The number of entries above it; -1 before the first entry. */
  readonly depth: number;
  readonly compactionSeq: S | null;
  readonly modelSeq: S | null;
  readonly thinkingSeq: S | null;
  readonly systemSeq: S | null;
}

/** The state of a path that ends at an entry. */
export type EntryPathState<S extends number = EntrySeq> = PathState<S> & { readonly entryId: EntryId; readonly seq: S };

/** The state before the first entry. */
export const EMPTY_PATH: PathState<never> = {
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
export interface EditOf<S extends number> {
  readonly seq: S;
  /** It has no replacement. */
  readonly omits: boolean;
}

/** The facts about the entries of a session that the rules read. */
export interface PathFacts<S extends number> {
  /** The entry with this id, or undefined. */
  find(id: EntryId): S | undefined;
  /** True if `ancestor` is `seq` or above it. */
  isOnPath(ancestor: S, seq: S | null): boolean;
  /** True if the entry is of this kind. */
  isKind(seq: S, kind: typeof SYSTEM | typeof COMPACTION): boolean;
  /** The system messages of the session up to `seq`, newest first. */
  systemsUpTo(seq: S): readonly S[];
  /** The compactions of the session before `seq`, newest first. */
  compactionsBefore(seq: S): readonly S[];
  /** The edits of an entry, newest first. */
  editsOf(target: S): readonly EditOf<S>[];
}

type EffectOf<T extends PathEffect["type"]> = Extract<PathEffect, { readonly type: T }>;

/** The path state at a new entry, and the entry that it refers to: the first kept one or the edited one. */
export interface DerivedState<S extends number = EntrySeq> {
  readonly state: EntryPathState<S>;
  readonly targetSeq: S | null;
}

/**
 * Computes the path state at a new entry below `parent`.
 *
 * @throws {InvalidReferenceError} the entry refers to an entry that is not on its path or not in its session.
 */
export function derivePathState<S extends number>(
  facts: PathFacts<S>,
  parent: PathState<S>,
  id: string,
  seq: S,
  effect: PathEffect,
): DerivedState<S> {
  const { compactionSeq, modelSeq, thinkingSeq, systemSeq } = parent;
  const next = { entryId: id, seq, depth: parent.depth + 1, compactionSeq, modelSeq, thinkingSeq, systemSeq };
  switch (effect.type) {
    case "message":
      return { state: afterMessage(next, effect), targetSeq: null };
    case "compaction":
      return { state: { ...next, compactionSeq: seq }, targetSeq: resolveFirstKept(facts, parent, effect.firstKeptEntryId) };
    case "context_edit":
      return derivedFromEdit(facts, parent, next, effect);
    case "model_change":
      return { state: { ...next, modelSeq: seq }, targetSeq: null };
    case "thinking_level_change":
      return { state: { ...next, thinkingSeq: seq }, targetSeq: null };
    case "branch_summary":
      if (effect.fromId !== null) requireEntry(facts, "fromId", effect.fromId);
      return { state: next, targetSeq: null };
    case "custom_message":
    case "custom":
    case "foreign":
      return { state: next, targetSeq: null };
  }
}

// A reply that names its model sets the model, as a model_change does, so that imported sessions without a model_change have one.
function afterMessage<S extends number>(state: EntryPathState<S>, { role, namesModel }: EffectOf<"message">): EntryPathState<S> {
  if (role === "system") return { ...state, systemSeq: state.seq };
  return namesModel ? { ...state, modelSeq: state.seq } : state;
}

function requireEntry<S extends number>(facts: PathFacts<S>, field: string, id: string): S {
  const seq = facts.find(id);
  if (seq === undefined) throw new InvalidReferenceError(field, id, "is no entry of this session");
  return seq;
}

function requireEntryOnPath<S extends number>(facts: PathFacts<S>, parent: PathState<S>, field: string, id: string): S {
  const seq = requireEntry(facts, field, id);
  if (!facts.isOnPath(seq, parent.seq)) throw new InvalidReferenceError(field, id, "is not on the path of this entry");
  return seq;
}

function resolveFirstKept<S extends number>(facts: PathFacts<S>, parent: PathState<S>, firstKept: EntryId | null): S | null {
  return firstKept === null ? null : requireEntryOnPath(facts, parent, "firstKeptEntryId", firstKept);
}

/** Which compaction and system message apply below an edit. */
function derivedFromEdit<S extends number>(
  facts: PathFacts<S>,
  parent: PathState<S>,
  next: EntryPathState<S>,
  edit: EffectOf<"context_edit">,
): DerivedState<S> {
  const target = requireEntryOnPath(facts, parent, "targetId", edit.targetId);
  const compactionSeq = compactionAfterEdit(facts, parent, target, edit);
  const systemSeq = systemAfterEdit(facts, parent, next.seq, target, edit);
  return { state: { ...next, compactionSeq, systemSeq }, targetSeq: target };
}

/** Returns the newest system message that is not omitted, or the edit that replaces it. */
function systemAfterEdit<S extends number>(
  facts: PathFacts<S>,
  parent: PathState<S>,
  seq: S,
  target: S,
  edit: EffectOf<"context_edit">,
): S | null {
  if (parent.seq === null || !facts.isKind(target, SYSTEM)) return parent.systemSeq;
  for (const system of facts.systemsUpTo(parent.seq)) {
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
function compactionAfterEdit<S extends number>(
  facts: PathFacts<S>,
  parent: PathState<S>,
  target: S,
  edit: EffectOf<"context_edit">,
): S | null {
  const inForce = parent.compactionSeq;
  if (edit.omits) return target === inForce ? findCompactionBefore(facts, target, parent) : inForce;
  return facts.isKind(target, COMPACTION) && target > (inForce ?? 0) ? target : inForce;
}

// Not the `compactionSeq` of the parent: a compaction omitted at that time may have been restored since.
function findCompactionBefore<S extends number>(facts: PathFacts<S>, compaction: S, path: PathState<S>): S | null {
  const isInForce = (seq: S) => facts.isOnPath(seq, compaction) && findLastEdit(facts, seq, path)?.omits !== true;
  return facts.compactionsBefore(compaction).find(isInForce) ?? null;
}

/** Returns the last edit of an entry on the path of `path`. */
function findLastEdit<S extends number>(facts: PathFacts<S>, target: S, path: PathState<S>): EditOf<S> | undefined {
  return facts.editsOf(target).find(({ seq }) => facts.isOnPath(seq, path.seq));
}
