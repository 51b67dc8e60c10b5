import { setImmediate as pause } from "node:timers/promises";
import type { EntryId, SessionRecord, Store } from "@bough/session-core";
import { counted, PriceList, previewOf } from "@bough/session-core/view";
import { sessionTitle } from "../session/names.js";
import { BEING_WRITTEN } from "../session/store-watcher.js";
import { childrenByEntry } from "../session/subagents.js";
import { NONE } from "../tree/tree-index.js";
import { type Masks, NO_MASKS } from "./content.js";
import { documentEnd, documentStart } from "./document.js";
import { factsHtml } from "./facts.js";
import { type ForkItem, forkHtml } from "./fork.js";
import { type Html, html, joinHtml, NOTHING } from "./html.js";
import type { LearningMasks } from "./learning-masks.js";
import type { BranchState } from "./sent.js";
import type { Block, ServedSession } from "./served-session.js";
import { ServedTree } from "./served-tree.js";
import { articleHtml, Headings } from "./step.js";
import { type StepOptions, StepWriter } from "./step-writer.js";

/** Blocks that the document has from the start: about 400 entries. The others are sent when they come near the screen. */
const FIRST_BLOCKS = 10;

/** Chunks of the tree that the document has from the start. */
const FIRST_CHUNKS = 2;

/** The parts of a page that a server shows, and where its pages stand. */
export interface ServedPageOptions extends Omit<StepOptions, "masks"> {
  /** The path of the server's secret folder, with a slash at its end. */
  readonly root: string;
  /** True if the folder is a list of sessions. */
  readonly hasList: boolean;
  /** The store as an argument of a command; undefined: the one that commands take by themselves. */
  readonly store: string | undefined;
}

/** Writes the page of a served session, and the pieces of it that its script asks for. */
export class ServedPage {
  readonly #store: Store;
  readonly #served: ServedSession;
  readonly #learning: LearningMasks | undefined;
  readonly #options: ServedPageOptions & StepOptions;
  readonly masks: Masks;
  readonly tree: ServedTree;
  #subagents: Promise<ReadonlyMap<EntryId, readonly SessionRecord[]>> | undefined;

  constructor(store: Store, served: ServedSession, learning: LearningMasks | undefined, options: ServedPageOptions) {
    this.#store = store;
    this.#served = served;
    this.#learning = learning;
    this.masks = learning?.masker ?? NO_MASKS;
    this.#options = { ...options, masks: this.masks };
    this.tree = new ServedTree(served, this.masks);
  }

  /** The path of the page; that of its parts has a slash behind it. */
  get address(): string {
    return `${this.#options.root}${encodeURIComponent(this.#served.session.id)}`;
  }

