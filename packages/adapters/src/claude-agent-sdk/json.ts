/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object of these members. Also a member named `__proto__` becomes an own one. */
export function fromMembers(members: Iterable<readonly [string, unknown]>): Json {
  return Object.fromEntries(members);
}
