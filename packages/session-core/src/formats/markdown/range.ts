import type { Entry } from "../../entry/entry.js";
import { EntryNotFoundError } from "../../errors/session-errors.js";
import type { MarkdownDocument, MarkdownOptions } from "./markdown-document.js";
import type { Omissions } from "./omissions.js";

/**
 * The entries from `from` up to `to`, both included. Of what is behind `to` one entry is read, to know that there is one.
 *
 * @throws {EntryNotFoundError} an end of the range is not on the branch, or `to` stands before `from`.
 */
export async function* entriesInRange(document: MarkdownDocument, options: MarkdownOptions, omitted: Omissions): AsyncGenerator<Entry> {
  const { from, to } = options;
  let inside = from === undefined;
  let ended = false;
  for await (const entry of document.entries) {
    if (ended) return omitted.endsEarly();
    inside ||= entry.id === from;
    ended = entry.id === to;
    if (inside) yield entry;
    else if (ended) break;
    else omitted.count("earlier");
  }
  if (!inside && from !== undefined) throw new EntryNotFoundError(document.session.id, from);
  if (!ended && to !== undefined) throw new EntryNotFoundError(document.session.id, to);
}
