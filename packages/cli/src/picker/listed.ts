import type { SessionRecord } from "@bough/session-core";
import { titleOf } from "../place/session-choice.js";

/** A session of the list, with the text that names are looked for in, prepared once (regression R167). */
export interface Listed {
  readonly record: SessionRecord;
  /** What it is called, as `searchForm` makes it. */
  readonly name: string;
  /** Its directory in the same form; empty: none. */
  readonly directory: string;
}

/** A session of the store as the list keeps it. */
export function listed(record: SessionRecord): Listed {
  return { record, name: searchForm(titleOf(record)), directory: searchForm(record.cwd ?? "") };
}

const PLAIN = /^[\x20-\x7e]*$/;

/** A text without case and accents, each white space one blank: what the index of the store does not distinguish either. */
export function searchForm(text: string): string {
  const bare = PLAIN.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  return bare.toLowerCase().replace(/\s+/g, " ").trim();
}
