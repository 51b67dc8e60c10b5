/** The longest id of a call, in characters: OpenAI's chat completions reject longer ones, other APIs allow more. */
const MAX_ID_LENGTH = 40;

/** The longest name of a tool: Anthropic's limit. */
const MAX_NAME_LENGTH = 128;

const REJECTED = /[^a-zA-Z0-9_-]/g;

/**
 * Returns a function that maps ids of calls to ids that every provider accepts: letters, digits, `_` and `-`, at most 40
 * characters, unique in one request. A valid id is kept. An id depends only on the calls before it, so a longer context
 * starts with the same bytes and the provider's prompt cache stays valid.
 *
 * @example
 * const toUniqueId = createCallIdMapper();
 * toUniqueId("call.1"); // "call_1"
 * toUniqueId("call:1"); // "call_1_2"
 */
export function createCallIdMapper(): (callId: string) => string {
  const taken = new Set<string>();
  // The next number to try for an id: some servers name the first call of every reply `call_0`.
  const next = new Map<string, number>();
  return (callId) => {
    const base = sanitizeCallId(callId);
    let copy = next.get(base) ?? 1;
    while (taken.has(numbered(base, copy))) copy += 1;
    next.set(base, copy + 1);
    const id = numbered(base, copy);
    taken.add(id);
    return id;
  };
}

function numbered(base: string, copy: number): string {
  return copy === 1 ? base : `${base.slice(0, MAX_ID_LENGTH - `_${copy}`.length)}_${copy}`;
}

// Some ids have hundreds of characters and differ only at the end, so a hash replaces the end.
function sanitizeCallId(callId: string): string {
  const id = callId.replace(REJECTED, "_");
  if (id === "") return "call";
  return id.length <= MAX_ID_LENGTH ? id : `${id.slice(0, MAX_ID_LENGTH - 9)}_${hash(callId)}`;
}

// FNV-1a, 32 bits: short, and the same in every run. The copy number in `createCallIdMapper` distinguishes ids with equal hashes.
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}

/** A tool's name that every provider accepts: letters, digits, `_` and `-`, at most `longest` characters. */
export function sanitizeToolName(toolName: string, longest: number = MAX_NAME_LENGTH): string {
  const name = toolName.replace(REJECTED, "_").slice(0, longest);
  return name === "" ? "tool" : name;
}

/**
 * Replaces every lone surrogate by U+FFFD, in texts and keys at any depth, because a provider rejects a request with one.
 * Returns the same value, not a copy, if there is none.
 *
 * @example
 * toWellFormedJson({ path: "a\ud800" }); // { path: "a\ufffd" }
 */
export function toWellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return changed(value, value.map(toWellFormedJson));
  const members = Object.entries(value);
  const validated = members.map(([key, member]) => [key.toWellFormed(), toWellFormedJson(member)] as const);
  return validated.every(([key, member], at) => key === members[at]?.[0] && member === members[at]?.[1])
    ? value
    : Object.fromEntries(validated);
}

function changed(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((member, at) => member === before[at]) ? before : after;
}
