import { type Action, Actions } from "./actions.js";
import type { Book, Finder } from "./book.js";
import { element, placeOf, stepOf } from "./dom.js";
import { copy, EntryMenu, linkTo, type MenuItem, say } from "./entry-menu.js";
import { makeFolds, makeFoldsSoon } from "./folds.js";
import { highlightCode } from "./highlight.js";
import { startKinds } from "./kinds.js";
import { currentRange, drawMarks } from "./marks.js";
import { startTheme } from "./theme.js";
import { type RowSource, Tree } from "./tree.js";

/** The parts of a page that differ between a file and a server. */
export interface AppParts {
  readonly book: Book;
  readonly finder: Finder;
  readonly rows: RowSource;
  /** More items of the menu of an entry. */
  readonly items?: (article: HTMLElement) => readonly MenuItem[];
  readonly actions?: readonly Action[];
  /** Called when other articles are on screen, with the highest step among them. */
  readonly onRead?: (step: number) => void;
}

/** A page: moving, searching, the tree, folds, keys. */
export class App {
  readonly #book: Book;
  readonly #finder: Finder;
  readonly #tree: Tree;
  readonly #menu: EntryMenu;
  readonly #onRead: (step: number) => void;
  readonly #words = element("words");
  readonly #found = element("found");
  readonly #path = element("path");
  readonly #kinds = startKinds(this.#path, element("theme"), () => this.drawSoon());
  /** The articles on screen. */
  readonly #onScreen = new Set<HTMLElement>();
  readonly #articles = new IntersectionObserver((changes) => this.#onArticles(changes));
  /** Only the articles of chunks on screen are observed one by one. */
  readonly #chunks = new IntersectionObserver((changes) => this.#onChunks(changes));
  readonly #theme = startTheme(element("theme"));
  #stopFolding: () => void = () => undefined;
  #isDrawing = false;
  /** Searches so far, and ends of a search. */
  #searches = 0;

