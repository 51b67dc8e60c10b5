import { customAlphabet } from "nanoid";
import { shorten } from "../text/cut.js";

/** Names an entry within its session: 1 to 128 visible characters. Unique in a session, not across sessions. */
export type EntryId = string;

/** Names a session within its store: 1 to 128 visible characters. */
export type SessionId = string;

// Lower case without l, o and u: read aloud and typed without mistakes, and a prefix of it is never a word.
const ALPHABET = "0123456789abcdefghijkmnpqrstvwxyz";

const drawEntryId = customAlphabet(ALPHABET, 12);
const drawSessionId = customAlphabet(ALPHABET, 16);

/** A new entry id: 12 characters, 60 bits of chance. Two equal ones in a session of a million entries: 1 in two million. */
export function newEntryId(): EntryId {
  return drawEntryId();
}

/** A new session id: 16 characters, 80 bits of chance. */
export function newSessionId(): SessionId {
  return drawSessionId();
}

// An id is printed, typed in a shell and used in file names, so no spaces and no control characters.
const ID = /^[\p{L}\p{N}\p{P}\p{S}]{1,128}$/u;

/** Whether `text` can name an entry or a session: 1 to 128 characters, none of them white space or control. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** What a message quotes of a file, cut to `most` characters; every id that is valid is quoted whole. */
export function quoted(text: string, most = 128): string {
  return shorten(text, most).toWellFormed();
}
