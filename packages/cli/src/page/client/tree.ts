import type { Book, FoundRow } from "./book.js";
import { element, make, stepOf } from "./dom.js";

/** Finds the rows of a tree. */
export interface RowSource {
  /** The row of a step of the shown branch, or of the nearest one above it that has a row, if the document has it now. */
  known(step: number): HTMLElement | undefined;
  /** The same, after the branches that it is in were unfolded. */
  find(step: number): Promise<HTMLElement | undefined>;
}

/** The rows of the tree: one of them has the focus of the keyboard, folded branches open. */
export class Tree {
  readonly #root: HTMLElement;
  readonly #book: Book;
  readonly #source: RowSource;
  #selected: HTMLElement | undefined;
  /** The row that the Tab key leads to. */
  #current: HTMLElement | undefined;
  #reading: HTMLElement | undefined;
  /** The rows of what was found, instead of the tree. */
  #found: HTMLElement | undefined;
  /** The row that the Tab key led to before. */
  #before: HTMLElement | undefined;
  #wanted = -1;

  constructor(root: HTMLElement, book: Book, source: RowSource) {
    this.#root = root;
    this.#book = book;
    this.#source = source;
    const [first] = this.#rows;
    if (first !== undefined) this.#makeCurrent(first);
    root.addEventListener("keydown", (event) => this.#onKey(event));
    root.addEventListener("click", (event) => this.#onClick(event));
    book.onChange(() => this.markShown());
  }

  get #rows(): readonly HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  }

  get hasFocus(): boolean {
    return this.#root.contains(document.activeElement);
  }

  get isVisible(): boolean {
    return this.#root.checkVisibility({ visibilityProperty: true });
  }

  /** Shows only the rows of found entries, in their order; none: the whole tree. The focus of a row goes to the same entry. */
  narrow(found: readonly FoundRow[]): void {
    const focused = this.hasFocus ? rowOf(document.activeElement) : undefined;
    const isNarrow = this.#found !== undefined;
    if (!isNarrow && found.length === 0) return;
    this.#found?.remove();
    this.#found = undefined;
    element("rows").hidden = found.length > 0;
    if (!isNarrow) this.#before = this.#current;
    if (found.length > 0) this.#showFound(found);
    else if (this.#before?.isConnected === true) this.#makeCurrent(this.#before);
    this.markShown();
    if (this.#selected?.isConnected === false && this.#wanted >= 0) void this.select(this.#wanted);
    if (focused !== undefined) void this.#focusStep(Number(focused.dataset["step"]));
  }

  #showFound(found: readonly FoundRow[]): void {
    const rows = this.#rowsOf(found);
    this.#found = make("div");
    this.#found.role = "tree";
    this.#found.ariaLabel = "Entries with the words";
    this.#found.append(...rows);
    element("rows").after(this.#found);
    if (rows[0] !== undefined) this.#makeCurrent(rows[0]);
  }

  /** Moves the focus to the row of a step, which may have to be read first; the tree has it until then. */
  async #focusStep(step: number): Promise<void> {
    const known = this.#source.known(step);
    const shown = known === undefined ? undefined : (this.#foundRow(step, known) ?? known);
    if (shown !== undefined && !isHidden(shown)) {
      this.#focusRow(shown);
      return;
    }
    this.#root.focus();
    const row = await this.#source.find(step);
    if (document.activeElement !== this.#root) return;
    if (row === undefined || this.#found !== undefined) this.focus();
    else {
      this.#reveal(row);
      this.#focusRow(row);
    }
  }

  #rowsOf(found: readonly FoundRow[]): readonly HTMLElement[] {
    const rows = new Map<string, HTMLElement>();
    for (const { step, id, row } of found.slice(0, MOST_FOUND)) {
      const known = row === undefined ? this.#source.known(step) : undefined;
      const key = known?.dataset["step"] ?? id;
      if (!rows.has(key)) rows.set(key, known === undefined ? newRow(step, id, row) : copyOf(known));
    }
    return [...rows.values()];
  }

  /** Selects the row of a step and makes it visible. */
  async select(step: number): Promise<void> {
    this.#wanted = step;
    const found = await this.#source.find(step);
    const row = (found && this.#foundRow(step, found)) ?? found;
    // Another row may have been wanted meanwhile.
    if (row === undefined || this.#wanted !== step) return;
    this.#selected?.removeAttribute("aria-selected");
    row.setAttribute("aria-selected", "true");
    this.#selected = row;
    this.#reveal(row);
    this.#makeCurrent(row);
    this.#scrollTo(row);
  }

  #foundRow(step: number, row: HTMLElement): HTMLElement | undefined {
    const of = (wanted: string) => this.#found?.querySelector<HTMLElement>(`[data-step="${wanted}"]`) ?? undefined;
    return of(String(step)) ?? of(row.dataset["step"] ?? "");
  }

  /** Marks the row of the step that is read. */
  markReading(step: number): void {
    const row = this.#source.known(step);
    if (row === this.#reading) return;
    this.#reading?.classList.remove("reading");
    row?.classList.add("reading");
    this.#reading = row;
    if (row?.checkVisibility() === true && !this.#root.contains(document.activeElement)) this.#scrollTo(row);
  }

  /** Marks the rows of the shown branch, as after rows came into the document. */
  markShown(): void {
    for (const row of this.#rows) {
      const isShown = this.#book.isShown(stepOf(row));
      if (row.classList.contains("shown") !== isShown) row.classList.toggle("shown", isShown);
    }
    if (this.#current?.isConnected === true) return;
    const [first] = this.#rows;
    if (first !== undefined) this.#makeCurrent(first);
  }

  focus(): void {
    const row = isHidden(this.#current) ? this.#rows.find((one) => !isHidden(one)) : this.#current;
    row?.focus();
  }

  /** Scrolls the tree alone: `scrollIntoView` would move the conversation too. */
  #scrollTo(row: HTMLElement): void {
    const [box, place] = [this.#root.getBoundingClientRect(), row.getBoundingClientRect()];
    if (place.top < box.top || place.bottom > box.bottom) this.#root.scrollTop += place.top - box.top - box.height / 2;
  }

  #onKey(event: KeyboardEvent): void {
    const row = rowOf(event.target);
    if (row === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
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
        return this.#focusRow(this.#rows.find((one) => !isHidden(one)));
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
    const row = rowOf(event.target);
    if (row === undefined) return;
    this.#makeCurrent(row);
    if (row.ariaExpanded !== null) setExpanded(row, row.ariaExpanded === "false" || row !== this.#selected);
  }

  #visible(row: HTMLElement, by: 1 | -1): HTMLElement | undefined {
    const rows = this.#rows;
    let at = rows.indexOf(row) + by;
    while (at >= 0 && at < rows.length && isHidden(rows[at])) at += by;
    return rows[at];
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

/** Rows of found entries that are shown. */
const MOST_FOUND = 500;

/** The row of a found entry, without its branches. */
function copyOf(row: HTMLElement): HTMLElement {
  const copy = document.importNode(row, true);
  copy.className = copy.className.replace(/ (?:in\d|head|reading)\b/g, "");
  copy.removeAttribute("aria-expanded");
  copy.removeAttribute("aria-selected");
  copy.ariaLevel = "1";
  copy.tabIndex = -1;
  return copy;
}

function newRow(step: number, id: string, row: FoundRow["row"]): HTMLElement {
  const made = make("a", "", `row ${row?.kind ?? ""}`);
  made.role = "treeitem";
  made.href = `#e=${encodeURIComponent(id)}`;
  made.dataset["step"] = String(step);
  made.ariaLevel = "1";
  made.tabIndex = -1;
  made.append(make("span", row?.text ?? "", "said"));
  return made;
}

/** The row that an element is or stands in. */
function rowOf(target: EventTarget | null): HTMLElement | undefined {
  return target instanceof Element ? (target.closest<HTMLElement>('[role="treeitem"]') ?? undefined) : undefined;
}

function isHidden(row: HTMLElement | undefined): boolean {
  return row?.closest("[hidden]") !== null;
}

/** The row that the group of a row belongs to. */
function headOf(row: HTMLElement): HTMLElement | undefined {
  const head = row.closest('[role="group"]')?.previousElementSibling;
  return head instanceof HTMLElement ? head : undefined;
}

/** Unfolds or folds the branch that a row begins. Returns false if it begins none. */
export function setExpanded(row: HTMLElement, expanded: boolean): boolean {
  const group = row.nextElementSibling;
  if (row.ariaExpanded === null || !(group instanceof HTMLElement)) return false;
  row.ariaExpanded = String(expanded);
  group.hidden = !expanded;
  return true;
}

/** The rows of a page in a file, all of which are in the document. */
export class FileRows implements RowSource {
  readonly #rowOfStep = new Map<number, HTMLElement>();
  readonly #up: (step: number) => number | undefined;

  constructor(root: HTMLElement, up: (step: number) => number | undefined) {
    this.#up = up;
    for (const row of root.querySelectorAll<HTMLElement>('[role="treeitem"]')) this.#rowOfStep.set(stepOf(row), row);
  }

  known(step: number): HTMLElement | undefined {
    for (let at: number | undefined = step; at !== undefined; at = this.#up(at)) {
      const row = this.#rowOfStep.get(at);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  async find(step: number): Promise<HTMLElement | undefined> {
    return this.known(step);
  }
}
