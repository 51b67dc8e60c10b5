import type { core } from "zod";
import { InvalidEntryError } from "../errors/session-errors.js";
import { isId } from "../ids/ids.js";
import { encodeBytes } from "./bytes.js";
import { type EntryPayload, entryPayloadSchema } from "./entry.js";
import { isObject } from "./json.js";
import { isPlainPayload } from "./plain-payload.js";

/** A valid entry: its payload, and the id and time that the caller gave. */
export interface ValidatedEntry {
  readonly payload: EntryPayload;
  readonly id: string | undefined;
  readonly createdAtMs: number | undefined;
  /** The JSON text of the payload without its type, if it is known. */
  readonly payloadJson?: string | undefined;
  /** The same for all copies of an entry: entry/origins.ts. undefined: it has no copies but those that Bough makes. */
  readonly origin?: string | undefined;
}

/**
 * Validates an entry that a caller or a file supplied. The payload is as it is stored: see `encodeBytes`. Unknown fields are kept; `seq` and `parentId` are removed, because the
 * store sets them.
 *
 * @param inSchemaOrder Returns a copy of the payload whose known members come first, in the order of the schema; default: the given
 * order is kept if nothing has to be changed.
 * @throws {InvalidEntryError} with the path of the first invalid field.
 * @throws {UnserializableValueError} with the path of the first value that JSON cannot represent.
 */
export function validateEntry(given: unknown, inSchemaOrder = false): ValidatedEntry {
  const storable = encodeBytes(given, "entry");
  const data = !inSchemaOrder && isPlainPayload(storable) ? storable : parsePayload(storable);
  const { id, createdAtMs } = data;
  if (id !== undefined && (typeof id !== "string" || !isId(id))) {
    throw new InvalidEntryError("id", "must be 1 to 128 visible characters without spaces");
  }
  if (!isOptionalTime(createdAtMs)) {
    throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
  }
  return { payload: withoutPosition(data), id, createdAtMs };
}

function parsePayload(given: unknown): EntryPayload {
  if (typeof given === "string") throw new InvalidEntryError("", 'it is a text; a message of the user is appended as userMessage("…")');
  const validated = entryPayloadSchema.safeParse(given);
  if (!validated.success) throw isBareMessage(given) ? bareMessageError() : toInvalidEntryError(validated.error.issues);
  restoreProtoMembers(given, validated.data);
  return validated.data;
}

function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || Number.isSafeInteger(value);
}

/**
 * Restores members named `__proto__`, which zod leaves out of the objects it creates. They are defined, not assigned, so that
 * they do not become prototypes. Visits only the objects that zod created.
 */
function restoreProtoMembers(given: unknown, made: unknown): void {
  if (given === made || typeof made !== "object" || made === null) return;
  if (Array.isArray(made)) {
    if (Array.isArray(given)) for (let at = 0; at < made.length; at += 1) restoreProtoMembers(given[at], made[at]);
    return;
  }
  if (!isObject(given)) return;
  if (Object.hasOwn(given, "__proto__")) {
    const value: unknown = Object.getOwnPropertyDescriptor(given, "__proto__")?.value;
    Object.defineProperty(made, "__proto__", { value, enumerable: true, writable: true, configurable: true });
  }
  for (const [name, member] of Object.entries(made)) if (name !== "__proto__") restoreProtoMembers(given[name], member);
}

function bareMessageError(): InvalidEntryError {
  return new InvalidEntryError("type", 'a message is appended as { type: "message", message }; userMessage(text) makes one');
}

/** The most frequent mistake: a message in place of an entry. */
function isBareMessage(given: unknown): boolean {
  return typeof given === "object" && given !== null && "role" in given && !("type" in given);
}

function withoutPosition(data: EntryPayload): EntryPayload {
  // Most appends give no id and no time, and a copy costs as much as the validation.
  if (!("id" in data || "createdAtMs" in data || "seq" in data || "parentId" in data)) return data;
  const { id: _id, createdAtMs: _createdAtMs, seq: _seq, parentId: _parentId, ...payload } = data;
  // The rest of a union by destructuring is not the union of the rests, so the type is restated.
  return payload as EntryPayload;
}

function toInvalidEntryError(issues: readonly core.$ZodIssue[]): InvalidEntryError {
  const { path, message } = deepestIssue(issues, []);
  return new InvalidEntryError(pathText(path), message.replace(/^Invalid input: /, ""));
}

interface FoundIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

// A union reports a list of issues for each of its members. The deepest issue is of the member that the caller meant.
function deepestIssue(issues: readonly core.$ZodIssue[], base: readonly PropertyKey[]): FoundIssue {
  let found: FoundIssue = { path: base, message: "does not fit" };
  for (const issue of issues) {
    const path = [...base, ...issue.path];
    const here: FoundIssue =
      issue.code === "invalid_union" && issue.errors.length > 0
        ? issue.errors.map((member) => deepestIssue(member, path)).reduce(deeperOf)
        : { path, message: issue.message };
    found = found.message === "does not fit" ? here : deeperOf(found, here);
  }
  return found;
}

function deeperOf(a: FoundIssue, b: FoundIssue): FoundIssue {
  return b.path.length > a.path.length ? b : a;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((step, at) => (typeof step === "number" ? `[${step}]` : `${at > 0 ? "." : ""}${String(step)}`)).join("");
}
