import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import type { Limits } from "./limits.js";

/** Input of `decide`. */
export interface Situation {
  /** Tokens of system prompt, tools and messages. */
  readonly usedTokens: number;
  readonly messages: number;
  readonly limits: Limits;
  readonly background: "idle" | "running" | "ready" | "failed";
  /** Automatic compaction pauses (`isStalled`). */
  readonly stalled: boolean;
  /** A background run was started, and too little has changed since to start another (`startsAgain`). */
  readonly startedAlready: boolean;
  /** A round of tool calls was completed in this turn, so the provider's cache holds the context. */
  readonly warm: boolean;
  /** `TurnState.open`. */
  readonly turnOpen: boolean;
  /** Called by `turnEnded`, not before a request. */
  readonly isTurnEnd: boolean;
}

/** The next step of automatic compaction. `apply`, `wait` and `discard` are about the background run. */
export type Decision = "nothing" | "start-background" | "apply" | "discard" | "wait" | "compact";

/** A number from 0 up to 1, such as `Math.random` returns. */
type Random = () => number;

/**
 * Decides what automatic compaction does. Pure except for `random`, which is called only for a start with jitter.
 */
export function decide(situation: Situation, settings: CompactionSettings, random: Random): Decision {
  if (!settings.enabled) return situation.background === "ready" ? "discard" : "nothing";
  if (situation.background === "ready") return decideReady(situation, settings);
  if (situation.stalled || !mayAct(situation, settings)) return "nothing";
  if (isOver(situation, settings)) return situation.background === "running" ? "wait" : "compact";
  if (situation.background === "running") return isAtLeast(situation, settings.background.blockAtShare) ? "wait" : "nothing";
  return startsBackground(situation, settings, random) ? "start-background" : "nothing";
}

/**
 * True if the context has enough messages and `checkAt` allows an action now. With `turn-end`, not inside a turn. Exceptions:
 * the first request of a turn, because a host need not call `turnEnded`; and a context larger than the limit, which cannot
 * be sent.
 */
function mayAct(situation: Situation, { checkAt, trigger }: CompactionSettings): boolean {
  const { messages, turnOpen, warm, isTurnEnd, usedTokens, limits } = situation;
  if (messages < trigger.minMessages) return false;
  if (checkAt === "request" || isTurnEnd || !turnOpen) return true;
  return !warm || usedTokens > limits.limitTokens;
}

/** A finished summary that is no longer needed is discarded. `background.apply`: others are applied at once, or at the threshold. */
function decideReady(situation: Situation, settings: CompactionSettings): Decision {
  if (situation.usedTokens < settings.background.minShareToApply * situation.limits.thresholdTokens) return "discard";
  if (!mayAct(situation, settings)) return "nothing";
  return settings.background.apply === "ready" || isOver(situation, settings) ? "apply" : "nothing";
}

function isOver({ usedTokens, messages, limits }: Situation, { trigger }: CompactionSettings): boolean {
  return usedTokens > limits.thresholdTokens || (trigger.maxMessages > 0 && messages > trigger.maxMessages);
}

function isAtLeast({ usedTokens, limits }: Situation, shareOfLimit: number): boolean {
  return usedTokens >= shareOfLimit * limits.limitTokens;
}

function startsBackground(situation: Situation, settings: CompactionSettings, random: Random): boolean {
  const { background } = settings;
  if (situation.startedAlready) return false;
  const leads = background.leadShare > 0 && situation.usedTokens >= situation.limits.thresholdTokens - leadOf(situation.limits, settings);
  if (leads || background.start === null) return leads;
  if (background.coldStart !== null && !situation.warm) return isAtStart(situation, background.coldStart);
  const jitter = background.jitterShare === 0 ? 0 : (random() * 2 - 1) * background.jitterShare;
  return isAtStart(situation, background.start + jitter);
}

// A share of the limit alone would be above the threshold where the reserve is larger than the rest.
const LATEST_START_SHARE = 0.95;

function isAtStart({ usedTokens, limits }: Situation, shareOfLimit: number): boolean {
  return usedTokens >= Math.min(shareOfLimit * limits.limitTokens, LATEST_START_SHARE * limits.thresholdTokens);
}

