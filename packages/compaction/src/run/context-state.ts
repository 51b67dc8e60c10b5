import {
  type AssistantMessage,
  bindsThinking,
  type ContextMessage,
  type EntryId,
  type LeftOutThinking,
  type ModelSetting,
  nativeCompactionOf,
  type Session,
  type SessionContext,
  type Usage,
} from "@bough/session-core";
import { listLeftOutThinking, nativeItems } from "@bough/session-core/wire";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import { extract } from "../extract/extract.js";
import { applyBackOff, NO_BACK_OFF } from "../fit/back-off.js";
import { type FitStep, type RequestParts, sumTokens } from "../fit/request-parts.js";
import { type RequestShape, shapeRequest } from "../fit/shape-request.js";
import { type ContextSnapshot, type TurnState, turnOf } from "../plan/decide.js";
import { type Limits, limitsOf, type TokenUse } from "../plan/limits.js";
import type { CompactionSettings } from "../settings/settings.js";
import { calibrate, promptTokensOf } from "../tokens/calibration.js";
import type { ContextMeter, Measured } from "../tokens/context-meter.js";
import { messageTokens } from "../tokens/message-tokens.js";
import type { Engine } from "./engine.js";
import type { RequestInput } from "./options.js";

/** The context of the leaf with its token counts and limits, as one check read them. */
export interface ContextState {
  readonly settings: CompactionSettings;
  readonly model: ModelSetting | null;
  readonly limits: Limits;
  /** As the session has it. */
  readonly context: SessionContext;
  readonly measured: Measured;
  /** The messages as a request of these settings has them, with the cuts that do not depend on its size. `use` counts these. */
  readonly sent: FitStep;
  /** The model rejects signed thinking whose prefix changed. */
  readonly bindsThinking: boolean;
  /** Thinking of the context that is not in `sent`. */
  readonly leftOut: readonly LeftOutThinking[];
  /** Shapes other messages of this session as `sent` is. */
  readonly shape: (context: SessionContext, measured: Measured) => FitStep;
  readonly meter: ContextMeter;
  readonly use: TokenUse;
  readonly turn: TurnState;
}

/**
 * Reads the context of the leaf, counts its tokens and derives the limits. Cost after an append: counting what is new.
 *
 * `use` counts what will be sent: results are trimmed and capped, and images limited, before anything is decided.
 * `use.totalTokens` is the larger of our count and the count that the provider reported for the newest reply. A reported
 * count from before the latest compaction or edit is ignored, because it is about another context.
 *
 * @throws {InvalidSettingError} a setting, or `systemTokens` or `toolTokens` of the input, is out of range.
 */
export async function readContextState(engine: Engine, input: RequestInput = {}, settings = engine.settings()): Promise<ContextState> {
  const { state, session } = engine;
  const stored = await session.context();
  const model = engine.modelOf(stored);
  const context = await withReadableSummary(session, stored, model);
  const meter = await engine.meter(settings, model);
  const measured = await meter.measure(context);
  if (input.toolTokens !== undefined) state.toolTokens = checkedTokens("toolTokens", input.toolTokens);
  if (input.systemTokens !== undefined) state.systemTokens = checkedTokens("systemTokens", input.systemTokens);
  const { toolTokens, backOff, calibration } = state;
  const systemTokens = state.systemTokens ?? measured.system;
  const fixed = { systemTokens, toolTokens, unseenTokens: calibration.unseenTokens };
  const learned = backOff === NO_BACK_OFF ? undefined : (limit: number) => applyBackOff(limit, backOff);
  const limits = limitsOf(settings, state.contextWindow, model, fixed, learned);
  const { boundThinking } = settings.request;
  const binds = boundThinking === "auto" ? bindsThinking(model) : boundThinking === "always";
  const leftOut = listLeftOutThinking(context, { model, boundThinking });
  const shape = shaperOf(engine, settings, { meter, model, bindsThinking: binds, leftOut }, limits);
  const sent = shape(context, measured);
  const sentTokens = sumTokens(sent.parts);
  const counted = systemTokens + toolTokens + sentTokens;
  const reported = await reportedTokens(engine, { context, measured, sent, leftOut, shape }, input.lastUsage);
  if (reported !== null)
    updateCalibration(engine, reported.promptTokens, systemTokens + toolTokens + reported.sentTokens, limits.windowTokens);
  const total =
    reported === null || reported.promptTokens > limits.windowTokens ? 0 : reported.promptTokens + sentTokens - reported.messageTokens;
  return {
    settings,
    model,
    limits,
    context,
    measured,
    sent,
    bindsThinking: binds,
    leftOut,
    shape,
    meter,
    turn: turnOf(context),
    use: {
      systemTokens,
      toolTokens,
      messageTokens: sentTokens,
      totalTokens: Math.max(counted, total),
      limitTokens: limits.limitTokens,
      windowTokens: limits.windowTokens,
      thresholdTokens: limits.thresholdTokens,
      source: total > counted ? "reported" : "counted",
    },
  };
}

