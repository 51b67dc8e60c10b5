import type { Splice } from "../recall/apply-change.js";
import { matchLines } from "./line-match.js";

/** Where a line comes from: an event of the file, or none that is known. */
export type Mark =
  /** An event wrote it. `doubt`: why that is not certain; null: it is. */
  | { readonly kind: "event"; readonly event: number; readonly doubt: string | null }
  /** It was in a text that was seen before the event `seenAt`. `isNew`: not in the text known before, so something unknown added it. */
  | { readonly kind: "seen"; readonly seenAt: number; readonly isNew: boolean };

/**
 * A line as lines are compared: without white space, so that a formatter changes no author.
 *
 * @example
 * keyOf("  if (a) {"); // "if(a){"
 */
export function keyOf(line: string): string {
  return line.replace(/\s+/g, "");
}

/** True if a line has enough letters or digits to be told from others by its text. */
export function isTelling(key: string): boolean {
  return key.replace(/[^\p{L}\p{N}]/gu, "").length >= 4;
}

const EQUAL = "the change that came here has an identical line near it, and which of them is the older one is not known";
const SEVERAL = "the replaced text stood at several places of the file";
const AROUND = "the lines around it were changed by something that no session shows";

/** A text with a mark for each line. Line breaks are LF. */
export class AttributedText {
  #text: string;
  #keys: string[];
  #marks: Mark[];

  constructor(text: string, mark: Mark) {
    this.#text = text;
    this.#keys = text.split("\n").map(keyOf);
    this.#marks = this.#keys.map(() => mark);
  }

  get text(): string {
    return this.#text;
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /** Applies a step of an event: the lines that it adds are its own. Cost: the lines before the step and those in it. */
  splice(step: Splice, event: number, doubt: string | null): void {
    const { at, removed, inserted, isOnly } = step;
    const start = at === 0 ? 0 : this.#text.lastIndexOf("\n", at - 1) + 1;
    const lineEnd = this.#text.indexOf("\n", at + removed.length);
    const end = lineEnd < 0 ? this.#text.length : lineEnd;
    const first = countBreaks(this.#text, start);
    const count = this.#text.slice(start, end).split("\n").length;
    const block = this.#text.slice(start, at) + inserted + this.#text.slice(at + removed.length, end);
    const reason = doubt ?? (isOnly ? null : SEVERAL);
    const oldKeys = this.#keys.slice(first, first + count);
    const lines = carry(oldKeys, this.#marks.slice(first, first + count), block.split("\n").map(keyOf), () => ({
      kind: "event",
      event,
      doubt: reason,
    }));
    withDoubtsOfEqualLines(lines, oldKeys);
    this.#text = this.#text.slice(0, start) + block + this.#text.slice(end);
    this.#keys = replaceRange(this.#keys, first, count, lines.keys);
    this.#marks = replaceRange(this.#marks, first, count, lines.marks);
  }

  /** Takes another text in place of this one. Lines that both have keep their marks. */
  become(text: string, mark: Mark): void {
    if (text === this.#text) return;
    const keys = text.split("\n").map(keyOf);
    const isEvent = mark.kind === "event";
    const lines = carry(this.#keys, this.#marks, keys, () => mark);
    if (isEvent) withDoubtsOfEqualLines(lines, this.#keys);
    else withoutLooseMarks(lines);
    [this.#text, this.#keys, this.#marks] = [text, keys, lines.marks];
  }

  /** Adds a doubt to the lines whose key a change that cannot be replayed has removed or written. */
  doubtLines(keys: ReadonlySet<string>, doubt: string): void {
    if (keys.size === 0) return;
    for (const [at, mark] of this.#marks.entries()) {
      const key = this.#keys[at] ?? "";
      if (mark.kind === "event" && mark.doubt === null && keys.has(key)) this.#marks[at] = { ...mark, doubt };
    }
  }
}

/** Lines with their marks. `from`: of each line its index in the old ones; -1: it is new. */
interface CarriedLines {
  readonly keys: readonly string[];
  readonly marks: Mark[];
  readonly from: Int32Array;
}

function carry(oldKeys: readonly string[], oldMarks: readonly Mark[], keys: readonly string[], fresh: () => Mark): CarriedLines {
  const from = matchLines(oldKeys, keys);
  const marks = keys.map((_, at) => oldMarks[from[at] ?? -1] ?? fresh());
  return { keys, marks, from };
}

/**
 * Doubts the lines that could as well be another one of the same text: of two lines `}`, one new and one old, either may be the new one.
 * Between two lines that occur once before and once after, this holds for each text of which one line stayed and another came or went.
 */
function withDoubtsOfEqualLines({ keys, marks, from }: CarriedLines, oldKeys: readonly string[]): void {
  const [inOld, inNew] = [countKeys(oldKeys), countKeys(keys)];
  let [start, oldStart] = [0, 0];
  for (let at = 0; at <= keys.length; at += 1) {
    const old = from[at] ?? -1;
    const key = keys[at] ?? "";
    const isFixed = at === keys.length || (old >= 0 && inOld.get(key) === 1 && inNew.get(key) === 1);
    if (!isFixed) continue;
    doubtEqualLines({ keys, marks, from }, start, at, oldKeys.slice(oldStart, at === keys.length ? undefined : old));
    [start, oldStart] = [at + 1, old + 1];
  }
}

function doubtEqualLines({ keys, marks, from }: CarriedLines, start: number, end: number, oldKeys: readonly string[]): void {
  const now = countKeys(keys.slice(start, end));
  const old = countKeys(oldKeys);
  const stayed = countKeys(keys.slice(start, end).filter((_, at) => (from[start + at] ?? -1) >= 0));
  for (let at = start; at < end; at += 1) {
    const key = keys[at] ?? "";
    const count = stayed.get(key) ?? 0;
    const [came, went] = [(now.get(key) ?? 0) - count, (old.get(key) ?? 0) - count];
    const kinds = [count, came, went].filter((number) => number > 0).length;
    const mark = marks[at];
    if (kinds > 1 && mark?.kind === "event" && mark.doubt === null) marks[at] = { ...mark, doubt: EQUAL };
  }
}

function countKeys(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** After an unknown change, a line such as `}` is the old one only if a line beside it is. */
function withoutLooseMarks({ keys, marks, from }: CarriedLines): void {
  for (const [at, mark] of marks.entries()) {
    const old = from[at] ?? -1;
    if (mark.kind !== "event" || mark.doubt !== null || old < 0 || isTelling(keys[at] ?? "")) continue;
    const hasNeighbor = (at > 0 && from[at - 1] === old - 1) || (at + 1 < keys.length && from[at + 1] === old + 1);
    if (!hasNeighbor) marks[at] = { ...mark, doubt: AROUND };
  }
}

function countBreaks(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** `splice` of an array takes its new items as arguments, of which there may be too many. */
function replaceRange<T>(list: readonly T[], start: number, count: number, items: readonly T[]): T[] {
  return list.slice(0, start).concat(items, list.slice(start + count));
}
