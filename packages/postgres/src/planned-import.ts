import type { EntryId, EntryPayload, FileTools, Label, SessionId } from "@bough/session-core";
import {
  type EntryPathState,
  type GivenTitle,
  type ImportOptions,
  type ImportTarget,
  MAIN_LEAF,
  type NewReading,
  type PathState,
  parseEncoded,
  parseStoredPayload,
  renamedTitle,
  type SourceSession,
  toIndexedText,
  toLeafName,
  type ValidatedEntry,
  WordCollector,
  type WrittenEntry,
} from "@bough/session-core/engine";
import { type Facts, type LockedSession, typeOf } from "./facts.js";
import { PlannedSession } from "./planned-session.js";
import { textToWrite } from "./words.js";

/** The facts of a session that an import needs: those of a batch, and more. */
export interface ImportFacts extends Facts {
  readonly labels: ReadonlyMap<number, Omit<Label, "entryId">>;
  readonly hasMainMoves: boolean;
  readonly title: GivenTitle;
}

/** The names that were read of a session: ids of entries, names of leaves and keys of values. */
export class Asked {
  readonly ids = new Set<EntryId>();
  readonly leaves = new Set([MAIN_LEAF]);
  readonly values = new Set<string>();

  /** Reads the source for the names in it. */
  static of(source: SourceSession, { sync, append }: ImportOptions): Asked {
    const asked = new Asked();
    asked.#addIds(sync?.from?.lastId, sync?.known?.leafId, append?.after, append?.leaf);
    for (const record of source.records(sync?.from)) {
      if (record.kind === "entry") asked.#addIds(record.id, record.parentId);
      if (record.kind === "label" || record.kind === "leaf") asked.#addIds(record.entryId);
      if (record.kind === "leaf") asked.leaves.add(toLeafName(record.name));
      if (record.kind === "value") asked.values.add(record.key.toWellFormed());
    }
    return asked;
  }

  #addIds(...ids: readonly (EntryId | null | undefined)[]): void {
    for (const id of ids) if (typeof id === "string") this.ids.add(id);
  }

  get size(): number {
    return this.ids.size + this.leaves.size + this.values.size;
  }
}

/** The import looked up a name that was not read. `Asked` contains it now, so that the caller reads it and plans again. */
export class NotReadError extends Error {
  override readonly name = "NotRead";
}

/** The changes of an import that a batch cannot make. */
interface ImportChanges {
  readonly title: GivenTitle | undefined;
  readonly origin: { readonly cwd: string | null; readonly createdAtMs: number } | undefined;
  readonly call: { readonly sessionId: SessionId; readonly entryId: EntryId | null; readonly toolCallId: string } | undefined;
  readonly reading: NewReading | undefined;
}

/**
 * A session as an import needs it, and the changes of the import. `asked` lists the names that were read; undefined for a new session,
 * which has none. A look-up of any other name adds it to `asked`, and `settle` throws `NotReadError`.
 */
export class PlannedImport extends PlannedSession implements ImportTarget<number> {
  readonly #facts: ImportFacts;
  readonly #asked: Asked | undefined;
  readonly #askedBefore: number;
  readonly #ownIds = new Set<EntryId>();
  readonly #ownValues = new Map<string, unknown>();
  readonly #changed: { -readonly [K in keyof ImportChanges]: ImportChanges[K] } = {
    title: undefined,
    origin: undefined,
    call: undefined,
    reading: undefined,
  };
  /** The words of the new entries. */
  readonly words = new WordCollector();
  #references: ReadonlySet<SessionId> = new Set();
  title: GivenTitle;

  constructor(tenant: string, session: LockedSession, facts: ImportFacts, fileTools: FileTools, asked?: Asked) {
    super(tenant, session, facts, fileTools);
    this.#facts = facts;
    this.#asked = asked;
    this.#askedBefore = asked?.size ?? 0;
    this.title = facts.title;
  }

  get changed(): ImportChanges {
    return this.#changed;
  }

  /** True if the import looked up a name that was not read. */
  get isShort(): boolean {
    return this.#asked !== undefined && this.#asked.size > this.#askedBefore;
  }

  settle(references: ReadonlySet<SessionId>): void {
    if (this.isShort) throw new NotReadError();
    this.#references = references;
  }

  /** The sessions to which new entries refer. */
  get references(): ReadonlySet<SessionId> {
    return this.#references;
  }

  override find(id: EntryId): number | undefined {
    if (!this.#ownIds.has(id)) this.#asked?.ids.add(id);
    return super.find(id);
  }

  payloadOf(id: EntryId): EntryPayload | undefined {
    const fact = this.find(id) === undefined ? undefined : this.factOf(id);
    return fact?.payload == null ? undefined : parseStoredPayload(typeOf(fact.kind), fact.payload);
  }

  override findEqual(entry: ValidatedEntry, parent?: PathState<number>): EntryPathState<number> | undefined {
    const { id } = entry;
    if (id === undefined || this.find(id) === undefined) return undefined;
    // Known only as the place of a leaf: its payload was not read.
    return this.factOf(id)?.payload === null ? undefined : super.findEqual(entry, parent);
  }

  override write(parent: PathState<number>, entry: ValidatedEntry): EntryPathState<number> {
    const state = super.write(parent, entry);
    this.#ownIds.add(state.entryId);
    this.words.add(toIndexedText(textToWrite(entry.payload)));
    return state;
  }

  writeNew(parent: PathState<number>, entry: ValidatedEntry): WrittenEntry<number> {
    const known = this.findEqual(entry);
    return known === undefined ? { state: this.write(parent, entry), isKnown: false } : { state: known, isKnown: true };
  }

  override findLeaf(name: string): number | null | undefined {
    this.#asked?.leaves.add(name);
    return super.findLeaf(name);
  }

  hasLeafMoves(): boolean {
    return this.#facts.hasMainMoves;
  }

  findLabel(entry: number): Omit<Label, "entryId"> | undefined {
    return this.#facts.labels.get(entry);
  }

  presentValue(key: string): unknown {
    const stored = key.toWellFormed();
    if (this.#ownValues.has(stored)) return this.#ownValues.get(stored);
    if (this.#asked !== undefined && !this.#asked.values.has(stored)) {
      this.#asked.values.add(stored);
      throw new NotReadError();
    }
    const json = this.#facts.values.get(stored);
    return json === undefined ? undefined : parseEncoded(json);
  }

  override setValue(key: string, value: unknown): void {
    super.setValue(key, value);
    this.#ownValues.set(key.toWellFormed(), value);
  }

  rename(title: string | null, source: "user" | "auto"): void {
    const renamed = renamedTitle({ title: this.title.title, title_source: this.title.source }, title, source);
    if (renamed === undefined) return;
    this.title = renamed;
    this.#changed.title = renamed;
    this.words.add(toIndexedText(renamed.title ?? ""));
  }

  setOrigin(cwd: string | null, createdAtMs: number): void {
    this.#changed.origin = { cwd, createdAtMs };
  }

  linkToCall(call: NonNullable<ImportChanges["call"]>): void {
    this.#changed.call = call;
  }

  keepReading(reading: NewReading): void {
    this.#changed.reading = reading;
  }
}