/** The sizes of a state, to be compared with later ones. */
export function snapshotOf({ turn, limits, use, context }: ContextState): ContextSnapshot {
  return {
    turnId: turn.id,
    thresholdTokens: limits.thresholdTokens,
    usedTokens: use.totalTokens,
    messages: context.messages.length,
  };
}

/** Adjusts the calibration by what the provider reported. */
function updateCalibration({ state }: Engine, reportedTokens: number, estimatedTokens: number, windowTokens: number): void {
  const knowsFixed = state.systemTokens !== undefined || state.toolTokens > 0;
  state.calibration = calibrate(state.calibration, { reportedTokens, estimatedTokens, knowsFixed, windowTokens });
}

/** @throws {InvalidSettingError} naming the field of the input. */
function checkedTokens(name: string, tokens: number): number {
  if (Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw new InvalidSettingError(name, `must be a number of tokens from 0 up, not ${String(tokens)}`);
}

/** Makes the function that shapes messages of this session for requests. */
function shaperOf(
  engine: Engine,
  settings: CompactionSettings,
  { meter, model, ...thinking }: Pick<ContextState, "meter" | "model" | "bindsThinking" | "leftOut">,
  { windowTokens }: Limits,
): ContextState["shape"] {
  const count: RequestShape["count"] = (message) => messageTokens(meter.counter, message, model);
  const shape = { settings: settings.request, windowTokens, model, ...thinking, family: meter.family, count, cuts: engine.cutsOf(meter) };
  return (context, measured) => shapeRequest(partsOf(context, measured), { ...shape, largestTokens: measured.largest });
}

function partsOf({ messages, entries }: SessionContext, { perMessage }: Measured): RequestParts {
  return { messages, entries, tokens: perMessage };
}

interface Reported {
  /** Prompt tokens that the provider reported for the newest reply that has a usage. */
  readonly promptTokens: number;
  /** Our count of the messages before the reply, shaped as for every request. */
  readonly messageTokens: number;
  /** The same of what was sent: less, if messages were dropped or cut to make the request fit. */
  readonly sentTokens: number;
}

async function reportedTokens(
  engine: Engine,
  state: Pick<ContextState, "context" | "measured" | "sent" | "leftOut" | "shape">,
  given: Usage | undefined,
): Promise<Reported | null> {
  const prompt = await reportedPrompt(engine.session, state.context, given);
  if (prompt === null) return null;
  const messageTokens = tokensSentBefore(prompt.at, state);
  const newest = state.context.messages[prompt.at - 1];
  const sentTokens = newest === undefined ? undefined : engine.state.sentTokens.get(newest);
  return { promptTokens: prompt.tokens, messageTokens, sentTokens: sentTokens ?? messageTokens };
}

/** The prompt of the newest reply that has a usage, as the provider counted it. */
export interface ReportedPrompt {
  /** The index of the reply in the messages of the context: those before it were in the prompt. */
  readonly at: number;
  /** The whole prompt, with its instructions and tools. */
  readonly tokens: number;
}

/**
 * The newest prompt whose tokens the provider reported and that is still one of this context; null: there is none, or a compaction, an
 * edit or another model came after it. Without a tokenizer it is the best count of a context: add what came from `at` on.
 *
 * @param given the usage of the newest reply, where the session does not have it.
 */
export async function reportedPrompt(session: Session, context: SessionContext, given?: Usage): Promise<ReportedPrompt | null> {
  const { at, promptTokens } = newestUsage(context, given);
  return promptTokens === undefined || !(await isCurrent(session, context.entries[at])) ? null : { at, tokens: promptTokens };
}

/** Tokens of the messages before `at` as the request with them had them: results that are trimmed now may have been whole then. */
function tokensSentBefore(
  at: number,
  { context, measured, sent, leftOut, shape }: Pick<ContextState, "context" | "measured" | "sent" | "leftOut" | "shape">,
) {
  const perMessage = measured.perMessage.slice(0, at);
  if (sent.changes.length === 0 && leftOut.length === 0) return sumTokens({ ...sent.parts, tokens: perMessage });
  const before = { ...context, messages: context.messages.slice(0, at), entries: context.entries.slice(0, at) };
  return sumTokens(shape(before, { ...measured, perMessage }).parts);
}

/** The newest reply with a usable usage; `given` takes the place of the usage of the newest reply. */
function newestUsage(
  { messages }: SessionContext,
  given: Usage | undefined,
): { readonly at: number; readonly promptTokens?: number | undefined } {
  let ofNewest = given;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const reply = messages[at];
    if (reply?.role !== "assistant") continue;
    const promptTokens = promptTokensFrom(ofNewest ?? usableUsage(reply));
    if (promptTokens !== undefined) return { at, promptTokens };
    ofNewest = undefined;
  }
  return { at: -1 };
}

