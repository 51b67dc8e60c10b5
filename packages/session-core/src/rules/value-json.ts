import { Buffer } from "node:buffer";
import { encodeBytes } from "../entry/bytes.js";
import { jsonText } from "../entry/json.js";
import { isSameJson } from "../entry/same-json.js";
import { InvalidEntryError, ValueChangedError, ValueTooLargeError } from "../errors/session-errors.js";
import type { SessionId } from "../ids/ids.js";

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
 * @throws {InvalidEntryError} the key is empty or longer than 200 characters.
 */
export function encodeValue(key: string, value: unknown): EncodedValue | undefined {
  if (key === "" || key.length > 200) throw new InvalidEntryError("key", "must be 1 to 200 characters");
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
