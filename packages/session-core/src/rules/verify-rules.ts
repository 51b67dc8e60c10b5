import type { EntryType } from "../entry/entry.js";
import { customTypeOf } from "../entry/kinds.js";
import { isPrivate } from "../entry/text.js";
import { validateEntry } from "../entry/validate.js";
import { InvalidEntryError, UnserializableValueError } from "../errors/session-errors.js";
import type { Violation } from "../port/session-storage.js";
import { toStoredCustomType } from "./derived-columns.js";
import { type MetadataRow, metadataRows } from "./session-filter.js";

/** A broken rule, without the session and the entry. */
export type Fault = Pick<Violation, "rule" | "message">;

/** A payload, and the values that are stored beside it. */
export interface CheckedPayload {
  readonly type: EntryType;
  readonly json: string;
  readonly bytes: number;
  readonly customType: string | null;
  readonly isPrivate: boolean;
}

const ALL_KNOWN = { customTypes: true, private: true };

/**
 * Returns the first fault of a payload, on any storage engine: the payload is invalid, or a value stored beside it differs from its
 * content. `subject` begins the message. `known`: the values that a store of an older version stores.
 */
export function findPayloadFault(checked: CheckedPayload, subject: string, known = ALL_KNOWN): Fault | undefined {
  try {
    // Not `parseStoredPayload`, which converts invalid blocks to foreign ones.
    const { payload } = validateEntry({ type: checked.type, ...JSON.parse(checked.json) });
    const bytes = Buffer.byteLength(checked.json);
    if (bytes !== checked.bytes)
      return { rule: "wrong-size", message: `${subject}: its payload has ${bytes} bytes, not ${checked.bytes}.` };
    const customType = toStoredCustomType(customTypeOf(payload));
    if (customType !== checked.customType && (payload.type !== "message" || known.customTypes))
      return { rule: "wrong-custom-type", message: `${subject}: its custom type is not that of its payload.` };
    if (known.private && isPrivate(payload) !== checked.isPrivate)
      return { rule: "wrong-private", message: `${subject}: whether searches leave it out is not what its payload says.` };
    return undefined;
  } catch (error) {
    if (!isOfPayload(error)) throw error;
    return { rule: "invalid-payload", message: `${subject}: ${error.message}` };
  }
}

function isOfPayload(error: unknown): error is Error {
  return error instanceof InvalidEntryError || error instanceof UnserializableValueError || error instanceof SyntaxError;
}

/** Returns a fault if the members by which a session is found differ from those of its metadata. */
export function findMetadataFault(id: string, json: string | null, members: readonly MetadataRow[]): Fault | undefined {
  if (inOrder(metadataRows(JSON.parse(json ?? "{}"))) === inOrder(members)) return undefined;
  return { rule: "wrong-metadata", message: `Session ${id}: the members by which it is found differ from its metadata.` };
}

function inOrder(rows: readonly MetadataRow[]): string {
  return JSON.stringify(rows.map(({ key, value }) => [key, value].join("\n")).toSorted());
}

/** Descriptions of the faults of an origin, for every engine. */
export const ORIGIN_FAULTS = {
  chain: "it refers to the origin of an entry that is a copy itself",
  twice: (session: string) => `it counts in totals, and so does a copy of it in session ${session}`,
  nowhere: "it is a copy that counts in no session: its original is gone",
} as const;
