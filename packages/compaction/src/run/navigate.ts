import { type ContentBlock, type Entry, type EntryId, textOf, type Write } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import * as shapes from "@bough/session-core/arguments";
import { newEntryId } from "@bough/session-core/wire";
import { turnOf } from "../plan/decide.js";
import { cancelBackground } from "./background.js";
import { type BranchSummary, readAbandonedBranch, writeBranchSummary } from "./branch-summary.js";
import { syncCheckpointFiles } from "./checkpoint-files.js";
import { readContextState } from "./context-state.js";
import { callHook, codeOf, type Engine, toError, withSessionLock } from "./engine.js";
import type { NavigateOptions } from "./options.js";
import type { NavigationDone, NavigationResult } from "./results.js";

/** The position to which the leaf moves when an entry is chosen, and the text that the user may edit and send again. */
export interface Target {
  /** null: before the first entry. */
  readonly leafId: EntryId | null;
  /** Text of the chosen message, for an editor; null: nothing to edit. */
  readonly text: string | null;
  /** Images and files of the chosen message, which a text editor cannot hold. */
  readonly images: readonly ContentBlock[];
}

/**
 * The target of choosing an entry. For a message of the user or the host the leaf moves to its parent
 * and its text is returned for editing; for any other entry the leaf moves to the entry itself.
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
  const images = typeof content === "string" ? [] : content.filter(({ type }) => type === "image" || type === "file");
  return { leafId, text: textOf(content), images };
}

/** See `Compactor.navigate`. */
export async function navigate(engine: Engine, entryId: EntryId | null, options: NavigateOptions): Promise<NavigationResult> {
  return withSessionLock(engine.session, "navigate", async () => {
    const result = await summarizeAndMove(engine, entryId, options);
    if (result.kind !== "moved") return result;
    // A background run summarizes the branch that was left.
    cancelBackground(engine);
    await syncCheckpointFiles(engine);
    await callHook(engine, "navigated", result);
    return result;
  });
}

async function summarizeAndMove(engine: Engine, entryId: EntryId | null, options: NavigateOptions): Promise<NavigationResult> {
  const { session } = engine;
  const from = session.leafId;
  const target: Target = entryId === null ? { leafId: null, text: null, images: [] } : targetOf(await session.entry(entryId));
  if (entryId === from) return { kind: "already-there", leafId: from, text: null, images: [] };
  if (target.leafId === from) return { kind: "already-there", leafId: from, text: target.text, images: target.images };
  try {
    const summary = await summarizeAbandoned(engine, from, target, options);
    if (summary === "cancelled") return { kind: "cancelled", by: "hook" };
    options.signal?.throwIfAborted();
    return await writeMove(engine, { from, target, entryId, summary, label: options.label });
  } catch (error) {
    if (options.signal?.aborted === true) return { kind: "cancelled", by: "signal" };
    // Only a summary that could not be written is a result; an error of the store is thrown.
    if (!(error instanceof BranchSummaryFailure)) throw error;
    return { kind: "failed", error: error.reason };
  }
}

/** Distinguishes the failure of a summarizer, which may throw anything, from an error of the store. */
class BranchSummaryFailure extends Error {
  readonly reason: Error;
  constructor(reason: Error) {
    super(reason.message, { cause: reason });
    this.reason = reason;
  }
}

/** The summary of the abandoned branch; null: none is requested, or no entry is abandoned. */
async function summarizeAbandoned(
  engine: Engine,
  from: EntryId | null,
  target: Target,
  options: NavigateOptions,
): Promise<BranchSummary | null | "cancelled"> {
  const { session } = engine;
  const state = await readContextState(engine);
  const { summarize = state.settings.branch.summarize, signal } = options;
  const ancestor = from === null || target.leafId === null ? null : await session.tree.commonAncestor(from, target.leafId);
  const abandoned = from === null || from === ancestor ? null : await readAbandonedBranch(session, from, ancestor, state.meter);
  const about = {
    sessionId: session.id,
    from,
    to: target.leafId,
    summarize,
    abandoned: abandoned?.items.flatMap(({ messages }) => messages) ?? [],
    signal: signal ?? new AbortController().signal,
  };
  const hook = await callHook(engine, "beforeNavigate", about, signal);
  if (hook?.cancel === true) return "cancelled";
  if (!summarize || from === null || abandoned === null || abandoned.items.length === 0) return null;
  const attemptId = newEntryId();
  engine.emit({ type: "branchSummaryStart", attemptId, fromId: from, toId: target.leafId });
  try {
    const supplied = hook?.summary;
    const summary = await writeBranchSummary(engine, { attemptId, fromId: from, abandoned, state, supplied, options });
    const { method, usage } = summary;
    engine.emit({ type: "branchSummaryComplete", attemptId, success: true, error: null, method, usage });
    return summary;
  } catch (thrown) {
    const reason = toError(thrown);
    const error = { code: codeOf(reason), message: reason.message };
    engine.emit({ type: "branchSummaryComplete", attemptId, success: false, error, method: null, usage: null });
    throw new BranchSummaryFailure(reason);
  }
}

interface Move {
  readonly from: EntryId | null;
  readonly target: Target;
  readonly entryId: EntryId | null;
  readonly summary: BranchSummary | null;
  readonly label: string | undefined;
}

/** Writes the move, the summary as a child of the new position, and the label in one transaction. */
async function writeMove(engine: Engine, { from, target, entryId, summary, label }: Move): Promise<NavigationDone> {
  const { session } = engine;
  const summaryEntryId = summary === null ? null : newEntryId();
  const writes: Write[] = [{ kind: "moveLeaf", to: target.leafId }];
  if (summary !== null && summaryEntryId !== null) writes.push({ kind: "entry", entry: { ...summary.payload, id: summaryEntryId } });
  const labeled = summaryEntryId ?? entryId;
  if (label !== undefined && labeled !== null) writes.push({ kind: "label", entryId: labeled, label });
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
