import type { Book } from "./book.js";
import { idOf, placeOf, stepOf } from "./dom.js";

/** An entry, or a reply with its results, and where it stands in the tree. */
interface Step {
  readonly article: HTMLElement;
  /** The step above; undefined: it is a first one. */
  readonly up: number | undefined;
  /** The elements below it: the choice of branches. */
  readonly after: HTMLElement[];
  readonly below: number[];
}

/** Articles of a chunk. */
const CHUNK = 40;

/** The book of a page in a file. The steps of the branches that are not shown are kept out of the document. */
export class Conversation implements Book {
  readonly #path: HTMLElement;
  readonly #steps = new Map<number, Step>();
  readonly #stepOfId = new Map<string, number>();
  /** The branch that the document has without its script. */
  readonly #first: readonly number[];
  #shown: readonly number[];
  #onPath: ReadonlySet<number>;
  readonly #listeners: (() => void)[] = [];

  constructor(path: HTMLElement, elsewhere: HTMLTemplateElement | null) {
    this.#path = path;
    const before = this.#read(path);
    if (elsewhere !== null) this.#read(elsewhere.content);
    this.#first = before;
    this.#shown = before;
    this.#onPath = new Set(before);
  }

  /** The steps of the shown branch, from the first down. */
  get shown(): readonly number[] {
    return this.#shown;
  }

  /** All steps in order of arrival. */
  get steps(): readonly number[] {
    return [...this.#steps.keys()].sort((a, b) => a - b);
  }

  isShown(step: number): boolean {
    return this.#onPath.has(step);
  }

  showsBranch(link: HTMLAnchorElement): boolean {
    const step = this.#stepOfId.get(placeOf(link.hash)?.id ?? "");
    return step !== undefined && this.isShown(step);
  }

  article(step: number): HTMLElement | undefined {
    return this.#steps.get(step)?.article;
  }

  articleOf(id: string): HTMLElement | undefined {
    return this.article(this.#stepOfId.get(id) ?? -1);
  }

  up(step: number): number | undefined {
    return this.#steps.get(step)?.up;
  }

  async open(id: string): Promise<HTMLElement | undefined> {
    const step = this.#stepOfId.get(id);
    if (step === undefined) return undefined;
    this.#show(step);
    return this.article(step);
  }

  async next(from: HTMLElement, by: 1 | -1, prompts: boolean): Promise<HTMLElement | undefined> {
    for (let at = this.#shown.indexOf(stepOf(from)) + by; at >= 0; at += by) {
      const article = this.article(this.#shown[at] ?? -1);
      if (article === undefined) return undefined;
      if (article.matches(prompts ? ".user" : "*") && article.checkVisibility()) return article;
    }
    return undefined;
  }

  async last(): Promise<HTMLElement | undefined> {
    return this.article(this.#shown.at(-1) ?? -1);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
    listener();
  }

  /** Shows the branch of a step: the path down to it, and on to the newest entry below it. */
  #show(step: number): void {
    if (this.#onPath.has(step)) return;
    const next = this.#first.includes(step) ? this.#first : this.#branchOf(step);
    let same = 0;
    while (same < next.length && next[same] === this.#shown[same]) same += 1;
    for (const old of this.#shown.slice(same)) for (const element of this.#elements(old)) element.remove();
    for (const chunk of this.#path.children) if (chunk.childElementCount === 0) chunk.remove();
    for (let at = same; at < next.length; at += CHUNK) this.#path.append(this.#newChunk(next.slice(at, Math.min(at + CHUNK, next.length))));
    this.#shown = next;
    this.#onPath = new Set(next);
    for (const listener of this.#listeners) listener();
  }

  /** Articles in a box of their own, which the browser skips as a whole while it is not on screen. */
  #newChunk(steps: readonly number[]): HTMLElement {
    const chunk = document.createElement("div");
    chunk.className = "chunk";
    chunk.append(...steps.flatMap((step) => this.#elements(step)));
    return chunk;
  }

  #branchOf(step: number): readonly number[] {
    const path: number[] = [];
    for (let at: number | undefined = step; at !== undefined; at = this.up(at)) path.push(at);
    path.reverse();
    for (let at = this.#newestBelow(step); at !== undefined; at = this.#newestBelow(at)) path.push(at);
    return path;
  }

  #newestBelow(step: number): number | undefined {
    return this.#steps.get(step)?.below.reduce<number | undefined>((newest, one) => Math.max(newest ?? one, one), undefined);
  }

  #elements(step: number): readonly HTMLElement[] {
    const found = this.#steps.get(step);
    return found === undefined ? [] : [found.article, ...found.after];
  }

  #read(root: ParentNode): readonly number[] {
    const read: number[] = [];
    for (const element of root.querySelectorAll<HTMLElement>("article, .fork")) {
      const step = element.getAttribute("data-step");
      if (step === null) this.#steps.get(Number(element.dataset["after"]))?.after.push(element);
      else read.push(this.#add(element, Number(step), Number(element.getAttribute("data-up"))));
    }
    return read;
  }

  #add(article: HTMLElement, step: number, up: number): number {
    this.#steps.set(step, { article, up: this.#steps.has(up) ? up : undefined, after: [], below: [] });
    this.#steps.get(up)?.below.push(step);
    this.#stepOfId.set(idOf(article), step);
    // The anchors of its other entries follow its header.
    for (let named = article.firstElementChild?.nextElementSibling; named instanceof HTMLSpanElement; named = named.nextElementSibling)
      this.#stepOfId.set(idOf(named), step);
    return step;
  }
}
