import type { Entry, EntryId, SessionRecord } from "@bough/session-core";
import { type Cost, groupSteps, isPrivate, PriceList, type Step, sumCosts, viewStep } from "@bough/session-core/view";
import { type Masks, NO_MASKS, Omissions, type ShownParts } from "./content.js";
import { Folds } from "./folds.js";
import { type Html, html, NOTHING } from "./html.js";
import { type StepHtml, stepHtml } from "./step.js";

/** The parts of a session that a page shows, and the masking of secrets in them (default: none). */
export interface StepOptions extends Partial<Pick<ShownParts, "thinking" | "toolOutput" | "folds" | "masks">> {
  /** True to show entries that were kept out of the conversation. */
  readonly private?: boolean;
  /** The prices by which a cost that is not stored is estimated. Default: the table. */
  readonly prices?: PriceList;
}

/** A step of a page. */
export interface WrittenStep {
  readonly step: Step;
  readonly written: StepHtml;
  /** False: nothing of it is written but what stands at its end. */
  readonly hasOwn: boolean;
  /** Its entries, and those before it that have nothing to read: links to them lead to it. */
  readonly ids: readonly EntryId[];
}

/** Writes the steps of a session, and counts what it leaves out: the one writer of exported and of served pages. */
export class StepWriter {
  readonly omitted = new Omissions();
  /** The languages of code that was written. */
  readonly languages = new Set<string>();
  readonly shown: ShownParts;
  readonly #options: StepOptions;
  readonly #directory: string | null;
  readonly #labels: ReadonlyMap<EntryId, string>;
  readonly #prices: PriceList;
  #cost: Cost | null = null;

  constructor({ cwd }: Pick<SessionRecord, "cwd">, labels: ReadonlyMap<EntryId, string>, options: StepOptions) {
    this.#options = options;
    this.#directory = cwd;
    this.#labels = labels;
    this.#prices = options.prices ?? new PriceList();
    this.shown = {
      thinking: options.thinking ?? false,
      toolOutput: options.toolOutput ?? "full",
      masks: options.masks ?? NO_MASKS,
      folds: options.folds ?? new Folds(),
    };
  }

  /** The cost of the replies that were written; null: none is known. */
  get cost(): Cost | null {
    return this.#cost;
  }

  /** Takes over what another writer of the page has written: the languages, the cost, and what was left out. */
  include({ languages, omitted, cost }: Pick<StepWriter, "languages" | "omitted" | "cost">): void {
    for (const language of languages) this.languages.add(language);
    this.#cost = sumCosts([this.#cost, cost]);
    this.omitted.add(omitted);
  }

  /**
   * Writes entries step by step. `moreOf`: what stands at the end of the step of these entries, also if it has nothing else to read.
   * `unshown`: entries before that have nothing to read; it gets those without a step behind them.
   */
  async *steps(
    entries: AsyncIterable<Entry> | Iterable<Entry>,
    moreOf: (ids: readonly EntryId[]) => Promise<Html>,
    unshown: EntryId[] = [],
  ): AsyncGenerator<WrittenStep, void, void> {
    for await (const step of groupSteps(this.#shownOf(entries, unshown))) {
      const more = await moreOf(step.entryIds);
      const own = this.#write(step);
      if (own === undefined && more === NOTHING) {
        unshown.push(...step.entryIds);
        continue;
      }
      const { body, ...said } = own ?? { kind: "assistant", heading: "", body: NOTHING };
      const written = { ...said, body: more === NOTHING ? body : html`${body}${more}` };
      yield { step, written, hasOwn: own !== undefined, ids: [...step.entryIds, ...unshown.splice(0)] };
    }
  }

  /** The entries that the page shows, without secrets. */
  async *#shownOf(entries: AsyncIterable<Entry> | Iterable<Entry>, unshown: EntryId[]): AsyncGenerator<Entry, void, void> {
    for await (const entry of entries) {
      const isLeftOut = isPrivate(entry) && this.#options.private !== true;
      if (!isLeftOut) yield this.masks.maskEntry(entry);
      else {
        this.omitted.count("private");
        unshown.push(entry.id);
      }
    }
  }

  /** A step as HTML; undefined: it has nothing to read. */
  #write(step: Step): StepHtml | undefined {
    this.#cost = sumCosts([this.#cost, this.#prices.costOfStep(step)]);
    const view = viewStep(step, { directory: this.#directory ?? undefined, prices: this.#prices });
    const written = stepHtml(view, this.shown);
    this.omitted.countIn(view, this.shown);
    for (const [, language = ""] of written?.body.text.matchAll(/ data-language="([^"]+)"/g) ?? []) this.languages.add(language);
    return written;
  }

  /** The label of a step, without secrets. */
  labelOf({ entryIds }: Pick<Step, "entryIds">): string | undefined {
    const label = entryIds.map((id) => this.#labels.get(id)).find((one) => one !== undefined);
    return label && this.masks.maskLine(label);
  }

  /** Every entry goes through them before it is used. */
  get masks(): Masks {
    return this.shown.masks;
  }
}
