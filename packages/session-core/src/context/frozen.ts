/**
 * Freezes a value of JSON whole. Contexts share their objects, so a change by one reader would be sent to the model by
 * the next; frozen, it throws.
 */
export function frozen<T extends object>(value: T): T {
  Object.freeze(value);
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null && !Object.isFrozen(member)) frozen(member);
  }
  return value;
}
