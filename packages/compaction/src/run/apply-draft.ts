import { type CompactionPayload, type EntryId, LeafMovedError, type Session } from "@bough/session-core";
import { hasOpenWork, nextBreaker } from "../plan/decide.js";
import { writeCheckpointFile } from "./checkpoint-files.js";
import { type ContextState, readContextState, snapshotOf } from "./context-state.js";
import type { Draft } from "./draft.js";
import { callHook, type Engine, emitNotCompacted, readHostState } from "./engine.js";
import type { CompactionComplete } from "./events.js";
import type { CompactionDone, CompactionResult } from "./results.js";

/**
 * Appends a draft and reports it; `superseded` if the path has changed so that the draft is out of date. The reported
 * sizes are our counts of the context before and after, because the provider counted another context.
 */
export async function applyDraft(engine: Engine, draft: Draft, background: boolean): Promise<CompactionResult> {
  const before = await readContextState(engine);
  const tokensBefore = countedTokens(before);
  const tokensAfter = Math.max(0, tokensBefore - draft.coveredTokens + draft.summaryTokens);
  const entryId = await appendDraft(engine.session, draft, { tokensBefore, tokensAfter });
  if (entryId === null) {
    emitNotCompacted(engine, draft, background, "superseded");
    return { kind: "superseded" };
  }
  // The entry is stored. From here on an error of the host must not change the result, so its settings are not read again.
  const after = await readContextState(engine, {}, before.settings);
  const done = { ...doneOf(draft, entryId, before, after), continuePrompt: await continuePrompt(engine, draft, after) };
  const { directory } = before.settings.checkpoints;
  const checkpoint = directory === null ? null : await writeCheckpointFile(engine, directory, draft, done);
  const result: CompactionDone = { ...done, checkpointPath: checkpoint?.path ?? null };
  updateState(engine, draft, after, result);
  emitCompacted(engine, result, { background, useAfter: after.use, checkpointNumber: checkpoint?.number ?? null });
  await callHook(engine, "compacted", result);
  return result;
}

/** Emits `compactionComplete` for a compaction that was appended. */
function emitCompacted(
  engine: Engine,
  done: CompactionDone,
  more: Pick<CompactionComplete, "background" | "useAfter" | "checkpointNumber">,
): void {
  const { attemptId, trigger, entryId, tokensBefore, tokensAfter, messagesBefore, messagesAfter } = done;
  const { usage, checkpointPath, method, failures, requestId } = done;
  const sizes = { tokensBefore, tokensAfter, messagesBefore, messagesAfter };
  const about = { attemptId, trigger, entryId, ...sizes, usage, checkpointPath, method, failures, requestId, ...more };
  const fidelity = done.fidelity?.score ?? null;
  engine.emit({ type: "compactionComplete", success: true, error: null, outcome: "compacted", fidelity, ...about });
}

/** The most attempts of an append; it is repeated when another writer has moved the leaf. */
const MAX_TRIES = 20;

/**
 * Appends a draft to the leaf if it still applies there; entries appended since then follow the summary. The append passes
 * the checked leaf as `expectedLeafId`, so it fails if the leaf has moved. null: the draft is superseded.
 */
async function appendDraft(
  session: Session,
  draft: Draft,
  tokens: Pick<CompactionPayload, "tokensBefore" | "tokensAfter">,
): Promise<EntryId | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { leafId } = session;
    if (leafId === null || !(await isStillValid(session, draft, leafId))) return null;
    try {
      return (await session.append({ ...draft.payload, ...tokens }, { expectedLeafId: leafId })).id;
    } catch (error) {
      if (!(error instanceof LeafMovedError)) throw error;
      // Another process moved the leaf and this handle has not read the change, so the host must decide.
      if (session.leafId === leafId) return null;
    }
  }
  return null;
}

/** True if the summarized entries are on the leaf's path, and no later compaction or edit changes the entries that the summary covers. */
async function isStillValid(session: Session, draft: Draft, leafId: EntryId): Promise<boolean> {
  if (leafId === draft.leafId) return true;
  if ((await session.tree.commonAncestor(leafId, draft.leafId)) !== draft.leafId) return false;
  const { items } = await session.scan({ leafId, stopAt: draft.leafId, types: ["compaction", "context_edit"] });
  return !items.some((entry) => entry.type === "compaction" || (entry.type === "context_edit" && invalidatesDraft(draft, entry)));
}

/** True if an edit omits the compaction that was in force, or an entry that the summary covers. */
function invalidatesDraft(draft: Draft, edit: { readonly targetId: EntryId; readonly replacement: unknown }): boolean {
  return edit.replacement === null && (edit.targetId === draft.previousId || draft.covered.has(edit.targetId));
}

/** Our count of the whole request. */
function countedTokens({ use }: ContextState): number {
  return use.systemTokens + use.toolTokens + use.messageTokens;
}

function doneOf(draft: Draft, entryId: EntryId, before: ContextState, after: ContextState): Omit<CompactionDone, "continuePrompt"> {
  const { payload } = draft;
  return {
    kind: "compacted",
    entryId,
    trigger: draft.trigger,
    summary: payload.summary,
    title: payload.title ?? null,
    shortSummary: payload.shortSummary ?? "",
    firstKeptEntryId: payload.firstKeptEntryId,
    method: draft.method,
    tokensBefore: countedTokens(before),
    tokensAfter: countedTokens(after),
    messagesBefore: before.context.messages.length,
    messagesAfter: after.context.messages.length,
    fidelity: draft.fidelity,
    failures: draft.failures,
    requestId: draft.requestId,
    usage: draft.usage,
    headroom: !hasTooManyTokens(after) && !hasTooManyMessages(after),
    checkpointPath: null,
    attemptId: draft.attemptId,
  };
}

/** Compares only the messages with `roomTokens`: no compaction shortens the system prompt or the tools. */
function hasTooManyTokens({ use, limits, settings }: ContextState): boolean {
  return use.messageTokens > settings.trigger.headroomShare * limits.roomTokens;
}

/** The kept tail alone may have more messages than `trigger.maxMessages`; the next check would compact again at once. */
function hasTooManyMessages({ context, settings }: ContextState): boolean {
  return settings.trigger.maxMessages > 0 && context.messages.length > settings.trigger.maxMessages;
}

/** Inside a turn the request is sent anyway, and after a manual compaction the user decides what is next. */
async function continuePrompt(engine: Engine, { trigger }: Draft, { settings, context, turn }: ContextState): Promise<string | null> {
  if (!settings.autoContinue || trigger !== "threshold" || turn.open) return null;
  const host = await readHostState(engine);
  return hasOpenWork(context, host?.todos) ? settings.continuePrompt : null;
}

function updateState(engine: Engine, draft: Draft, after: ContextState, done: CompactionDone): void {
  const { state } = engine;
  const { tokensBefore, tokensAfter } = done;
  const saved = (tokensBefore - tokensAfter) / Math.max(1, tokensBefore);
  // The model was asked and gave no summary: the extract that replaced it is a failure of the model.
  const modelFailed = draft.askedModel && (draft.method === "extract" || draft.method === "marker");
  const outcome = { saved: modelFailed ? null : saved, askedModel: draft.askedModel };
  state.breaker = nextBreaker(state.breaker, outcome);
  state.lastRequest = null;
  state.backgroundStart = null;
  state.stall = null;
  if (done.headroom) return;
  const because = hasTooManyTokens(after) ? "no-headroom" : "too-many-messages";
  state.stall = { because, ...snapshotOf(after), usedTokens: tokensAfter };
  engine.emit({ type: "stalled", because });
}
