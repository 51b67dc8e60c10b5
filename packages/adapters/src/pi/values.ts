import type { StoredValue as BoughValue, Session } from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import {
  type ListElement,
  type ListReadOptions,
  resolveListReadOptions,
  type StoredValue,
  type UsageRow,
  type UsageScan,
  type Value,
  type ValueList,
} from "@earendil-works/pi-agent-core/harness/session";
import { addressIn, elementKey, LABELS, listPrefix, NAME, numberBefore, TIPS, USAGES, valueKey } from "./keys.js";
import { isStamp, type Sequence, type Stamp } from "./sequence.js";

const PAGE = 1000;
/** The most row numbers of entries that are remembered. */
const REMEMBERED = 10_000;

/** A value, element or row of usage as it is stored. */
interface Held {
  readonly seq: Stamp;
  readonly [field: string]: unknown;
}

/** Reads the values, lists and usage of a session. */
export class PiValues {
  readonly #session: Session;
  readonly #sequence: () => Sequence;
  /** Row numbers of entries by id. */
  readonly #rows = new Map<string, number>();

  constructor(session: Session, sequence: () => Sequence) {
    this.#session = session;
    this.#sequence = sequence;
  }

  /** Remembers the row numbers of new entries, so that the values of the same commit need no further query. */
  remember(rows: ReadonlyMap<string, number>): void {
    if (this.#rows.size + rows.size > REMEMBERED) this.#rows.clear();
    for (const [id, row] of rows) this.#rows.set(id, row);
  }

  async getValue<T>(address: Value<T>): Promise<StoredValue<T> | undefined> {
    const value = await this.#session.values.get(valueKey(address));
    const found = await this.#inPlace(address.namespace, address.key, value === undefined ? [] : [{ address, value }]);
    return (await this.#toStored<T>(found.filter((item) => item.address.key === address.key)))[0];
  }

  /** Values whose key starts so, in the order of their keys. */
  async scanValues<T>(prefix: Value<T>): Promise<StoredValue<T>[]> {
    const rows = await this.#session.values.list({ prefix: valueKey(prefix) });
    const items = rows.map(({ key, value }) => ({ address: { namespace: prefix.namespace, key: addressIn(key)?.key ?? "" }, value }));
    return this.#toStored<T>(await this.#inPlace(prefix.namespace, prefix.key, items));
  }

  /** Puts in the positions of leaves for the tips of branches, and adds labels and the title that another program gave. */
  async #inPlace(namespace: string, keyPrefix: string, items: readonly Item[]): Promise<readonly Item[]> {
    if (namespace === TIPS) {
      const leaves = new Map((await this.#session.leaves()).map(({ name, entryId }) => [name, entryId]));
      return items.map(({ address, value }) => {
        const at = leaves.get(address.key);
        return { address, value: at === undefined || !isObject(value) ? value : { ...value, value: at } };
      });
    }
    const own = new Set(items.map(({ address }) => address.key));
    const others = (await this.#elsewhere(namespace)).filter(([key]) => key.startsWith(keyPrefix) && !own.has(key));
    if (others.length === 0) return items;
    const added = others.map(([key, value]) => ({ address: { namespace, key }, value: { seq: 0, value } }));
    return [...items, ...added].sort((a, b) => Buffer.compare(Buffer.from(a.address.key), Buffer.from(b.address.key)));
  }

  async #elsewhere(namespace: string): Promise<readonly (readonly [key: string, value: string])[]> {
    if (namespace === LABELS) return (await this.#session.labels.list()).map(({ entryId, label }) => [entryId, label] as const);
    if (namespace !== NAME) return [];
    const { title } = await this.#session.record();
    return title === null ? [] : [["", title]];
  }

  async #toStored<T>(items: readonly Item[]): Promise<StoredValue<T>[]> {
    const numbered = await this.#numbered(items.map(({ value }) => value));
    return numbered.map(({ seq, held }, at) => ({
      address: { namespace: items[at]?.address.namespace ?? "", key: items[at]?.address.key ?? "", kind: "value" },
      value: heldValue<T>(held),
      seq,
    }));
  }

  /** The elements of a list after (`desc`: before) the cursor. */
  async readList<T>(address: ValueList<T>, options: ListReadOptions = {}): Promise<ListElement<T>[]> {
    const { limit, order, cursor } = resolveListReadOptions(options);
    const found: ListElement<T>[] = [];
    for await (const { seq, held } of this.#elements(listPrefix(address), order, cursor?.seq, limit)) {
      if (cursor !== undefined && (order === "asc" ? seq <= cursor.seq : seq >= cursor.seq)) continue;
      if (found.push({ seq, value: heldValue<T>(held) }) >= limit) break;
    }
    return found;
  }

  /** The elements of a list in order, from the commit on that holds the cursor. */
  async *#elements(prefix: string, order: "asc" | "desc", cursor: number | undefined, limit: number) {
    for (let after = await this.#firstKey(prefix, order, cursor); ; ) {
      const page: readonly BoughValue[] = await this.#session.values.list({ prefix, order, limit: Math.min(limit, PAGE), after });
      yield* await this.#numbered(page.map(({ value }) => value));
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.key;
    }
  }

  /** The key after which a read of a list starts. The elements of one commit have the number before that commit in their keys. */
  async #firstKey(prefix: string, order: "asc" | "desc", cursor: number | undefined): Promise<string | undefined> {
    if (cursor === undefined) return undefined;
    const key = prefix + elementKey(cursor, 0);
    if (order === "desc") return key;
    const [before] = await this.#session.values.list({ prefix, order: "desc", limit: 1, after: key });
    return before === undefined ? undefined : `${prefix}${elementKey(numberBefore(before.key), 0).split(".")[0]}`;
  }

  /** All values and all elements of lists, with their keys in the session. */
  async everything(): Promise<readonly Addressed[]> {
    const stored = await this.#session.values.list({ prefix: "pi:" });
    const items = stored.flatMap(({ key, value }) => {
      const address = addressIn(key);
      return address === undefined || !isHeld(value) ? [] : [{ key, address, value }];
    });
    const numbered = await this.#numbered(items.map(({ value }) => value));
    return items.map(({ key, address }, at) => ({ key, address, seq: numbered[at]?.seq ?? 0, value: numbered[at]?.held["value"] }));
  }

  /** Reads all rows of usage, and selects. */
  async scanUsage({ fromSeq = 0, toSeq = Number.POSITIVE_INFINITY, order = "asc", limit }: UsageScan): Promise<UsageRow[]> {
    const stored = await this.#session.values.list({ prefix: USAGES });
    const rows = (await this.#numbered(stored.map(({ value }) => value))).flatMap(({ seq, held }) =>
      isUsage(held["row"]) ? [{ ...held["row"], seq }] : [],
    );
    const fitting = rows
      .filter(({ seq }) => seq >= fromSeq && seq <= toSeq)
      .sort((a, b) => (order === "asc" ? a.seq - b.seq : b.seq - a.seq));
    return limit === undefined ? fitting : fitting.slice(0, Math.max(0, limit));
  }

  /** The number of each stored value. One query for the entries whose row numbers are not remembered. */
  async #numbered(values: readonly unknown[]): Promise<readonly Numbered[]> {
    const all = values.filter(isHeld);
    const ids = new Set(all.flatMap(({ seq }) => (typeof seq === "number" ? [] : [seq[0]])));
    const unknown = [...ids].filter((id) => !this.#rows.has(id));
    const rows = new Map([...ids].map((id) => [id, this.#rows.get(id) ?? 0]));
    const read = unknown.length === 0 ? [] : await this.#session.entriesById(unknown);
    for (const [id, { seq }] of read) rows.set(id, seq);
    this.remember(rows);
    const sequence = this.#sequence();
    return all.map((held) => ({ seq: sequence.ofStamp(held.seq, rows), held }));
  }
}

/** A stored value with its number. */
interface Numbered {
  readonly seq: number;
  readonly held: Held;
}

/** A value or an element of a list. */
interface Addressed {
  readonly key: string;
  readonly address: { readonly kind: "value" | "list"; readonly namespace: string; readonly key: string };
  readonly seq: number;
  readonly value: unknown;
}

/** A value with its address, as it is stored. */
interface Item {
  readonly address: { readonly namespace: string; readonly key: string };
  readonly value: unknown;
}

function isHeld(value: unknown): value is Held {
  return isObject(value) && isStamp(value.seq);
}

function isUsage(value: unknown): value is Omit<UsageRow, "seq"> {
  return isObject(value) && typeof value.id === "string" && isObject(value.usage);
}

/** The value in a stored record. */
function heldValue<T>(held: Held): T {
  // The type of a value is part of pi's address; nothing at run time can check it.
  return held["value"] as T;
}
