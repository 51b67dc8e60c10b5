import type { Place } from "./book.js";

/** Elements that stand in a line of text; between two others a line breaks. */
const INLINE = new Set("A ABBR B CODE DEL EM I INS KBD MARK S SMALL SPAN STRONG SUB SUP U".split(" "));

/** A text node, and where it begins in the text. */
interface Piece {
  readonly node: Text;
  readonly start: number;
}

/** The text of an element as a search reads it: the words of two blocks are no one word, although nothing stands between them. */
export class BodyText {
  readonly text: string;
  readonly #pieces: readonly Piece[];

  constructor(element: Element) {
    const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const pieces: Piece[] = [];
    let text = "";
    let block: Element | null = null;
    for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
      if (!(node instanceof Text) || node.data === "") continue;
      const own = blockOf(node);
      if (own !== block && text !== "") text += "\n";
      block = own;
      pieces.push({ node, start: text.length });
      text += node.data;
    }
    this.text = text;
    this.#pieces = pieces;
  }

  /** The ranges of places of the text, which are in order of their starts. */
  rangesOf(places: readonly Place[]): readonly Range[] {
    const ranges: Range[] = [];
    let at = 0;
    for (const { start, end } of places) {
      while (at < this.#pieces.length && endOf(this.#pieces[at]) <= start) at += 1;
      let last = at;
      while (last < this.#pieces.length - 1 && endOf(this.#pieces[last]) < end) last += 1;
      const [first, final] = [this.#pieces[at], this.#pieces[last]];
      if (first === undefined || final === undefined) break;
      const range = new Range();
      range.setStart(first.node, Math.max(0, start - first.start));
      range.setEnd(final.node, Math.min(final.node.length, Math.max(0, end - final.start)));
      ranges.push(range);
    }
    return ranges;
  }
}

function endOf(piece: Piece | undefined): number {
  return piece === undefined ? 0 : piece.start + piece.node.length;
}

function blockOf(node: Node): Element | null {
  let block = node.parentElement;
  while (block !== null && INLINE.has(block.tagName)) block = block.parentElement;
  return block;
}
