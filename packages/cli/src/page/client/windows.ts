import type { BranchState, EntryPlace } from "../sent.js";
import type { Book } from "./book.js";
import { stepOf } from "./dom.js";
import type { SessionServer } from "./server.js";

/** A block of the branch: a box with its articles, or an empty one of about their height. */
interface Block {
  readonly from: number;
  to: number;
  version: number;
  readonly box: HTMLElement;
  state: "empty" | "loaded" | "outdated";
  loading: Promise<void> | undefined;
  /** The source of each element of the box, by which a later state of it is compared. */
  sources: readonly string[];
}

/** Blocks that stay in the document; of a longer session those far from the screen are emptied. */
const MOST_LOADED = 30;

/** Height of an entry that was not drawn yet, in pixels: about the middle of real sessions. */
const ENTRY_HEIGHT = 70;

/** The book of a served page: the blocks of the shown branch near the screen are in the document, the others are sent when needed. */
export class Windows implements Book {
  readonly #path: HTMLElement;
  readonly #server: SessionServer;
  #state: BranchState;
  #blocks: Block[] = [];
  readonly #near = new Set<Block>();
  readonly #blockOfBox = new WeakMap<Element, Block>();
  readonly #listeners: (() => void)[] = [];
  // A screen and a half above and below what is seen.
  readonly #observer = new IntersectionObserver((changes) => this.#onNear(changes), { rootMargin: "150% 0px" });

