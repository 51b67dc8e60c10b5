import { BodyText } from "./body-text.js";
import type { Book, Finder } from "./book.js";

/** Marks of one entry; more are not drawn. */
const MOST = 500;

/** Draws the places of the searched words in the entries on screen. The document stays as it is (CSS Custom Highlight API). */
export class Marks {
  readonly #book: Book;
  readonly #search: Finder;

  constructor(book: Book, search: Finder) {
    this.#book = book;
    this.#search = search;
  }

  /** Marks the words in these steps, and the current match. */
  draw(steps: Iterable<number>): void {
    if (!("highlights" in CSS)) return;
    CSS.highlights.set("hit", new Highlight(...[...steps].flatMap((step) => this.#rangesIn(step))));
    const range = this.currentRange();
    if (range === undefined) CSS.highlights.delete("hit-now");
    else CSS.highlights.set("hit-now", withPriority(new Highlight(range)));
  }

  /** The current match in the document. */
  currentRange(): Range | undefined {
    const { current } = this.#search;
    // The article may be that of a reply whose result is the match.
    const body = current && bodyOf(this.#book.articleOf(current.id));
    if (current === undefined || body === undefined) return undefined;
    const text = new BodyText(body);
    const place = current.place ?? this.#search.places(text.text)[0];
    return place === undefined ? undefined : text.rangesOf([place])[0];
  }

  #rangesIn(step: number): readonly Range[] {
    const body = bodyOf(this.#book.article(step));
    if (body === undefined || !this.#search.isSearching) return [];
    const text = new BodyText(body);
    return text.rangesOf(this.#search.places(text.text).slice(0, MOST));
  }
}

function bodyOf(article: HTMLElement | undefined): Element | undefined {
  return article?.querySelector(":scope > .body") ?? undefined;
}

function withPriority(highlight: Highlight): Highlight {
  highlight.priority = 1;
  return highlight;
}
