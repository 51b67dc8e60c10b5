import type { EntryPayload } from "../entry/entry.js";
import { parseJsonObject } from "../entry/json.js";
import { toEntryKind } from "../entry/kinds.js";
import { validateEntry } from "../entry/validate.js";
import { InvalidCopyError } from "../errors/copy-errors.js";
import { InvalidEntryError, InvalidReferenceError, UnserializableValueError } from "../errors/session-errors.js";
import { type EntryId, type EntrySeq, type SessionId, toEntrySeq } from "../ids/ids.js";
import type { PathEffect } from "../port/entry-facts.js";
import { MAIN_LEAF } from "../port/records.js";
import type { CopiedEntry, CopiedPart, CopiedState, SessionCopies } from "../port/session-copy.js";
import {
  COMPACTION,
  type DerivedState,
  derivePathState,
  EDIT,
  type EditOf,
  EMPTY_PATH,
  type EntryPathState,
  factsOf,
  omits,
  type PathFacts,
  SYSTEM,
} from "./derived-columns.js";
import { encodeValue } from "./values.js";

/**
 * A door into a store for sessions that another program sends: a part is written only if it is one that a store can have. All that
 * follows from payloads and parents is computed again and compared; token counts and marks of copies are left out, because the store
 * computes them itself. The first lines of a session that are in the store already are read once.
 *
 * `write` throws what that of `target` throws, and {InvalidCopyError}; nothing of the part was written then.
 */
export function judgedCopies(target: SessionCopies): SessionCopies {
  const judges = new Map<SessionId, CopyJudge>();
  return {
    state: (key) => target.state(key),
    entries: (key, after, upTo) => target.entries(key, after, upTo),
    async write(part) {
      const { state, into, isLast } = part;
      const { id, entryCount } = state.session;
      judgeState(state);
      if (into !== undefined && into.row.id !== id) throw new InvalidCopyError(id, "its parts are of two sessions");
      const judge = await judgeAt(target, judges.get(id), part);
      // Kept only after a part was written: a failed one begins anew.
      judges.delete(id);
      const entries = part.entries.map((entry) => judge.accept(entry));
      if (isLast && judge.count !== entryCount) throw new InvalidCopyError(id, `it has ${judge.count} entries, not ${entryCount}`);
      const row = await target.write({ ...part, entries });
      if (!isLast) judges.set(id, judge);
      return row;
    },
  };
}

/** The judge of a session that knows the entries that are there. */
async function judgeAt(target: SessionCopies, judge: CopyJudge | undefined, { state, into }: CopiedPart): Promise<CopyJudge> {
  const known = into?.entries ?? 0;
  if (judge?.count === known) return judge;
  const fresh = new CopyJudge(state.session.id, state.session.cwd);
  while (into !== undefined && fresh.count < known) {
    const entries = await target.entries(into.row, fresh.count, known);
    if (entries.length === 0) break;
    for (const entry of entries) fresh.learn(entry);
  }
  return fresh;
}

/** Checks that the places in a state are places of the session, and that its names and keys are there once. @throws {InvalidCopyError} */
function judgeState({ row, session, leaves, moves, labels, values }: CopiedState): void {
  const refuse: Refuse = (reason) => {
    throw new InvalidCopyError(session.id, reason);
  };
  const isThere = (at: number | null) => at === null || at <= session.entryCount;
  if (row.id !== session.id) refuse("it has two ids");
  if (new Set(leaves.map(({ name }) => name)).size < leaves.length) refuse("two leaves have one name");
  if (!leaves.some(({ name }) => name === MAIN_LEAF)) refuse("it has no leaf main");
  if (!leaves.every(({ at }) => isThere(at))) refuse("a leaf is at no entry");
  if (!moves.every(({ from, to, resume }) => [from, to, resume].every(isThere))) refuse("a move is between no entries");
  if (!labels.every(({ at }) => isThere(at)) || new Set(labels.map(({ at }) => at)).size < labels.length) refuse("a label is at no entry");
  if (new Set(values.map(({ key }) => key)).size < values.length) refuse("two values have one key");
  for (const { key, json } of values) encodeValue(key, JSON.parse(json));
}

/** Judges the entries of a session in order of arrival, and keeps what the next ones are compared with: some 300 bytes for each. */
class CopyJudge implements PathFacts {
  readonly #id: SessionId;
  readonly #directory: string | null;
  readonly #places = new Map<EntryId, EntrySeq>();
  readonly #states: EntryPathState[] = [];
  readonly #kinds: number[] = [];
  readonly #parents: (number | null)[] = [];
  /** For each entry one far above it, so that a walk to an ancestor takes few steps however long the path is. */
  readonly #jumps: (number | null)[] = [];
  readonly #systems: EntrySeq[] = [];
  readonly #compactions: EntrySeq[] = [];
  readonly #edits = new Map<number, EditOf[]>();

  constructor(id: SessionId, directory: string | null) {
    this.#id = id;
    this.#directory = directory;
  }

  /** The number of entries so far. */
  get count(): number {
    return this.#states.length;
  }

  /** Takes an entry that is in the store already. */
  learn(entry: CopiedEntry): void {
    this.#keep(entry);
  }

