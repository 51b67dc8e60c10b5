import type { ContextEditPayload, EntryPayload } from "../entry/entry.js";
import { toContentBlocks } from "../entry/foreign-block.js";
import { freezeJson } from "../entry/json.js";
import type { Message } from "../entry/message.js";
import { joinTextBlocks } from "../entry/text.js";
import type { EntryId } from "../ids/ids.js";
import type { ContextEntry, ContextPath } from "../port/records.js";
import type { ContextMessage } from "./context.js";
import type { EntryMessage } from "./tool-pairs.js";

/** The entries behind a context, and from which position on they are new since the one before; 0: all of them count anew. */
export interface EntriesUpdate {
  readonly entries: readonly ProjectedEntry[];
  readonly newFrom: number;
}

/**
 * The parsed entries behind the last context of a handle. Entries never change and the path of an entry never changes,
 * so a window stays true for ever; it is continued when the leaf moved on below its end, and read anew otherwise.
 */
export class ProjectedEntries {
  #entries: ProjectedEntry[] = [];
  /** The window holds every entry of its path from this row on; 0: the whole path. */
  #from = 0;
  #end: number | null = null;

  /** The last entry of the window: what `contextPath` may continue from. */
  get end(): number | null {
    return this.#end;
  }

  /**
   * The window for `path`, which was asked for with `asked` as the known end. undefined: it cannot be made from what is
   * held; ask again without a known end.
   */
  update(path: ContextPath, asked: number | null): EntriesUpdate | undefined {
    const start = path.firstKeptSeq ?? path.compactionSeq ?? 0;
    // Another context was built meanwhile, or a compaction was undone, so that older entries count again.
    if (path.continues && (asked !== this.#end || start < this.#from)) return undefined;
    const newFrom = path.continues ? this.#continue(path.entries, start) : this.#replace(path.entries, start);
    this.#end = path.leaf.seq;
    return { entries: this.#entries, newFrom };
  }

  /** Entries of another path of the session; those that the window holds too are given as it has them. */
  reuse(entries: readonly ContextEntry[]): ProjectedEntry[] {
    let at = 0;
    return entries.map((entry) => {
      // Both are in order of arrival, and a place is never given twice.
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
 * An entry of a window and how it appears. It appears as the same object in every context for as long as the same edit
 * applies to it, so that whoever counts or converts messages may remember them by identity.
 */
export class ProjectedEntry implements ContextEntry {
  readonly id: EntryId;
  readonly seq: number;
  readonly payload: EntryPayload;
  readonly #asWritten: EntryMessage | null;
  /** How it appeared under the edit that applied last. */
  #edited: { readonly replacement: Replacement; readonly placed: EntryMessage } | undefined;

  constructor({ id, seq, payload }: ContextEntry) {
    this.id = id;
    this.seq = seq;
    this.payload = freezeJson(payload);
    const message = projectPayload(payload);
    this.#asWritten = message && { id, message: freezeJson(message) };
  }

  /** How it appears under an edit (undefined: none applies); null: not at all. */
  project(replacement: Replacement | undefined): EntryMessage | null {
    if (replacement === undefined || this.#asWritten === null) return this.#asWritten;
    if (replacement === null) return null;
    if (this.#edited?.replacement !== replacement) this.#edited = { replacement, placed: applyEdit(this.#asWritten, replacement) };
    return this.#edited.placed;
  }
}

function applyEdit({ id, message }: EntryMessage, replacement: NonNullable<Replacement>): EntryMessage {
  const changed: ContextMessage = replaceContent(message, replacement);
  return { id, message: freezeJson(changed) };
}

/** What an edit puts in place of an entry's content; null: the entry is omitted. */
export type Replacement = ContextEditPayload["replacement"];

/**
 * How an entry appears to the model, or null where it does not. The one place that decides it.
 *
 * System messages do not appear here: the latest one of the path is the context's `system`.
 */
export function projectPayload(payload: EntryPayload): ContextMessage | null {
  switch (payload.type) {
    case "message":
      return projectMessage(payload.message);
    case "compaction":
      return { role: "compactionSummary", summary: payload.summary, tokensBefore: payload.tokensBefore };
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

function projectMessage(message: Message): ContextMessage | null {
  if (message.role === "system") return null;
  return message.role === "bashExecution" && message.excludeFromContext === true ? null : message;
}

/** A message with other content, by what its role calls content. */
export function replaceContent(message: ContextMessage, replacement: NonNullable<Replacement>): ContextMessage {
  const { content } = replacement;
  const text = joinTextBlocks(content);
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return { ...message, summary: text };
    case "bashExecution":
      return { ...message, output: text };
    case "assistant":
      return { ...message, content: typeof content === "string" ? [{ type: "text", text: content }] : content };
    case "user":
    case "toolResult":
    case "custom":
      return { ...message, content: typeof content === "string" ? content : [...toContentBlocks(content)] };
  }
}
