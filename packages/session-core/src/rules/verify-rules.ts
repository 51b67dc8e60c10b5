import type { EntryType } from "../entry/entry.js";
import { customTypeOf, toEntryKind } from "../entry/kinds.js";
import { isPrivate } from "../entry/text.js";
import { validateEntry } from "../entry/validate.js";
import { InvalidEntryError, UnserializableValueError } from "../errors/session-errors.js";
import type { EntrySeq } from "../ids/ids.js";
import { MAIN_LEAF } from "../port/records.js";
import type { Violation } from "../port/session-storage.js";
import { type DerivedColumns, toStoredCustomType } from "./derived-columns.js";
import { type MetadataRow, metadataRows } from "./session-filter.js";

/** A broken rule, without the session and the entry. */
export type Fault = Pick<Violation, "rule" | "message">;

/** A payload, and the values that are stored beside it. */
export interface CheckedPayload {
  readonly type: EntryType;
  readonly json: string;
  readonly bytes: number;
  readonly customType: string | null;
  readonly isPrivate: boolean;
}

const ALL_KNOWN = { customTypes: true, private: true };

/**
 * Returns the first fault of a payload, on any storage engine: the payload is invalid, or a value stored beside it differs from its
 * content. `subject` begins the message. `known`: the values that a store of an older version stores.
 */
export function findPayloadFault(checked: CheckedPayload, subject: string, known = ALL_KNOWN): Fault | undefined {
  try {
    // Not `parseStoredPayload`, which converts invalid blocks to foreign ones.
    const { payload } = validateEntry({ type: checked.type, ...JSON.parse(checked.json) });
    const bytes = Buffer.byteLength(checked.json);
    if (bytes !== checked.bytes)
      return { rule: "wrong-size", message: `${subject}: its payload has ${bytes} bytes, not ${checked.bytes}.` };
    const customType = toStoredCustomType(customTypeOf(payload));
    if (customType !== checked.customType && (payload.type !== "message" || known.customTypes))
      return { rule: "wrong-custom-type", message: `${subject}: its custom type is not that of its payload.` };
    if (known.private && isPrivate(payload) !== checked.isPrivate)
      return { rule: "wrong-private", message: `${subject}: whether searches leave it out is not what its payload says.` };
    return undefined;
  } catch (error) {
    if (!isOfPayload(error)) throw error;
    return { rule: "invalid-payload", message: `${subject}: ${error.message}` };
  }
}

function isOfPayload(error: unknown): error is Error {
  return error instanceof InvalidEntryError || error instanceof UnserializableValueError || error instanceof SyntaxError;
}

/** Returns a fault if the members by which a session is found differ from those of its metadata. */
export function findMetadataFault(id: string, json: string | null, members: readonly MetadataRow[]): Fault | undefined {
  if (inOrder(metadataRows(JSON.parse(json ?? "{}"))) === inOrder(members)) return undefined;
  return { rule: "wrong-metadata", message: `Session ${id}: the members by which it is found differ from its metadata.` };
}

function inOrder(rows: readonly MetadataRow[]): string {
  return JSON.stringify(rows.map(({ key, value }) => [key, value].join("\n")).toSorted());
}

/** Descriptions of the faults of an origin, for every engine. */
export const ORIGIN_FAULTS = {
  chain: "it refers to the origin of an entry that is a copy itself",
  twice: (session: string) => `it counts in totals, and so does a copy of it in session ${session}`,
  nowhere: "it is a copy that counts in no session: its original is gone",
} as const;

/** The columns that say where an entry is in its tree, and what it inherits. */
export type PlacedEntry = Pick<
  DerivedColumns,
  "seq" | "id" | "parent_seq" | "kind" | "depth" | "compaction_seq" | "target_seq" | "model_seq" | "thinking_seq" | "system_seq"
>;

type Inherited = Pick<PlacedEntry, "parent_seq" | "kind" | "depth" | "compaction_seq" | "model_seq" | "thinking_seq" | "system_seq">;

const BEFORE_FIRST = { depth: -1, compaction_seq: null, model_seq: null, thinking_seq: null, system_seq: null };

/** Checks the places of the entries of one session, given in order of arrival. Memory: the columns of each entry. */
export class StructureChecks {
  readonly #id: string;
  readonly #entries = new Map<EntrySeq, Inherited>();
  /** Users' messages and replies. */
  messages = 0;

