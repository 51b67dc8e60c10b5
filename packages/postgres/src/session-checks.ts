import { type Fault, findPayloadFault, toEntryKind } from "@bough/session-core/engine";
import type { RunFact } from "./facts.js";

/** An entry to check. */
export interface CheckedEntry {
  readonly seq: number;
  readonly id: string;
  readonly parent_seq: number | null;
  readonly kind: number;
  readonly depth: number;
  readonly compaction_seq: number | null;
  readonly target_seq: number | null;
  readonly model_seq: number | null;
  readonly thinking_seq: number | null;
  readonly system_seq: number | null;
  readonly is_private: boolean;
  readonly payload_bytes: number;
  readonly custom_type: string | null;
  readonly payload: string;
}

type Inherited = Pick<CheckedEntry, "parent_seq" | "kind" | "depth" | "compaction_seq" | "model_seq" | "thinking_seq" | "system_seq">;

const BEFORE_FIRST = { depth: -1, compaction_seq: null, model_seq: null, thinking_seq: null, system_seq: null };

/** Checks the entries of a session, in order of arrival, by the rules of `verify/structure-rules.ts` and those of payloads. */
export class SessionChecks {
  readonly #id: string;
  /** By their numbers. */
  readonly #entries: Inherited[] = [];
  /** The runs that the entries make. */
  readonly runs: (RunFact & { readonly depth: number })[] = [];
  count = 0;
  messages = 0;
  bytes = 0;
  last = 0;
  /** The number of entries of each kind. */
  readonly kinds = new Map<number, number>();

  constructor(id: string) {
    this.#id = id;
  }

  /** True if an entry with this number was checked. */
  has(seq: number): boolean {
    return this.#entries[seq] !== undefined;
  }

  /** The rules that an entry breaks. */
  add(entry: CheckedEntry): readonly Fault[] {
    const { seq, kind, depth, parent_seq, compaction_seq, model_seq, thinking_seq, system_seq } = entry;
    const { type, role } = toEntryKind(kind);
    this.#entries[seq] = { parent_seq, kind, depth, compaction_seq, model_seq, thinking_seq, system_seq };
    this.count += 1;
    this.bytes += entry.payload_bytes;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (role === "user" || role === "assistant") this.messages += 1;
    if (seq !== this.last + 1 || seq === 1 || parent_seq !== seq - 1) this.runs.push({ start: seq, parent: parent_seq, depth });
    this.last = seq;
    const subject = `Entry ${entry.id} of session ${this.#id}`;
    const checked = { type, json: entry.payload, bytes: entry.payload_bytes, customType: entry.custom_type, isPrivate: entry.is_private };
    const faults = [this.#parentFault(entry), this.#depthFault(entry), this.#inheritanceFault(entry), this.#firstKeptFault(entry)];
    return [
      ...faults.flatMap((fault) => (fault === undefined ? [] : [{ ...fault, message: `${subject}: ${fault.message}.` }])),
      ...[findPayloadFault(checked, subject)].flatMap((fault) => (fault === undefined ? [] : [fault])),
    ];
  }

  #parentFault({ seq, parent_seq }: CheckedEntry): Fault | undefined {
    if (parent_seq === null || (parent_seq < seq && this.has(parent_seq))) return undefined;
    return { rule: "parent-not-older", message: `its parent is in row ${parent_seq}, which is not older or of another session` };
  }

  #parentOf({ parent_seq }: CheckedEntry) {
    return (parent_seq === null ? undefined : this.#entries[parent_seq]) ?? BEFORE_FIRST;
  }

  #depthFault(entry: CheckedEntry): Fault | undefined {
    if (entry.depth === this.#parentOf(entry).depth + 1) return undefined;
    return { rule: "wrong-depth", message: `its depth is ${entry.depth}, which is not one more than its parent's` };
  }

  #inheritanceFault(entry: CheckedEntry): Fault | undefined {
    const parent = this.#parentOf(entry);
    const { seq } = entry;
    const { type, role } = toEntryKind(entry.kind);
    const edited =
      type === "context_edit" && entry.target_seq !== null ? toEntryKind(this.#entries[entry.target_seq]?.kind ?? 0) : undefined;
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

  #firstKeptFault({ seq, kind, target_seq }: CheckedEntry): Fault | undefined {
    if (toEntryKind(kind).type !== "compaction" || target_seq === null) return undefined;
    let at: number | null = seq;
    // Only to lower numbers, so that the walk ends also where a parent is not older.
    while (at !== null && at > target_seq) {
      const above: number | null = this.#entries[at]?.parent_seq ?? null;
      at = above !== null && above < at ? above : null;
    }
    return at === target_seq ? undefined : { rule: "first-kept-off-path", message: "its first kept entry is not on its path" };
  }
}