  constructor(path: HTMLElement, server: SessionServer) {
    this.#path = path;
    this.#server = server;
    this.#state = JSON.parse(path.dataset["state"] ?? "null");
    const given = [...path.querySelectorAll<HTMLElement>(":scope > .chunk")];
    const first = Number(path.dataset["first"]);
    let from = 0;
    for (const [at, [entries, version]] of this.#state.blocks.entries()) {
      const box = given[at - first];
      const block = this.#newBlock(from, entries, version, box);
      if (box === undefined && at < first) given[0]?.before(block.box);
      else if (box === undefined) path.append(block.box);
      this.#blocks.push(block);
      from += entries;
    }
    path.classList.toggle("many", this.#blocks.length > MOST_LOADED);
    // All of a session of usual length is in the document soon, so that the browser finds and prints it.
    if (this.#blocks.length <= MOST_LOADED) addEventListener("load", () => setTimeout(() => void this.#loadAll(this.#blocks)));
  }

  get state(): BranchState {
    return this.#state;
  }

  isShown(step: number): boolean {
    return this.#position(step) !== undefined;
  }

  showsBranch(link: HTMLAnchorElement): boolean {
    return this.isShown(Number(link.dataset["row"]));
  }

  article(step: number): HTMLElement | undefined {
    return this.#blockOf(step)?.box.querySelector<HTMLElement>(`:scope > article[data-step="${step}"]`) ?? undefined;
  }

  articleOf(id: string): HTMLElement | undefined {
    const found = document.getElementById(`e=${id}`)?.closest<HTMLElement>("article") ?? undefined;
    return found !== undefined && this.#path.contains(found) ? found : undefined;
  }

  async open(id: string): Promise<HTMLElement | undefined> {
    const known = this.articleOf(id);
    if (known !== undefined) return known;
    const found = await this.#server.json<EntryPlace | null>("where", { e: id });
    if (found === null) return undefined;
    if (!this.isShown(found.row)) this.apply(found.state);
    const block = this.#blockOf(found.row);
    if (block === undefined) return undefined;
    await this.#load(block);
    // An entry without an article leads to the next one.
    return this.articleOf(id) ?? this.#firstFrom(block, found.row) ?? this.#neighbor(block, 1);
  }

  async next(from: HTMLElement, by: 1 | -1, prompts: boolean): Promise<HTMLElement | undefined> {
    if (prompts) {
      const row = await this.#server.json<number | null>("prompt", { tip: this.#state.tip ?? "", row: stepOf(from), by });
      return row === null ? undefined : this.#openRow(row);
    }
    for (let at: Element | null = sibling(from, by); at !== null; at = sibling(at, by))
      if (at instanceof HTMLElement && at.matches("article") && at.checkVisibility({ contentVisibilityAuto: false })) return at;
    const block = this.#blockOfBox.get(from.parentElement ?? from);
    return block && this.#neighbor(block, by);
  }

  async last(): Promise<HTMLElement | undefined> {
    const block = this.#blocks.at(-1);
    if (block === undefined) return undefined;
    await this.#load(block);
    return articlesOf(block).at(-1) ?? this.#neighbor(block, -1);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
    listener();
  }

  /** Shows another state of the branch, or another branch. What both have stays as it is. */
  apply(state: BranchState): void {
    const same = sharedRows(this.#state.rows, state.rows);
    this.#state = state;
    const before = this.#blocks;
    this.#blocks = [];
    let from = 0;
    for (const [at, [entries, version]] of state.blocks.entries()) {
      const known = before[at];
      const isSame = known !== undefined && known.from === from && from < same && Math.min(known.to, from + entries) <= same;
      const block = isSame ? known : this.#newBlock(from, entries, version, undefined);
      if (isSame && (known.version !== version || known.to !== from + entries) && known.state === "loaded") known.state = "outdated";
      block.to = from + entries;
      block.version = version;
      if (!isSame) known?.box.replaceWith(block.box);
      if (!block.box.isConnected) this.#path.append(block.box);
      this.#blocks.push(block);
      from += entries;
    }
    const kept = new Set(this.#blocks);
    for (const block of before) {
      if (kept.has(block)) continue;
      this.#observer.unobserve(block.box);
      this.#near.delete(block);
      block.box.remove();
    }
    this.loadNear();
    this.#changed();
  }

  /** Fills the blocks near the screen that are not up to date, as after a time in which the server did not answer. */
  loadNear(): void {
    for (const block of this.#near) void this.#load(block);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #newBlock(from: number, entries: number, version: number, given: HTMLElement | undefined): Block {
    const box = given ?? document.createElement("div");
    box.className = "chunk";
    const block: Block = { from, to: from + entries, version, box, state: "empty", loading: undefined, sources: [] };
    if (given === undefined) this.#setHeight(block, entries * ENTRY_HEIGHT);
    else {
      block.state = "loaded";
      block.sources = sourcesOf(given);
    }
    this.#blockOfBox.set(box, block);
    this.#observer.observe(box);
    return block;
  }

  #setHeight({ box }: Block, height: number): void {
    box.style.height = `${height}px`;
    box.classList.add("empty");
  }

  #onNear(changes: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of changes) {
      const block = this.#blockOfBox.get(target);
      if (block === undefined || !target.isConnected) continue;
      if (isIntersecting) {
        this.#near.add(block);
        void this.#load(block);
      } else this.#near.delete(block);
    }
    this.#emptyFar();
  }

  /** Empties the blocks that are farthest from the screen. */
  #emptyFar(): void {
    const loaded = this.#blocks.filter(({ state }) => state !== "empty");
    if (loaded.length <= MOST_LOADED || this.#blocks.length <= MOST_LOADED) return;
    const middle = this.#blocks.findIndex((block) => this.#near.has(block));
    const distance = (block: Block) => Math.abs(this.#blocks.indexOf(block) - middle);
    const far = loaded.filter((block) => !this.#near.has(block) && !block.box.contains(document.activeElement));
    for (const block of far.sort((a, b) => distance(b) - distance(a)).slice(0, loaded.length - MOST_LOADED)) {
      this.#setHeight(block, block.box.getBoundingClientRect().height);
      block.box.replaceChildren();
      block.state = "empty";
      block.sources = [];
    }
  }

  async #loadAll(blocks: readonly Block[]): Promise<void> {
    for (const block of blocks) await this.#load(block);
  }

  /** Fills a block, or brings it up to date. A server that does not answer is reported by the stream of events. */
  async #load(block: Block): Promise<void> {
    if (block.state === "loaded") return;
    block.loading ??= this.#fill(block).catch(() => undefined);
    await block.loading;
    block.loading = undefined;
  }

  async #fill(block: Block): Promise<void> {
    for (;;) {
      const { to, version } = block;
      const sent = await this.#server.html("block", { tip: this.#state.tip ?? "", from: block.from, to });
      const box = sent.querySelector(".chunk");
      if (box === null) return;
      this.#patch(block, box);
      block.box.style.height = "";
      block.box.classList.remove("empty");
      block.state = "loaded";
      this.#changed();
      if (block.to === to && block.version === version) return;
    }
  }

  /** Replaces the elements of a block that changed, so that folds and marks of the others stay. */
  #patch(block: Block, sent: Element): void {
    const sources = sourcesOf(sent);
    const given = [...sent.children];
    const before = [...block.box.children];
    for (const [at, child] of given.entries()) {
      const old = before[at];
      if (old !== undefined && block.sources[at] === sources[at]) continue;
      const fresh = document.importNode(child, true);
      if (old === undefined) block.box.append(fresh);
      else {
        keepFolds(old, fresh);
        old.replaceWith(fresh);
      }
    }
    for (const old of before.slice(given.length)) old.remove();
    block.sources = sources;
  }

