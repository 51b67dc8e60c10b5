import type { Conversation } from "./conversation.js";
import { findTerms, foldText, parseTerms } from "./terms.js";

/** A place of the searched words: the step, and the range in the text of its body. */
interface Match {
  readonly step: number;
  readonly start: number;
  readonly end: number;
}

/** More matches are not counted. */
const MOST = 20_000;

/** The search over the texts of all branches. */
export class Search {
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

  /** Finds the entries with all words: those of the shown branch first, in their order, then those of the others. */
  find(words: string): void {
    this.#terms = parseTerms(words);
    this.#matches = this.#terms.length === 0 ? [] : this.#findAll(this.#terms);
    this.#at = -1;
  }

  /** Moves to the next or previous match and returns it. `from`: the step at which the search for the first one starts. */
  move(by: 1 | -1, from: number | undefined): Match | undefined {
    const count = this.#matches.length;
    if (count === 0) return undefined;
    if (this.#at < 0) this.#at = this.#startAt(by, from);
    else this.#at = (this.#at + by + count) % count;
    return this.current;
  }

  /** Describes the matches in one line for the user. */
  describe(): string {
    if (this.#terms.length === 0) return "";
    const count = this.#matches.length;
    if (count === 0) return "Nothing found";
    const total = `${count.toLocaleString("en-US")}${count >= MOST ? "+" : ""}`;
    const elsewhere = this.current !== undefined && !this.#conversation.isShown(this.current.step) ? ", on another branch" : "";
    return this.#at < 0 ? `${total} found` : `${(this.#at + 1).toLocaleString("en-US")} of ${total}${elsewhere}`;
  }

  #startAt(by: 1 | -1, from: number | undefined): number {
    if (from === undefined) return by === 1 ? 0 : this.#matches.length - 1;
    const at = this.#matches.findIndex(({ step }) => step >= from && this.#conversation.isShown(step));
    return at < 0 ? 0 : at;
  }

  #findAll(terms: readonly string[]): readonly Match[] {
    this.#texts ??= this.#readTexts();
    const shown = this.#conversation.shown;
    const others = this.#conversation.steps.filter((step) => !this.#conversation.isShown(step));
    const matches: Match[] = [];
    for (const step of [...shown, ...others]) {
      for (const { start, end } of findTerms(this.#texts.get(step) ?? "", terms)) matches.push({ step, start, end });
      if (matches.length >= MOST) return matches.slice(0, MOST);
    }
    return matches;
  }

  #readTexts(): ReadonlyMap<number, string> {
    const text = (step: number) => this.#conversation.article(step)?.querySelector(":scope > .body")?.textContent ?? "";
    return new Map(this.#conversation.steps.map((step) => [step, foldText(text(step))]));
  }
}