  /** Returns the entry as it may be written. @throws {InvalidCopyError} no store has such an entry at this place. */
  accept(entry: CopiedEntry): CopiedEntry {
    const at = this.count + 1;
    const refuse: Refuse = (reason) => {
      throw new InvalidCopyError(this.#id, `entry ${at}: ${reason}`);
    };
    if (entry.place !== at) refuse(`it has the place ${entry.place}`);
    if (this.#places.has(entry.id)) refuse("its id is that of another entry");
    if (entry.parent !== null && entry.parent >= at) refuse("its parent is not older");
    const facts = factsOf({ payload: payloadOf(entry, refuse), payloadJson: entry.payload }, { directory: this.#directory, fileTools: {} });
    if (facts.kind !== entry.kind) refuse("it is of another kind than its payload");
    if (facts.callId !== entry.callId || facts.isError !== entry.isError || omits(facts) !== entry.omits)
      refuse("what is stored beside its payload is not what that says");
    const { state, targetSeq } = this.#derive(entry, facts.effect, refuse);
    if (
      state.depth !== entry.depth ||
      state.compactionSeq !== entry.compaction ||
      state.modelSeq !== entry.model ||
      state.thinkingSeq !== entry.thinking ||
      state.systemSeq !== entry.system ||
      targetSeq !== entry.target
    )
      refuse("what applies at its place is not what its path says");
    this.#keep(entry);
    return { ...entry, inherited: false, tokens: [] };
  }

  #derive(entry: CopiedEntry, effect: PathEffect, refuse: Refuse): DerivedState {
    const parent = entry.parent === null ? EMPTY_PATH : (this.#states[entry.parent - 1] ?? EMPTY_PATH);
    try {
      return derivePathState(this, parent, entry.id, toEntrySeq(entry.place), effect);
    } catch (error) {
      if (!(error instanceof InvalidReferenceError)) throw error;
      return refuse(`${error.field} ${error.reason}`);
    }
  }

  #keep({ id, parent, kind, depth, target, omits: isOmitted, ...entry }: CopiedEntry): void {
    const place = toEntrySeq(entry.place);
    this.#states.push({
      entryId: id,
      seq: place,
      depth,
      compactionSeq: seqOf(entry.compaction),
      modelSeq: seqOf(entry.model),
      thinkingSeq: seqOf(entry.thinking),
      systemSeq: seqOf(entry.system),
    });
    this.#places.set(id, place);
    this.#kinds.push(kind);
    this.#parents.push(parent);
    this.#jumps.push(this.#jumpFrom(parent));
    if (kind === SYSTEM) this.#systems.push(place);
    if (kind === COMPACTION) this.#compactions.push(place);
    if (kind !== EDIT || target === null) return;
    const edits = this.#edits.get(target);
    if (edits === undefined) this.#edits.set(target, [{ seq: place, omits: isOmitted }]);
    else edits.push({ seq: place, omits: isOmitted });
  }

  // Two jumps of equal length are followed by one over both, so that a path of n entries is walked in about 2 log n steps.
  #jumpFrom(parent: number | null): number | null {
    if (parent === null) return null;
    const first = this.#jumps[parent - 1] ?? null;
    const second = first === null ? null : (this.#jumps[first - 1] ?? null);
    const isEven = this.#depthOf(parent) - this.#depthOf(first) === this.#depthOf(first) - this.#depthOf(second);
    return first !== null && isEven ? second : parent;
  }

  #depthOf(place: number | null): number {
    return place === null ? -1 : (this.#states[place - 1]?.depth ?? -1);
  }

  find(id: EntryId): EntrySeq | undefined {
    return this.#places.get(id);
  }

  isOnPath(ancestor: number, seq: number | null): boolean {
    const depth = this.#depthOf(ancestor);
    let at = seq;
    while (at !== null && this.#depthOf(at) > depth) {
      const jump = this.#jumps[at - 1] ?? null;
      at = jump !== null && this.#depthOf(jump) >= depth ? jump : (this.#parents[at - 1] ?? null);
    }
    return at === ancestor;
  }

  isKind(seq: number, kind: number): boolean {
    return this.#kinds[seq - 1] === kind;
  }

  systemsUpTo(seq: EntrySeq): readonly EntrySeq[] {
    return this.#systems.filter((one) => one <= seq).toReversed();
  }

  compactionsBefore(seq: EntrySeq): readonly EntrySeq[] {
    return this.#compactions.filter((one) => one < seq).toReversed();
  }

  editsOf(target: number): readonly EditOf[] {
    return this.#edits.get(target)?.toReversed() ?? [];
  }
}

/** A place in a copy is the number of an entry in it. */
function seqOf(place: number | null): EntrySeq | null {
  return place === null ? null : toEntrySeq(place);
}

type Refuse = (reason: string) => never;

/** The payload of an entry, if it is one that an append would take. */
function payloadOf({ kind, payload: json }: CopiedEntry, refuse: Refuse): EntryPayload {
  const { type } = toEntryKind(kind);
  const given = json.isWellFormed() ? parseJsonObject(json) : undefined;
  if (given === undefined) return refuse("its payload is no JSON object");
  if (Object.hasOwn(given, "type")) return refuse("its payload names a type of its own");
  try {
    return validateEntry({ type, ...given }).payload;
  } catch (error) {
    if (!(error instanceof InvalidEntryError || error instanceof UnserializableValueError)) throw error;
    return refuse(error.message);
  }
}
