import { createHash } from "node:crypto";
import { type EntryId, isId, type SessionId } from "../../ids/ids.js";

/** Room for the `2:`, `3:`… of a record that becomes several entries, within the 128 characters of an id. */
const LONGEST_UUID = 100;

/**
 * The id of a record that has none of its own: 12 characters of a digest over session, line and text. Claude Code only
 * ever appends to a file, so the id is the same at each import, also when the file has grown.
 */
export function derivedId(session: SessionId, line: number, text: string): EntryId {
  return createHash("sha256").update(`${session}\n${line}\n${text}`).digest("hex").slice(0, 12);
}

/** Whether a record's uuid can be the id of its entry as it stands. */
export function isUsableId(uuid: string): boolean {
  return uuid.length <= LONGEST_UUID && isId(uuid);
}

/**
 * The id of the `count`-th entry, from 1, of a record that becomes several. The number comes first, so that a short prefix
 * still names the record's own entry.
 */
export function partId(first: EntryId, count: number): EntryId {
  return count === 1 ? first : `${count}:${first}`;
}

/** A short digest of a prompt: enough to recognise it, and small enough to keep for each call of a session. */
export function promptDigest(prompt: string): string {
  return createHash("sha256").update(prompt.trim()).digest("hex").slice(0, 16);
}
