import type { CompactionPayload, ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { freezeJson } from "../entry/json.js";
import type { Message } from "../entry/message.js";
import { nativeCompactionOf } from "../entry/native-compaction.js";
import type { EntryId, EntrySeq } from "../ids/ids.js";
import type { ContextEntry, ContextPath } from "../port/records.js";
import type { ContextMessage } from "./context.js";
import { withBody } from "./message-body.js";
import type { EntryMessage } from "./tool-pairs.js";

/** The projected entries of a context. Those before the index `newFrom` are unchanged since the last context; 0: all are new. */
export interface EntriesUpdate {
  readonly entries: readonly ProjectedEntry[];
  readonly newFrom: number;
}

/**
 * The projected entries of a session's last context. Entries and their paths never change, so they stay valid: if the leaf
 * moved to a descendant, the new entries are appended; otherwise the path is read again.
 */
export class ProjectedEntries {
  #entries: ProjectedEntry[] = [];
  /** The list has every entry of its path from this row on; 0: the whole path. */
  #from = 0;
  #end: EntrySeq | null = null;

  /** The last entry of the list, from which `contextPath` may continue. */
  get end(): EntrySeq | null {
    return this.#end;
  }

  /**
   * The projected entries of `path`, which was read with the known end `knownSeq`. Returns undefined if this list
   * lacks entries before the known end: read the path again without a known end.
   */
  update(path: ContextPath, knownSeq: EntrySeq | null): EntriesUpdate | undefined {
    const start = path.firstKeptSeq ?? path.compactionSeq ?? 0;
    // Another context was built meanwhile, or an undone compaction makes older entries visible again.
    if (path.continues && (knownSeq !== this.#end || start < this.#from)) return undefined;
    const newFrom = path.continues ? this.#continue(path.entries, start) : this.#replace(path.entries, start);
    this.#end = path.endSeq;
    return { entries: this.#entries, newFrom };
  }

  /** Projects entries of another path of the session. An entry that is in this list is the same object. */
  reuse(entries: readonly ContextEntry[]): ProjectedEntry[] {
    let at = 0;
    return entries.map((entry) => {
      // Both lists are in ascending order of seq.
      while ((this.#entries[at]?.seq ?? entry.seq) < entry.seq) at += 1;
      const known = this.#entries[at];
      return known?.seq === entry.seq ? known : new ProjectedEntry(entry);
    });
  }

  #replace(entries: readonly ContextEntry[], start: number): number {
    this.#entries = this.reuse(entries);
    this.#from = start;
    return 0;
  }

  #continue(entries: readonly ContextEntry[], start: number): number {
    const known = this.#entries.length;
    for (const entry of entries) this.#entries.push(new ProjectedEntry(entry));
    if (start === this.#from) return known;
    this.#entries = this.#entries.filter((entry) => entry.seq >= start);
    this.#from = start;
    return 0;
  }
}

/**
 * An entry and its message in a context. The message is the same object in every context as long as the same edit applies, so
 * that callers can cache counts and conversions by identity.
 */
export class ProjectedEntry implements ContextEntry {
  readonly id: EntryId;
  readonly seq: EntrySeq;
  readonly payload: EntryPayload;
  readonly #unedited: EntryMessage | null;
  /** The message with the last edit. */
  #edited: { readonly replacement: Replacement; readonly placed: EntryMessage } | undefined;

  constructor({ id, seq, payload }: ContextEntry) {
    this.id = id;
    this.seq = seq;
    this.payload = freezeJson(payload);
    const message = projectPayload(payload);
    this.#unedited = message && { id, message: freezeJson(message) };
  }

  /** The message with an edit (undefined: no edit); null: the entry has no message, or the edit omits it. */
  project(replacement: Replacement | undefined): EntryMessage | null {
    if (replacement === undefined || this.#unedited === null) return this.#unedited;
    if (replacement === null) return null;
    if (this.#edited?.replacement !== replacement) this.#edited = { replacement, placed: applyEdit(this.#unedited, replacement) };
    return this.#edited.placed;
  }
}

function applyEdit({ id, message }: EntryMessage, replacement: NonNullable<Replacement>): EntryMessage {
  const changed: ContextMessage = withBody(message, replacement.content);
  return { id, message: freezeJson(changed) };
}

/** The new content that an edit gives an entry; null: the entry is omitted. */
export type Replacement = ContextEditPayload["replacement"];

/**
 * The message of an entry in a context, or null if it has none. A system message has none: the text of the latest one is the
 * context's `system`.
 */
function projectPayload(payload: EntryPayload): ContextMessage | null {
  switch (payload.type) {
    case "message":
      return projectMessage(payload.message);
    case "compaction":
      return projectCompaction(payload);
    case "branch_summary":
      return { role: "branchSummary", summary: payload.summary, fromId: payload.fromId };
    case "custom_message": {
      const { customType, content, display, details } = payload;
      return { role: "custom", customType, content, display, details };
    }
    case "model_change":
    case "thinking_level_change":
    case "context_edit":
    case "custom":
    case "foreign":
      return null;
  }
}

function projectCompaction(payload: CompactionPayload): ContextMessage {
  const { summary, tokensBefore } = payload;
  const native = nativeCompactionOf(payload);
  return { role: "compactionSummary", summary, tokensBefore, ...(native === undefined ? {} : { native }) };
}

function projectMessage(message: Message): ContextMessage | null {
  if (message.role === "system") return null;
  return message.role === "bashExecution" && message.excludeFromContext === true ? null : message;
}
