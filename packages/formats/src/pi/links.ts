import type { EntryId } from "@bough/session-core";
import { groupBy, type SourceRecord } from "@bough/session-core/engine";
import { isObject, type JsonObject, parseTime, stringAt } from "@bough/session-core/wire";
import { LEAF_MARK } from "./marks.js";

/** A run of skipped lines, each the child of the one before. */
interface SkippedRun {
  /** The entry that replaces them: the parent of the first of them. */
  readonly parentId: EntryId | null;
  /** The last entry whose parent is one of them. */
  lastChild: EntryId | undefined;
}

/**
 * The lines of a file that do not become entries. pi and oh-my-pi append labels and titles to the tree and continue below
 * them; in Bough they are not part of the tree, so their children are attached to the entry above them.
 *
 * Memory: these lines only, not the entries.
 */
export class SkippedLines {
  readonly #runs = new Map<string, SkippedRun>();

  /** `state`: that of an earlier reading. */
  constructor(state?: unknown) {
    for (const run of Array.isArray(state) ? state.filter(isObject) : []) {
      const kept = { parentId: stringAt(run, "parentId") ?? null, lastChild: stringAt(run, "lastChild") };
      for (const id of Array.isArray(run.ids) ? run.ids : []) this.#runs.set(String(id), kept);
    }
  }

  /** The runs with the ids of their lines: a JSON value. */
  get state(): readonly JsonObject[] {
    return [...groupBy(this.#runs, ([, run]) => run)].map(([run, of]) => ({ ...run, ids: of.map(([id]) => id) }));
  }

  /** Adds the line `id` with the parent `parentId` of the file. */
  add(id: string, parentId: string | null): void {
    const above = parentId === null ? undefined : this.#runs.get(parentId);
    this.#runs.set(id, above ?? { parentId, lastChild: undefined });
  }

  /** The entry for `id`: `id` itself, or the entry above a skipped line. */
  entryFor(id: string | null): EntryId | null {
    const run = id === null ? undefined : this.#runs.get(id);
    return run === undefined ? id : run.parentId;
  }

  /** Records that the entry `child` has the parent `parentId` in the file. */
  addChild(parentId: string | null, child: EntryId): void {
    const run = parentId === null ? undefined : this.#runs.get(parentId);
    if (run !== undefined) run.lastChild = child;
  }

  /** The first entry that a compaction kept from `id` on; null if only skipped lines follow. */
  firstFrom(id: string): EntryId | null {
    const run = this.#runs.get(id);
    return run === undefined ? id : (run.lastChild ?? null);
  }
}

const TYPES: ReadonlySet<unknown> = new Set(["label", "session_info", "title_change", "title"]);

/** True if a record is about the session and not an entry. */
export function isAnnotation(record: JsonObject): boolean {
  return TYPES.has(record.type) || (record.type === "custom" && record.customType === LEAF_MARK);
}

/** The label or title of such a record; undefined if it has none. */
export function toAnnotation(record: JsonObject, links: SkippedLines): SourceRecord | undefined {
  switch (record.type) {
    case "label":
      return toLabel(record, links);
    case "session_info":
      return { kind: "title", title: stringAt(record, "name")?.trim() || null, source: "user" };
    case "title_change":
    case "title":
      return { kind: "title", title: stringAt(record, "title") || null, source: record.source === "user" ? "user" : "auto" };
  }
  return undefined;
}

function toLabel(record: JsonObject, links: SkippedLines): SourceRecord | undefined {
  const entryId = links.entryFor(stringAt(record, "targetId") ?? null);
  if (entryId === null) return undefined;
  return { kind: "label", entryId, label: stringAt(record, "label") || null, createdAtMs: parseTime(record.timestamp) };
}
