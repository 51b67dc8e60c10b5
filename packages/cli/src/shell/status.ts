import { reportedPrompt } from "@bough/compaction/providers";
import type { ContextMessage, OutlineRow, Session, SessionContext } from "@bough/session-core";
import { type Cost, costText, counted, isSummary, type PriceList } from "@bough/session-core/view";
import type { ChatModel } from "../agent/chat-model.js";
import { roughMessageTokens } from "../format/rough-tokens.js";
import { sessionTitle } from "../session/names.js";
import { BEING_WRITTEN } from "../session/store-watcher.js";
import { windowOf } from "../session/window-choice.js";
import { barText, type Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import type { Status } from "./model.js";

/** The cost is shown for sessions up to this size; computing it reads all entries. */
const MAX_ENTRIES_FOR_COST = 20_000;

/** Consecutive contexts share their message objects. */
const tokensByMessage = new WeakMap<ContextMessage, number>();

function messageTokens(message: ContextMessage): number {
  const known = tokensByMessage.get(message) ?? roughMessageTokens(message);
  tokensByMessage.set(message, known);
  return known;
}

/**
 * Reads the contents of the status line. Tokens are what the provider reported for the newest reply plus an estimate of what came
 * after it, or an estimate of all: loading the exact tokenizer takes half a second. Reads the tips once and then only new outline
 * rows; recomputes the cost only after entries that may have one.
 */
export class StatusReader {
  readonly #session: Session;
  readonly #tips = new Map<number, OutlineRow>();
  #newestSeq: number | null = null;
  readonly #prices: PriceList;
  readonly #window: number | undefined;
  #cost: Cost | null = null;

  /** `window`: the context window without a model, in tokens; undefined: that of the session's model. */
  constructor(session: Session, prices: PriceList, window?: number) {
    this.#session = session;
    this.#prices = prices;
    this.#window = window;
  }

  async read(model: ChatModel | null): Promise<Partial<Status>> {
    const session = this.#session;
    const [record, context, mayHaveCost] = await Promise.all([session.record(), session.context(), this.#readTips()]);
    if (mayHaveCost) this.#cost = record.entryCount > MAX_ENTRIES_FOR_COST ? null : this.#prices.total((await session.statistics()).usage);
    const windowTokens = model?.windowTokens ?? windowOf(context.model?.modelId ?? null, this.#window).tokens;
    const tip = [...this.#tips.values()].find(({ id }) => id === session.leafId);
    const leaf = tip ?? (await session.tree.path(session.leafId, 1))[0];
    return {
      title: sessionTitle(record),
      depth: leaf === undefined ? 0 : leaf.depth + 1,
      branches: this.#tips.size,
      model: model?.name ?? null,
      windowTokens,
      usedTokens: await usedTokens(session, context, windowTokens),
      cost: this.#cost,
    };
  }

  /** Updates the tips from new rows. Returns whether the cost may have changed. */
  async #readTips(): Promise<boolean> {
    const isFirst = this.#newestSeq === null;
    // The newest entry has no child, so it is a tip.
    if (isFirst) this.#add(await this.#session.tree.tips());
    let mayHaveCost = isFirst;
    for (;;) {
      const rows = await this.#session.tree.outline({ afterSeq: this.#newestSeq ?? 0 });
      if (rows.length === 0) return mayHaveCost;
      this.#add(rows);
      mayHaveCost ||= rows.some((row) => row.role === "assistant" || isSummary(row));
    }
  }

  #add(rows: readonly OutlineRow[]): void {
    for (const row of rows) {
      if (row.parentSeq !== null) this.#tips.delete(row.parentSeq);
      this.#tips.set(row.seq, row);
      this.#newestSeq = Math.max(this.#newestSeq ?? 0, row.seq);
    }
  }
}

async function usedTokens(session: Session, context: SessionContext, windowTokens: number): Promise<number> {
  const estimate = (from: number) => context.messages.slice(from).reduce((sum, message) => sum + messageTokens(message), 0);
  const reported = await reportedPrompt(session, context);
  if (reported === null || reported.tokens > windowTokens) return estimate(0);
  return Math.max(estimate(0), reported.tokens + estimate(reported.at));
}

const BAR_COLUMNS = 8;
const MIN_TITLE_COLUMNS = 12;

/** The status line. On a narrow screen the least important parts are left out. */
export function statusLine(status: Status, columns: number, glyphs: Glyphs): Line {
  const { title, depth, branches, model, cost, background, isHeld } = status;
  // Most important first; the last ones are left out first.
  const parts: readonly (string | Span)[] = [
    model ?? "notebook: no model",
    ...windowPart(status, glyphs),
    ...(background ? [styled("summary", "compacting")] : []),
    ...(isHeld ? [styled("summary", BEING_WRITTEN)] : []),
    `${counted(depth, "entry", "entries")}${branches > 1 ? `, ${counted(branches, "branch", "branches")}` : ""}`,
    ...(cost === null ? [] : [costText(cost)]),
  ];
  for (let count = parts.length; count > 0; count -= 1) {
    const right: Line = parts
      .slice(0, count)
      .flatMap((part) => [styled("dim", ` ${glyphs.dot} `), typeof part === "string" ? styled("dim", part) : part]);
    const columnsLeft = columns - lineWidth(right);
    if (columnsLeft >= Math.min(MIN_TITLE_COLUMNS, title.length))
      return [...fitLine([styled("bold", title)], columnsLeft, glyphs.ellipsis), ...right];
  }
  return fitLine([styled("bold", title)], columns, glyphs.ellipsis);
}

function windowPart({ usedTokens, windowTokens }: Status, glyphs: Glyphs): readonly (string | Span)[] {
  if (usedTokens === null) return [];
  return [windowBar(usedTokens, windowTokens, BAR_COLUMNS, glyphs)];
}

/** Draws the used share of the context window: a bar of `columns` columns and the percentage. Red above 90 %. */
export function windowBar(usedTokens: number, windowTokens: number, columns: number, glyphs: Glyphs): Span {
  const share = Math.min(usedTokens / windowTokens, 1);
  const bar = barText(share, columns, glyphs);
  const percent = usedTokens > 0 && share < 0.01 ? "<1" : (share * 100).toFixed(0);
  return styled(share > 0.9 ? "error" : "dim", `${bar} ${percent}% of ${shortCount(windowTokens)}`);
}

function shortCount(tokens: number): string {
  return tokens < 1000 ? String(tokens) : tokens < 1e6 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}