/** Bounds of the lead, in tokens. The lower one is meant for large windows; in a small one the lead takes at most this share. */
const MIN_LEAD_TOKENS = 8_192;
const MAX_LEAD_TOKENS = 32_000;
const MAX_LEAD_SHARE = 0.25;

/** Tokens before the threshold at which a background run starts: a share of the threshold, within bounds. */
function leadOf({ thresholdTokens }: Limits, { background }: CompactionSettings): number {
  const { leadShare } = background;
  const most = Math.min(MAX_LEAD_TOKENS, Math.floor(Math.max(leadShare, MAX_LEAD_SHARE) * thresholdTokens));
  return Math.min(most, Math.max(MIN_LEAD_TOKENS, Math.floor(leadShare * thresholdTokens)));
}

/** The newest turn of a context. */
export interface TurnState {
  /** The entry that opened it (a user's or a host's message); null: there is none. */
  readonly id: EntryId | null;
  /** The turn is running: its prompt has no reply yet, or its last reply made calls. */
  readonly open: boolean;
  /** Rounds in this turn: replies with tool calls. */
  readonly rounds: number;
}

/** Reads the newest turn of a context. Pure; cost: the length of that turn. */
export function turnOf({ messages, entries }: SessionContext): TurnState {
  let rounds = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message === undefined) continue;
    if (message.role === "assistant" && hasCalls(message)) rounds += 1;
    if (message.role === "user" || message.role === "custom") return { id: entries[at] ?? null, open: isRunning(messages), rounds };
  }
  return { id: null, open: isRunning(messages), rounds };
}

/** A reply that was stopped or failed ends its turn, although its calls have (synthetic) results. */
function isRunning(messages: readonly ContextMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== "toolResult");
  if (last?.role === "assistant" && (last.stopReason === "aborted" || last.stopReason === "error")) return false;
  return needsReply(messages.at(-1));
}

function needsReply(last: ContextMessage | undefined): boolean {
  if (last === undefined) return false;
  return last.role === "user" || last.role === "toolResult" || (last.role === "assistant" && hasCalls(last));
}

function hasCalls(message: ContextMessage): boolean {
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall");
}

/** True if work is left after a turn: its reply was cut or stopped, or the host's todo list has open items. */
export function hasOpenWork({ messages }: SessionContext, todos: string | undefined): boolean {
  const last = messages.at(-1);
  if (needsReply(last)) return true;
  if (last?.role === "assistant" && (last.stopReason === "length" || last.stopReason === "aborted")) return true;
  return todos !== undefined && /^[ \t]*[-*] \[ \]|\b(in_progress|pending)\b/m.test(todos);
}

/** The sizes of a context at one moment, compared later to see whether enough has changed to try again. */
export interface ContextSnapshot {
  /** The message that opened the turn; null: it is summarized, or there is none. */
  readonly turnId: EntryId | null;
  readonly thresholdTokens: number;
  readonly usedTokens: number;
  readonly messages: number;
}

/**
 * The reason why automatic compaction pauses. `no-headroom`, `too-many-messages`: the last compaction left a context that would be
 * compacted again at once. `undone`: the user undid it. `failed`, `nothing-to-compact`: the last attempt appended nothing.
 */
export type StallReason = "no-headroom" | "too-many-messages" | "undone" | "failed" | "nothing-to-compact";

/** A pause of automatic compaction: its reason, and the context when it began. */
export interface Stall extends ContextSnapshot {
  readonly because: StallReason;
  /** A failure between two turns: the prompt of the next turn alone does not end the pause. */
  readonly turnOver?: boolean | undefined;
}

/** A compaction that removes less than this share of the context is ineffective. */
const MIN_SAVINGS_SHARE = 0.1;
/** Minimum growth before another attempt, as a share. */
const MIN_GROWTH_SHARE = MIN_SAVINGS_SHARE;
/**
 * Minimum growth before another attempt after a failure, as a share. The intervals grow with the context, so a summarizer
 * that always fails costs few calls.
 */
const MIN_RETRY_GROWTH_SHARE = 0.25;
/** Minimum new messages before another summary. */
const MIN_NEW_MESSAGES = 4;

