import type { Finder, FoundRow, Match } from "./book.js";
import type { Conversation } from "./conversation.js";
import { idOf } from "./dom.js";
import { findTerms, foldText, parseTerms } from "./terms.js";

/** More matches are not counted. */
const MOST = 20_000;

/** The search over the texts of all branches of a page in a file, for entries that have all words. Each place is a match. */
export class Search implements Finder {
  readonly #conversation: Conversation;
  #texts: ReadonlyMap<number, string> | undefined;
  #terms: readonly string[] = [];
  #matches: readonly Match[] = [];
  #at = -1;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  get terms(): readonly string[] {
    return this.#terms;
  }

  get current(): Match | undefined {
    return this.#matches[this.#at];
  }

  get found(): readonly FoundRow[] {
    const ids = new Map(this.#matches.map(({ step, id }) => [step, id]));
    return [...ids].map(([step, id]) => ({ step, id, row: undefined }));
  }

  /** Finds the entries with all words: those of the shown branch first, in their order, then those of the others. */
  async find(words: string): Promise<void> {
    this.#terms = parseTerms(words);
    this.#matches = this.#terms.length === 0 ? [] : this.#findAll(this.#terms);
    this.#at = -1;
  }

  move(by: 1 | -1, from: number | undefined): Match | undefined {
    const count = this.#matches.length;
    if (count === 0) return undefined;
    if (this.#at < 0) this.#at = this.#startAt(by, from);
    else this.#at = (this.#at + by + count) % count;
    return this.current;
  }

  describe(): string {
    if (this.#terms.length === 0) return "";
    const count = this.#matches.length;
    // The ranking of questions, with its stems, is the command's: here an entry needs all words as they are typed.
    if (count === 0) return this.#terms.length > 1 ? "No entry has all words" : "Nothing found";
    const total = `${count.toLocaleString("en-US")}${count >= MOST ? "+" : ""}`;
    const elsewhere = this.current !== undefined && !this.#conversation.isShown(this.current.step) ? ", on another branch" : "";
    return this.#at < 0 ? `${total} found` : `${(this.#at + 1).toLocaleString("en-US")} of ${total}${elsewhere}`;
  }

  #startAt(by: 1 | -1, from: number | undefined): number {
    if (from === undefined) return by === 1 ? 0 : this.#matches.length - 1;
    const at = this.#matches.findIndex(({ step }) => step >= from && this.#conversation.isShown(step));
    return Math.max(at, 0);
  }

  #findAll(terms: readonly string[]): readonly Match[] {
    this.#texts ??= this.#readTexts();
    const shown = this.#conversation.shown;
    const others = this.#conversation.steps.filter((step) => !this.#conversation.isShown(step));
    const matches: Match[] = [];
    for (const step of [...shown, ...others]) {
      const article = this.#conversation.article(step);
      if (article === undefined) continue;
      for (const place of findTerms(this.#texts.get(step) ?? "", terms)) matches.push({ step, id: idOf(article), place });
      if (matches.length >= MOST) return matches.slice(0, MOST);
    }
    return matches;
  }

  #readTexts(): ReadonlyMap<number, string> {
    const text = (step: number) => this.#conversation.article(step)?.querySelector(":scope > .body")?.textContent ?? "";
    return new Map(this.#conversation.steps.map((step) => [step, foldText(text(step))]));
  }
}
