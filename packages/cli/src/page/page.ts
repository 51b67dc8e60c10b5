import type { Entry, EntryId, OutlineRow, Session } from "@bough/session-core";
import { costLine, isPrivate, PriceList, previewOf } from "@bough/session-core/view";
import { sessionTitle } from "../session/names.js";
import { readOutline, readPath } from "../session/paging.js";
import { leafRow } from "../tree/shown-rows.js";
import { NONE, TreeIndex } from "../tree/tree-index.js";
import { type BranchLine, BranchShape, parentsOf, type Segment } from "./branches.js";
import { documentEnd, documentStart } from "./document.js";
import { factsHtml } from "./facts.js";
import { Folds } from "./folds.js";
import { type ForkItem, forkHtml } from "./fork.js";
import { type Html, html, joinHtml, NOTHING, withReferences } from "./html.js";
import { articleHtml, Headings } from "./step.js";
import { type StepOptions, StepWriter, type WrittenStep } from "./step-writer.js";
import { PageSubagents } from "./subagents.js";
import { mergeCalls, type TreeRow, treeHtml, treeRow } from "./tree-nav.js";

/** Options of `sessionPage`. */
export interface PageOptions extends StepOptions {
  /** The end of the path that is shown first. Default: the leaf. */
  readonly leafId?: EntryId | null;
  /** Only that path; the other branches are not in the page. */
  readonly branchOnly?: boolean;
  /** The sessions of the subagents that the page contains, also those of subagents. Default: none. */
  readonly subagents?: readonly Session[];
  /** The last lines, such as what was masked. Called when all entries are written. */
  readonly closing?: () => readonly string[];
}

/**
 * Writes a session as one HTML page, in pieces: the path of the leaf as static articles, the articles of the other branches in a
 * template, the tree, the style and the script. Memory: the outline, and a line for each entry.
 *
 * @example
 * for await (const piece of sessionPage(session)) file.write(piece);
 */
export async function* sessionPage(session: Session, options: PageOptions = {}): AsyncGenerator<string, void, void> {
  yield* new PageWriter(await readPage(session, { folds: new Folds(MOST_DETAILS), ...options })).write();
}

type ReadPage = Awaited<ReturnType<typeof readPage>>;

async function readPage(session: Session, options: PageOptions) {
  const leafId = options.leafId === undefined ? await session.refresh() : options.leafId;
  const [record, labels, rows] = await Promise.all([
    session.record(),
    session.labels.list(),
    options.branchOnly === true ? readPath(session, leafId) : readOutline(session),
  ]);
  return {
    ...{ session, options, record, rows },
    leaf: rows.find(({ id }) => id === leafId) ?? null,
    labels: new Map(labels.map(({ entryId, label }) => [entryId, label])),
    subagents: await PageSubagents.of(options.subagents ?? [], options),
  };
}

/** Articles of a chunk; as in the script of the page. */
const CHUNK = 40;

/** Calls that are `<details>` in the file; 500 take some 60 ms to open. Most sessions have fewer. */
const MOST_DETAILS = 500;

class PageWriter {
  readonly #read: ReadPage;
  /** The entry that is marked as the leaf. */
  readonly #leafAt: EntryId | null;
  readonly #shape: BranchShape;
  readonly #steps: StepWriter;
  readonly #rowOfId: ReadonlyMap<EntryId, number>;
  /** By row number: the number of the step that shows it, or else of the nearest step above it; -1: there is none. */
  readonly #stepOf: Int32Array;
  readonly #treeRows = new Map<Segment, TreeRow[]>();
  readonly #headings = new Headings();
  /** Number of articles in the current chunk. */
  #chunk = 0;

  constructor(read: ReadPage) {
    const { options, record, rows, leaf, labels } = read;
    this.#read = read;
    this.#steps = new StepWriter(record, labels, options);
    this.#shape = new BranchShape(parentsOf(rows), leaf === null ? NONE : rows.indexOf(leaf));
    this.#leafAt = drawnLeaf(rows, leaf, labels);
    this.#rowOfId = new Map(rows.map(({ id }, at) => [id, at]));
    this.#stepOf = new Int32Array(rows.length).fill(-1);
  }

