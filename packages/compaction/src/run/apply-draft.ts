import { type CompactionPayload, type EntryId, LeafMovedError, type Session } from "@bough/session-core";
import { nextBreaker } from "../plan/breaker.js";
import { hasOpenWork } from "../plan/decide.js";
import { callHook, hostStateOf } from "./call-hook.js";
import { writeCheckpointFile } from "./checkpoint-files.js";
import { type ContextState, readContextState } from "./context-state.js";
import type { Draft } from "./draft.js";
import type { Engine } from "./engine.js";
import type { CompactionEvent } from "./events.js";
import type { CompactionDone, CompactionResult } from "./results.js";

/**
 * Puts a draft into the session and tells of it; `superseded` where its place is gone. What it tells is counted anew
 * from the context as it is afterwards: a provider's figures from before say nothing any more (row 113).
 */
export async function applyDraft(engine: Engine, draft: Draft, background: boolean): Promise<CompactionResult> {
  const before = await readContextState(engine);
  const tokensAfter = Math.max(0, countedTokens(before) - draft.coveredTokens + draft.summaryTokens);
  const committed = await commitDraft(engine.session, draft, { tokensBefore: countedTokens(before), tokensAfter });
  if (committed === null) {
    emitUnsuccessful(engine, draft, background, "superseded");
    return { kind: "superseded" };
  }
  // The entry is there: nothing that a host gets wrong from here on may tell otherwise.
  const after = await readContextState(engine, {}, before.settings);
  const done = { ...doneOf(draft, committed, before, after), continuePrompt: await continuePrompt(engine, draft, after) };
  const checkpoint = await writeCheckpointFile(engine, draft, done);
  const result: CompactionDone = { ...done, checkpointPath: checkpoint?.path ?? null };
  updateMemory(engine, draft, before, after, result);
  emitDone(engine, result, { background, useAfter: after.use, checkpointNumber: checkpoint?.number ?? null });
  await callHook(engine, "compacted", result);
  return result;
}

/** What we count; what a provider reported before is about another context. */
function countedTokens({ use }: ContextState): number {
  return use.systemTokens + use.toolTokens + use.messageTokens;
}

/** No compaction makes the system prompt and the tools smaller, so only the messages are judged. */
function hasTooManyTokens({ use, limits, settings }: ContextState): boolean {
  return use.messageTokens > settings.trigger.headroomShare * limits.roomTokens;
}

/** What is kept may be more messages than `trigger.maxMessages` allows: then another compaction would be due at once. */
function hasTooManyMessages({ context, settings }: ContextState): boolean {
  return settings.trigger.maxMessages > 0 && context.messages.length > settings.trigger.maxMessages;
}

