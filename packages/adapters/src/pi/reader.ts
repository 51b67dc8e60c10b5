import type { Entry, OutlineRow, Session } from "@bough/session-core";
import type { EntryScan, EntryStructure, Entry as PiEntry, StorageBranchScan } from "@earendil-works/pi-agent-core/harness/session";
import { type BranchNode, BranchSelection, boughFilter, branchEntries } from "./branch.js";
import { type PiMessage, piCustomTypeOf, piTypeOf, toPiEntry } from "./entries.js";
import { keptTail } from "./kept-tail.js";
import type { Sequence } from "./sequence.js";

const PAGE = 1000;
const NO_TAIL: readonly PiMessage[] = [];

/** Reads the entries of a session as entries of pi. */
export class PiEntries {
  readonly #session: Session;
  readonly #sequence: () => Sequence;

  constructor(session: Session, sequence: () => Sequence) {
    this.#session = session;
    this.#sequence = sequence;
  }

  async byId(ids: readonly string[]): Promise<Map<string, PiEntry>> {
    const found = await this.#session.entriesById(ids);
    const entries = await this.#toPi(ids.flatMap((id) => found.get(id) ?? []));
    return new Map(entries.map((entry) => [entry.id, entry]));
  }

  async branch(query: StorageBranchScan): Promise<PiEntry[]> {
    const selection = new BranchSelection(query);
    const found: Entry[] = [];
    for await (const entry of branchEntries(this.#session, query, await this.#cursorOn(query))) {
      if (selection.isDone) break;
      if (selection.takes(this.#node(entry, "customType" in entry ? entry.customType : null))) found.push(entry);
    }
    return this.#toPi(found);
  }

  /** The same without payloads. Reads the rows of the whole path. */
  async branchStructure(query: StorageBranchScan): Promise<EntryStructure[]> {
    const rows = await this.#session.tree.path(query.start, Number.MAX_SAFE_INTEGER);
    const down = query.order === "oldestFirst";
    const selection = new BranchSelection(query);
    const structures: EntryStructure[] = [];
    for (let step = 0; step < rows.length && !selection.isDone; step += 1) {
      // The rows come newest first, so that the next one is the parent.
      const at = down ? rows.length - 1 - step : step;
      const row = rows[at];
      if (row === undefined) break;
      const node = this.#node(row, row.customType);
      if (selection.takes(node)) structures.push(structureOf(row, rows[at + 1]?.id ?? null, node));
    }
    return structures;
  }

  /** Entries of all branches, by number. */
  async scan({ fromSeq, toSeq, order = "asc", limit, ...filter }: EntryScan): Promise<PiEntry[]> {
    const sequence = this.#sequence();
    const most = Math.max(0, Math.trunc(limit ?? Number.POSITIVE_INFINITY));
    let afterSeq = fromSeq === undefined ? 0 : sequence.rowFrom(fromSeq) - 1;
    let beforeSeq = toSeq === undefined ? undefined : sequence.rowUpTo(toSeq) + 1;
    const matching: Entry[] = [];
    while (matching.length < most) {
      const size = Math.min(PAGE, most - matching.length);
      const range = { order: order === "asc" ? "oldest" : "newest", afterSeq, beforeSeq, limit: size } as const;
      const page = await this.#session.list({ ...boughFilter(filter), ...range });
      matching.push(...page.filter((entry) => fits(this.#node(entry, "customType" in entry ? entry.customType : null), filter)));
      const last = page.at(-1);
      if (last === undefined || page.length < size) break;
      if (order === "asc") afterSeq = last.seq;
      else beforeSeq = last.seq;
    }
    return this.#toPi(matching);
  }

  #node({ id, seq, type }: Pick<Entry | OutlineRow, "id" | "seq" | "type">, customType: unknown): BranchNode {
    const name = typeof customType === "string" ? customType : null;
    return { id, seq: this.#sequence().ofRow(seq), type: piTypeOf(type), customType: piCustomTypeOf(type, name) };
  }

  async #toPi(entries: readonly Entry[]): Promise<PiEntry[]> {
    const sequence = this.#sequence();
    const tailOf = (entry: Entry) => (entry.type === "compaction" ? keptTail(this.#session, entry) : NO_TAIL);
    return Promise.all(entries.map(async (entry) => toPiEntry(entry, sequence.ofRow(entry.seq), await tailOf(entry))));
  }

  /** The id of the entry at the cursor, if it is on the path. */
  async #cursorOn({ cursor, start }: StorageBranchScan): Promise<string | undefined> {
    if (cursor === undefined) return undefined;
    const [row] = await this.#session.tree.rowsAt([this.#sequence().rowUpTo(cursor.seq)]);
    if (row === undefined) return undefined;
    return (await this.#session.tree.commonAncestor(row.id, start)) === row.id ? row.id : undefined;
  }
}

function structureOf(row: OutlineRow, parentId: string | null, { seq, type, customType }: BranchNode): EntryStructure {
  const structure: EntryStructure = { id: row.id, parentId, seq, timestamp: row.createdAtMs, type };
  if (customType !== undefined) structure.customType = customType;
  return structure;
}

function fits(node: BranchNode, { type, customType }: EntryScan): boolean {
  return (type === undefined || node.type === type) && (customType === undefined || node.customType === customType);
}
