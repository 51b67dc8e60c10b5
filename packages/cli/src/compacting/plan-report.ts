import type { BeforeCompact, TokenUse } from "@bough/compaction";
import { count, counted } from "../format/numbers.js";
import { type Line, styled } from "../terminal/line.js";
import { type WindowChoice, windowText } from "./window-choice.js";

type Items = BeforeCompact["plan"]["keep"];

/** What a compaction would do, as `--dry-run` prints it. */
export interface PlanReport {
  readonly kind: BeforeCompact["plan"]["kind"];
  readonly summarize: Part;
  /** The start of a turn whose end is kept. */
  readonly turnPrefix: Part;
  readonly keep: Part;
  /** null: nothing is kept. */
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
  /** Whether the summary in force is written anew, with what came since. */
  readonly updatesSummary: boolean;
}

interface Part {
  readonly entries: number;
  readonly messages: number;
  readonly tokens: number;
  readonly fromEntryId: string | null;
  readonly toEntryId: string | null;
}

/** The plan in numbers. */
export function planReport({ plan, previousSummary }: BeforeCompact, use: TokenUse): PlanReport {
  return {
    kind: plan.kind,
    summarize: partOf(plan.summarize),
    turnPrefix: partOf(plan.prefix),
    keep: partOf(plan.keep),
    firstKeptEntryId: plan.firstKeptEntryId,
    // Counted, as the compaction itself will say it; what a provider reported is about another tokenizer.
    tokensBefore: use.systemTokens + use.toolTokens + use.messageTokens,
    updatesSummary: previousSummary !== null,
  };
}

function partOf(items: Items): Part {
  return {
    entries: items.length,
    messages: items.reduce((sum, { messages }) => sum + messages.length, 0),
    tokens: items.reduce((sum, { tokens }) => sum + tokens, 0),
    fromEntryId: items[0]?.id ?? null,
    toEntryId: items.at(-1)?.id ?? null,
  };
}

/** The same for reading. */
export function planLines(report: PlanReport, window: WindowChoice): readonly Line[] {
  const { summarize, turnPrefix, keep, tokensBefore, updatesSummary } = report;
  return [
    [styled("bold", "Nothing was written."), " A compaction would"],
    ...(summarize.entries === 0 ? [] : [fact("summarise", partText(summarize))]),
    ...(turnPrefix.entries === 0 ? [] : [fact("summarise the start of a turn", partText(turnPrefix))]),
    fact("keep", keep.entries === 0 ? "nothing" : partText(keep)),
    ...(updatesSummary ? [fact("update", "the summary of the compaction before it")] : []),
    fact("context now", counted(tokensBefore, "token")),
    fact("window", windowText(window)),
  ];
}

function partText({ messages, tokens, fromEntryId, toEntryId }: Part): string {
  const range = fromEntryId === toEntryId ? (fromEntryId ?? "") : `${fromEntryId ?? ""} to ${toEntryId ?? ""}`;
  return `${counted(messages, "message")}, ${count(tokens)} tokens (${range})`;
}

function fact(name: string, value: string): Line {
  return [styled("dim", `${name}: `), value];
}
