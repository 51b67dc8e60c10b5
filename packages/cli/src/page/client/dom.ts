/** An element of the document, which always has it. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  return found;
}

/** A new element with a text. */
export function make<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text = "", className = ""): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className !== "") made.className = className;
  return made;
}

/** A value that the browser keeps for this page's address; null: it has none, or keeps nothing for a page from a file. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The value then holds for this page only.
  }
}

/** The number of the step of an article or a row. */
export function stepOf(shown: HTMLElement): number {
  return Number(shown.getAttribute("data-step"));
}

/** The id of the entry that an article begins with. */
export function idOf(article: Element): string {
  return article.id.slice(2);
}

/** The kinds of a hash of this page: an entry, or the end of its branch. */
export type Place = { readonly kind: "entry" | "branch"; readonly id: string };

/** Reads a hash: `#e=ID` is an entry, `#b=ID` the end of its branch. Undefined: it is neither. */
export function placeOf(hash: string): Place | undefined {
  const [, kind, encoded] = /^#([eb])=(.*)$/s.exec(hash) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return { kind: kind === "b" ? "branch" : "entry", id: decodeURIComponent(encoded) };
  } catch {
    return undefined; // not an address of this page
  }
}
