// Bytes in the data of a host. JSON has none, so the store keeps a Uint8Array as an object with one member, its base64:
// {"$bough.bytes":"AAEC"}. An object of the host that looks like this gets one more $ before the name of its member, and loses it
// when it is read: {"$$bough.bytes":"AAEC"}.
import { Buffer } from "node:buffer";
import { InvalidEntryError, UnserializableValueError } from "../errors/session-errors.js";
import { assertJson, isObject, isPlainJson, isPlainObject, isReservedName, jsonText, MAX_DEPTH, RESERVED_NAME, tooDeep } from "./json.js";

/**
 * `value` as JSON can represent it: each Uint8Array as an object with its base64. `value` itself, not a copy, if it has no bytes and
 * no member with the reserved name; then the cost is that of `assertJson`.
 *
 * @param at The path of `value`, for errors.
 * @throws {UnserializableValueError} with the path of the first value that JSON cannot represent.
 * @throws {InvalidEntryError} bytes are in the content of a message, which goes to providers as JSON.
 * @example
 * encodeBytes({ id: 1, image: new Uint8Array([0, 1, 2]) }, "value"); // { id: 1, image: { "$bough.bytes": "AAEC" } }
 */
export function encodeBytes(value: unknown, at: string): unknown {
  if (isPlainJson(value)) return value;
  const encoded = encode(value, at, 0);
  assertJson(encoded, at);
  return encoded;
}

/** The reverse of `encodeBytes`; returns `value` itself if there is nothing to decode. */
export function decodeBytes(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isPlainJson(value)) return value;
  if (Array.isArray(value)) return value.map(decodeBytes);
  if (!isObject(value)) return value;
  const only = onlyReservedMember(value);
  if (only === undefined) return mapMembers(value, decodeBytes);
  const { name, member } = only;
  if (name !== RESERVED_NAME) return mapMembers({ [name.slice(1)]: member }, decodeBytes);
  return typeof member === "string" ? new Uint8Array(Buffer.from(member, "base64")) : value;
}

/** The value of a JSON text that `encodeBytes` prepared. Costs one search of the text if there are no bytes. */
export function parseEncoded(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return json.includes(`${RESERVED_NAME}"`) ? decodeBytes(value) : value;
}

/** A copy of `value`, bytes included; `value` itself if it cannot be stored, so that `validateEntry` reports the path. */
export function copyJson<T>(value: T, at: string): T {
  try {
    // The value can be stored, so its copy has the same type.
    return parseEncoded(jsonText(encodeBytes(value, at), "The batch")) as T;
  } catch (error) {
    if (!(error instanceof UnserializableValueError || error instanceof InvalidEntryError)) throw error;
    return value;
  }
}

/** True for a Uint8Array, also for one of another realm, such as a worker or a test runner. */
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}

// Content goes to providers, whose formats have no bytes; images and files are base64 there.
const CONTENT = /^entry\.(message\.)?(content|replacement)\b/;

function encode(value: unknown, at: string, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw tooDeep(at);
  if (isBytes(value)) {
    if (CONTENT.test(at))
      throw new InvalidEntryError(at.slice("entry.".length), "bytes are kept in details and custom data; content takes base64");
    return { [RESERVED_NAME]: toBase64(value) };
  }
  // `undefined` elements and class instances are kept, so that the check after this one names them.
  if ("toJSON" in value && typeof value.toJSON === "function") return value;
  if (Array.isArray(value)) return value.map((member: unknown, index) => encode(member, `${at}[${index}]`, depth + 1));
  if (!isPlainObject(value)) return value;
  const only = onlyReservedMember(value);
  if (only !== undefined) return mapMembers({ [`$${only.name}`]: only.member }, (member) => encode(member, at, depth + 1));
  return mapMembers(value, (member, name) => encode(member, `${at}.${name}`, depth + 1));
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** The member of an object whose only member has a reserved name: `$bough.bytes` with any number of `$` before it. */
function onlyReservedMember(value: object): { readonly name: string; readonly member: unknown } | undefined {
  const members = Object.entries(value);
  const [name, member] = members[0] ?? [];
  return members.length === 1 && name !== undefined && isReservedName(name) ? { name, member } : undefined;
}

// Defined, not assigned, because an assignment to a member named `__proto__` sets the prototype.
function mapMembers(value: object, map: (member: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member, name)]));
}
