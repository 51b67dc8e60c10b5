import type { Book, Finder } from "./book.js";
import { findTerms, foldText } from "./terms.js";

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
    const body = current && this.#body(current.step);
    if (current === undefined || body === undefined) return undefined;
    const place = current.place ?? findTerms(foldText(body.textContent), this.#search.terms)[0];
    return place === undefined ? undefined : rangesOf(body, [place])[0];
  }

  #rangesIn(step: number): readonly Range[] {
    const { terms } = this.#search;
    const body = this.#body(step);
    if (terms.length === 0 || body === undefined) return [];
    return rangesOf(body, findTerms(foldText(body.textContent), terms).slice(0, MOST));
  }

  #body(step: number): Element | undefined {
    return this.#book.article(step)?.querySelector(":scope > .body") ?? undefined;
  }
}

function withPriority(highlight: Highlight): Highlight {
  highlight.priority = 1;
  return highlight;
}

/** Ranges of places (in order) in the text of an element. */
function rangesOf(element: Element, places: readonly { readonly start: number; readonly end: number }[]): readonly Range[] {
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  let [node, from] = [nodes.nextNode(), 0];
  for (const { start, end } of places) {
    while (node !== null && from + lengthOf(node) <= start) {
      from += lengthOf(node);
      node = nodes.nextNode();
    }
    if (node === null) return ranges;
    const range = new Range();
    range.setStart(node, Math.max(0, start - from));
    // A match that goes over the end of a node is marked up to there, unless it is the only one.
    const [last, offset] = endOf(element, node, from, end);
    range.setEnd(last, offset);
    ranges.push(range);
  }
  return ranges;
}

function endOf(root: Element, start: Node, from: number, end: number): readonly [Node, number] {
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  nodes.currentNode = start;
  let [node, at]: [Node, number] = [start, from];
  while (at + lengthOf(node) < end) {
    const next = nodes.nextNode();
    if (next === null) return [node, lengthOf(node)];
    at += lengthOf(node);
    node = next;
  }
  return [node, end - at];
}

function lengthOf(node: Node): number {
  return node.nodeValue?.length ?? 0;
}
