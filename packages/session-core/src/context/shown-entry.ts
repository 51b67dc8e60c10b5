import type { EntryPayload } from "../entry/entry.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextEntry } from "../port/records.js";
import type { ContextMessage } from "./context.js";
import { frozen } from "./frozen.js";
import { messageOf, type Replacement, withReplacement } from "./message-of.js";
import type { Placed } from "./tool-pairs.js";

/**
 * An entry of a window and how it appears. It appears as the same object in every context for as long as the same edit
 * applies to it, so that whoever counts or converts messages may remember them by identity.
 */
export class ShownEntry implements ContextEntry {
  readonly id: EntryId;
  readonly seq: number;
  readonly payload: EntryPayload;
  readonly #asWritten: Placed | null;
  /** How it appeared under the edit that applied last. */
  #edited: { readonly replacement: Replacement; readonly placed: Placed } | undefined;

  constructor({ id, seq, payload }: ContextEntry) {
    this.id = id;
    this.seq = seq;
    this.payload = frozen(payload);
    const message = messageOf(payload);
    this.#asWritten = message && { id, message: frozen(message) };
  }

  /** How it appears under an edit (undefined: none applies); null: not at all. */
  shown(replacement: Replacement | undefined): Placed | null {
    if (replacement === undefined || this.#asWritten === null) return this.#asWritten;
    if (replacement === null) return null;
    if (this.#edited?.replacement !== replacement) this.#edited = { replacement, placed: edited(this.#asWritten, replacement) };
    return this.#edited.placed;
  }
}

function edited({ id, message }: Placed, replacement: NonNullable<Replacement>): Placed {
  const changed: ContextMessage = withReplacement(message, replacement);
  return { id, message: frozen(changed) };
}