  async *write(): AsyncGenerator<string, void, void> {
    const lines = this.#shape.lines();
    const { session, options, record, rows, leaf, subagents } = this.#read;
    const facts = await factsHtml(session, record, {
      leafId: leaf?.id ?? null,
      entries: rows.length,
      branchOnly: options.branchOnly === true,
      masks: this.#steps.masks,
      prices: options.prices ?? new PriceList(),
    });
    yield documentStart(this.#steps.masks.maskLine(sessionTitle(record)), facts).text;
    yield '<div id="path"><div class="chunk">\n';
    for (const [at, line] of lines.entries()) {
      if (at === 1) yield `${await this.#pathEnd()}<template id="elsewhere">`;
      yield* this.#line(line);
    }
    yield lines.length > 1 ? "</template>" : await this.#pathEnd();
    yield '<nav id="tree" aria-label="Tree of the session" tabindex="-1">';
    for (const piece of treeHtml(lines, (segment) => mergeCalls(this.#treeRows.get(segment) ?? []))) yield withReferences(piece.text);
    for (const writer of subagents.writers) this.#steps.include(writer);
    yield html`</nav><footer id="closing">${this.#closing()}</footer>`.text;
    yield documentEnd(this.#steps.languages).text;
  }

  /** The end of the conversation. A page of one branch has only the subagents that this branch started. */
  async #pathEnd(): Promise<string> {
    const isKnown = (id: EntryId) => this.#rowOfId.has(id);
    const unplaced =
      this.#read.options.branchOnly === true ? NOTHING : await this.#read.subagents.withoutPlace(this.#read.session.id, isKnown);
    return html`</div></div>${unplaced}</main>`.text;
  }

  #closing(): Html {
    const cost = this.#steps.cost === null ? undefined : costLine(this.#steps.cost);
    const lines = [this.#steps.omitted.line(), cost, ...(this.#read.options.closing?.() ?? [])];
    return joinHtml(lines.flatMap((line) => (line === undefined ? [] : [html`<p>${line}</p>`])));
  }

  async *#line(line: BranchLine): AsyncGenerator<string, void, void> {
    const unshown: EntryId[] = [];
    for (const segment of line.segments) {
      const rows: TreeRow[] = [];
      this.#treeRows.set(segment, rows);
      const started = (ids: readonly EntryId[]) => this.#read.subagents.startedBy(this.#read.session.id, ids);
      for await (const written of this.#steps.steps(this.#entries(segment), started, unshown)) yield* this.#step(written, rows);
      if (segment.branches.length > 0) yield withReferences((await this.#fork(segment)).text);
    }
  }

  /** The entries of a segment. */
  async *#entries({ rows }: Segment): AsyncGenerator<Entry> {
    const above = this.#read.rows[this.#shape.parents[rows[0] ?? -1] ?? -1];
    const leafId = this.#read.rows[rows.at(-1) ?? -1]?.id ?? null;
    for await (const entry of this.#read.session.walk({ leafId, ...(above === undefined ? {} : { stopAt: above.id }) })) {
      const at = this.#rowOfId.get(entry.id) ?? -1;
      this.#stepOf[at] = this.#stepOf[this.#shape.parents[at] ?? -1] ?? -1;
      yield entry;
    }
  }

  *#step({ step, written, hasOwn, ids }: WrittenStep, rows: TreeRow[]): Generator<string, void, void> {
    const [id = ""] = step.entryIds;
    const at = this.#rowOfId.get(id) ?? -1;
    const up = this.#stepOf[this.#shape.parents[at] ?? -1] ?? -1;
    for (const shown of step.entryIds) this.#stepOf[this.#rowOfId.get(shown) ?? -1] = at;
    const place = { step: at, up, ids, createdAtMs: this.#read.rows[at]?.createdAtMs ?? Number.NaN, label: this.#steps.labelOf(step) };
    // Browsers skip what is not on screen chunk by chunk.
    if (this.#chunk === CHUNK) yield '</div><div class="chunk">';
    this.#chunk = this.#chunk === CHUNK ? 1 : this.#chunk + 1;
    yield withReferences(articleHtml(written, place, this.#headings.next(written)).text);
    const isLeaf = step.entryIds.some((one) => one === this.#leafAt);
    if (hasOwn && written.kind !== "setting")
      rows.push(treeRow(step, { step: at, id, kind: written.kind, label: place.label, isLeaf }, this.#read.record.cwd));
  }

  /** The choice of branches after a branch point. */
  async #fork(segment: Segment): Promise<Html> {
    const point = segment.rows.at(-1) ?? -1;
    const children = await this.#read.session.tree.children(this.#read.rows[point]?.id ?? null);
    const items: ForkItem[] = [];
    for (const child of children) {
      const row = this.#rowOfId.get(child.id) ?? NONE;
      const entry = await this.#firstShown(row);
      if (entry === undefined) continue;
      const text = previewOf(this.#steps.masks.maskEntry(entry), this.#read.record.cwd) || entry.type;
      items.push({ id: entry.id, row, text, ...this.#branchFacts(row) });
    }
    return forkHtml(this.#stepOf[point] ?? -1, items);
  }

  /** The first entry of the line of a row that the page may show; undefined: all are private. */
  async #firstShown(row: number): Promise<Entry | undefined> {
    for (let at = row; at !== NONE; at = this.#shape.next(at)) {
      const entry = await this.#read.session.entry(this.#read.rows[at]?.id ?? "");
      if (!isPrivate(entry) || this.#read.options.private === true) return entry;
    }
    return undefined;
  }

  #branchFacts(first: number): Omit<ForkItem, "id" | "row" | "text"> {
    const [start, end] = [this.#read.rows[first], this.#read.rows[this.#shape.newestBelow(first)]];
    const label = start === undefined ? undefined : this.#steps.labelOf({ entryIds: [start.id] });
    return { label, entries: (end?.depth ?? 0) - (start?.depth ?? 0) + 1, activeAtMs: end?.createdAtMs ?? Number.NaN };
  }
}

/** The entry at which the tree draws the leaf. */
function drawnLeaf(rows: readonly OutlineRow[], leaf: OutlineRow | null, labeled: ReadonlyMap<EntryId, string>): EntryId | null {
  const index = TreeIndex.of(rows);
  const at = leafRow(index, leaf?.id ?? null, { filter: "default", labeled });
  return at === NONE ? null : index.idOf(at);
}