  /**
   * The page in pieces. Its head is sent before the outline of a long session is read. `at`: the first entry that the document has, for a
   * browser without scripts; undefined: the first one.
   */
  async *write(record: SessionRecord, at: EntryId | undefined): AsyncGenerator<string, void, void> {
    const { session } = this.#served;
    const { root, hasList, store, prices = new PriceList() } = this.#options;
    await this.#learning?.learn(record.payloadBytes);
    const facts = await factsHtml(session, record, {
      leafId: session.leafId,
      entries: record.entryCount,
      branchOnly: false,
      masks: this.masks,
      prices,
    });
    const data = {
      base: `${this.address}/`,
      ...(hasList ? { home: root } : {}),
      ...(store === undefined ? {} : { store }),
      session: record.id,
    };
    yield documentStart(this.#title(record), facts, { kind: "served", data }).text;
    // The head is on its way before the outline is read, which takes a second for 100,000 entries.
    await pause();
    await this.#served.update();
    const row = this.#rowOf(at ?? null);
    const state = this.state(row === NONE ? this.#served.leaf : this.#served.endOf(row));
    const path = this.#served.pathTo(this.#rowOf(state.tip));
    const blocks = this.#served.blocksOf(path);
    const first = this.#blockOf(blocks, path, at);
    yield html`<div id="path" data-state="${JSON.stringify(state)}" data-first="${first}">`.text;
    const writer = this.#writer();
    for (const block of blocks.slice(first, first + FIRST_BLOCKS)) {
      yield '<div class="chunk">';
      yield* this.#block(writer, path, block);
      yield "</div>";
      await pause();
    }
    yield "</div>";
    yield this.#pagesHtml(path, blocks, first).text;
    yield html`<p id="held" class="note" role="status"${state.isHeld ? NOTHING : html` hidden`}>A reply is ${BEING_WRITTEN} …</p></main>`
      .text;
    yield html`<nav id="tree" aria-label="Tree of the session" tabindex="-1"><div role="tree" aria-label="Entries of the session" id="rows">${joinHtml(this.tree.roots.map((line, at) => this.tree.lineHtml(line, at === 0 ? FIRST_CHUNKS : 0)))}</div></nav>`
      .text;
    yield html`<footer id="closing">${this.#closing(blocks.length <= FIRST_BLOCKS ? writer : undefined)}</footer>`.text;
    yield documentEnd("all").text;
    this.#learning?.learnLater();
  }

  /** The state of the branch that ends at a row. */
  state(end: number): BranchState {
    const { index, leaf, isHeld, version, record } = this.#served;
    const path = this.#served.pathTo(end);
    return {
      version,
      tip: end === NONE ? null : index.idOf(end),
      isLive: end === leaf,
      isHeld,
      rows: runsOf(path),
      blocks: this.#served.blocksOf(path).map((block) => [block.to - block.from, this.#blockVersion(path, block)] as const),
      total: index.size,
      title: this.#title(record),
    };
  }

  /** The articles of positions of the path that ends at a row, in a document of their own. */
  async *block(end: number, block: Block): AsyncGenerator<string, void, void> {
    const path = this.#served.pathTo(end);
    yield '<!doctype html><title>Entries</title><div class="chunk">';
    // The positions are those of a request, which may ask for any.
    const [from, to] = [Math.max(0, Math.trunc(block.from) || 0), Math.min(path.length, Math.trunc(block.to) || 0)];
    yield* this.#block(this.#writer(), path, { from, to });
    yield "</div>";
  }

  /** The rows of a chunk of the tree, in a document of their own. */
  async *rows(line: string, chunk: number): AsyncGenerator<string, void, void> {
    yield `<!doctype html><title>Rows</title><div class="rows">${this.tree.chunk(line, chunk).text}</div>`;
  }

  /** The articles of rows of one branch. */
  async *entries(rows: readonly number[]): AsyncGenerator<string, void, void> {
    yield* this.#run(this.#writer(), new Headings(), rows);
  }

  #writer(): StepWriter {
    return new StepWriter(this.#served.record, this.#served.labels, this.#options);
  }

  async *#block(writer: StepWriter, path: Int32Array, { from, to }: Block): AsyncGenerator<string, void, void> {
    const headings = new Headings(from > 0 ? 1 : 0);
    let run: number[] = [];
    for (let place = from; place < to; place += 1) {
      const row = path[place] ?? NONE;
      run.push(row);
      const isFork = this.#isFork(path, place);
      if (!isFork && place < to - 1) continue;
      const step = yield* this.#run(writer, headings, run);
      if (isFork) yield forkHtml(step ?? row, await this.#forkItems(row)).text;
      run = [];
    }
  }

  /** Writes rows between two branch points. Returns the last step. */
  async *#run(writer: StepWriter, headings: Headings, rows: readonly number[]): AsyncGenerator<string, number | undefined, void> {
    const { index, session } = this.#served;
    const rowOfId = new Map(rows.map((at) => [index.idOf(at), at]));
    const entries = await session.entriesById([...rowOfId.keys()]);
    let last: number | undefined;
    for await (const { step, written, ids } of writer.steps(entries.values(), (started) => this.#startedBy(started))) {
      last = rowOfId.get(step.entryIds[0] ?? "") ?? NONE;
      const place = { step: last, ids, createdAtMs: index.row(last).createdAtMs, label: writer.labelOf(step) };
      yield articleHtml(written, place, headings.next(written)).text;
    }
    return last;
  }

  /** True if several branches leave a position, or if the path ends there and the tree goes on. */
  #isFork(path: Int32Array, place: number): boolean {
    const row = path[place] ?? NONE;
    const { index, shape } = this.#served;
    return index.isBranchPoint(row) || (place === path.length - 1 && shape.newestBelow(row) !== row);
  }

  async #forkItems(row: number): Promise<readonly ForkItem[]> {
    const { index, labels, session, record, shape } = this.#served;
    const branches = await this.#served.branchesAt(row);
    const entries = await session.entriesById(branches.map(({ shown }) => index.idOf(shown)));
    const a = index.idOf(branches[0]?.shown ?? row);
    return branches.map(({ first, shown }, at) => {
      const { id, type } = index.row(shown);
      const start = index.row(first);
      const end = index.row(shape.newestBelow(first));
      const entry = entries.get(id);
      const text = (entry && previewOf(this.masks.maskEntry(entry), record.cwd)) || type;
      const label = labels.get(start.id);
      return {
        ...{ id, row: first, text, label: label && this.masks.maskLine(label) },
        ...{ entries: end.depth - start.depth + 1, activeAtMs: end.createdAtMs },
        compare: at === 0 ? undefined : `${this.address}/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(id)}`,
      };
    });
  }

