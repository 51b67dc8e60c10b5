import type { EntryId, EntrySeq } from "../../ids/ids.js";
import { MAIN_LEAF } from "../../port/records.js";
import type { LeafKept } from "../../port/session-storage.js";
import type { SourceRecord } from "../../port/source.js";
import type { PathState } from "../derived-columns.js";
import { toLeafName } from "../session-columns.js";
import type { ImportTarget } from "./import-target.js";
import { toStoredMs } from "./repair.js";

/** A record about the session that is not an entry. */
type Annotation = Extract<SourceRecord, { kind: "label" | "title" | "leaf" | "value" }>;

/** The id of the complete form of a half-written entry. `digest`: of its content, 8 hex digits. */
export function continuedEntryId(digest: string, entry: EntryId): EntryId {
  return `${digest}:${entry.slice(0, 100)}`;
}

type LabelAnnotation = Extract<Annotation, { kind: "label" }>;

/**
 * Writes the labels, title, leaves and values of a source. In an existing session, none that a user set since the last import is
 * replaced: only missing ones are written, labels that are newer, and a title in place of the one that the source set before.
 */
export class AnnotationWriter {
  readonly #target: ImportTarget;
  readonly #isNew: boolean;
  /** True if a user placed the main leaf, so that an import does not move it. */
  readonly #isPlaced: boolean;
  readonly #superseded = new Set<EntryId>();
  /** The last label record of each entry; earlier ones are ignored. */
  readonly #labels = new Map<EntryId, LabelAnnotation>();
  #hasTitle = false;
  /** The title that the source set, in this import or an earlier one. */
  #title: string | undefined;
  #mainLeaf: { readonly seq: EntrySeq | null } | undefined;

  /** `title`: the one that an earlier import of the same source set. */
  constructor(target: ImportTarget, isNew: boolean, title?: string) {
    this.#target = target;
    this.#isNew = isNew;
    this.#title = title;
    this.#isPlaced = !isNew && this.#isLeafPlaced();
  }

  /**
   * A user placed the leaf if it was ever moved (undone moves count: an undo places it too) and is not at a tip. A leaf at a tip is at
   * the end of its branch, so it follows the entries that are appended there, however it came to it. Call it before entries are written.
   */
  #isLeafPlaced(): boolean {
    if (!this.#target.hasLeafMoves(MAIN_LEAF)) return false;
    const entry = this.#target.findLeaf(MAIN_LEAF) ?? null;
    return entry === null || !this.#target.isTip(entry);
  }

  add(annotation: Annotation): void {
    switch (annotation.kind) {
      case "label":
        this.#labels.set(annotation.entryId, annotation);
        return;
      case "title":
        this.#applyTitle(annotation);
        return;
      case "leaf":
        this.#addLeaf(annotation);
        return;
      case "value":
        if (this.#isNew || this.#target.presentValue(annotation.key) === undefined) {
          this.#target.setValue(annotation.key, annotation.value);
        }
        return;
    }
  }

  /** Sets the labels. Call it after the last record. */
  applyLabels(): void {
    for (const mark of this.#labels.values()) this.#applyLabel(mark);
  }

  #applyLabel({ entryId, label, createdAtMs }: LabelAnnotation): void {
    const entry = this.#target.find(entryId);
    if (entry === undefined) return;
    const known = this.#isNew ? undefined : this.#target.findLabel(entry);
    // The newer one wins: a user may have set a label since, here or in the source.
    if (known !== undefined && (createdAtMs ?? 0) <= known.createdAtMs) return;
    this.#target.setLabel(entry, label, createdAtMs === undefined ? Date.now() : toStoredMs(createdAtMs));
  }

  #applyTitle({ title, source }: Extract<Annotation, { kind: "title" }>): void {
    this.#hasTitle = true;
    const given = this.#target.title;
    if (!this.#isNew && given.title !== null && given.source !== "auto" && given.title !== this.#title) return;
    this.#target.rename(title, source);
    this.#title = this.#target.title.title ?? undefined;
  }

  /** The title that the source set, as it is stored; null: it set none, or a user has set another one. */
  get title(): string | null {
    return this.#title ?? null;
  }

  /**
   * Gives an existing session the title of the source's header, if no record has set a title and no user: programs make a title after
   * the first messages, and better it later; an agent's title comes from the call that started it. Call it after the last record.
   */
  applyHeaderTitle(title: string | undefined): void {
    if (this.#isNew || this.#hasTitle || this.#title !== undefined || title === undefined) return;
    const given = this.#target.title;
    if (given.title === null || (given.source === "auto" && given.title !== title)) this.#target.rename(title, "auto");
  }

  #addLeaf({ name: given, entryId }: Extract<Annotation, { kind: "leaf" }>): void {
    const name = toLeafName(given);
    if (name === "") return;
    const seq = entryId === null ? null : this.#target.find(entryId);
    if (seq === undefined) return;
    if (name === MAIN_LEAF) this.#mainLeaf = { seq };
    else if (this.#target.findLeaf(name) === undefined) this.#target.setLeaf(name, seq);
  }

  /** Allows the main leaf to move from this half-written entry, or an earlier complete form of it, to its complete form. */
  supersede(entry: EntryId): void {
    this.#superseded.add(entry).add(continuedEntryId("", entry));
  }

  #isAt(seq: EntrySeq, id: EntryId | null | undefined): boolean {
    return typeof id === "string" && this.#target.find(id) === seq;
  }

  /** True if only the source has placed the leaf, and places it again: a rewind adds no entry. */
  #isFollowed(current: EntrySeq | null, known: EntryId | null | undefined): boolean {
    return this.#mainLeaf !== undefined && current !== null && this.#isAt(current, known) && !this.#target.hasLeafMoves(MAIN_LEAF);
  }

  #isSuperseded(seq: EntrySeq): boolean {
    const id = this.#target.stateAt(seq).entryId ?? "";
    return this.#superseded.has(id) || this.#superseded.has(id.replace(/^[0-9a-f]{8}(?=:)/, ""));
  }

  /**
   * Sets the main leaf as in the source. In an existing session it moves only to descendants of its position, or from `known`, where
   * an earlier part of the source put it, and never if a user placed it. Like an append, it records no move, so an undo afterwards
   * undoes the last move of the user.
   *
   * @returns where the leaf stayed; null: it is at the end of the source, or nothing was added.
   */
  applyLeaf(last: PathState, hasNewEntries: boolean, known?: EntryId | null): LeafKept | null {
    const current = this.#target.findLeaf(MAIN_LEAF) ?? null;
    if (!this.#isNew && !hasNewEntries && !this.#isFollowed(current, known)) return null;
    const goal = (this.#mainLeaf ?? { seq: last.seq }).seq;
    if (this.#isNew || this.#canMove(current, goal, known)) {
      this.#target.setLeaf(MAIN_LEAF, goal);
      return null;
    }
    if (current === goal) return null;
    const [leafId, endId] = [current, goal].map((seq) => this.#target.stateAt(seq).entryId);
    return { leafId: leafId ?? null, endId: endId ?? null, reason: this.#isPlaced ? "placed" : "other-branch" };
  }

  #canMove(current: EntrySeq | null, goal: EntrySeq | null, known: EntryId | null | undefined): boolean {
    if (this.#isPlaced) return false;
    return current === null || this.#isSuperseded(current) || this.#isAt(current, known) || this.#target.isOnPath(current, goal);
  }
}
