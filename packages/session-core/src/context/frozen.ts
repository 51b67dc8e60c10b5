/**
 * Freezes a value of JSON whole. Contexts share their objects, so a change by one reader would be sent to the model by
 * the next; frozen, it throws.
 */
export function frozen<T extends object>(value: T): T {
  // Values of JSON are frozen whole or not at all.
  if (Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) frozen(member);
  }
  return value;
}
