/**
 * `value` with every lone surrogate replaced by U+FFFD, in texts and keys at any depth: one of them makes a provider
 * refuse the whole request. A value without any is given back as it is, not copied.
 *
 * @example
 * wellFormed({ path: "a\ud800" }); // { path: "a\ufffd" }
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return changed(value, value.map(wellFormed));
  const members = Object.entries(value);
  const judged = members.map(([key, member]) => [key.toWellFormed(), wellFormed(member)] as const);
  return judged.every(([key, member], at) => key === members[at]?.[0] && member === members[at]?.[1]) ? value : Object.fromEntries(judged);
}

function changed(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((member, at) => member === before[at]) ? before : after;
}
