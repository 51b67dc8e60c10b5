import { createQueryFinder, type QueryFinder } from "@bough/session-core/engine";
import { splitMatches } from "../../session/typed-text.js";
import type { FoundInSession } from "../sent.js";
import { type Book, type Finder, type FoundRow, type Match, nextMatch, type Place } from "./book.js";
import { make } from "./dom.js";
import type { SessionServer } from "./server.js";

const NOTHING: FoundInSession = { hits: [], total: 0, words: "", matched: { kind: "all" }, note: "" };

/** Places of a word in one entry; more are not marked. */
const MOST_PLACES = 500;

/**
 * The search of a served page: the command's own, on the server, over all branches. Each entry is a match: those of the shown branch in
 * their order, then those of the others. The best ones are listed with their text.
 */
export class ServedFinder implements Finder {
  readonly #server: SessionServer;
  readonly #book: Book;
  readonly #list: HTMLElement;
  readonly #onChosen: (id: string) => void;
  #words = "";
  #found: FoundInSession = NOTHING;
  /** Undefined: nothing was found, so that no expression runs here that the server has stopped. */
  #places: QueryFinder | undefined;
  #order: FoundInSession["hits"] = [];
  #at = -1;
  #running: Promise<void> | undefined;

  /** `list`: where the best hits are listed. */
  constructor(server: SessionServer, book: Book, list: HTMLElement, onChosen: (id: string) => void) {
    this.#server = server;
    this.#book = book;
    this.#list = list;
    this.#onChosen = onChosen;
  }

  get isSearching(): boolean {
    return this.#places !== undefined;
  }

  places(text: string): readonly Place[] {
    return this.#places?.find(text, MOST_PLACES) ?? [];
  }

  get current(): Match | undefined {
    const hit = this.#order[this.#at];
    return hit && { step: hit.row, id: hit.id, place: undefined };
  }

  get found(): readonly FoundRow[] {
    return this.#order.map(({ id, row, text, kind }) => ({ step: row, id, row: { text, kind } }));
  }

  async find(words: string): Promise<void> {
    this.#words = words;
    this.#running ??= this.#run();
    await this.#running;
  }

  /** Searches for the newest words; of those that were typed while a search ran, only the last ones are searched. */
  async #run(): Promise<void> {
    try {
      for (let done: string | undefined; done !== this.#words; ) {
        done = this.#words;
        this.#take(done.trim() === "" ? NOTHING : await this.#server.json<FoundInSession>("find", { q: done }));
      }
    } catch {
      this.#take({ ...NOTHING, note: "The server does not answer" });
    } finally {
      this.#running = undefined;
    }
  }

  #take(found: FoundInSession): void {
    this.#found = found;
    this.#places = found.total === 0 ? undefined : createQueryFinder(found.words, found.matched);
    const isShown = (row: number) => (this.#book.isShown(row) ? 0 : 1);
    this.#order = [...found.hits].sort((a, b) => isShown(a.row) - isShown(b.row) || a.row - b.row);
    this.#at = -1;
    this.#draw();
  }

  move(by: 1 | -1, from: number | undefined): Match | undefined {
    const count = this.#order.length;
    if (count === 0) return undefined;
    const start = this.#order.findIndex(({ row }) => this.#book.isShown(row) && row >= (from ?? 0));
    this.#at = nextMatch(this.#at, by, count, start);
    return this.current;
  }

  describe(): string {
    if (this.#words.trim() === "") return "";
    const { total, note } = this.#found;
    if (total === 0) return note === "" ? "Nothing found" : note;
    const { current } = this;
    const elsewhere = current !== undefined && !this.#book.isShown(current.step) ? ", on another branch" : "";
    const counted = total.toLocaleString("en-US");
    return current === undefined ? `${counted} found${note}` : `${(this.#at + 1).toLocaleString("en-US")} of ${counted}${elsewhere}`;
  }

  #draw(): void {
    const items = this.#found.hits
      .filter(({ snippet }) => snippet !== "")
      .map(({ id, row, snippet, matches }) => {
        const item = make("li");
        const link = make("a");
        link.href = `#e=${encodeURIComponent(id)}`;
        link.addEventListener("click", () => {
          this.#at = this.#order.findIndex((hit) => hit.id === id);
          this.#onChosen(id);
        });
        link.append(...splitMatches(snippet, matches).map(({ text, isMatch }) => (isMatch ? make("mark", text) : text)));
        item.append(link, ...(this.#book.isShown(row) ? [] : [make("span", " on another branch", "size")]));
        return item;
      });
    this.#list.querySelector("ol")?.replaceChildren(...items);
    this.#list.hidden = items.length === 0;
  }
}
