import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Packed } from "./stored-checkpoint.js";

/** Serializes a value for a payload. */
export async function pack(serde: SerializerProtocol, value: unknown): Promise<Packed> {
  const [type, bytes] = await serde.dumpsTyped(value);
  const json = type === "json" ? parsed(textOf(bytes)) : undefined;
  return json === undefined ? { type, base64: Buffer.from(bytes).toString("base64") } : { type, json };
}

/** The value that `pack` got. */
export async function unpack(serde: SerializerProtocol, packed: Packed): Promise<unknown> {
  if ("json" in packed) return serde.loadsTyped(packed.type, JSON.stringify(packed.json));
  // A Buffer would become the value of a channel, and be serialized as an object of numbers the next time.
  return serde.loadsTyped(packed.type, new Uint8Array(Buffer.from(packed.base64, "base64")));
}

/** The JSON texts of the elements of an array; undefined if the serializer does not write each of them as JSON. */
export async function packElements(serde: SerializerProtocol, values: readonly unknown[]): Promise<readonly string[] | undefined> {
  const texts: string[] = [];
  for (const value of values) {
    const [type, bytes] = await serde.dumpsTyped(value);
    if (type !== "json") return undefined;
    texts.push(textOf(bytes));
  }
  return texts;
}

/** The array whose elements have these JSON texts. */
export async function unpackElements(serde: SerializerProtocol, texts: readonly string[]): Promise<unknown> {
  return serde.loadsTyped("json", `[${texts.join(",")}]`);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}

/** A JSON text as a value; undefined if it is not one. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
