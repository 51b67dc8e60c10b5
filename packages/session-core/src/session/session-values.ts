import { CALLBACK, checkArgument, NAME, OBJECT, TEXT } from "../arguments/rules.js";
import { VALUE_RANGE } from "../arguments/shapes.js";
import { ValueChangedError } from "../errors/session-errors.js";
import type { SessionRow, StoredValue, ValueKey, ValueRange } from "../port/records.js";
import type { SessionStorage } from "../port/session-storage.js";
import type { LeafWriter } from "./leaf-writer.js";

/** The condition of a write of a value. */
export interface SetValueOptions {
  /**
   * The value is written only if the present one equals this as JSON, ignoring the order of members; a member `ifEquals` that is
   * undefined: only if the key has no value.
   */
  readonly ifEquals?: unknown;
}

/** The maximum number of tries of `update`. Another writer has succeeded between any two tries. */
const MOST_TRIES = 1000;

/** Values of the host, stored with a session by key. They are not part of the tree: no leaf moves, and a search does not find them. */
export class SessionValues {
  readonly #storage: SessionStorage;
  readonly #row: SessionRow;
  readonly #writer: LeafWriter;

  /** @internal `Session` creates it. */
  constructor(storage: SessionStorage, row: SessionRow, writer: LeafWriter) {
    this.#storage = storage;
    this.#row = row;
    this.#writer = writer;
  }

  /** Returns the value of a key, or undefined. */
  async get(key: string): Promise<unknown> {
    checkArgument("key", key, TEXT);
    return (await this.#storage.value(this.#row, key))?.value;
  }

  /**
   * Lists the values of a range of keys (default: all; a text is a prefix), ordered by key. Cost: the values returned.
   *
   * @example
   * const newest = await session.values.list({ prefix: "run/", order: "desc", limit: 20 });
   * const older = await session.values.list({ prefix: "run/", order: "desc", limit: 20, after: newest.at(-1)?.key });
   */
  async list(range: string | ValueRange = {}): Promise<readonly StoredValue[]> {
    return this.#storage.values(this.#row, toRange(range));
  }

  /** Lists the keys of a range with sizes and times, without reading the values. */
  async keys(range: string | ValueRange = {}): Promise<readonly ValueKey[]> {
    return this.#storage.valueKeys(this.#row, toRange(range));
  }

  /**
   * Stores a value, at most 16 MiB as JSON; `undefined` removes it.
   *
   * @throws {ValueChangedError} the present value does not equal `ifEquals`; nothing was written.
   * @throws {ValueTooLargeError | UnserializableValueError}
   * @throws {InvalidEntryError} the key is empty or longer than 200 characters.
   */
  async set(key: string, value: unknown, options: SetValueOptions = {}): Promise<void> {
    checkArgument("key", key, TEXT);
    checkArgument("options", options, OBJECT);
    const condition = "ifEquals" in options ? { ifEquals: options.ifEquals } : {};
    await this.#writer.commit([{ kind: "value", key, value, ...condition }]);
  }

  /**
   * Replaces a value by what `change` makes of it, and returns the new value. If another writer changes the value meanwhile, `change`
   * is called again with that one, so that no update is lost; it must not have effects of its own. `undefined` means no value.
   *
   * @throws {ValueChangedError} other writers were faster 1,000 times.
   * @throws what `change` throws; nothing was written.
   * @example
   * const runs = await session.values.update("runs", (count) => Number(count ?? 0) + 1);
   */
  async update(key: string, change: (present: unknown) => unknown): Promise<unknown> {
    checkArgument("key", key, TEXT);
    checkArgument("change", change, CALLBACK);
    for (let tries = 1; ; tries += 1) {
      const present = await this.get(key);
      // `change` gets a copy, because it may return the object that it was given.
      const value = await change(structuredClone(present));
      try {
        await this.set(key, value, { ifEquals: present });
        return value;
      } catch (error) {
        if (!(error instanceof ValueChangedError) || tries === MOST_TRIES) throw error;
      }
    }
  }

  /** Removes the values whose key starts with `prefix`, which must not be empty. */
  async deletePrefix(prefix: string): Promise<void> {
    checkArgument("prefix", prefix, NAME);
    await this.#writer.commit([{ kind: "deleteValues", prefix }]);
  }
}

function toRange(range: string | ValueRange): ValueRange {
  if (typeof range === "string") return { prefix: range };
  checkArgument("range", range, VALUE_RANGE);
  return range;
}
