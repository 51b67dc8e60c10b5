import type { Entry, EntryId, OutlineRow, Session, SessionRecord } from "@bough/session-core";
import {
  type Cost,
  costLine,
  counted,
  groupSteps,
  isPrivate,
  PriceList,
  previewOf,
  type Step,
  sumCosts,
  viewStep,
} from "@bough/session-core/view";
import { dateTime } from "../format/time.js";
import { leafRow } from "../tree/shown-rows.js";
import { NONE, TreeIndex } from "../tree/tree-index.js";
import { type BranchLine, BranchShape, type Segment } from "./branches.js";
import { entryLink, Omissions, type ShownParts } from "./content.js";
import { documentEnd, documentStart } from "./document.js";
import { type Html, html, joinHtml } from "./html.js";
import { articleHtml, Headings, stepHtml } from "./step.js";
import { type TreeRow, treeHtml, treeRow } from "./tree-nav.js";

/** The parts of a session that a page shows, and the masking of secrets in them. */
export interface PageOptions extends Partial<Pick<ShownParts, "thinking" | "toolOutput">> {
  /** The end of the path that is shown first. Default: the leaf. */
  readonly leafId?: EntryId | null;
  /** Only that path; the other branches are not in the page. */
  readonly branchOnly?: boolean;
  /** True to show entries that were kept out of the conversation. */
  readonly private?: boolean;
  /** Replaces secrets in a text that is not part of an entry. */
  readonly mask?: (text: string) => string;
  /** Replaces secrets in a title or a label, which are on one line. */
  readonly maskLine?: (text: string) => string;
  /** Replaces secrets in an entry. Every entry goes through it before it is used. */
  readonly maskEntry?: (entry: Entry) => Entry;
  /** The prices by which a cost that is not stored is estimated. Default: the table. */
  readonly prices?: PriceList;
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
  const writer = await PageWriter.of(session, options);
  yield* writer.write();
}

/** Articles of a chunk; as in the script of the page. */
const CHUNK = 40;

class PageWriter {
  readonly #session: Session;
  readonly #options: PageOptions;
  readonly #record: SessionRecord;
  readonly #rows: readonly OutlineRow[];
  readonly #leaf: OutlineRow | null;
  /** The entry that is marked as the leaf. */
  readonly #leafAt: EntryId | null;
  readonly #labels: ReadonlyMap<EntryId, string>;
  readonly #shape: BranchShape;
  readonly #shown: ShownParts;
  readonly #rowOfId: ReadonlyMap<EntryId, number>;
  /** By row number: the number of the step that shows it, or else of the nearest step above it; -1: there is none. */
  readonly #stepOf: Int32Array;
  readonly #treeRows = new Map<Segment, TreeRow[]>();
  readonly #languages = new Set<string>();
  readonly #omitted = new Omissions();
  readonly #headings = new Headings();
  /** Entries of the line without an article of their own: links to them lead to the next one. */
  #unshown: EntryId[] = [];
  /** Number of articles in the current chunk. */
  #chunk = 0;
  readonly #prices: PriceList;
  /** The cost of the replies that were written; null: none is known. */
  #cost: Cost | null = null;