function doneOf(draft: Draft, { entryId }: Committed, before: ContextState, after: ContextState): Omit<CompactionDone, "continuePrompt"> {
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

async function continuePrompt(engine: Engine, { trigger }: Draft, { settings, context, turn }: ContextState): Promise<string | null> {
  // Inside a turn the request goes out anyway; by hand, the person says what is next.
  if (!settings.autoContinue || trigger !== "threshold" || turn.open) return null;
  const host = await hostStateOf(engine);
  return hasOpenWork(context, host?.todos) ? settings.continuePrompt : null;
}

function updateMemory(
  engine: Engine,
  draft: Draft,
  before: ContextState,
  after: ContextState,
  { headroom, tokensBefore, tokensAfter }: CompactionDone,
): void {
  const { memory } = engine;
  const saved = (tokensBefore - tokensAfter) / Math.max(1, tokensBefore);
  // A model was asked and gave nothing: the extract in its place is no success of the model.
  const gaveUp = draft.askedModel && (draft.method === "extract" || draft.method === "marker");
  memory.breaker = nextBreaker(memory.breaker, { saved: gaveUp ? null : saved, askedModel: draft.askedModel }, before.settings.breaker);
  memory.lastRequest = null;
  memory.backgroundStart = null;
  memory.stall = headroom
    ? null
    : {
        because: hasTooManyTokens(after) ? "no-headroom" : "too-many-messages",
        turnId: after.turn.id,
        thresholdTokens: after.limits.thresholdTokens,
        usedTokens: tokensAfter,
        messages: after.context.messages.length,
      };
  if (memory.stall !== null) engine.emit({ type: "stalled", because: memory.stall.because });
}

type Complete = Extract<CompactionEvent, { type: "compactionComplete" }>;

function emitDone(engine: Engine, done: CompactionDone, more: Pick<Complete, "background" | "useAfter" | "checkpointNumber">): void {
  const { attemptId, trigger, entryId, tokensBefore, tokensAfter, messagesBefore, messagesAfter } = done;
  const { usage, checkpointPath, method, failures, requestId } = done;
  const sizes = { tokensBefore, tokensAfter, messagesBefore, messagesAfter };
  const about = { attemptId, trigger, entryId, ...sizes, usage, checkpointPath, method, failures, requestId, ...more };
  const fidelity = done.fidelity?.score ?? null;
  engine.emit({ type: "compactionComplete", success: true, error: null, outcome: "compacted", fidelity, ...about });
}

/** Tells that nothing came of an attempt, though its model may have been paid. */
export function emitUnsuccessful(
  engine: Engine,
  about: Pick<Draft, "attemptId" | "trigger"> & { readonly usage?: Draft["usage"] },
  background: boolean,
  outcome: "nothing-to-compact" | "cancelled" | "superseded" | "discarded" | "failed",
  error: Complete["error"] = null,
): void {
  engine.emit({
    type: "compactionComplete",
    attemptId: about.attemptId,
    trigger: about.trigger,
    background,
    success: false,
    error,
    outcome,
    entryId: null,
    tokensBefore: null,
    tokensAfter: null,
    messagesBefore: null,
    messagesAfter: null,
    usage: about.usage ?? null,
    useAfter: null,
    method: null,
    fidelity: null,
    failures: [],
    requestId: null,
    checkpointPath: null,
    checkpointNumber: null,
  });
}

/** How often a leaf that moves on below us is followed before we give up; each time something was appended meanwhile. */
const MAX_TRIES = 20;

/** Where a draft was appended; null: it is about a branch nobody is on, or another compaction was faster. */
export interface Committed {
  readonly entryId: EntryId;
}

/**
 * Appends a draft under the leaf, if what it summarises is still on the leaf's path and no other compaction or edit came
 * between. Later messages stay behind it. Never moves a leaf, never appends elsewhere: the leaf that was judged is the
 * leaf that is appended to, or the append fails.
 */
export async function commitDraft(
  session: Session,
  draft: Draft,
  tokens: Pick<CompactionPayload, "tokensBefore" | "tokensAfter">,
): Promise<Committed | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { leafId } = session;
    if (leafId === null || !(await isStillValid(session, draft, leafId))) return null;
    try {
      const { id } = await session.append({ ...draft.payload, ...tokens }, { expectedLeafId: leafId });
      return { entryId: id };
    } catch (error) {
      if (!(error instanceof LeafMovedError)) throw error;
      // Moved by another process, which this handle has not state: its owner has to look first.
      if (session.leafId === leafId) return null;
    }
  }
  return null;
}

async function isStillValid(session: Session, draft: Draft, leafId: EntryId): Promise<boolean> {
  if (leafId === draft.leafId) return true;
  if ((await session.commonAncestor(leafId, draft.leafId)) !== draft.leafId) return false;
  const { items } = await session.scan({ leafId, stopAt: draft.leafId, types: ["compaction", "context_edit"] });
  return !items.some((entry) => entry.type === "compaction" || (entry.type === "context_edit" && invalidatesDraft(draft, entry)));
}

/** Taking out the compaction that was in force, or a message that the summary tells of, makes the summary wrong. */
function invalidatesDraft(draft: Draft, edit: { readonly targetId: EntryId; readonly replacement: unknown }): boolean {
  return edit.replacement === null && (edit.targetId === draft.previousId || draft.covered.has(edit.targetId));
}
