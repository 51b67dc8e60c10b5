import type { AssistantMessage, EntryId, ModelSetting, SessionContext, Usage } from "@bough/session-core";
import { InvalidSettingError } from "../errors/compaction-errors.js";
import { applyBackOff } from "../fit/back-off.js";
import { type TurnState, turnOf } from "../plan/decide.js";
import { type Limits, limitsOf, type TokenUse } from "../plan/limits.js";
import type { CompactionSettings } from "../settings/settings.js";
import { calibrated, promptTokensOf } from "../tokens/calibration.js";
import type { ContextMeter, Measured } from "../tokens/context-meter.js";
import type { Engine } from "./engine.js";
import type { RequestInput } from "./options.js";

/** A session as one check sees it. */
export interface ContextState {
  readonly settings: CompactionSettings;
  readonly model: ModelSetting | null;
  readonly limits: Limits;
  readonly context: SessionContext;
  readonly measured: Measured;
  readonly meter: ContextMeter;
  readonly use: TokenUse;
  readonly turn: TurnState;
}

/**
 * Looks at the session: context, tokens, limits. Cost after an append: what is new.
 *
 * Counted and reported tokens are both kept, and the larger one counts (regression R118); what a provider reported
 * before the latest compaction or edit does not (R104).
 *
 * @throws {InvalidSettingError} the settings, or a number of tokens that the host gives.
 */
export async function readContextState(engine: Engine, input: RequestInput = {}, settings = engine.settings()): Promise<ContextState> {
  const { memory, session } = engine;
  const context = await session.context();
  const model = engine.modelOf(context);
  const meter = await engine.meter(settings, model);
  const measured = await meter.measure(context);
  if (input.toolTokens !== undefined) memory.toolTokens = checkedTokens("toolTokens", input.toolTokens);
  if (input.systemTokens !== undefined) memory.systemTokens = checkedTokens("systemTokens", input.systemTokens);
  const { toolTokens, backOff, calibration } = memory;
  const systemTokens = memory.systemTokens ?? measured.system;
  const fixed = { systemTokens, toolTokens, unseenTokens: calibration.unseenTokens };
  const limits = limitsOf(settings, memory.contextWindow, model, fixed, (limit) => applyBackOff(limit, backOff));
  const counted = systemTokens + toolTokens + measured.total;
  const reported = await reportedTokens(engine, context, measured, input.lastUsage);
  if (reported !== null) calibrate(engine, reported.promptTokens, counted - reported.laterTokens, limits.windowTokens);
  const total = reported === null || reported.promptTokens > limits.windowTokens ? 0 : reported.promptTokens + reported.laterTokens;
  return {
    settings,
    model,
    limits,
    context,
    measured,
    meter,
    turn: turnOf(context),
    use: {
      systemTokens,
      toolTokens,
      messageTokens: measured.total,
      totalTokens: Math.max(counted, total),
      limitTokens: limits.limitTokens,
      windowTokens: limits.windowTokens,
      thresholdTokens: limits.thresholdTokens,
      source: total > counted ? "reported" : "counted",
    },
  };
}

/** A host that said nothing of system and tools has them all the same. */
function calibrate({ memory }: Engine, reportedTokens: number, estimatedTokens: number, windowTokens: number): void {
  const knowsFixed = memory.systemTokens !== undefined || memory.toolTokens > 0;
  memory.calibration = calibrated(memory.calibration, { reportedTokens, estimatedTokens, knowsFixed, windowTokens });
}

/** @throws {InvalidSettingError} naming the member. */
function checkedTokens(name: string, tokens: number): number {
  if (Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw new InvalidSettingError(name, `must be a number of tokens from 0 up, not ${String(tokens)}`);
}

interface Reported {
  /** What the provider counted in the prompt of the last reply. */
  readonly promptTokens: number;
  /** Our count of that reply and of what came after it. */
  readonly laterTokens: number;
}

async function reportedTokens(
  engine: Engine,
  context: SessionContext,
  measured: Measured,
  given: Usage | undefined,
): Promise<Reported | null> {
  const { at, promptTokens } = newestUsage(context, given);
  if (promptTokens === undefined || !(await isCurrent(engine, context.entries[at]))) return null;
  let laterTokens = 0;
  for (let index = at; index < context.messages.length; index += 1) laterTokens += measured.perMessage[index] ?? 0;
  return { promptTokens, laterTokens };
}

/** The newest reply that has a usable usage, or that `given` is about: the newest one (VS Code's rule). */
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

/** Usage of a reply that failed or was stopped says nothing (R105). */
function usableUsage({ usage, stopReason }: AssistantMessage): Usage | undefined {
  return stopReason === "error" || stopReason === "aborted" ? undefined : usage;
}

function promptTokensFrom(usage: Usage | undefined): number | undefined {
  const tokens = usage === undefined ? undefined : promptTokensOf(usage);
  return tokens === undefined || !Number.isFinite(tokens) || tokens <= 0 ? undefined : tokens;
}

// A reply of another model counted in another vocabulary; one before an edit or a compaction counted another context.
const MAKES_STALE = ["compaction", "context_edit", "model_change"] as const;

/** Whether nothing came after the reply that makes its usage a figure of the past. */
async function isCurrent({ session }: Engine, replyId: EntryId | undefined): Promise<boolean> {
  const { leafId } = session;
  if (replyId === undefined || leafId === null) return false;
  if (leafId === replyId) return true;
  // Another process may have moved the leaf: then the reply is not above where this handle stands.
  if ((await session.commonAncestor(leafId, replyId)) !== replyId) return false;
  return (await session.scan({ stopAt: replyId, types: MAKES_STALE, limit: 1 })).items.length === 0;
}
