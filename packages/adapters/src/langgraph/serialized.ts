import { parseJson } from "@bough/session-core/wire";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Packed, PartsKind } from "./stored-checkpoint.js";

/** Serializes a value for a payload. */
export async function pack(serde: SerializerProtocol, value: unknown): Promise<Packed> {
  const [type, bytes] = await serde.dumpsTyped(value);
  const json = type === "json" ? parseJson(textOf(bytes)) : undefined;
  return json === undefined ? { type, base64: Buffer.from(bytes).toString("base64") } : { type, json };
}

/** The value that `pack` got. */
export async function unpack(serde: SerializerProtocol, packed: Packed): Promise<unknown> {
  if ("json" in packed) return serde.loadsTyped(packed.type, JSON.stringify(packed.json));
  // A Buffer would become the value of a channel, and be serialized as an object of numbers the next time.
  return serde.loadsTyped(packed.type, new Uint8Array(Buffer.from(packed.base64, "base64")));
}

/** The texts of the parts of a value. */
export interface PackedParts {
  readonly kind: PartsKind;
  readonly texts: readonly string[];
}

/** Shorter objects are stored as a whole: a change of theirs would be as long. */
const SHORTEST_OBJECT = 500;

/** Serializes the parts of an array or of a large object; undefined if a value has none, or one that is not serialized as JSON. */
export async function packParts(serde: SerializerProtocol, value: unknown): Promise<PackedParts | undefined> {
  if (Array.isArray(value)) {
    const texts = value.length === 0 ? undefined : await packEach(serde, value);
    return texts && { kind: "list", texts };
  }
  if (!isPlainObject(value)) return undefined;
  const keys = Object.keys(value);
  const packed = await packEach(serde, Object.values(value));
  const texts = packed?.map((text, at) => `${JSON.stringify(keys[at])}:${text}`);
  if (texts === undefined || texts.reduce((sum, { length }) => sum + length, 0) < SHORTEST_OBJECT) return undefined;
  return { kind: "members", texts };
}

async function packEach(serde: SerializerProtocol, values: readonly unknown[]): Promise<readonly string[] | undefined> {
  const texts: string[] = [];
  for (const value of values) {
    const [type, bytes] = await serde.dumpsTyped(value);
    // A function has no JSON: in an array it is null, and in an object its member is left out.
    if (type !== "json" || bytes.length === 0) return undefined;
    texts.push(textOf(bytes));
  }
  return texts;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The value of a JSON text. */
export async function unpackText(serde: SerializerProtocol, text: string): Promise<unknown> {
  return serde.loadsTyped("json", text);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
