import type { SessionMasker } from "@bough/formats/secrets";
import { type Entry, type EntryId, type EntryType, type MessageRole, pagesOf, type Session } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { isPrivate, pairStart } from "@bough/session-core/view";
import { RECALL, SESSION } from "../arguments/shapes.js";
import { readFollowing } from "./entry-source.js";
import { formatBody, formatHead } from "./entry-text.js";
import { MAX_CHARS, parseInput, type RecallOptions, type RecallReadInput, recallReadInput } from "./inputs.js";
import { type LineWindow, PatternTime, takeLines } from "./line-window.js";
import type { RecallAnswer } from "./search.js";

/** An entry of an answer. */
export interface ReadEntry {
  readonly entryId: EntryId;
  readonly type: EntryType;
  readonly role: MessageRole | null;
  readonly createdAtMs: number;
  readonly isPrivate: boolean;
  /** The lines of its text. */
  readonly lines: number;
}

/** Result of `recallRead`. */
export interface RecallReadResult {
  /** The entries up to the end of this piece, in the order of the text. */
  readonly entries: readonly ReadEntry[];
  /** The input `offset` of the next piece; null: this is the last one. */
  readonly next: number | null;
}

/**
 * Reads entries of a session word for word: some of them, or a range of a path. `lines` and `grep` show parts of each with line numbers.
 * A command that the user kept out of the conversation is replaced by a line that says so, unless `includePrivate` is set.
 *
 * Ids, prefixes of ids and labels are accepted. Cost: the payloads of the entries up to the end of the piece.
 *
 * @throws {RecallInputError | EntryNotFoundError | AmbiguousNameError}
 * @example
 * const { text } = await recallRead(session, { entries: ["a3", "a7"], grep: "error" });
 */
export async function recallRead(
  session: Session,
  input: RecallReadInput,
  options: RecallOptions = {},
): Promise<RecallAnswer<RecallReadResult>> {
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("options", options, RECALL);
  const asked = parseInput(recallReadInput, input);
  const { maxChars = MAX_CHARS, includePrivate = false } = options;
  const masker = await options.masks?.of(session);
  const reading = new Reading(asked, includePrivate, asked.offset + maxChars, masker);
  const problem = await reading.readAll(session, asked);
  if (problem !== null) return { text: problem, data: { entries: [], next: null } };
  const piece = takePiece(reading.text, asked.offset, maxChars);
  return { text: piece.text, data: { entries: reading.entries, next: piece.next } };
}

/** The entries to read: single ones or a range. */
interface Wanted {
  readonly entries?: readonly string[] | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly around: number;
}

/** Entries read at once; more than most answers contain. */
const PAGE = 50;

/** The text of the entries read so far. */
class Reading {
  readonly entries: ReadEntry[] = [];
  readonly #window: LineWindow;
  readonly #patternTime = new PatternTime();
  readonly #includePrivate: boolean;
  /** Text after this offset need not be read. */
  readonly #endChar: number;
  readonly #masker: SessionMasker | undefined;
  #text = "";

  constructor(window: LineWindow, includePrivate: boolean, endChar: number, masker: SessionMasker | undefined) {
    this.#masker = masker;
    this.#window = window;
    this.#includePrivate = includePrivate;
    this.#endChar = endChar;
  }

  get text(): string {
    return this.#text;
  }

  get #isFull(): boolean {
    return this.#text.length > this.#endChar;
  }

  /** Returns why a range cannot be read; null: it was. */
  async readAll(session: Session, { entries, from, to, around }: Wanted): Promise<string | null> {
    if (entries !== undefined) {
      const ids: EntryId[] = [];
      for (const name of entries) ids.push(await session.resolve(name));
      for (const id of new Set(ids)) if (!this.#isFull) await this.#readRange(session, id, id, around);
      return null;
    }
    const first = await session.resolve(from ?? "");
    const last = to === undefined ? first : await session.resolve(to);
    const shared = await session.tree.commonAncestor(first, last);
    if (shared !== first) return explainOrder(first, last, shared);
    await this.#readRange(session, first, last, around);
    return null;
  }

  async #readRange(session: Session, from: EntryId, to: EntryId, around: number): Promise<void> {
    const above = await session.scan({ leafId: from, order: "up", limit: around + 1 });
    this.#add(above.items.toReversed());
    if (to !== from && !this.#isFull)
      for await (const { items } of pagesOf((cursor) => session.scan({ leafId: to, stopAt: from, order: "down", limit: PAGE, cursor }))) {
        this.#add(items);
        if (this.#isFull) break;
      }
    if (around > 0 && !this.#isFull) this.#add(await readFollowing(session, to, around));
  }

  #add(entries: readonly Entry[]): void {
    for (const stored of entries) {
      if (this.#isFull) return;
      const entry = this.#masker?.maskEntry(stored) ?? stored;
      const body = formatBody(entry, this.#includePrivate);
      const lines = body === "" ? 0 : body.split("\n").length;
      const { id, type, createdAtMs } = entry;
      const role = entry.type === "message" ? entry.message.role : null;
      this.entries.push({ entryId: id, type, role, createdAtMs, isPrivate: isPrivate(entry), lines });
      this.#text += `${this.#text === "" ? "" : "\n\n"}${`${formatHead(entry)}\n${takeLines(body, this.#window, this.#patternTime)}`.trimEnd()}`;
    }
  }
}

function explainOrder(from: EntryId, to: EntryId, shared: EntryId | null): string {
  return shared === to
    ? `${from} comes after ${to}: name the earlier entry first.`
    : `${from} and ${to} are on different branches, so nothing lies between them. Read them one by one.`;
}

/**
 * A piece of a text from `offset` on, at most `maxChars` UTF-16 code units, with the next offset at its end. Never splits
 * a surrogate pair.
 */
export function takePiece(text: string, offset: number, maxChars: number): { readonly text: string; readonly next: number | null } {
  const start = pairStart(text, offset);
  if (start >= text.length) return { text: start === 0 ? text : "There is nothing more.", next: null };
  const end = pairStart(text, start + maxChars);
  if (end >= text.length) return { text: text.slice(start), next: null };
  return { text: `${text.slice(start, end)}\n\n(more: continue with offset ${end})`, next: end };
}
