import { type EntryId, LeafMovedError, newEntryId, type Write } from "@bough/session-core";
import { readAbandoned } from "../branch/abandoned.js";
import type { NavigateOptions, NavigationDone, NavigationResult } from "../branch/navigation.js";
import { type Target, targetOf } from "../branch/target.js";
import { turnOf } from "../rules/turn.js";
import { cancelBackground } from "./background.js";
import { type BranchSummary, writeBranchSummary } from "./branch-summary.js";
import { followLeaf } from "./checkpoint.js";
import type { Engine } from "./engine.js";
import { codeOf, errorOf } from "./failure.js";
import { callHook } from "./hook-call.js";
import { alone } from "./lock.js";
import { look } from "./look.js";

/** See `Compactor.navigate`. */
export async function navigate(engine: Engine, entryId: EntryId | null, options: NavigateOptions): Promise<NavigationResult> {
  return alone(engine.session, "navigate", async () => {
    const result = await move(engine, entryId, options);
    // What a background run has summarised is on the branch that was left.
    if (result.kind !== "moved") return result;
    cancelBackground(engine);
    await followLeaf(engine);
    await callHook(engine, "tree_navigated", result);
    return result;
  });
}

async function move(engine: Engine, entryId: EntryId | null, options: NavigateOptions): Promise<NavigationResult> {
  const { session } = engine;
  const from = session.leafId;
  const target: Target = entryId === null ? { leafId: null, text: null, images: [] } : targetOf(await session.entry(entryId));
  if (entryId === from) return { kind: "already-there", leafId: from, text: null, images: [] };
  if (target.leafId === from) return { kind: "already-there", leafId: from, text: target.text, images: target.images };
  try {
    const summary = await summaryFor(engine, from, target, options);
    if (summary === "cancelled") return { kind: "cancelled", by: "hook" };
    options.signal?.throwIfAborted();
    return await place(engine, { from, target, entryId, summary, label: options.label });
  } catch (error) {
    if (options.signal?.aborted === true) return { kind: "cancelled", by: "signal" };
    // A store that cannot be written is not a failure of the summary, and is thrown as what it is.
    if (error instanceof LeafMovedError || !(error instanceof SummaryFailed)) throw error;
    return { kind: "failed", error: error.reason };
  }
}

/** A summary that could not be written; what threw may be anything, as summarisers are the host's. */
class SummaryFailed extends Error {
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
  const seen = await look(engine);
  const { summarize = seen.settings.branch.summarize } = options;
  const ancestor = from === null || target.leafId === null ? null : await session.commonAncestor(from, target.leafId);
  const abandoned = from === null || from === ancestor ? null : await readAbandoned(session, from, ancestor, seen.meter);
  const answer = await callHook(
    engine,
    "before_tree",
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
  engine.emit({ type: "branch_summary_start", attemptId, fromId: from, toId: target.leafId });
  try {
    const summary = await writeBranchSummary(engine, {
      attemptId,
      fromId: from,
      abandoned,
      look: seen,
      supplied: answer?.summary,
      options,
    });
    const { method, usage } = summary;
    engine.emit({ type: "branch_summary_complete", attemptId, success: true, error: null, method, usage });
    return summary;
  } catch (thrown) {
    const error = errorOf(thrown);
    const told = { code: codeOf(error), message: error.message };
    engine.emit({ type: "branch_summary_complete", attemptId, success: false, error: told, method: null, usage: null });
    throw new SummaryFailed(error);
  }
}

interface Placement {
  readonly from: EntryId | null;
  readonly target: Target;
  readonly entryId: EntryId | null;
  readonly summary: BranchSummary | null;
  readonly label: string | undefined;
}

/** One transaction: the move, the summary as a child of the new position, the label. */
async function place(engine: Engine, { from, target, entryId, summary, label }: Placement): Promise<NavigationDone> {
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
