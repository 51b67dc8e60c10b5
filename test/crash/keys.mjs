/** What a store is changed between: not locked, and locked with two keys. */
export const KEYS = [undefined, "the first key", "the second key"];
