import type { Entry, Session } from "@bough/session-core";
import { previewOf } from "@bough/session-core";
import { entryKind } from "../format/entry-lines.js";

/** An entry in a few words, for telling a person where a leaf went or what was labelled. */
export function entryInShort(entry: Entry): string {
  const text = previewOf(entry);
  return text === "" ? `${entry.id} (${entryKind(entry)})` : `${entry.id} (${entryKind(entry)}: ${text})`;
}

/** Where a session's leaf stands, in words. */
export async function leafInShort(session: Session): Promise<string> {
  return session.leafId === null ? "before the first entry" : entryInShort(await session.entry(session.leafId));
}