/**
 * True if automatic compaction still pauses. Without the pause each request would summarize a context again that cannot
 * become smaller. One of these ends the pause:
 * - a new turn, unless too many messages were kept; after a failure between turns, more than its prompt;
 * - another threshold (model or settings);
 * - after a failure: a context that grew by a quarter;
 * - after too many messages were kept: fewer messages, a tenth more (at least four), or a context above the threshold;
 * - after too little headroom or nothing to compact: a context that shrank, or grew by a tenth of the threshold.
 *
 * After an undo only a new turn or another threshold does. Pure.
 */
export function isStalled(stall: Stall | null, now: ContextSnapshot): boolean {
  if (stall === null || stall.thresholdTokens !== now.thresholdTokens) return false;
  // The kept tail alone has too many messages, and a new turn does not change that: only new messages can be summarized.
  if (stall.because === "too-many-messages") return now.usedTokens <= now.thresholdTokens && !grewByMessages(stall, now);
  const onlyPrompted = stall.turnOver === true && now.messages === stall.messages + 1;
  if (stall.turnId !== now.turnId && !onlyPrompted) return false;
  if (stall.because === "undone") return true;
  if (stall.because === "failed") return now.usedTokens < (1 + MIN_RETRY_GROWTH_SHARE) * stall.usedTokens;
  return now.usedTokens >= stall.usedTokens && now.usedTokens <= stall.usedTokens + MIN_GROWTH_SHARE * now.thresholdTokens;
}

function grewByMessages({ messages }: Stall, now: ContextSnapshot): boolean {
  return now.messages < messages || now.messages > messages + Math.max(MIN_NEW_MESSAGES, Math.ceil(MIN_GROWTH_SHARE * messages));
}

/**
 * True if a background run may start although one was started since the last compaction. That one failed, found nothing to
 * compact or was discarded. Another would end the same way unless the turn or the threshold has changed, or the context has
 * grown or shrunk by a tenth of the threshold. Pure.
 */
export function startsAgain(last: Omit<ContextSnapshot, "messages"> | null, now: Omit<ContextSnapshot, "messages">): boolean {
  if (last === null || last.turnId !== now.turnId || last.thresholdTokens !== now.thresholdTokens) return true;
  return Math.abs(now.usedTokens - last.usedTokens) >= MIN_GROWTH_SHARE * now.thresholdTokens;
}

/** Outcomes of the last compactions, by which `asksModel` decides whether a model is called for the next summary. */
export interface Breaker {
  /** Consecutive compactions for which the models failed. */
  readonly failures: number;
  /** Consecutive compactions that saved less than `MIN_SAVINGS_SHARE`. */
  readonly ineffective: number;
  /** Compactions since the last one for which a model was called. */
  readonly skipped: number;
}

export const INITIAL_BREAKER: Breaker = { failures: 0, ineffective: 0, skipped: 0 };

// While models are not asked, one is asked again after this many compactions.
const PROBE_EVERY = 10;

/** True if a model is called: always, or after too many failures or ineffective summaries only every `PROBE_EVERY` times. */
export function asksModel(breaker: Breaker, settings: CompactionSettings["breaker"]): boolean {
  const isFailing = settings.failures > 0 && breaker.failures >= settings.failures;
  const isIneffective = settings.maxIneffective > 0 && breaker.ineffective >= settings.maxIneffective;
  return !(isFailing || isIneffective) || breaker.skipped >= PROBE_EVERY;
}

/** The outcome of a compaction. `saved`: the share of the context that it removed; null: it failed, or the models did. */
export interface Outcome {
  readonly saved: number | null;
  readonly askedModel: boolean;
}

/** The breaker after a compaction. */
export function nextBreaker(breaker: Breaker, { saved, askedModel }: Outcome): Breaker {
  if (!askedModel) return { ...breaker, skipped: breaker.skipped + 1 };
  if (saved === null) return { ...breaker, failures: breaker.failures + 1, skipped: 0 };
  return { failures: 0, skipped: 0, ineffective: saved < MIN_SAVINGS_SHARE ? breaker.ineffective + 1 : 0 };
}
