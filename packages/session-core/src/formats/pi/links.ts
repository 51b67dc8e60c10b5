import type { EntryId } from "../../ids/ids.js";
import { type JsonObject, parseTime, stringAt } from "../../source/json.js";
import type { SourceRecord } from "../../source/source-session.js";
import { LEAF_MARK } from "./marks.js";

/** A run of lines that are no entries of the tree, each the child of the one before. */
interface SkippedRun {
  /** The entry they stand for: the parent of the first of them. */
  readonly parentId: EntryId | null;
  /** The last entry that has one of them as its parent. */
  heir: EntryId | undefined;
}

/**
 * Where lines hang that are no entries of ours. pi and oh-my-pi append labels and titles to the tree and go on below
 * them; with us they stand outside, so whatever hangs below such a line moves up to the entry above it.
 *
 * Remembers these lines only, never the entries.
 */
export class SkippedLines {
  readonly #runs = new Map<string, SkippedRun>();

  /** Notes that the line `id` below `parentId` (as the file has it) is no entry. */
  add(id: string, parentId: string | null): void {
    const above = parentId === null ? undefined : this.#runs.get(parentId);
    this.#runs.set(id, above ?? { parentId, heir: undefined });
  }

  /** The entry that `id` means: itself, or the one above a line that was left out. */
  entryFor(id: string | null): EntryId | null {
    const run = id === null ? undefined : this.#runs.get(id);
    return run === undefined ? id : run.parentId;
  }

  /** Notes that `child` is the entry below the line `parentId` (as the file has it). */
  addChild(parentId: string | null, child: EntryId): void {
    const run = parentId === null ? undefined : this.#runs.get(parentId);
    if (run !== undefined) run.heir = child;
  }

  /** The first entry of what a compaction kept from `id` on; null when only lines follow that are no entries. */
  firstFrom(id: string): EntryId | null {
    const run = this.#runs.get(id);
    return run === undefined ? id : (run.heir ?? null);
  }
}

const TYPES: ReadonlySet<unknown> = new Set(["label", "session_info", "title_change", "title"]);

/** Whether a line says something about the session, and is no entry of it. */
export function isAnnotation(record: JsonObject): boolean {
  return TYPES.has(record.type) || (record.type === "custom" && record.customType === LEAF_MARK);
}

/** The label or the title in such a line; undefined when there is none in it. */
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
