import type { Conversation } from "./conversation.js";

/** The rows of the tree: one of them has the focus of the keyboard, folded branches open. */
export class Tree {
  readonly #root: HTMLElement;
  readonly #rows: readonly HTMLElement[];
  readonly #rowOfStep = new Map<number, HTMLElement>();
  readonly #conversation: Conversation;
  #selected: HTMLElement | undefined;
  /** The row that the Tab key leads to. */
  #current: HTMLElement | undefined;
  #reading: HTMLElement | undefined;

  constructor(root: HTMLElement, conversation: Conversation) {
    this.#root = root;
    this.#conversation = conversation;
    this.#rows = [...root.querySelectorAll<HTMLElement>('[role="treeitem"]')];
    for (const row of this.#rows) this.#rowOfStep.set(Number(row.dataset["step"]), row);
    if (this.#rows[0] !== undefined) this.#makeCurrent(this.#rows[0]);
    root.addEventListener("keydown", (event) => this.#onKey(event));
    root.addEventListener("click", (event) => this.#onClick(event));
    conversation.onShown(() => this.#markShown());
  }

  /** Selects the row of a step and makes it visible. */
  select(step: number): void {
    const row = this.#findRow(step);
    if (row === undefined) return;
    this.#selected?.removeAttribute("aria-selected");
    row.setAttribute("aria-selected", "true");
    this.#selected = row;
    this.#reveal(row);
    this.#makeCurrent(row);
    this.#scrollTo(row);
  }

  /** Marks the row of the step that is read. */
  markReading(step: number): void {
    const row = this.#findRow(step);
    if (row === this.#reading) return;
    this.#reading?.classList.remove("reading");
    row?.classList.add("reading");
    this.#reading = row;
    if (row?.checkVisibility() === true && !this.#root.contains(document.activeElement)) this.#scrollTo(row);
  }

  focus(): void {
    const row = isHidden(this.#current) ? this.#rows[0] : this.#current;
    row?.focus();
  }

  /** Scrolls the tree alone: `scrollIntoView` would move the conversation too. */
  #scrollTo(row: HTMLElement): void {
    const [box, place] = [this.#root.getBoundingClientRect(), row.getBoundingClientRect()];
    if (place.top < box.top || place.bottom > box.bottom) this.#root.scrollTop += place.top - box.top - box.height / 2;
  }

  /** The row of a step, or of the nearest one above it that has a row. */
  #findRow(step: number): HTMLElement | undefined {
    for (let at: number | undefined = step; at !== undefined; at = this.#conversation.up(at)) {
      const row = this.#rowOfStep.get(at);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  #markShown(): void {
    for (const row of this.#rows) row.classList.toggle("shown", this.#conversation.isShown(Number(row.dataset["step"])));
  }

  #onKey(event: KeyboardEvent): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[role="treeitem"]') : null;
    if (row === null || event.ctrlKey || event.altKey || event.metaKey) return;
    if (this.#move(row, event.key)) event.preventDefault();
  }

  /** The keys of a tree, as the ARIA practices name them. Returns whether the key is one. */
  #move(row: HTMLElement, key: string): boolean {
    switch (key) {
      case "ArrowDown":
        return this.#focusRow(this.#visible(row, 1));
      case "ArrowUp":
        return this.#focusRow(this.#visible(row, -1));
      case "Home":
        return this.#focusRow(this.#rows[0]);
      case "End":
        return this.#focusRow(this.#rows.findLast((one) => !isHidden(one)));
      case "ArrowRight":
        if (row.ariaExpanded === "false") return setExpanded(row, true);
        return row.ariaExpanded === "true" && this.#focusRow(this.#visible(row, 1));
      case "ArrowLeft":
        if (row.ariaExpanded === "true") return setExpanded(row, false);
        return this.#focusRow(headOf(row));
      default:
        return false;
    }
  }

  #onClick(event: MouseEvent): void {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[role="treeitem"]') : null;
    if (row === null) return;
    this.#makeCurrent(row);
    if (row.ariaExpanded !== null) setExpanded(row, row.ariaExpanded === "false" || row !== this.#selected);
  }

  #visible(row: HTMLElement, by: 1 | -1): HTMLElement | undefined {
    let at = this.#rows.indexOf(row) + by;
    while (at >= 0 && at < this.#rows.length && isHidden(this.#rows[at])) at += by;
    return this.#rows[at];
  }

  #focusRow(row: HTMLElement | undefined): boolean {
    if (row === undefined) return false;
    this.#makeCurrent(row);
    row.focus();
    return true;
  }

  #makeCurrent(row: HTMLElement): void {
    this.#current?.setAttribute("tabindex", "-1");
    row.setAttribute("tabindex", "0");
    this.#current = row;
  }

  #reveal(row: HTMLElement): void {
    for (let head = headOf(row); head !== undefined; head = headOf(head)) setExpanded(head, true);
  }
}

function isHidden(row: HTMLElement | undefined): boolean {
  return row?.closest("[hidden]") !== null;
}

/** The row that the group of a row belongs to. */
function headOf(row: HTMLElement): HTMLElement | undefined {
  const head = row.closest('[role="group"]')?.previousElementSibling;
  return head instanceof HTMLElement ? head : undefined;
}

function setExpanded(row: HTMLElement, expanded: boolean): boolean {
  const group = row.nextElementSibling;
  if (row.ariaExpanded === null || !(group instanceof HTMLElement)) return false;
  row.ariaExpanded = String(expanded);
  group.hidden = !expanded;
  return true;
}
