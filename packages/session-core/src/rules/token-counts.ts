import { InvalidEntryError } from "../errors/session-errors.js";
import type { EntryId } from "../ids/ids.js";

/** Throws unless these counts can be stored. @throws {InvalidEntryError} */
export function assertTokenCounts(counter: string, counts: ReadonlyMap<EntryId, number>): void {
  if (counter === "" || counter.length > 200) throw new InvalidEntryError("counter", "must be 1 to 200 characters");
  for (const tokens of counts.values()) {
    if (!Number.isSafeInteger(tokens) || tokens < 0) throw new InvalidEntryError("tokens", "must be a whole number from 0 up");
  }
}
