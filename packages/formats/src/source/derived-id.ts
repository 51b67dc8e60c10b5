import { hash } from "node:crypto";
import type { EntryId, SessionId } from "@bough/session-core";
import { isId } from "@bough/session-core/wire";

// Bough's alphabet without its last letter: 32 characters, so that five bits of the hash choose one without bias.
const ALPHABET = "0123456789abcdefghijkmnpqrstvwxy";

/**
 * An id of 12 characters derived from `parts`, in Bough's own alphabet of ids: the same at each import. Claude Code's reader
 * derives hexadecimal ids (`derivedId` in formats/claude/ids.ts). Both forms of ids are stored and must not change.
 */
export function derivedId(...parts: readonly (string | number)[]): EntryId {
  // A character for each byte: a buffer would take as long as the hash.
  const bytes = hash("sha256", parts.join("\n"), "binary");
  let id = "";
  for (let at = 0; at < 12; at += 1) id += ALPHABET.charAt(bytes.charCodeAt(at) & 31);
  return id;
}

/** Returns the id of an agent's session: the same if it is read through its parent or alone. */
export function agentSessionId(conversation: SessionId, key: string): SessionId {
  const id = `${conversation}.${key}`;
  return isId(id) ? id : `${conversation.slice(0, 64)}.${hash("sha256", key, "hex").slice(0, 16)}`;
}
