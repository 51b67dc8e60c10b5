import { redact } from "@bough/formats/secrets";
import type { BranchSummaryPayload, Entry, EntryId, FileLists, Session, Usage } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { branchFileLists, contextByEntry, type PathItem } from "../plan/span.js";
import { composeSummary, hasRecallTools } from "../summary/compose.js";
import { summarize } from "../summary/summarize.js";
import type { SummaryMethod, WrittenSummary } from "../summary/summarizer-client.js";
import type { ContextMeter } from "../tokens/context-meter.js";
import type { ContextState } from "./context-state.js";
import type { Engine } from "./engine.js";
import type { NavigateOptions, SuppliedBranchSummary } from "./options.js";

/** A branch that is about to be abandoned: the path of its leaf below the entry that it shares with the new path. */
interface AbandonedBranch {
  /** Its messages in the order of the context, including summaries of compactions and branches on it. */
  readonly items: readonly PathItem[];
  /** Every entry of the branch, oldest first. */
  readonly entryIds: readonly EntryId[];
  /** Files of all its entries, including entries that a compaction on it covers. */
  readonly files: FileLists;
}

/**
 * Reads the path from `leafId` up to but excluding `ancestorId` (null: up to the first entry) as it is in the context of the
 * leaf. Entries that a compaction on the branch covers are represented by its summary.
 */
export async function readAbandonedBranch(
  session: Session,
  leafId: EntryId,
  ancestorId: EntryId | null,
  meter: ContextMeter,
): Promise<AbandonedBranch> {
  const entries: Entry[] = [];
  for await (const entry of session.walk({ leafId, stopAt: ancestorId ?? undefined })) entries.push(entry);
  const context = await session.context({ leafId });
  const typeOf = new Map(entries.map(({ id, type }) => [id, type]));
  const { perMessage } = await meter.measure(context, leafId);
  const parts = contextByEntry(context, { entries: context.entries, tokens: perMessage });
  const items = [...parts].flatMap(([id, { messages, tokens }]): readonly PathItem[] => {
    const type = typeOf.get(id);
    return type === undefined ? [] : [{ id, type, messages, tokens }];
  });
  return { items, entryIds: entries.map(({ id }) => id), files: await branchFileLists(session, entries) };
}

/** The summary of an abandoned branch, not yet appended. */
export interface BranchSummary {
  readonly payload: BranchSummaryPayload;
  readonly method: SummaryMethod | "hook";
  readonly usage: Usage | null;
}

/** A branch summary to write. */
interface BranchSummaryRequest {
  readonly attemptId: string;
  /** The leaf of the abandoned branch. */
  readonly fromId: EntryId;
  readonly abandoned: AbandonedBranch;
  readonly state: ContextState;
  /** From the hook `beforeNavigate`. */
  readonly supplied: SuppliedBranchSummary | undefined;
  readonly options: NavigateOptions;
}

/** Writes the summary of an abandoned branch; the session is unchanged. @throws the error of the last summarizer. */
export async function writeBranchSummary(engine: Engine, request: BranchSummaryRequest): Promise<BranchSummary> {
  const { fromId, abandoned, supplied } = request;
  if (supplied !== undefined) return { payload: suppliedPayload(request, supplied), method: "hook", usage: null };
  const { cwd } = await engine.session.record();
  const written = await summarizeBranch(engine, request, cwd);
  const { method, shortSummary, usage, fidelity } = written;
  const payload = {
    type: "branch_summary",
    fromId,
    summary: composeText(engine, request, written, cwd),
    details: abandoned.files,
    method,
    shortSummary,
    fidelity,
    covers: coveredRange(abandoned),
  } as const;
  return { payload: usage === undefined ? payload : { ...payload, usage }, method, usage: usage ?? null };
}

function suppliedPayload(
  { fromId, state }: BranchSummaryRequest,
  { summary: given, details }: SuppliedBranchSummary,
): BranchSummaryPayload {
  if (typeof given !== "string" || given.trim() === "")
    throw new HookResultError("beforeNavigate", "its summary must be a text that is not empty");
  const summary = state.settings.summary.redact ? redact(given) : given;
  return { type: "branch_summary", fromId, summary, fromHook: true, ...(details === undefined ? {} : { details }) };
}

async function summarizeBranch(
  engine: Engine,
  { abandoned, state, options, attemptId }: BranchSummaryRequest,
  cwd: string | null,
): Promise<WrittenSummary> {
  const { settings, limits, model, meter } = state;
  const candidates = engine.candidates("branch");
  return summarize(
    {
      kind: "branch",
      trigger: "branch",
      plan: { summarize: abandoned.items, prefix: [] },
      previousSummary: null,
      instructions: options.instructions ?? null,
      cwd,
      replaceInstructions: options.replaceInstructions,
      hook: {},
      settings,
      counter: meter.counter,
      windowTokens: limits.windowTokens,
      reserveTokens: limits.reserveTokens,
      candidates,
      full: null,
      forceSimple: true,
      skipModel: candidates.length === 0,
      model,
      maxTokens: maxSummaryTokens(abandoned, limits.windowTokens),
      signal: options.signal,
      onProgress: ({ stage, chars }) => engine.emit({ type: "compactionProgress", attemptId, stage, chars }),
    },
    engine.options.sleep === undefined ? {} : { sleep: engine.options.sleep },
  );
}

// A branch summary replaces nothing in the context, so it may be longer than a short branch: its sections alone take several
// hundred tokens. In a small window it is bounded by a share.
const MIN_SUMMARY_TOKENS = 2_000;
const MIN_SUMMARY_SHARE = 0.125;

function maxSummaryTokens({ items }: AbandonedBranch, windowTokens: number): number {
  const branchTokens = items.reduce((sum, { tokens }) => sum + tokens, 0);
  return Math.max(Math.min(MIN_SUMMARY_TOKENS, Math.floor(MIN_SUMMARY_SHARE * windowTokens)), branchTokens);
}

function composeText(engine: Engine, { abandoned, state }: BranchSummaryRequest, { body }: WrittenSummary, cwd: string | null): string {
  return composeSummary({
    kind: "branch",
    body,
    messages: abandoned.items.flatMap(({ messages }) => messages),
    previous: null,
    files: abandoned.files,
    cwd,
    host: null,
    covers: coveredRange(abandoned),
    recall: engine.options.recall ?? hasRecallTools(engine.session),
    settings: state.settings,
    model: state.model,
  });
}

function coveredRange({ entryIds }: AbandonedBranch) {
  return { fromEntryId: entryIds[0] ?? "", toEntryId: entryIds.at(-1) ?? "", entries: entryIds.length };
}