/** The usage of a reply that failed or was stopped is not a count of its whole prompt. */
function usableUsage({ usage, stopReason }: AssistantMessage): Usage | undefined {
  return stopReason === "error" || stopReason === "aborted" ? undefined : usage;
}

function promptTokensFrom(usage: Usage | undefined): number | undefined {
  const tokens = usage === undefined ? undefined : promptTokensOf(usage);
  return tokens === undefined || !Number.isFinite(tokens) || tokens <= 0 ? undefined : tokens;
}

// A reply of another model was counted with another vocabulary; a reply before an edit or compaction, with another context.
const MAKES_STALE = ["compaction", "context_edit", "model_change"] as const;

/** True if the usage of a reply is still that of this context: no entry after it makes it stale. */
async function isCurrent(session: Session, replyId: EntryId | undefined): Promise<boolean> {
  const { leafId } = session;
  if (replyId === undefined || leafId === null) return false;
  if (leafId === replyId) return true;
  // Another process may have moved the leaf to a path without the reply.
  if ((await session.tree.commonAncestor(leafId, replyId)) !== replyId) return false;
  return (await session.scan({ stopAt: replyId, types: MAKES_STALE, limit: 1 })).items.length === 0;
}

/** Largest extract, in characters, as for a compaction that no model summarized. */
const MAX_CHARS = 8_000;

// By session and compaction: a request repeats the summary of the one before it, the same object.
const known = new WeakMap<Session, Map<EntryId, ContextMessage>>();

/**
 * The context with an extract in the place of a summary that `model` cannot read: that of a compaction which another provider encrypted,
 * and which was recorded or imported without an extract. The session is not changed, so that the provider's model gets its own items
 * again. The same object if the context needs none. Reads the path before the compaction once for each handle.
 */
async function withReadableSummary(session: Session, context: SessionContext, model: ModelSetting | null): Promise<SessionContext> {
  const { compaction, messages, entries } = context;
  const native = compaction === null ? undefined : nativeCompactionOf(compaction.payload);
  if (compaction === null || native === undefined || native.readable || compaction.payload["method"] === "native") return context;
  const at = entries.indexOf(compaction.entryId);
  if (at === -1 || nativeItems(native, model) !== undefined) return context;
  const ofSession = known.get(session) ?? new Map<EntryId, ContextMessage>();
  known.set(session, ofSession);
  const message = ofSession.get(compaction.entryId) ?? (await extractCovered(session, compaction));
  if (message === null) return context;
  ofSession.set(compaction.entryId, message);
  return { ...context, messages: messages.map((one, index) => (index === at ? message : one)) };
}

/** The extract of what a compaction replaced; null: nothing. */
async function extractCovered(
  session: Session,
  { entryId, payload }: NonNullable<SessionContext["compaction"]>,
): Promise<ContextMessage | null> {
  const { parentId } = await session.entry(entryId);
  const before = await session.context({ leafId: parentId });
  const first = payload.firstKeptEntryId === null ? -1 : before.entries.indexOf(payload.firstKeptEntryId);
  const kept = new Set(payload.keptEntryIds ?? (first === -1 ? [] : before.entries.slice(first)));
  const messages = before.messages.filter((_, index) => !kept.has(before.entries[index] ?? null));
  if (messages.length === 0) return null;
  const { cwd } = await session.record();
  const source = { messages, kind: "history", previousSummary: null, instructions: null, cwd } as const;
  return Object.freeze({
    role: "compactionSummary",
    summary: extract(source, { maxChars: MAX_CHARS }),
    tokensBefore: payload.tokensBefore,
  });
}