  constructor(id: string) {
    this.#id = id;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** True if an entry with this number was checked. */
  has(seq: EntrySeq): boolean {
    return this.#entries.has(seq);
  }

  /** The rules that an entry breaks. */
  add(entry: PlacedEntry): readonly Fault[] {
    const { seq, kind, depth, parent_seq, compaction_seq, model_seq, thinking_seq, system_seq } = entry;
    this.#entries.set(seq, { parent_seq, kind, depth, compaction_seq, model_seq, thinking_seq, system_seq });
    const { role } = toEntryKind(kind);
    if (role === "user" || role === "assistant") this.messages += 1;
    const parentFault = this.#parentFault(entry);
    // Without its parent, nothing is known of what it should have from it.
    const inherited = parentFault === undefined ? [this.#depthFault(entry), this.#inheritanceFault(entry)] : [parentFault];
    const faults = [...inherited, this.#firstKeptFault(entry)];
    const subject = `Entry ${entry.id} of session ${this.#id}`;
    return faults.flatMap((fault) => (fault === undefined ? [] : [{ ...fault, message: `${subject}: ${fault.message}.` }]));
  }

  /** The leaves that are at no entry of the session, and the missing leaf `main`. */
  leafFaults(leaves: readonly { readonly name: string; readonly seq: EntrySeq | null }[]): readonly Fault[] {
    const off = leaves
      .filter(({ seq }) => seq !== null && !this.has(seq))
      .map(({ name }) => `the leaf '${name}' stands at no entry of the session`);
    const missing = leaves.some(({ name }) => name === MAIN_LEAF) ? [] : ["it has no leaf named 'main'"];
    return [...off, ...missing].map((what) => ({ rule: "leaf-off-session", message: `Session ${this.#id}: ${what}.` }));
  }

  /** A fault if the stored counts of the session differ from what was checked; `isElse`: another count of it differs. */
  countFault(counts: { readonly entry_count: number; readonly message_count: number }, isElse = false): Fault | undefined {
    if (!isElse && counts.entry_count === this.count && counts.message_count === this.messages) return undefined;
    return { rule: "wrong-count", message: `Session ${this.#id}: its counts differ from its entries (${this.count} entries are there).` };
  }

  #parentFault({ seq, parent_seq }: PlacedEntry): Fault | undefined {
    if (parent_seq === null || (parent_seq < seq && this.has(parent_seq))) return undefined;
    return { rule: "parent-not-older", message: `its parent is in row ${parent_seq}, which is not older or of another session` };
  }

  #parentOf({ parent_seq }: PlacedEntry) {
    return (parent_seq === null ? undefined : this.#entries.get(parent_seq)) ?? BEFORE_FIRST;
  }

  #depthFault(entry: PlacedEntry): Fault | undefined {
    if (entry.depth === this.#parentOf(entry).depth + 1) return undefined;
    return { rule: "wrong-depth", message: `its depth is ${entry.depth}, which is not one more than its parent's` };
  }

  #inheritanceFault(entry: PlacedEntry): Fault | undefined {
    const parent = this.#parentOf(entry);
    const { seq } = entry;
    const { type, role } = toEntryKind(entry.kind);
    const edited =
      type === "context_edit" && entry.target_seq !== null ? toEntryKind(this.#entries.get(entry.target_seq)?.kind ?? 0) : undefined;
    // An entry that sets a value refers to itself. One that may change it refers to the entry of its parent, or to itself.
    const isRight = (own: number | null, above: number | null, sets: boolean, mayChange: boolean) =>
      sets ? own === seq : own === above || (mayChange && own === seq);
    const wrong = [
      isRight(entry.model_seq, parent.model_seq, type === "model_change", role === "assistant") ? undefined : "model",
      isRight(entry.thinking_seq, parent.thinking_seq, type === "thinking_level_change", false) ? undefined : "thinking level",
      edited?.role === "system" || isRight(entry.system_seq, parent.system_seq, role === "system", false) ? undefined : "system message",
      edited?.type === "compaction" || isRight(entry.compaction_seq, parent.compaction_seq, type === "compaction", false)
        ? undefined
        : "compaction",
    ].find((one) => one !== undefined);
    return wrong === undefined ? undefined : { rule: "wrong-inheritance", message: `what it inherits differs from its parent (${wrong})` };
  }

  #firstKeptFault({ seq, kind, target_seq }: PlacedEntry): Fault | undefined {
    if (toEntryKind(kind).type !== "compaction" || target_seq === null) return undefined;
    let at: EntrySeq | null = seq;
    // Only to lower numbers, so that the walk ends also where a parent is not older.
    while (at !== null && at > target_seq) {
      const above: EntrySeq | null = this.#entries.get(at)?.parent_seq ?? null;
      at = above !== null && above < at ? above : null;
    }
    return at === target_seq ? undefined : { rule: "first-kept-off-path", message: "its first kept entry is not on its path" };
  }
}