  constructor({ book, finder, rows, items = () => [], actions = [], onRead = () => undefined }: AppParts) {
    this.#book = book;
    this.#finder = finder;
    this.#onRead = onRead;
    this.#tree = new Tree(element("tree"), book, rows);
    this.#menu = new EntryMenu((article) => [
      { name: "Copy the link to this entry", does: () => void copy(linkTo(article, "e")) },
      { name: "Copy the link to the end of its branch", does: () => void copy(linkTo(article, "b")) },
      ...items(article),
    ]);
    book.onChange(() => this.#observe());
    const list = new Actions([...this.#actions(), ...actions]);
    element("palette-button").addEventListener("click", () => list.open());
    this.#listen();
    document.documentElement.classList.add("script");
    for (const id of ["tree-button", "search", "theme", "palette-button"]) element(id).hidden = false;
    this.#setTree(false);
    void this.goToAddress();
  }

  get tree(): Tree {
    return this.#tree;
  }

  /** Searches for words, and shows them in the field. */
  async find(words: string): Promise<void> {
    if (this.#words instanceof HTMLInputElement && this.#words.value !== words) this.#words.value = words;
    this.#searches += 1;
    const search = this.#searches;
    await this.#finder.find(words);
    this.#found.textContent = this.#finder.describe();
    // Meanwhile the whole tree may have been wanted, or other words.
    if (search === this.#searches) this.#tree.narrow(this.#finder.found);
    this.drawSoon();
  }

  /** Brings the whole tree back; the marks stay. */
  #widen(): void {
    this.#searches += 1;
    this.#tree.narrow([]);
  }

  /** Goes to the entry or the end of the branch that the address names. */
  async goToAddress(): Promise<void> {
    const place = placeOf(location.hash);
    if (place !== undefined) await this.goTo(place.id, place.kind === "branch");
  }

  /** Shows the branch of an entry and goes there, or to the end of that branch. */
  async goTo(id: string, toEnd = false): Promise<void> {
    const article = await this.#book.open(id);
    const end = toEnd ? ((await this.#book.last()) ?? article) : article;
    if (end !== undefined) this.#showArticle(end, toEnd ? "end" : "start");
  }

  drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      drawMarks(this.#book, this.#finder, [...this.#onScreen].map(stepOf));
      const top = this.#topArticle;
      if (top !== undefined) this.#tree.markReading(stepOf(top));
      const last = Math.max(...[...this.#onScreen].map(stepOf));
      if (Number.isFinite(last)) this.#onRead(last);
    });
  }

  /** The first article below the bar. */
  get #topArticle(): HTMLElement | undefined {
    for (const article of [...this.#onScreen].sort((a, b) => stepOf(a) - stepOf(b)))
      if (article.getBoundingClientRect().bottom > 80) return article;
    return undefined;
  }

  #showArticle(article: HTMLElement, block: "start" | "end" = "start"): void {
    makeFolds(article);
    this.#kinds.include(article);
    article.focus({ preventScroll: true });
    article.scrollIntoView({ block });
    void this.#tree.select(stepOf(article));
  }

  #observe(): void {
    this.#chunks.disconnect();
    this.#articles.disconnect();
    this.#onScreen.clear();
    for (const chunk of this.#path.children) this.#chunks.observe(chunk);
    if (document.readyState === "complete") this.#foldSoon();
    for (const link of this.#path.querySelectorAll<HTMLAnchorElement>(".fork a.branch")) {
      // Says in a choice of branches which one is shown.
      if (this.#book.showsBranch(link)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  #onArticles(changes: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of changes) {
      if (!(target instanceof HTMLElement)) continue;
      if (isIntersecting) {
        this.#onScreen.add(target);
        this.#menu.equip(target);
        highlightCode(target, () => this.drawSoon());
      } else this.#onScreen.delete(target);
    }
    this.drawSoon();
  }

  #foldSoon(): void {
    this.#stopFolding();
    this.#stopFolding = makeFoldsSoon(element("conversation"));
  }

  /** Before the browser's own search: it finds nothing in closed blocks, and of a long served session only what is in the document. */
  #onBrowserSearch(): void {
    makeFolds(element("conversation"));
    if (this.#path.classList.contains("many")) say("The browser finds only what is near the screen. / searches the whole session.");
  }

  #onChunks(changes: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of changes) {
      if (isIntersecting) makeFolds(target);
      for (const article of target.querySelectorAll("article")) {
        if (isIntersecting) this.#articles.observe(article);
        else {
          this.#articles.unobserve(article);
          this.#onScreen.delete(article);
        }
      }
    }
  }

  #listen(): void {
    addEventListener("hashchange", () => void this.goToAddress());
    // When the document is complete, the browser goes to the address by itself and takes the focus away.
    addEventListener("load", () =>
      setTimeout(() => {
        void this.goToAddress();
        this.#foldSoon();
      }),
    );
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href^="#e="]') : null;
      if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
      this.#setTree(false);
      // The address does not change, so the browser fires no `hashchange`.
      if (link.hash === location.hash) void this.goToAddress();
    });
    document.addEventListener(
      "toggle",
      (event) => {
        if (event.target instanceof Element) highlightCode(event.target, () => this.drawSoon());
        // Coloring replaces the nodes that marks stand in.
        this.drawSoon();
      },
      true,
    );
    document.addEventListener("keydown", (event) => {
      if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f")) this.#onBrowserSearch();
    });
    this.#words.addEventListener("input", () => void this.find(this.#words instanceof HTMLInputElement ? this.#words.value : ""));
    this.#words.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void this.#moveMatch(event.shiftKey ? -1 : 1);
      if (event.key !== "Escape") return;
      // A browser would empty the field.
      event.preventDefault();
      this.#words.blur();
      this.#widen();
    });
    element("next").addEventListener("click", () => void this.#moveMatch(1));
    element("previous").addEventListener("click", () => void this.#moveMatch(-1));
    element("tree-button").addEventListener("click", () => this.#toggleTree());
  }

  #actions(): readonly Action[] {
    return [
      { name: "Next entry", keys: ["j"], run: () => void this.#move(1, false) },
      { name: "Previous entry", keys: ["k"], run: () => void this.#move(-1, false) },
      { name: "Next prompt", keys: ["J"], run: () => void this.#move(1, true) },
      { name: "Previous prompt", keys: ["K"], run: () => void this.#move(-1, true) },
      { name: "Go to the end", keys: ["G"], run: () => void this.goToEnd() },
      { name: "Open or close the folds of the entry", keys: ["o"], run: () => toggleFolds(this.#focused) },
      { name: "Open or close all folds", keys: ["O"], run: () => toggleFolds(this.#path) },
      { name: "Search this session", keys: ["/"], run: () => this.#words.focus() },
      { name: "Next match", keys: ["n"], run: () => void this.#moveMatch(1) },
      { name: "Previous match", keys: ["p"], run: () => void this.#moveMatch(-1) },
      { name: "Links and commands of the entry", keys: ["."], run: () => this.#openMenu() },
      { name: "To the tree", keys: ["t"], run: () => this.#focusTree() },
      ...this.#kinds.choices.map(([value, name]) => ({ name: `Show: ${name}`, keys: [], run: () => this.#kinds.show(value) })),
      { name: "Light, dark, as the system", keys: ["m"], run: () => this.#theme() },
      { name: "Leave the search or the tree", keys: ["Escape"], run: () => this.#leave() },
    ];
  }

  /** Goes to the last entry of the shown branch. */
  async goToEnd(): Promise<void> {
    const last = await this.#book.last();
    if (last !== undefined) this.#showArticle(last, "end");
    await this.scrollToEnd();
  }

  /** Scrolls to the end; the focus stays where it is. */
  async scrollToEnd(): Promise<void> {
    await this.#book.last();
    scrollTo({ top: document.documentElement.scrollHeight });
  }

  get #focused(): HTMLElement | undefined {
    return document.activeElement?.closest<HTMLElement>("article") ?? undefined;
  }

  async #move(by: 1 | -1, prompts: boolean): Promise<void> {
    const focused = this.#focused;
    const top = this.#topArticle ?? this.#path.querySelector("article") ?? undefined;
    // Without a focus the first step is the one that is read.
    if (focused === undefined && !prompts) return top && this.#showArticle(top);
    const from = focused ?? top;
    const next = from && (await this.#book.next(from, by, prompts));
    if (next !== undefined) this.#showArticle(next);
  }

  async #moveMatch(by: 1 | -1): Promise<void> {
    const top = this.#topArticle;
    const match = this.#finder.move(by, top && stepOf(top));
    this.#found.textContent = this.#finder.describe();
    if (match === undefined) return;
    const article = await this.#book.open(match.id);
    if (article === undefined) return;
    makeFolds(article);
    this.#kinds.include(article);
    void this.#tree.select(match.step);
    showRange(currentRange(this.#book, this.#finder), article);
    this.#found.textContent = this.#finder.describe();
    this.drawSoon();
  }

  #openMenu(): void {
    const article = this.#focused ?? this.#topArticle;
    if (article !== undefined) this.#menu.open(article);
  }

  #leave(): void {
    this.#widen();
    const hadFocus = this.#tree.hasFocus;
    this.#setTree(false);
    // The tree of a narrow window is hidden now.
    if (hadFocus && !this.#tree.isVisible) (this.#topArticle ?? element("conversation")).focus({ preventScroll: true });
  }

  #focusTree(): void {
    if (!isWideScreen()) this.#setTree(true);
    this.#tree.focus();
  }

  #setTree(open: boolean): void {
    document.body.classList.toggle("tree-open", open);
    const isBeside = isWideScreen() && !document.body.classList.contains("tree-closed");
    element("tree-button").ariaExpanded = String(open || isBeside);
  }

  #toggleTree(): void {
    if (isWideScreen()) {
      document.body.classList.toggle("tree-closed");
      this.#setTree(false);
    } else this.#setTree(!document.body.classList.contains("tree-open"));
  }
}

function isWideScreen(): boolean {
  return matchMedia("(min-width: 60rem)").matches;
}

function toggleFolds(root: HTMLElement | undefined): void {
  if (root !== undefined) makeFolds(root);
  const folds = [...(root?.querySelectorAll("details") ?? [])];
  const open = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = open;
}

/** Opens the folds around a range and scrolls to it; without one to the article. */
function showRange(range: Range | undefined, article: HTMLElement): void {
  if (range === undefined) {
    article.scrollIntoView({ block: "start" });
    return;
  }
  for (let at = range.startContainer.parentElement; at !== null; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  range.startContainer.parentElement?.scrollIntoView({ block: "center" });
  const { top } = range.getBoundingClientRect();
  scrollBy(0, top - innerHeight / 2);
}