  async #openRow(row: number): Promise<HTMLElement | undefined> {
    const block = this.#blockOf(row);
    if (block === undefined) return undefined;
    await this.#load(block);
    return this.article(row) ?? this.#firstFrom(block, row);
  }

  #firstFrom(block: Block, row: number): HTMLElement | undefined {
    return articlesOf(block).find((article) => stepOf(article) >= row);
  }

  /** The first article after a block, or the last one before it. */
  async #neighbor(block: Block, by: 1 | -1): Promise<HTMLElement | undefined> {
    for (let at = this.#blocks.indexOf(block) + by; ; at += by) {
      const next = this.#blocks[at];
      if (next === undefined) return undefined;
      await this.#load(next);
      const articles = articlesOf(next).filter((article) => article.checkVisibility({ contentVisibilityAuto: false }));
      const article = by === 1 ? articles[0] : articles.at(-1);
      if (article !== undefined) return article;
    }
  }

  /** The position of a row on the shown branch. */
  #position(row: number): number | undefined {
    let before = 0;
    for (const [first, last] of this.#state.rows) {
      if (row < first) return undefined;
      if (row <= last) return before + row - first;
      before += last - first + 1;
    }
    return undefined;
  }

  /** The block of a row of the shown branch. */
  #blockOf(row: number): Block | undefined {
    const place = this.#position(row) ?? -1;
    return this.#blocks.find(({ from, to }) => place >= from && place < to);
  }
}

/** The number of entries of the shown branch. */
export function lengthOf({ rows }: BranchState): number {
  return rows.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** The number of rows at the start of two branches that both have. */
function sharedRows(a: BranchState["rows"], b: BranchState["rows"]): number {
  let shared = 0;
  for (const [at, [first, last]] of a.entries()) {
    const other = b[at];
    if (other === undefined || other[0] !== first) return shared;
    shared += Math.min(last, other[1]) - first + 1;
    if (last !== other[1]) return shared;
  }
  return shared;
}

function articlesOf({ box }: Block): readonly HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>(":scope > article")];
}

function sourcesOf(box: Element): readonly string[] {
  return [...box.children].map((child) => child.outerHTML);
}

function sibling(from: Element, by: 1 | -1): Element | null {
  return by === 1 ? from.nextElementSibling : from.previousElementSibling;
}

/** Opens in a new article the folds that were open in the old one. */
function keepFolds(old: Element, fresh: Element): void {
  const folds = fresh.querySelectorAll("details");
  for (const [at, fold] of old.querySelectorAll("details").entries()) {
    const now = folds[at];
    if (now !== undefined) now.open = fold.open;
  }
}
