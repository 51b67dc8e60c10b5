import { element, idOf, make } from "./dom.js";

/** An item of the menu of an entry. `does`: undefined if it cannot be done for this entry. */
export interface MenuItem {
  readonly name: string;
  readonly does: (() => void) | undefined;
}

/** The menu of an entry: a button in the heading of each article on screen, and one list of items for all of them. */
export class EntryMenu {
  readonly #menu = make("div");
  readonly #items: (article: HTMLElement) => readonly MenuItem[];
  #opener: HTMLElement | undefined;

  constructor(items: (article: HTMLElement) => readonly MenuItem[]) {
    this.#items = items;
    this.#menu.id = "menu";
    this.#menu.popover = "auto";
    this.#menu.setAttribute("role", "menu");
    this.#menu.setAttribute("aria-label", "Entry");
    this.#menu.addEventListener("keydown", (event) => this.#onKey(event));
    element("conversation").append(this.#menu);
  }

  /** Gives an article its button. */
  equip(article: HTMLElement): void {
    const header = article.querySelector(":scope > header");
    if (header === null || header.querySelector(".more") !== null) return;
    const button = make("button", "⋯", "more");
    button.type = "button";
    button.title = "Links and commands of this entry (.)";
    button.setAttribute("aria-label", "Links and commands of this entry");
    button.setAttribute("aria-haspopup", "menu");
    button.addEventListener("click", () => this.open(article, button));
    header.append(button);
  }

  open(article: HTMLElement, opener: HTMLElement = article): void {
    this.#opener = opener;
    const items = this.#items(article).map(({ name, does }) => {
      const item = make("button", name);
      item.type = "button";
      item.setAttribute("role", "menuitem");
      if (does === undefined) item.disabled = true;
      item.addEventListener("click", () => {
        this.#menu.hidePopover();
        this.#opener?.focus();
        does?.();
      });
      return item;
    });
    this.#menu.replaceChildren(...items);
    const { top, right } = opener === article ? article.getBoundingClientRect() : opener.getBoundingClientRect();
    this.#menu.showPopover();
    const { width, height } = this.#menu.getBoundingClientRect();
    this.#menu.style.left = `${Math.max(4, Math.min(right - width, innerWidth - width - 4))}px`;
    this.#menu.style.top = `${Math.max(4, Math.min(top + 24, innerHeight - height - 4))}px`;
    items[0]?.focus();
  }

  #onKey(event: KeyboardEvent): void {
    const items: (Element | null)[] = [...this.#menu.querySelectorAll("[role=menuitem]:not(:disabled)")];
    const at = items.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") {
      this.#menu.hidePopover();
      this.#opener?.focus();
      event.preventDefault();
    }
    event.stopPropagation();
    if (next === undefined) return;
    event.preventDefault();
    const item = items[(next + items.length) % items.length];
    if (item instanceof HTMLElement) item.focus();
  }
}

/** The address of an entry in this page, without the words of a search. */
export function linkTo(article: HTMLElement, kind: "e" | "b"): string {
  return `${location.href.split(/[?#]/, 1)[0]}#${kind}=${encodeURIComponent(idOf(article))}`;
}

/** Copies a text, and says so in the page. */
export async function copy(text: string): Promise<void> {
  let isCopied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    isCopied = copyBySelection(text);
  }
  say(isCopied ? `Copied: ${text}` : `The browser does not copy. The text is: ${text}`);
}

/** For browsers that have no clipboard for this page. */
function copyBySelection(text: string): boolean {
  const field = make("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}

let forget: ReturnType<typeof setTimeout> | undefined;

/** Shows a line for some seconds. */
export function say(text: string): void {
  let line = document.getElementById("said");
  if (line === null) {
    line = make("output");
    line.id = "said";
    element("conversation").append(line);
  }
  line.textContent = text;
  line.hidden = false;
  clearTimeout(forget);
  forget = setTimeout(() => {
    if (line !== null) line.hidden = true;
  }, 6000);
}
