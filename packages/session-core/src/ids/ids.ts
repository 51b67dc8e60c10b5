import { customAlphabet } from "nanoid";
import { shorten } from "../text/one-line.js";

/** The id of an entry: 1 to 128 visible characters, unique in its session. */
export type EntryId = string;

/** The id of a session: 1 to 128 visible characters, unique in its store. */
export type SessionId = string;

// Lower case without l, o and u, which are easily confused with 1, 0 and v.
const ALPHABET = "0123456789abcdefghijkmnpqrstvwxyz";

const drawEntryId = customAlphabet(ALPHABET, 12);
const drawSessionId = customAlphabet(ALPHABET, 16);

/** A new entry id: 12 characters, 60 random bits. Probability of a collision among a million entries: 1 in two million. */
export function newEntryId(): EntryId {
  return drawEntryId();
}

/** A new session id: 16 characters, 80 random bits. */
export function newSessionId(): SessionId {
  return drawSessionId();
}

/** The visible characters of ASCII: nearly every id, and a faster pattern. */
const ASCII_ID = /^[!-~]{1,128}$/;

/** True if `text` is a valid id: 1 to 128 characters, no white space and no control characters. */
export function isId(text: string): boolean {
  // Ids are printed, typed in a shell and used in file names.
  return ASCII_ID.test(text) || /^[\p{L}\p{N}\p{P}\p{S}]{1,128}$/u.test(text);
}

/** Text of a caller or of a file, cut to `most` characters for an error message; a valid id is never cut. */
export function quoted(text: string, most = 128): string {
  return shorten(text, most).toWellFormed();
}

declare const row: unique symbol;

/** Row number of a session in its store. It is never used again, even if a later session gets the same id. */
export type SessionSeq = number & { readonly [row]: "session" };

/** Row number of an entry: its order of arrival in its store or, on a server, in its session. */
export type EntrySeq = number & { readonly [row]: "entry" };

/** Row number of a token counter in this file. */
export type CounterSeq = number & { readonly [row]: "counter" };

/** Marks a number as the row number of a session: one that an engine drew, or that came with a copy. */
export function toSessionSeq(seq: number): SessionSeq {
  // A brand exists only in types, so nothing but a cast adds it.
  return seq as SessionSeq;
}

/** Marks a number as the row number of an entry: one that a caller gave as an order of arrival, or the next free one. */
export function toEntrySeq(seq: number): EntrySeq {
  // A brand exists only in types, so nothing but a cast adds it.
  return seq as EntrySeq;
}
