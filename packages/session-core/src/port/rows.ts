declare const row: unique symbol;

/** Row number of a session in this file. */
export type SessionSeq = number & { readonly [row]: "session" };

/** Row number of an entry in this file: its order of arrival. */
export type EntrySeq = number & { readonly [row]: "entry" };

/** Row number of a token counter in this file. */
export type CounterSeq = number & { readonly [row]: "counter" };

/** Marks a number as the row number of an entry: one that a caller gave as an order of arrival, or the next free one. */
export function toEntrySeq(seq: number): EntrySeq {
  // A brand exists only in types, so nothing but a cast adds it.
  return seq as EntrySeq;
}
