import { Buffer } from "node:buffer";

/** A value as indented JSON; bytes in the data of a host as in a session file, by their base64: { "$bough.bytes": "AAEC" }. */
export function toPrintedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, member: unknown) => (member instanceof Uint8Array ? toNamedBase64(member) : member), 2);
}

function toNamedBase64(bytes: Uint8Array): object {
  return { "$bough.bytes": Buffer.from(bytes).toString("base64") };
}
