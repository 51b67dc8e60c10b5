import { createQueryFinder, FoldedText, hasExpression, type QueryFinder, readQuestion } from "@bough/session-core/engine";
import { describeMatched, TYPED_FILTERS, unfinishedQuery } from "../../session/typed-text.js";
import { BodyText } from "./body-text.js";
import { type Finder, type FoundRow, type Match, nextMatch, type Place } from "./book.js";
import type { Conversation } from "./conversation.js";
import { idOf } from "./dom.js";

/** More matches are not counted. */
const MOST = 20_000;

/** Places of a word in one entry; more are not counted. */
const MOST_PLACES = 1000;

/** A filter of the command, which a page in a file does not have. */
const FILTER = new RegExp(`(?:^|\\s)(?:${TYPED_FILTERS.join("|")}):\\S`);

/** The entries with the most words of a query. `words`: how many of them each has. */
interface Best {
  readonly finder: QueryFinder;
  readonly matched: Parameters<typeof createQueryFinder>[1];
  readonly words: number;
  readonly matches: readonly Match[];
}

/**
 * The search over the texts of all branches of a page in a file. It reads a query as the command does, with the words of a question in all
 * their forms, and finds the entries with the most of its words. Each place is a match.
 */
export class Search implements Finder {
  readonly #conversation: Conversation;
  #texts: ReadonlyMap<number, FoldedText> | undefined;
  #best: Best | undefined;
  /** Why nothing was found. */
  #note = "";
  #at = -1;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  get isSearching(): boolean {
    return this.#matches.length > 0;
  }

  places(text: string): readonly Place[] {
    return this.#best?.finder.find(text, MOST_PLACES) ?? [];
  }

  get #matches(): readonly Match[] {
    return this.#best?.matches ?? [];
  }

  get current(): Match | undefined {
    return this.#matches[this.#at];
  }

  get found(): readonly FoundRow[] {
    const ids = new Map(this.#matches.map(({ step, id }) => [step, id]));
    return [...ids].map(([step, id]) => ({ step, id, row: undefined }));
  }

  /** Finds the entries: those of the shown branch first, in their order, then those of the others. */
  async find(typed: string): Promise<void> {
    this.#at = -1;
    this.#best = undefined;
    this.#note = "";
    if (typed.trim() === "") return;
    try {
      // A page cannot stop an expression, which can take years on a short text.
      if (hasExpression(typed)) this.#note = "Expressions are for bough search";
      else this.#best = this.#findBest(unfinishedQuery(typed));
    } catch (error) {
      this.#note = error instanceof Error ? error.message : String(error);
    }
    if (this.#matches.length === 0 && this.#note === "")
      this.#note = FILTER.test(typed) ? "Nothing found: filters are for bough view" : "Nothing found";
  }

  move(by: 1 | -1, from: number | undefined): Match | undefined {
    const count = this.#matches.length;
    if (count === 0) return undefined;
    const start = this.#matches.findIndex(({ step }) => step >= (from ?? 0) && this.#conversation.isShown(step));
    this.#at = nextMatch(this.#at, by, count, start);
    return this.current;
  }

  describe(): string {
    const count = this.#matches.length;
    if (this.#best === undefined || count === 0) return this.#note;
    const total = `${count.toLocaleString("en-US")}${count >= MOST ? "+" : ""}`;
    const elsewhere = this.current !== undefined && !this.#conversation.isShown(this.current.step) ? ", on another branch" : "";
    if (this.#at < 0) return `${total} found${describeMatched(this.#best.matched)}`;
    return `${(this.#at + 1).toLocaleString("en-US")} of ${total}${elsewhere}`;
  }

  /** All of a query as it was typed; else its words, whatever is between them; else the most of them. */
  #findBest(query: string): Best {
    const isQuestion = readQuestion(query) !== null;
    const typed = this.#findMost(createQueryFinder(query, isQuestion ? { kind: "ranked", misspelt: [] } : { kind: "all" }));
    if (typed.matches.length > 0 && typed.words === typed.finder.terms) return typed;
    const plain = isQuestion ? typed : this.#findMost(createQueryFinder(query, { kind: "words" }));
    const of = plain.finder.terms;
    return { ...plain, matched: plain.words === of ? { kind: "words" } : { kind: "some", words: plain.words, of } };
  }

  #findMost(finder: QueryFinder): Best {
    this.#texts ??= this.#readTexts();
    const shown = this.#conversation.shown;
    const others = this.#conversation.steps.filter((step) => !this.#conversation.isShown(step));
    let words = 1;
    let matches: Match[] = [];
    for (const step of [...shown, ...others]) {
      const article = this.#conversation.article(step);
      const text = this.#texts.get(step);
      if (article === undefined || text === undefined) continue;
      const places = finder.find(text, MOST_PLACES);
      const found = new Set(places.map(({ term }) => term)).size;
      if (found < words) continue;
      if (found > words) matches = [];
      words = found;
      if (matches.length < MOST) for (const place of places) matches.push({ step, id: idOf(article), place });
    }
    return { finder, matched: { kind: "all" }, words, matches: matches.slice(0, MOST) };
  }

  #readTexts(): ReadonlyMap<number, FoldedText> {
    return new Map(
      this.#conversation.steps.flatMap((step) => {
        const body = this.#conversation.article(step)?.querySelector(":scope > .body") ?? null;
        return body === null ? [] : [[step, new FoldedText(new BodyText(body).text)]];
      }),
    );
  }
}
