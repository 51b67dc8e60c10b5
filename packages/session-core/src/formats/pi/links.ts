import type { EntryId } from "../../ids/ids.js";

/** A run of lines that are no entries of the tree, each the child of the one before. */
interface Run {
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
export class Links {
  readonly #runs = new Map<string, Run>();

  /** Notes that the line `id` below `parentId` (as the file has it) is no entry. */
  leaveOut(id: string, parentId: string | null): void {
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
