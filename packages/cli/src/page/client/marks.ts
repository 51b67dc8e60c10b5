import { BodyText } from "./body-text.js";
import type { Book, Finder } from "./book.js";

/** Marks of one entry; more are not drawn. */
const MOST = 500;

/**
 * Marks the searched words in the entries of these steps, which are on screen, and the current match. The document stays as it is (CSS Custom
 * Highlight API).
 */
export function drawMarks(book: Book, search: Finder, steps: readonly number[]): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set("hit", new Highlight(...steps.flatMap((step) => rangesIn(book, search, step))));
  const range = currentRange(book, search);
  if (range === undefined) CSS.highlights.delete("hit-now");
  else CSS.highlights.set("hit-now", withPriority(new Highlight(range)));
}

/** The current match in the document. */
export function currentRange(book: Book, search: Finder): Range | undefined {
  const { current } = search;
  // The article may be that of a reply whose result is the match.
  const body = current && bodyOf(book.articleOf(current.id));
  if (current === undefined || body === undefined) return undefined;
  const text = new BodyText(body);
  const place = current.place ?? search.places(text.text)[0];
  return place === undefined ? undefined : text.rangesOf([place])[0];
}

function rangesIn(book: Book, search: Finder, step: number): readonly Range[] {
  const body = bodyOf(book.article(step));
  if (body === undefined || !search.isSearching) return [];
  const text = new BodyText(body);
  return text.rangesOf(search.places(text.text).slice(0, MOST));
}

function bodyOf(article: HTMLElement | undefined): Element | undefined {
  return article?.querySelector(":scope > .body") ?? undefined;
}

function withPriority(highlight: Highlight): Highlight {
  highlight.priority = 1;
  return highlight;
}
