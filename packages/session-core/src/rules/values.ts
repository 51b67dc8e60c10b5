import { Buffer } from "node:buffer";
import { encodeBytes, isSameJson, jsonText } from "../entry/json.js";
import { InvalidEntryError, ValueChangedError, ValueTooLargeError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";
import type { ValueRange } from "../port/records.js";

/** The largest value. Larger data belongs in files. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;

/** A value as JSON, and its bytes in UTF-8. */
export interface EncodedValue {
  readonly json: string;
  readonly bytes: number;
}

/**
 * Checks and serializes a value; undefined for undefined, which removes it.
 *
 * @throws {ValueTooLargeError} it is larger than 16 MiB as JSON.
 * @throws {UnserializableValueError} it cannot be represented as JSON.
 * @throws {InvalidEntryError} the key is empty, longer than 200 characters, or has a lone surrogate, which no engine can store: two keys
 * would become one.
 */
export function encodeValue(key: string, value: unknown): EncodedValue | undefined {
  if (key === "" || key.length > 200) throw new InvalidEntryError("key", "must be 1 to 200 characters", "key of a value");
  if (!key.isWellFormed()) throw new InvalidEntryError("key", "must have no lone surrogate", "key of a value");
  if (value === undefined) return undefined;
  const json = jsonText(encodeBytes(value, key), `The value '${key}'`);
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_VALUE_BYTES) throw new ValueTooLargeError(key, bytes, MAX_VALUE_BYTES);
  return { json, bytes };
}

/**
 * Throws unless the present value of a key equals `expected` as JSON; undefined: unless there is none.
 *
 * @throws {ValueChangedError}
 */
export function requireExpected(session: SessionId, key: string, present: string | undefined, expected: unknown): void {
  const isExpected =
    present === undefined || expected === undefined
      ? present === undefined && expected === undefined
      : isSameJson(present, jsonText(encodeBytes(expected, "ifEquals"), "The expected value"));
  if (!isExpected) throw new ValueChangedError(session, key, present);
}

/** The keys of a range for SQL: from `from` up to but not including `to`. */
export interface KeyBounds {
  readonly from: string;
  /** An empty buffer if there is no end: SQLite orders every BLOB after every TEXT. */
  readonly to: string | Buffer;
}

const NO_END = Buffer.alloc(0);

/** Returns the bounds of a range, so that its start and end, and not every key, are compared. */
export function keyBounds({ prefix = "", order = "asc", after }: Pick<ValueRange, "prefix" | "order" | "after">): KeyBounds {
  const start = prefix.toWellFormed();
  const end = endOfPrefix(start);
  if (after === undefined) return { from: start, to: end };
  if (order === "desc") return { from: start, to: typeof end === "string" && comesBefore(end, after) ? end : after };
  // The next text after a text is the same one with a NUL character.
  const next = `${after}\0`;
  return { from: comesBefore(next, start) ? start : next, to: end };
}

/** The first text after all texts that start with `prefix`. */
function endOfPrefix(prefix: string): KeyBounds["to"] {
  const characters = [...prefix];
  for (;;) {
    const last = characters.pop()?.codePointAt(0);
    if (last === undefined) return NO_END;
    if (last < 0x10ffff) return characters.join("") + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

/** The order of SQLite, by bytes of UTF-8. JavaScript compares UTF-16 code units, which differs beyond U+FFFF. */
function comesBefore(one: string, other: string): boolean {
  return Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}

/** All rows: `LIMIT` of both engines takes it, also when one is added to it. */
const ALL = Number.MAX_SAFE_INTEGER - 1;

/** Converts a caller's limit to a LIMIT that SQLite takes: an integer from 0 up. NaN becomes 0, Infinity becomes all rows. */
export function rowLimit(limit: number): number {
  return Number.isNaN(limit) ? 0 : Math.min(Math.max(0, Math.floor(limit)), ALL);
}
