import type { EntryId, ImportProblem } from "@bough/session-core";
import { RUNNING_MS, type SourceHeader, type SourceRecord } from "@bough/session-core/engine";
import { type JsonObject, numberAt, objectAt } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import { type Bubble, isPrompt, type Step, summaryOf, toSteps } from "./bubbles.js";

/** The bubbles of a chat of the editor. */
export interface ChatBubbles {
  /** The ids of the bubbles that it shows, in their order. */
  readonly shown: readonly string[];
  /** The ids of the bubbles that it no longer shows, in the order in which they were written. */
  readonly left: readonly string[];
  /** undefined: it is missing. `record` is undefined: it is no JSON object. */
  find(id: string): { readonly line: number; readonly record: JsonObject | undefined } | undefined;
  /** True if, by the record of the chat, Cursor still writes the last reply. */
  readonly isBeingWritten: boolean;
  /** The time of the chat's last change, in milliseconds since 1970. */
  readonly changedAtMs?: number | undefined;
}

/** The last entry of a step, and when the step was. */
interface Place {
  readonly entryId: EntryId | null;
  readonly createdAtMs: number;
}

/**
 * The entries of a chat of the editor: the bubbles that it shows are the path of the leaf, the others are branches behind the last
 * entry that is older than they are.
 */
export class ComposerTree {
  readonly #path: string;
  readonly #bubbles: ChatBubbles;
  readonly #chain: EntryChain;
  /** The entry of a bubble: that of the first bubble of its step. */
  readonly #entryOf = new Map<string, EntryId>();
  readonly #places: Place[] = [];
  readonly #problems: ImportProblem[] = [];
  #tokens = 0;

  constructor(path: string, { sessionId, createdAtMs = 0 }: SourceHeader, bubbles: ChatBubbles) {
    this.#path = path;
    this.#bubbles = bubbles;
    this.#chain = new EntryChain(sessionId, createdAtMs);
  }

  *records(): Generator<SourceRecord, void, void> {
    let last: Step | undefined;
    for (const step of toSteps(this.#read(this.#bubbles.shown))) {
      if (last !== undefined) yield* this.#step(last);
      last = step;
    }
    if (last !== undefined && this.#isUnfinished(last)) yield { kind: "open", waitMs: RUNNING_MS, changedAtMs: this.#bubbles.changedAtMs };
    if (last !== undefined) yield* this.#step(last);
    const leaf = this.#chain.leafId;
    yield* this.#branches();
    yield* this.#takeProblems();
    yield { kind: "leaf", name: "main", entryId: leaf ?? this.#chain.leafId };
  }

  *#branches(): Generator<SourceRecord, void, void> {
    const shown = [...this.#places];
    let branch: EntryId | null | undefined;
    for (const step of toSteps(this.#read(this.#bubbles.left))) {
      const time = step.createdAtMs;
      const before = time === undefined ? undefined : shown.findLast(({ createdAtMs }) => createdAtMs < time);
      const anchor = before?.entryId ?? null;
      if (anchor !== branch) this.#chain.moveTo(anchor);
      branch = anchor;
      yield* this.#step(step);
    }
  }

  *#read(ids: readonly string[]): Generator<Bubble, void, void> {
    for (const id of ids) {
      const found = this.#bubbles.find(id);
      if (found?.record !== undefined) yield { id, line: found.line, record: found.record };
      else if (found === undefined) this.#report("missing-blob", null, `the bubble ${id} is not in the database; it was left out`);
      else this.#report("invalid-record", found.line, "no JSON object; the bubble was left out");
    }
  }

  *#step(step: Step): Generator<SourceRecord, void, void> {
    yield* this.#takeProblems();
    const [first, ...others] = step.bubbles;
    if (first === undefined) return;
    for (const bubble of step.bubbles) yield* this.#compaction(bubble);
    const { payloads, createdAtMs } = step;
    for (const [part, payload] of payloads.entries()) yield this.#chain.add({ line: first.line, id: first.id, part, createdAtMs, payload });
    for (const { line } of payloads.length === 0 ? step.bubbles : others) yield { kind: "merged", line };
    if (payloads.length > 0) for (const { id } of step.bubbles) this.#entryOf.set(id, this.#chain.idOf({ line: first.line, id: first.id }));
    if (createdAtMs !== undefined) this.#places.push({ entryId: this.#chain.leafId, createdAtMs });
    if (isPrompt(first))
      this.#tokens = numberAt(objectAt(first.record, "contextWindowStatusAtCreation") ?? {}, "tokensUsed") ?? this.#tokens;
  }

  *#compaction(bubble: Bubble): Generator<SourceRecord, void, void> {
    const summary = summaryOf(bubble);
    if (summary === undefined) return;
    const firstKeptEntryId = (summary.keptId && this.#entryOf.get(summary.keptId)) ?? null;
    const payload = { type: "compaction", summary: summary.text, firstKeptEntryId, tokensBefore: this.#tokens };
    yield this.#chain.add({ line: bubble.line, id: `${bubble.id}:summary`, payload });
  }

  #isUnfinished({ bubbles: [first] }: Step): boolean {
    return this.#bubbles.isBeingWritten && first !== undefined && !isPrompt(first);
  }

  #report(code: ImportProblem["code"], line: number | null, message: string): void {
    this.#problems.push({ code, path: this.#path, line, message });
  }

  *#takeProblems(): Generator<SourceRecord, void, void> {
    for (const problem of this.#problems.splice(0)) yield { kind: "problem", problem };
  }
}
