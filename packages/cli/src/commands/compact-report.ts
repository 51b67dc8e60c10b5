import type { BeforeCompact, CompactionDone, TokenUse } from "@bough/compaction";
import type { FileLists, Session } from "@bough/session-core";
import { describeFidelity, summaryFiles } from "@bough/session-core/view";
import { count, counted } from "../format/numbers.js";
import { describeFiles, describeMethod } from "../session/compaction-text.js";
import type { SummaryModel } from "../session/summary-model.js";
import { describeWindow, type WindowChoice } from "../session/window-choice.js";
import type { Glyphs } from "../terminal/glyphs.js";
import { fieldLine, type Line, styled } from "../terminal/line.js";

/** A successful compaction and the data of its report. */
interface CompactionReport {
  readonly session: Session;
  readonly done: CompactionDone;
  readonly files: FileLists;
  readonly window: WindowChoice;
  readonly model: SummaryModel | null;
}

/** Adds data of the compaction entry to the result. */
export async function readReport(
  session: Session,
  done: CompactionDone,
  window: WindowChoice,
  model: SummaryModel | null,
): Promise<CompactionReport> {
  const entry = await session.entry(done.entryId);
  const files = entry.type === "compaction" ? summaryFiles(entry) : { readFiles: [], modifiedFiles: [] };
  return { session, done, window, model, files };
}

/** The report as JSON. */
export function reportToJson({ session, done, files, window, model }: CompactionReport): Readonly<Record<string, unknown>> {
  const { kind: _kind, continuePrompt: _prompt, checkpointPath: _path, ...rest } = done;
  return { sessionId: session.id, ...rest, ...files, model: model?.name ?? null, modelFailure: model?.failure() ?? null, window };
}

/** The report as lines of text. */
export function renderReport({ session, done, files, window, model }: CompactionReport, { to }: Glyphs): readonly Line[] {
  const saved = `${count(done.tokensBefore)} ${to} ${count(done.tokensAfter)} tokens, ${count(done.messagesBefore)} ${to} ${count(done.messagesAfter)} messages`;
  const fidelity = describeFidelity(done.fidelity);
  return [
    [styled("bold", "compacted: "), saved],
    ...(done.headroom ? [] : [[styled("error", "The kept messages still fill most of the context window.")]]),
    fieldLine("summary", done.title ?? done.shortSummary),
    fieldLine("written by", describeMethod(done.method, model)),
    ...(fidelity === null ? [] : [fieldLine("fidelity", fidelity)]),
    fieldLine("files", describeFiles(files)),
    fieldLine("window", describeWindow(window)),
    fieldLine("entry", done.entryId),
    [styled("dim", `Show it: bough show ${session.id} ${done.entryId}`)],
    [styled("dim", `Undo: bough compact ${session.id} --undo`)],
  ];
}

type Items = BeforeCompact["plan"]["keep"];

/** The plan of a compaction, printed by `--dry-run`. */
interface PlanReport {
  readonly kind: BeforeCompact["plan"]["kind"];
  readonly summarize: Part;
  /** The first part of a turn whose second part is kept. */
  readonly turnPrefix: Part;
  readonly keep: Part;
  /** null: nothing is kept. */
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
  /** True if the active summary is updated with the entries since. */
  readonly updatesSummary: boolean;
}

interface Part {
  readonly entries: number;
  readonly messages: number;
  readonly tokens: number;
  readonly fromEntryId: string | null;
  readonly toEntryId: string | null;
}

/** Counts the entries, messages and tokens of each part of a plan. */
export function measurePlan({ plan, previousSummary }: BeforeCompact, use: TokenUse): PlanReport {
  return {
    kind: plan.kind,
    summarize: measurePart(plan.summarize),
    turnPrefix: measurePart(plan.prefix),
    keep: measurePart(plan.keep),
    firstKeptEntryId: plan.firstKeptEntryId,
    // The counted tokens, as in the report of a compaction; a reported usage comes from another tokenizer.
    tokensBefore: use.systemTokens + use.toolTokens + use.messageTokens,
    updatesSummary: previousSummary !== null,
  };
}

function measurePart(items: Items): Part {
  return {
    entries: items.length,
    messages: items.reduce((sum, { messages }) => sum + messages.length, 0),
    tokens: items.reduce((sum, { tokens }) => sum + tokens, 0),
    fromEntryId: items[0]?.id ?? null,
    toEntryId: items.at(-1)?.id ?? null,
  };
}

/** The plan as lines of text. */
export function renderPlan(report: PlanReport, window: WindowChoice): readonly Line[] {
  const { summarize, turnPrefix, keep, tokensBefore, updatesSummary } = report;
  return [
    [styled("bold", "Nothing was written."), " A compaction would:"],
    ...(summarize.entries === 0 ? [] : [fieldLine("summarize", describePart(summarize))]),
    ...(turnPrefix.entries === 0 ? [] : [fieldLine("summarize the start of a turn", describePart(turnPrefix))]),
    fieldLine("keep", keep.entries === 0 ? "nothing" : describePart(keep)),
    ...(updatesSummary ? [fieldLine("update", "the summary of the active compaction")] : []),
    fieldLine("context now", counted(tokensBefore, "token")),
    fieldLine("window", describeWindow(window)),
  ];
}

function describePart({ messages, tokens, fromEntryId, toEntryId }: Part): string {
  const range = fromEntryId === toEntryId ? (fromEntryId ?? "") : `${fromEntryId ?? ""} to ${toEntryId ?? ""}`;
  return `${counted(messages, "message")}, ${count(tokens)} tokens (${range})`;
}
