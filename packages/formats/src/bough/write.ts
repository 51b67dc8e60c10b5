import type { Entry, Label, LeafRecord, SessionRecord, StoredValue } from "@bough/session-core";
import { encodeBytes } from "@bough/session-core/wire";

/** A session to write. */
interface BoughDocument {
  readonly session: SessionRecord;
  /** Every entry of every branch, in order of arrival. */
  readonly entries: AsyncIterable<Entry>;
  readonly labels: readonly Label[];
  readonly leaves: readonly LeafRecord[];
  readonly values: readonly StoredValue[];
}

/**
 * Bough's JSONL format, line by line without line breaks: a header with the session's fields, then its entries, parents first,
 * then labels, leaves and values. Everything is included except derived data and the history of leaf moves.
 *
 * @example
 * {"type":"bough-session","version":1,"id":"k3v…","title":"Fix the parser","createdAtMs":1763681630805}
 * {"type":"entry","id":"a1","parentId":null,"createdAtMs":1763681631000,"entry":{"type":"message","message":{…}}}
 * {"type":"leaf","name":"main","entryId":"a1"}
 */
export async function* boughLines(document: BoughDocument): AsyncGenerator<string, void, void> {
  yield JSON.stringify(toHeader(document.session));
  for await (const { id, seq: _seq, parentId, createdAtMs, ...entry } of document.entries) {
    yield JSON.stringify({ type: "entry", id, parentId, createdAtMs, entry: encodeBytes(entry, "entry") });
  }
  for (const label of document.labels) yield JSON.stringify({ type: "label", ...label });
  for (const leaf of document.leaves) yield JSON.stringify({ type: "leaf", ...leaf });
  for (const { key, value } of document.values) yield JSON.stringify({ type: "value", key, value: encodeBytes(value, "value") });
}

function toHeader(session: SessionRecord) {
  const { id, kind, title, titleSource, cwd, createdAtMs, parent, source, metadata } = session;
  return { type: BOUGH_TYPE, version: BOUGH_VERSION, id, kind, title, titleSource, cwd, createdAtMs, parent, source, metadata };
}

/** The `type` of the first line of a file in Bough's format. */
export const BOUGH_TYPE = "bough-session";

/** The version of Bough's format that is written, and the newest that is read. */
export const BOUGH_VERSION = 1;
