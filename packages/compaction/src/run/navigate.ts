import { type ContentBlock, type Entry, type EntryId, LeafMovedError, newEntryId, textOf, type Write } from "@bough/session-core";
import { rules, shapes } from "@bough/session-core/internals";
import { turnOf } from "../plan/decide.js";
import { cancelBackground } from "./background.js";
import { type BranchSummary, readAbandonedBranch, writeBranchSummary } from "./branch-summary.js";
import { callHook } from "./call-hook.js";
import { syncCheckpointFiles } from "./checkpoint-files.js";
import { readContextState } from "./context-state.js";
import { type Engine, withSessionLock } from "./engine.js";
import { codeOf, toError } from "./failure.js";
import type { NavigateOptions, NavigationDone, NavigationResult } from "./results.js";

/** See `Compactor.navigate`. */
export async function navigate(engine: Engine, entryId: EntryId | null, options: NavigateOptions): Promise<NavigationResult> {
  return withSessionLock(engine.session, "navigate", async () => {
    const result = await prepareAndMove(engine, entryId, options);
    // What a background run has summarised is on the branch that was left.
    if (result.kind !== "moved") return result;
    cancelBackground(engine);
    await syncCheckpointFiles(engine);
    await callHook(engine, "navigated", result);
    return result;
  });
}

async function prepareAndMove(engine: Engine, entryId: EntryId | null, options: NavigateOptions): Promise<NavigationResult> {
  const { session } = engine;
  const from = session.leafId;
  const target: Target = entryId === null ? { leafId: null, text: null, images: [] } : targetOf(await session.entry(entryId));
  if (entryId === from) return { kind: "already-there", leafId: from, text: null, images: [] };
  if (target.leafId === from) return { kind: "already-there", leafId: from, text: target.text, images: target.images };
  try {
    const summary = await summaryFor(engine, from, target, options);
    if (summary === "cancelled") return { kind: "cancelled", by: "hook" };
    options.signal?.throwIfAborted();
    return await writeMove(engine, { from, target, entryId, summary, label: options.label });
  } catch (error) {
    if (options.signal?.aborted === true) return { kind: "cancelled", by: "signal" };
    // A store that cannot be written is not a failure of the summary, and is thrown as what it is.
    if (error instanceof LeafMovedError || !(error instanceof BranchSummaryFailure)) throw error;
    return { kind: "failed", error: error.reason };
  }
}

/** A summary that could not be written; what threw may be anything, as summarisers are the host's. */
class BranchSummaryFailure extends Error {
  constructor(readonly reason: Error) {
    super(reason.message, { cause: reason });
  }
}

async function summaryFor(
  engine: Engine,
  from: EntryId | null,
  target: Target,
  options: NavigateOptions,
): Promise<BranchSummary | null | "cancelled"> {
  const { session } = engine;
  const state = await readContextState(engine);
  const { summarize = state.settings.branch.summarize } = options;
  const ancestor = from === null || target.leafId === null ? null : await session.commonAncestor(from, target.leafId);
  const abandoned = from === null || from === ancestor ? null : await readAbandonedBranch(session, from, ancestor, state.meter);
  const answer = await callHook(
    engine,
    "beforeNavigate",
    {
      sessionId: session.id,
      from,
      to: target.leafId,
      summarize,
      abandoned: abandoned?.items.flatMap(({ messages }) => messages) ?? [],
      signal: options.signal ?? new AbortController().signal,
    },
    options.signal,
  );
  if (answer?.cancel === true) return "cancelled";
  if (!summarize || from === null || abandoned === null || abandoned.items.length === 0) return null;
  const attemptId = engine.newAttempt();
  engine.emit({ type: "branchSummaryStart", attemptId, fromId: from, toId: target.leafId });
  try {
    const summary = await writeBranchSummary(engine, {
      attemptId,
      fromId: from,
      abandoned,
      state: state,
      supplied: answer?.summary,
      options,
    });
    const { method, usage } = summary;
    engine.emit({ type: "branchSummaryComplete", attemptId, success: true, error: null, method, usage });
    return summary;
  } catch (thrown) {
    const error = toError(thrown);
    const told = { code: codeOf(error), message: error.message };
    engine.emit({ type: "branchSummaryComplete", attemptId, success: false, error: told, method: null, usage: null });
    throw new BranchSummaryFailure(error);
  }
}

interface Move {
  readonly from: EntryId | null;
  readonly target: Target;
  readonly entryId: EntryId | null;
  readonly summary: BranchSummary | null;
  readonly label: string | undefined;
}

/** One transaction: the move, the summary as a child of the new position, the label. */
async function writeMove(engine: Engine, { from, target, entryId, summary, label }: Move): Promise<NavigationDone> {
  const { session } = engine;
  const summaryEntryId = summary === null ? null : newEntryId();
  const writes: Write[] = [{ kind: "moveLeaf", to: target.leafId }];
  if (summary !== null && summaryEntryId !== null) writes.push({ kind: "entry", entry: { ...summary.payload, id: summaryEntryId } });
  const labelled = summaryEntryId ?? entryId;
  if (label !== undefined && labelled !== null) writes.push({ kind: "label", entryId: labelled, label });
  await session.write(writes, { expectedLeafId: from });
  const context = await session.context();
  return {
    kind: "moved",
    from,
    leafId: session.leafId,
    text: target.text,
    images: target.images,
    summaryEntryId,
    summary: summary?.payload.summary ?? null,
    method: summary?.method ?? null,
    usage: summary?.usage ?? null,
    expectsReply: target.text === null && turnOf(context).open,
  };
}

/** Where a leaf goes when an entry is chosen, and what the person may edit and send again. */
export interface Target {
  /** null: before the first entry. */
  readonly leafId: EntryId | null;
  /** The text of the chosen message, for an editor; null: nothing to edit. */
  readonly text: string | null;
  /** The images of the chosen message, which an editor of text loses. */
  readonly images: readonly ContentBlock[];
}

/**
 * pi's rule, one line for each kind of entry (regression R81): a message that a person or a host said is said again, so
 * the leaf goes to its parent; anything else is stood at.
 */
export function targetOf(entry: Entry): Target {
  rules.checkArgument("entry", entry, shapes.PAYLOAD);
  if (entry.type === "custom_message") return resendTarget(entry.parentId, entry.content);
  if (entry.type === "message" && (entry.message.role === "user" || entry.message.role === "custom")) {
    return resendTarget(entry.parentId, entry.message.content);
  }
  return { leafId: entry.id, text: null, images: [] };
}

function resendTarget(leafId: EntryId | null, content: string | readonly ContentBlock[]): Target {
  const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
  return { leafId, text: textOf(content), images };
}