  /** Links to the subagents that entries started. */
  async #startedBy(ids: readonly EntryId[]): Promise<Html> {
    this.#subagents ??= childrenByEntry(this.#store, this.#served.session.id);
    const subagents = await this.#subagents;
    return this.#subagentsHtml(ids.flatMap((id) => subagents.get(id) ?? []));
  }

  /** Forgets what may have changed since: the subagents. */
  renew(): void {
    this.#subagents = undefined;
  }

  #subagentsHtml(records: readonly SessionRecord[]): Html {
    if (records.length === 0) return NOTHING;
    const items = records.map(
      (record) =>
        html`<li><a href="${this.#options.root}${encodeURIComponent(record.id)}">${this.masks.maskLine(sessionTitle(record))}</a> <span class="size">${counted(record.messageCount, "message")}</span></li>`,
    );
    return html`<div class="subagents"><p class="note">${counted(records.length, "subagent")}:</p><ul>${joinHtml(items)}</ul></div>`;
  }

  /** The articles of a block change with its labels, its branch points and the known secrets. */
  #blockVersion(path: Int32Array, { from, to }: Block): number {
    let version = this.#served.revision;
    for (let place = from; place < to; place += 1) {
      if (!this.#isFork(path, place)) continue;
      version = (Math.imul(version, 31) + this.#served.shape.newestBelow(path[place] ?? NONE)) | 0;
    }
    return version >>> 0;
  }

  #blockOf(blocks: readonly Block[], path: Int32Array, at: EntryId | undefined): number {
    const place = at === undefined ? 0 : path.indexOf(this.#served.index.indexOf(at));
    return Math.max(
      0,
      blocks.findIndex(({ from, to }) => place >= from && place < to),
    );
  }

  /** Links to the entries before and after those of the document, for browsers without scripts. */
  #pagesHtml(path: Int32Array, blocks: readonly Block[], first: number): Html {
    const link = (block: Block | undefined, name: string) =>
      block === undefined
        ? NOTHING
        : html`<a href="?at=${encodeURIComponent(this.#served.index.idOf(path[block.from] ?? 0))}">${name}</a> `;
    const before = first === 0 ? undefined : blocks[Math.max(0, first - FIRST_BLOCKS)];
    const after = blocks[first + FIRST_BLOCKS];
    if (before === undefined && after === undefined) return NOTHING;
    return html`<nav id="pages" aria-label="More entries">${link(before, "Earlier entries")}${link(after, "Later entries")}</nav>`;
  }

  #closing(writer: StepWriter | undefined): Html {
    const secrets =
      this.#learning === undefined
        ? "Secrets are not masked."
        : this.#learning.isBehind
          ? "Secrets are masked by their form; the session is still searched for others."
          : "Secrets are masked.";
    return joinHtml([writer?.omitted.line(), secrets].flatMap((line) => (line === undefined ? [] : [html`<p>${line}</p>`])));
  }

  #title(record: SessionRecord): string {
    return this.masks.maskLine(sessionTitle(record));
  }

  #rowOf(id: EntryId | null): number {
    return id === null ? NONE : this.#served.index.indexOf(id);
  }
}

/** Ascending numbers as runs without gaps. */
function runsOf(path: Int32Array): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const row of path) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === row - 1) last[1] = row;
    else runs.push([row, row]);
  }
  return runs;
}
