import type { core } from "zod";
import { InvalidEntryError } from "../errors/session-errors.js";
import { isId } from "../ids/ids.js";
import { type EntryPayload, entryPayloadSchema } from "./entry.js";
import { assertJson, type JsonObject } from "./json.js";

/** What passed the gate: the payload without its position, and the position the caller asked for. */
export interface ValidatedEntry {
  readonly payload: EntryPayload;
  readonly id: string | undefined;
  readonly createdAtMs: number | undefined;
}

/**
 * The one gate for entries from outside: a caller, a file, another program.
 *
 * Keeps fields it does not know. `seq` and `parentId` are dropped: where an entry stands is not its own to say.
 *
 * @throws {InvalidEntryError} naming the field that does not fit.
 * @throws {UnserializableValueError} naming the member that JSON cannot hold.
 */
export function validateEntry(given: unknown): ValidatedEntry {
  assertJson(given, "entry");
  if (typeof given === "string") throw new InvalidEntryError("", 'it is a text; a message of the user is appended as userMessage("…")');
  const validated = entryPayloadSchema.safeParse(given);
  if (!validated.success) throw isBareMessage(given) ? bareMessageError() : toInvalidEntryError(validated.error.issues);
  restoreProtoMembers(given, validated.data);
  const { id, createdAtMs } = validated.data;
  if (id !== undefined && (typeof id !== "string" || !isId(id))) {
    throw new InvalidEntryError("id", "must be 1 to 128 visible characters without spaces");
  }
  if (createdAtMs !== undefined && !Number.isSafeInteger(createdAtMs)) {
    throw new InvalidEntryError("createdAtMs", "must be whole milliseconds since 1970");
  }
  return { payload: withoutPosition(validated.data), id, createdAtMs: createdAtMs as number | undefined };
}

/**
 * Gives back members named `__proto__`: zod leaves them out of the objects that it makes anew. Defined and not assigned, so
 * that they stay members and are no prototype. Looks at the objects that were made anew only.
 */
function restoreProtoMembers(given: unknown, made: unknown): void {
  if (given === made || typeof given !== "object" || given === null || typeof made !== "object" || made === null) return;
  if (Array.isArray(made)) {
    if (Array.isArray(given)) for (let at = 0; at < made.length; at += 1) restoreProtoMembers(given[at], made[at]);
    return;
  }
  const members = given as JsonObject;
  if (Object.hasOwn(members, "__proto__")) {
    const value: unknown = Object.getOwnPropertyDescriptor(members, "__proto__")?.value;
    Object.defineProperty(made, "__proto__", { value, enumerable: true, writable: true, configurable: true });
  }
  for (const [name, member] of Object.entries(made)) if (name !== "__proto__") restoreProtoMembers(members[name], member);
}

function bareMessageError(): InvalidEntryError {
  return new InvalidEntryError("type", 'a message is appended as { type: "message", message }; userMessage(text) makes one');
}

/** The slip that is made most: a message handed in where an entry is expected. */
function isBareMessage(given: unknown): boolean {
  return typeof given === "object" && given !== null && "role" in given && !("type" in given);
}

function withoutPosition(data: EntryPayload): EntryPayload {
  // Most appends give no place, and a copy costs as much as the judgement.
  if (!("id" in data || "createdAtMs" in data || "seq" in data || "parentId" in data)) return data;
  const { id: _id, createdAtMs: _createdAtMs, seq: _seq, parentId: _parentId, ...payload } = data;
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

// A union reports one list of issues for each of its members; the one that got furthest is the one that was meant.
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
