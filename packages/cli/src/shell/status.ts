import type { ContextMessage, OutlineRow, Session } from "@bough/session-core";
import type { ChatModel } from "../agent/chat-model.js";
import { counted, dollars } from "../format/numbers.js";
import { roughMessageTokens } from "../format/rough-tokens.js";
import { sessionTitle } from "../session/choose-session.js";
import { DEFAULT_WINDOW } from "../session/window-choice.js";
import { barText, type Glyphs } from "../terminal/glyphs.js";
import { fitLine, type Line, lineWidth, type Span, styled } from "../terminal/line.js";
import type { Status } from "./model.js";

/** Sessions up to this many entries are asked for their cost; it takes a pass over them. */
const MAX_ENTRIES_FOR_COST = 20_000;

/** Messages of a context are the same objects from one context to the next. */
const tokensByMessage = new WeakMap<ContextMessage, number>();

function messageTokens(message: ContextMessage): number {
  const known = tokensByMessage.get(message) ?? roughMessageTokens(message);
  tokensByMessage.set(message, known);
  return known;
}

/**
 * What the status line tells now. Tokens are a rough count until a request was made: the exact one needs half a second of
 * tables that a notebook never needs. The tree is read once, and then the rows that are new; the cost is summed again only
 * where an entry came that may have cost something.
 */
export class StatusReader {
  readonly #session: Session;
  readonly #tips = new Map<number, OutlineRow>();
  #newestSeq: number | null = null;
  #costUsd: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(model: ChatModel | null): Promise<Partial<Status>> {
    const session = this.#session;
    const [record, { messages }, mayHaveCost] = await Promise.all([session.record(), session.context(), this.#readTips()]);
    if (mayHaveCost) this.#costUsd = record.entryCount > MAX_ENTRIES_FOR_COST ? null : await readCost(session);
    const tip = [...this.#tips.values()].find(({ id }) => id === session.leafId);
    return {
      title: sessionTitle(record),
      depth: tip === undefined ? await readDepth(session) : tip.depth + 1,
      branches: this.#tips.size,
      model: model?.name ?? null,
      windowTokens: model?.windowTokens ?? DEFAULT_WINDOW,
      usedTokens: messages.reduce((sum, message) => sum + messageTokens(message), 0),
      costUsd: this.#costUsd,
    };
  }

  /** Brings the ends of the branches up to date. true: a model may have been used since. */
  async #readTips(): Promise<boolean> {
    const isFirst = this.#newestSeq === null;
    // The newest entry has no child, so it is one of them.
    if (isFirst) this.#add(await this.#session.tips());
    let mayHaveCost = isFirst;
    for (;;) {
      const rows = await this.#session.outline({ afterSeq: this.#newestSeq ?? 0 });
      if (rows.length === 0) return mayHaveCost;
      this.#add(rows);
      mayHaveCost ||= rows.some(({ role, type }) => role === "assistant" || type === "compaction" || type === "branch_summary");
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

async function readDepth(session: Session): Promise<number> {
  const { leafId } = session;
  if (leafId === null) return 0;
  const { parentId } = await session.entry(leafId);
  const row = (await session.children(parentId)).find(({ id }) => id === leafId);
  return row === undefined ? 0 : row.depth + 1;
}

async function readCost(session: Session): Promise<number | null> {
  const { usage } = await session.statistics();
  const cost = usage.reduce((sum, { costUsd }) => sum + costUsd, 0);
  return cost > 0 ? cost : null;
}

const BAR_COLUMNS = 8;
const MIN_TITLE_COLUMNS = 12;

/** One line about the session; what matters least leaves first where there is no room. */
export function statusLine(status: Status, columns: number, glyphs: Glyphs): Line {
  const { title, depth, branches, model, costUsd, background } = status;
  // In order of weight: the last ones leave first.
  const parts: readonly (string | Span)[] = [
    model ?? "notebook: no model answers",
    ...windowPart(status, glyphs),
    ...(background ? [styled("summary", "compacting")] : []),
    `${counted(depth, "entry", "entries")}${branches > 1 ? `, ${counted(branches, "branch", "branches")}` : ""}`,
    ...(costUsd === null ? [] : [dollars(costUsd)]),
  ];
  for (let count = parts.length; count > 0; count -= 1) {
    const right: Line = parts
      .slice(0, count)
      .flatMap((part) => [styled("dim", ` ${glyphs.dot} `), typeof part === "string" ? styled("dim", part) : part]);
    const room = columns - lineWidth(right);
    if (room >= Math.min(MIN_TITLE_COLUMNS, title.length)) return [...fitLine([styled("bold", title)], room, glyphs.ellipsis), ...right];
  }
  return fitLine([styled("bold", title)], columns, glyphs.ellipsis);
}

function windowPart({ usedTokens, windowTokens }: Status, glyphs: Glyphs): readonly (string | Span)[] {
  if (usedTokens === null) return [];
  return [windowBar(usedTokens, windowTokens, BAR_COLUMNS, glyphs)];
}

/** How full a window is: a bar of `columns` columns and the share in words. Red above 90 %. */
export function windowBar(usedTokens: number, windowTokens: number, columns: number, glyphs: Glyphs): Span {
  const share = Math.min(usedTokens / windowTokens, 1);
  const bar = barText(share, columns, glyphs);
  return styled(share > 0.9 ? "error" : "dim", `${bar} ${(share * 100).toFixed(0)}% of ${shortCount(windowTokens)}`);
}

function shortCount(tokens: number): string {
  return tokens < 1000 ? String(tokens) : tokens < 1e6 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}
