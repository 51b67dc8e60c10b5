import { PAYLOAD } from "../../arguments/shapes.js";
import type { EntryPayload, EntryType } from "../../entry/entry.js";
import { parseStoredPayload } from "../../entry/stored-payload.js";
import { searchableText } from "../../entry/text.js";
import type { SearchRequest } from "../../port/search.js";
import { textInPlaces, usesTool } from "./places.js";

/** Returns the searchable text of a payload; "" for a damaged one, which `verify` reports. */
export function extractText(type: EntryType, json: string): string {
  const payload = parsePayload(type, json);
  return payload === undefined ? "" : searchableText(payload);
}

/** Returns a payload; undefined for a damaged one. */
export function parsePayload(type: EntryType, json: string): EntryPayload | undefined {
  try {
    const payload = parseStoredPayload(type, json);
    return PAYLOAD(payload, "payload") === undefined ? payload : undefined;
  } catch (error) {
    // The file does not check that a payload is JSON: another program may have changed it.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The text of a hit that was searched; "" for a damaged payload. */
export function textOfHit(type: EntryType, json: string, places: SearchRequest["places"]): string {
  const payload = parsePayload(type, json);
  if (payload === undefined) return "";
  return places === undefined ? searchableText(payload) : textInPlaces(payload, places);
}

/** The text of a payload that is to be searched; undefined: it does not meet the conditions on payloads. */
export function textToSearch(payload: EntryPayload, { tool, places }: SearchRequest): string | undefined {
  if (tool !== undefined && !usesTool(payload, tool)) return undefined;
  if (places === undefined) return searchableText(payload);
  const text = textInPlaces(payload, places);
  return text.trim() === "" ? undefined : text;
}
