import { type Html, html, NOTHING } from "./html.js";

/** The parts of a fold. */
export interface Fold {
  readonly summary: Html;
  readonly content: Html;
  readonly isOpen: boolean;
}

/**
 * Writes the folds of a page: its first ones as `<details>`, the others as blocks, of which the page's script makes `<details>` before they are
 * on screen (client/folds.ts). Chromium makes a tree of its own with a style sheet for each `<details>`: 4,900 of them took 0.6 s, a third of the
 * time in which a page of 10,000 entries opened. Without scripts a block is open, and a long output in it scrolls.
 */
export class Folds {
  #left: number;

  /** `most`: the number of `<details>`. Default: all. */
  constructor(most: number = Number.POSITIVE_INFINITY) {
    this.#left = most;
  }

  /** A folded tool call, command or result. */
  callHtml({ summary, content, isOpen }: Fold): Html {
    this.#left -= 1;
    if (this.#left < 0) return html`<div class="call block${isOpen ? " open" : ""}"><p>${summary}</p>${content}</div>`;
    return html`<details class="call"${isOpen ? html` open` : NOTHING}><summary>${summary}</summary>${content}</details>`;
  }
}
