import {
  type BranchSummaryPayload,
  type Entry,
  type EntryId,
  type FileLists,
  fileLists,
  type Session,
  type Usage,
} from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { fileListsOf, joinLists } from "../plan/file-lists.js";
import { contextByEntry, type PathItem } from "../plan/span.js";
import { hasRecallTools } from "../recall/recall-tools.js";
import { composeSummary } from "../summary/compose.js";
import { summarize } from "../summary/summarize.js";
import type { SummaryMethod, WrittenSummary } from "../summary/summary-job.js";
import type { ContextMeter } from "../tokens/context-meter.js";
import type { ContextState } from "./context-state.js";
import type { Engine } from "./engine.js";
import type { NavigateOptions } from "./results.js";

/** What a branch that is left is told by. */
export interface BranchSummary {
  readonly payload: BranchSummaryPayload;
  readonly method: SummaryMethod | "hook";
  readonly usage: Usage | null;
}

/** Which branch, and how. */
export interface BranchSummaryRequest {
  readonly attemptId: string;
  /** The leaf that is left. */
  readonly fromId: EntryId;
  readonly abandoned: AbandonedBranch;
  readonly state: ContextState;
  /** What the hook `beforeNavigate` brought. */
  readonly supplied: { readonly summary: string; readonly details?: unknown } | undefined;
  readonly options: NavigateOptions;
}

/** Writes the summary of a branch that is about to be left; nothing is appended. @throws what the summarisers throw. */
export async function writeBranchSummary(engine: Engine, order: BranchSummaryRequest): Promise<BranchSummary> {
  const { fromId, abandoned, supplied } = order;
  if (supplied !== undefined) return { payload: suppliedPayload(fromId, supplied), method: "hook", usage: null };
  const { cwd } = await engine.session.record();
  const written = await summarizeBranch(engine, order, cwd);
  const summary = composeBody(engine, order, written, cwd);
  const { method, shortSummary, usage, fidelity } = written;
  const payload = {
    type: "branch_summary",
    fromId,
    summary,
    details: abandoned.files,
    method,
    shortSummary,
    fidelity,
    covers: coversOf(abandoned),
  } as const;
  return { payload: usage === undefined ? payload : { ...payload, usage }, method, usage: usage ?? null };
}

function suppliedPayload(
  fromId: EntryId,
  { summary, details }: { readonly summary: string; readonly details?: unknown },
): BranchSummaryPayload {
  if (typeof summary !== "string" || summary.trim() === "")
    throw new HookResultError("beforeNavigate", "its summary must be a text that is not empty");
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
      maxTokens: Math.max(
        Math.min(MIN_SUMMARY_TOKENS, Math.floor(MIN_SUMMARY_SHARE * limits.windowTokens)),
        abandoned.items.reduce((sum, { tokens }) => sum + tokens, 0),
      ),
      signal: options.signal,
      onProgress: ({ stage, chars }) => engine.emit({ type: "compactionProgress", attemptId, stage, chars }),
    },
    engine.options.sleep === undefined ? {} : { sleep: engine.options.sleep },
  );
}

// A branch summary replaces nothing: the branch stays where it is. So one of a short branch may be longer than it, as its
// sections take several hundred tokens whatever there is to say; not more than a part of a small window.
const MIN_SUMMARY_TOKENS = 2_000;
const MIN_SUMMARY_SHARE = 0.125;

function composeBody(engine: Engine, { abandoned, state }: BranchSummaryRequest, { body }: WrittenSummary, cwd: string | null): string {
  return composeSummary({
    kind: "branch",
    body,
    messages: abandoned.items.flatMap(({ messages }) => messages),
    previous: null,
    files: abandoned.files,
    cwd,
    host: null,
    covers: coversOf(abandoned),
    recall: engine.options.recall ?? hasRecallTools(engine.session),
    settings: state.settings,
    model: state.model,
  });
}

function coversOf({ entryIds }: AbandonedBranch) {
  return { fromEntryId: entryIds[0] ?? "", toEntryId: entryIds.at(-1) ?? "", entries: entryIds.length };
}

/** A branch that is about to be left: what its model saw below the point where the paths part. */
export interface AbandonedBranch {
  /** In the order of the context. Summaries of earlier compactions and branches below that point are among the messages. */
  readonly items: readonly PathItem[];
  /** Every entry of the branch, oldest first. */
  readonly entryIds: readonly EntryId[];
  /** Files of all its entries, also of those that a compaction on it covers (regression R138). */
  readonly files: FileLists;
}

/**
 * Reads the path from `leafId` up to, and without, `ancestorId` (null: to its first entry), as the context at the leaf
 * shows it. Entries that an earlier compaction of the branch covers are told by that compaction's summary.
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
  const below = new Map(entries.map(({ id, type }) => [id, type]));
  const items = [...contextByEntry(context, await meter.measure(context, leafId))].flatMap(
    ([id, { messages, tokens }]): readonly PathItem[] => {
      const type = below.get(id);
      return type === undefined ? [] : [{ id, type, messages, tokens }];
    },
  );
  return { items, entryIds: entries.map(({ id }) => id), files: await fileListsOfBranch(session, entries) };
}

async function fileListsOfBranch(session: Session, entries: readonly Entry[]): Promise<FileLists> {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return { readFiles: [], modifiedFiles: [] };
  const own = fileLists(await session.fileOperations({ fromId: first.id, toId: last.id }));
  return entries.reduce<FileLists>((lists, entry) => joinLists(lists, fileListsOf(entry)), own);
}
