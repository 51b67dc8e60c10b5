import type { JsonObject } from "@bough/session-core/wire";
import type { RecordKind } from "./record-kind.js";
import type { IndexedRecord, NodeIndex } from "./session-file.js";
import { formatUuid, parseUuid, UUID_WORDS } from "./uuid-map.js";

/** The columns of a record that are 32-bit numbers, and their places. */
const AT = { kind: 0, line: 1, bytes: 2, parent: 3, reply: 4, chain: 5, hasStepChild: 6 } as const;
type Column = keyof typeof AT;
const WIDTH = Object.keys(AT).length;

/** The records for which there is room at first. */
const FIRST_ROOM = 64;

/** The UUID of zeros, as which a record without an id is stored. */
const NIL = "00000000-0000-0000-0000-000000000000";

const KINDS: readonly RecordKind[] = [
  "human",
  "injected",
  "result",
  "reply",
  "boundary",
  "summary",
  "noise",
  "side",
  "absorbed",
  "bad",
  "attached",
];

/**
 * The records of an index, in the order of their lines. They are columns of numbers: as objects with strings, those of a file of 1 GB took 200 MB of
 * the heap, and as much again until V8 collected what was left of their making. Memory: 52 bytes a record outside the heap, twice that while it grows.
 */
export class RecordTable {
  #length = 0;
  #numbers = new Int32Array(FIRST_ROOM * WIDTH);
  #offsets = new Float64Array(FIRST_ROOM);
  #uuids = new Uint32Array(FIRST_ROOM * UUID_WORDS);
  /** The ids of records that are no UUIDs. */
  readonly #otherIds = new Map<NodeIndex, string>();
  readonly #objects = new Map<NodeIndex, JsonObject>();

  get length(): number {
    return this.#length;
  }

  /** undefined: there is none with this number. */
  get(node: NodeIndex): IndexedRecord | undefined {
    return node >= 0 && node < this.#length ? new TableRecord(this, node) : undefined;
  }

  slice(from: NodeIndex, end = this.#length): readonly IndexedRecord[] {
    const records: IndexedRecord[] = [];
    for (let node = from; node < Math.min(end, this.#length); node += 1) records.push(new TableRecord(this, node));
    return records;
  }

  *[Symbol.iterator](): Generator<IndexedRecord, void, void> {
    for (let node = 0; node < this.#length; node += 1) yield new TableRecord(this, node);
  }

  push({ kind, uuid, line, offset, bytes, parent, reply, chain, hasStepChild, object }: IndexedRecord): void {
    const node = this.#length;
    if (node === this.#offsets.length) this.#grow();
    this.#length += 1;
    this.#numbers.set([KINDS.indexOf(kind), line, bytes, parent, reply, chain, hasStepChild ? 1 : 0], node * WIDTH);
    this.#offsets[node] = offset;
    if (uuid !== "" && (uuid === NIL || !parseUuid(uuid, this.#uuids, node * UUID_WORDS))) this.#otherIds.set(node, uuid);
    if (object !== undefined) this.#objects.set(node, object);
  }

  #grow(): void {
    const room = 2 * this.#offsets.length;
    this.#numbers = copied(this.#numbers, new Int32Array(room * WIDTH));
    this.#offsets = copied(this.#offsets, new Float64Array(room));
    this.#uuids = copied(this.#uuids, new Uint32Array(room * UUID_WORDS));
  }

  numberAt(node: NodeIndex, column: Column): number {
    return this.#numbers[node * WIDTH + AT[column]] ?? 0;
  }

  kindAt(node: NodeIndex): RecordKind {
    return KINDS[this.numberAt(node, "kind")] ?? "bad";
  }

  offsetAt(node: NodeIndex): number {
    return this.#offsets[node] ?? 0;
  }

  uuidAt(node: NodeIndex): string {
    const other = this.#otherIds.get(node);
    if (other !== undefined) return other;
    const uuid = formatUuid(this.#uuids, node * UUID_WORDS);
    return uuid === NIL ? "" : uuid;
  }

  setStepChild(node: NodeIndex, hasStepChild: boolean): void {
    this.#numbers[node * WIDTH + AT.hasStepChild] = hasStepChild ? 1 : 0;
  }

  objectAt(node: NodeIndex): JsonObject | undefined {
    return this.#objects.get(node);
  }

  /** Drops the object of a record, or of all. */
  dropObject(node?: NodeIndex): void {
    if (node === undefined) this.#objects.clear();
    else this.#objects.delete(node);
  }
}

function copied<A extends Int32Array | Float64Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** A row of the table. */
class TableRecord implements IndexedRecord {
  readonly #table: RecordTable;
  readonly #node: NodeIndex;

  constructor(table: RecordTable, node: NodeIndex) {
    this.#table = table;
    this.#node = node;
  }

  get kind(): RecordKind {
    return this.#table.kindAt(this.#node);
  }

  get uuid(): string {
    return this.#table.uuidAt(this.#node);
  }

  get line(): number {
    return this.#table.numberAt(this.#node, "line");
  }

  get offset(): number {
    return this.#table.offsetAt(this.#node);
  }

  get bytes(): number {
    return this.#table.numberAt(this.#node, "bytes");
  }

  get parent(): NodeIndex {
    return this.#table.numberAt(this.#node, "parent");
  }

  get reply(): NodeIndex {
    return this.#table.numberAt(this.#node, "reply");
  }

  get chain(): number {
    return this.#table.numberAt(this.#node, "chain");
  }

  get hasStepChild(): boolean {
    return this.#table.numberAt(this.#node, "hasStepChild") === 1;
  }

  set hasStepChild(hasStepChild: boolean) {
    this.#table.setStepChild(this.#node, hasStepChild);
  }

  get object(): JsonObject | undefined {
    return this.#table.objectAt(this.#node);
  }

  set object(_object: undefined) {
    this.#table.dropObject(this.#node);
  }
}
