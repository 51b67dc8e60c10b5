import type { TreeState } from "../sent.js";
import type { Book } from "./book.js";
import type { SessionServer } from "./server.js";
import { type RowSource, setExpanded } from "./tree.js";

/** Height of a row, in pixels; about the style's. */
const ROW_HEIGHT = 25;

/** The rows of a served tree. A chunk of rows is sent when it comes near the screen. */
export class ServedRows implements RowSource {
  readonly #root: HTMLElement;
  readonly #server: SessionServer;
  readonly #book: Book;
  readonly #loading = new WeakMap<HTMLElement, Promise<void>>();
  #onLoaded: () => void = () => undefined;
  readonly #observer: IntersectionObserver;

  constructor(root: HTMLElement, server: SessionServer, book: Book) {
    this.#root = root;
    this.#server = server;
    this.#book = book;
    this.#observer = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) if (isIntersecting && target instanceof HTMLElement) void this.#load(target);
      },
      { root: root.closest("#tree"), rootMargin: "100% 0px" },
    );
    this.#watch(root);
  }

  /** Calls a function after rows came into the document. */
  onLoaded(listener: () => void): void {
    this.#onLoaded = listener;
  }

  known(step: number): HTMLElement | undefined {
    return this.#descend(step, (chunk) => chunk.childElementCount > 0)?.row;
  }

  async find(step: number): Promise<HTMLElement | undefined> {
    for (;;) {
      const place = this.#descend(step, () => true);
      if (place === undefined) return undefined;
      if (place.missing === undefined) return place.row;
      await this.#load(place.missing);
      if (place.missing.childElementCount === 0) return place.row;
    }
  }

  /** Reads again which chunks there are, and those that changed. */
  async update(): Promise<void> {
    // A folded branch that grew is sent with the chunk of its first row.
    const chunks = [...this.#root.querySelectorAll<HTMLElement>(".rows[data-line]")].filter(
      (chunk) => chunk.closest('[role="group"][hidden]') === null,
    );
    const lines = new Set(chunks.map(({ dataset }) => dataset["line"] ?? ""));
    const state = await this.#server.json<TreeState>(
      "tree",
      [...lines].map((line) => ["line", line] as const),
    );
    for (const [line, states] of Object.entries(state.lines)) this.#updateLine(line, states);
  }

  #updateLine(line: string, chunks: TreeState["lines"][string]): void {
    const boxes = [...this.#root.querySelectorAll<HTMLElement>(`.rows[data-line="${line}"]`)];
    for (const [at, [rows, version, first]] of chunks.entries()) {
      const box = boxes[at] ?? this.#newChunk(line, at, boxes.at(-1));
      boxes[at] = box;
      const isChanged = box.dataset["version"] !== String(version);
      Object.assign(box.dataset, { rows: String(rows), version: String(version), first: String(first) });
      if (box.childElementCount === 0) this.#watchOne(box);
      else if (isChanged) void this.#fill(box);
    }
    for (const box of boxes.slice(chunks.length)) box.remove();
  }

  #newChunk(line: string, at: number, last: HTMLElement | undefined): HTMLElement {
    const box = document.createElement("div");
    box.className = "rows";
    box.setAttribute("role", "none");
    Object.assign(box.dataset, { line, chunk: String(at) });
    if (last !== undefined) last.after(box);
    else this.#root.append(box);
    return box;
  }

  /**
   * Goes down from the root to the row of a step: in each line to the last row of the shown branch that is not after the step, and into the
   * branch that it begins. `missing`: the chunk that would have to be there.
   */
  #descend(
    step: number,
    opens: (chunk: HTMLElement) => boolean,
  ): { row: HTMLElement | undefined; missing: HTMLElement | undefined } | undefined {
    let row: HTMLElement | undefined;
    let within: Element = this.#root;
    for (;;) {
      const chunk = this.#chunkOf(within, step);
      if (chunk === undefined || !opens(chunk)) return { row, missing: undefined };
      if (chunk.childElementCount === 0) return { row, missing: chunk };
      const next = this.#lastRow(chunk, step);
      if (next === undefined) return { row, missing: undefined };
      row = next;
      const group = next.nextElementSibling;
      if (next.ariaExpanded === null || group === null || Number(next.dataset["step"]) === step) return { row, missing: undefined };
      within = group;
    }
  }

  /** The chunk in which a row of a step would be: of the line that is shown the last one that does not begin after it. */
  #chunkOf(within: Element, step: number): HTMLElement | undefined {
    let found: HTMLElement | undefined;
    for (const chunk of within.querySelectorAll<HTMLElement>(":scope > .rows"))
      if (this.#book.isShown(Number(chunk.dataset["line"])) && Number(chunk.dataset["first"]) <= step) found = chunk;
    return found;
  }

  #lastRow(chunk: HTMLElement, step: number): HTMLElement | undefined {
    let found: HTMLElement | undefined;
    for (const row of chunk.querySelectorAll<HTMLElement>(':scope > [role="treeitem"]')) {
      const at = Number(row.dataset["step"]);
      if (at <= step && this.#book.isShown(at) && at >= Number(found?.dataset["step"] ?? -1)) found = row;
    }
    return found;
  }

  #watch(root: ParentNode): void {
    for (const chunk of root.querySelectorAll<HTMLElement>(".rows[data-line]:empty")) this.#watchOne(chunk);
  }

  #watchOne(chunk: HTMLElement): void {
    chunk.style.height = `${Number(chunk.dataset["rows"]) * ROW_HEIGHT}px`;
    // An observer reports a new target at once, so a chunk near the screen whose request failed is loaded again.
    this.#observer.unobserve(chunk);
    this.#observer.observe(chunk);
  }

  async #load(chunk: HTMLElement): Promise<void> {
    if (chunk.childElementCount > 0) return;
    const loading = this.#loading.get(chunk) ?? this.#fill(chunk);
    this.#loading.set(chunk, loading);
    await loading;
    this.#loading.delete(chunk);
  }

  /** Reads the rows of a chunk; branches that were unfolded in it stay so. A server that does not answer is reported elsewhere. */
  async #fill(chunk: HTMLElement): Promise<void> {
    const { line = "", chunk: number = "0" } = chunk.dataset;
    const sent = await this.#server.html("rows", { line, chunk: number }).catch(() => undefined);
    const rows = sent?.querySelector(".rows");
    if (rows === null || rows === undefined) return;
    const unfolded = new Set([...chunk.querySelectorAll<HTMLElement>('[aria-expanded="true"]')].map(({ dataset }) => dataset["step"]));
    const focused = chunk.contains(document.activeElement)
      ? document.activeElement?.closest<HTMLElement>("[data-step]")?.dataset["step"]
      : undefined;
    chunk.replaceChildren(...[...rows.childNodes].map((node) => document.importNode(node, true)));
    chunk.style.height = "";
    this.#observer.unobserve(chunk);
    for (const row of chunk.querySelectorAll<HTMLElement>('[role="treeitem"]')) {
      if (unfolded.has(row.dataset["step"])) setExpanded(row, true);
      if (focused !== undefined && row.dataset["step"] === focused) row.focus();
    }
    this.#watch(chunk);
    this.#onLoaded();
  }
}