  private constructor(
    session: Session,
    options: PageOptions,
    record: SessionRecord,
    rows: readonly OutlineRow[],
    leaf: OutlineRow | null,
    labels: ReadonlyMap<EntryId, string>,
  ) {
    this.#session = session;
    this.#options = options;
    this.#record = record;
    this.#rows = rows;
    this.#leaf = leaf;
    this.#labels = labels;
    this.#prices = options.prices ?? new PriceList();
    this.#shape = new BranchShape(rows, leaf);
    this.#leafAt = drawnLeaf(rows, leaf, labels);
    this.#shown = {
      thinking: options.thinking ?? false,
      toolOutput: options.toolOutput ?? "full",
      mask: options.mask ?? ((text) => text),
    };
    this.#rowOfId = new Map(rows.map(({ id }, at) => [id, at]));
    this.#stepOf = new Int32Array(rows.length).fill(-1);
  }

  static async of(session: Session, options: PageOptions): Promise<PageWriter> {
    const leafId = options.leafId === undefined ? await session.refresh() : options.leafId;
    const [record, labels, rows] = await Promise.all([session.record(), session.labels.list(), readRows(session, leafId, options)]);
    const leaf = rows.find(({ id }) => id === leafId) ?? null;
    return new PageWriter(session, options, record, rows, leaf, new Map(labels.map(({ entryId, label }) => [entryId, label])));
  }

  async *write(): AsyncGenerator<string, void, void> {
    const lines = this.#shape.lines();
    yield documentStart(this.#maskLine(this.#title()), await this.#facts()).text;
    yield '<div id="path"><div class="chunk">\n';
    for (const [at, line] of lines.entries()) {
      if (at === 1) yield '</div></div></main><template id="elsewhere">';
      yield* this.#line(line);
    }
    yield lines.length > 1 ? "</template>" : "</div></div></main>";
    yield '<nav id="tree" aria-label="Tree of the session" tabindex="-1">';
    for (const piece of treeHtml(lines, this.#treeRows)) yield piece.text;
    yield html`</nav><footer id="closing">${this.#closing()}</footer>`.text;
    yield documentEnd(this.#languages).text;
  }

  #title(): string {
    return this.#record.title ?? this.#record.firstText ?? `Session ${this.#record.id}`;
  }

  async #facts(): Promise<Html> {
    const { model } = await this.#session.settings(this.#leaf?.id ?? null);
    const facts = [
      dateTime(this.#record.createdAtMs),
      model?.modelId ?? "",
      this.#record.cwd ?? "",
      counted(this.#rows.length, "entry", "entries"),
      `session ${this.#record.id}`,
    ];
    return joinHtml(
      facts.filter((fact) => fact !== "").map((fact) => html`<span>${this.#mask(fact)}</span>`),
      " · ",
    );
  }

  #closing(): Html {
    const cost = this.#cost === null ? undefined : costLine(this.#cost);
    const lines = [this.#omitted.line(), cost, ...(this.#options.closing?.() ?? [])];
    return joinHtml(lines.flatMap((line) => (line === undefined ? [] : [html`<p>${line}</p>`])));
  }

  async *#line(line: BranchLine): AsyncGenerator<string, void, void> {
    this.#unshown = [];
    for (const segment of line.segments) {
      const rows: TreeRow[] = [];
      this.#treeRows.set(segment, rows);
      for await (const step of groupSteps(this.#entries(segment))) yield* this.#step(step, rows);
      if (segment.branches.length > 0) yield (await this.#fork(segment)).text;
    }
  }

  /** The entries of a segment, without secrets. */
  async *#entries({ rows }: Segment): AsyncGenerator<Entry> {
    const above = this.#rows[this.#shape.parents[rows[0] ?? -1] ?? -1];
    const leafId = this.#rows[rows.at(-1) ?? -1]?.id ?? null;
    for await (const entry of this.#session.walk({ leafId, ...(above === undefined ? {} : { stopAt: above.id }) })) {
      const at = this.#rowOfId.get(entry.id) ?? -1;
      this.#stepOf[at] = this.#stepOf[this.#shape.parents[at] ?? -1] ?? -1;
      if (isPrivate(entry) && this.#options.private !== true) {
        this.#omitted.count("private");
        this.#unshown.push(entry.id);
      } else yield this.#masked(entry);
    }
  }

  *#step(step: Step, rows: TreeRow[]): Generator<string> {
    const [id = ""] = step.entryIds;
    this.#cost = sumCosts([this.#cost, this.#prices.costOfStep(step)]);
    const at = this.#rowOfId.get(id) ?? -1;
    const view = viewStep(step, { directory: this.#record.cwd ?? undefined, prices: this.#prices });
    const written = stepHtml(view, this.#shown);
    this.#omitted.countIn(view, this.#shown);
    if (written === undefined) {
      this.#unshown.push(...step.entryIds);
      return;
    }
    const up = this.#stepOf[this.#shape.parents[at] ?? -1] ?? -1;
    for (const shown of step.entryIds) this.#stepOf[this.#rowOfId.get(shown) ?? -1] = at;
    const label = step.entryIds.map((one) => this.#labels.get(one)).find((one) => one !== undefined);
    const place = {
      step: at,
      up,
      ids: [...step.entryIds, ...this.#unshown.splice(0)],
      createdAtMs: this.#rows[at]?.createdAtMs ?? Number.NaN,
      label: label && this.#maskLine(label),
    };
    for (const [, language = ""] of written.body.text.matchAll(/ data-language="([^"]+)"/g)) this.#languages.add(language);
    // Browsers skip what is not on screen chunk by chunk.
    if (this.#chunk === CHUNK) yield '</div><div class="chunk">';
    this.#chunk = this.#chunk === CHUNK ? 1 : this.#chunk + 1;
    yield articleHtml(written, place, this.#headings.next(written)).text;
    const isLeaf = step.entryIds.some((one) => one === this.#leafAt);
    if (written.kind !== "setting")
      rows.push(treeRow(step, { step: at, id, kind: written.kind, label: place.label, isLeaf }, this.#record.cwd));
  }

  /** The choice of branches after a branch point. */
  async #fork(segment: Segment): Promise<Html> {
    const point = segment.rows.at(-1) ?? -1;
    const children = await this.#session.tree.children(this.#rows[point]?.id ?? null);
    const items: Html[] = [];
    for (const child of children) {
      const entry = await this.#session.entry(child.id);
      if (isPrivate(entry) && this.#options.private !== true) continue;
      items.push(html`<li><a href="${entryLink(child.id)}">${previewOf(this.#masked(entry), this.#record.cwd) || child.type}</a></li>`);
    }
    return html`<nav class="fork" data-after="${this.#stepOf[point] ?? -1}" aria-label="Branches"><p>${counted(items.length, "branch", "branches")} from here:</p><ul>${joinHtml(items)}</ul></nav>`;
  }

  #mask(text: string): string {
    return this.#shown.mask(text);
  }

  #maskLine(text: string): string {
    return this.#options.maskLine?.(text) ?? text;
  }

  #masked(entry: Entry): Entry {
    return this.#options.maskEntry?.(entry) ?? entry;
  }
}

/** The entry at which the tree draws the leaf. */
function drawnLeaf(rows: readonly OutlineRow[], leaf: OutlineRow | null, labeled: ReadonlyMap<EntryId, string>): EntryId | null {
  const index = TreeIndex.of(rows);
  const at = leafRow(index, leaf?.id ?? null, { filter: "default", labeled });
  return at === NONE ? null : index.idOf(at);
}

async function readRows(session: Session, leafId: EntryId | null, { branchOnly }: PageOptions): Promise<readonly OutlineRow[]> {
  if (branchOnly === true) return [...(await session.tree.path(leafId, Number.MAX_SAFE_INTEGER))].reverse();
  const rows: OutlineRow[] = [];
  for (;;) {
    const page = await session.tree.outline({ afterSeq: rows.at(-1)?.seq ?? 0 });
    rows.push(...page);
    if (page.length === 0) return rows;
  }
}
