import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";
import type { CompactionSettings } from "../settings/settings.js";
import type { Limits } from "./limits.js";

/** What is known when the automatic path looks at a session. */
export interface Situation {
  /** Tokens of system, tools and messages. */
  readonly usedTokens: number;
  readonly messages: number;
  readonly limits: Limits;
  readonly background: "idle" | "running" | "ready" | "failed";
  /** A compaction did not help, and nothing changed since. */
  readonly stalled: boolean;
  /** A background run was started, and too little changed since to start another one (`startsAgain`). */
  readonly startedAlready: boolean;
  /** A round of tool calls was completed in this turn, so the provider's cache holds the context. */
  readonly warm: boolean;
  /** A turn is running: its last reply has calls, or its prompt has no answer yet. */
  readonly turnOpen: boolean;
  /** Was the situation met between turns by `turnEnded`, or before a request? */
  readonly between: boolean;
}

/** What to do about it. `apply`, `wait` and `discard` are about the background run. */
export type Decision = "nothing" | "start-background" | "apply" | "discard" | "wait" | "compact";

/** A number from 0 up to 1. Taken only where the answer needs it, so that tests and replays stay the same. */
export type Random = () => number;

/**
 * What the automatic path does (rows 1-4, 12-14, 18-22, 27, 29, 117 of the behaviours table). Pure but for `random`.
 */
export function decide(situation: Situation, settings: CompactionSettings, random: Random): Decision {
  if (!settings.enabled) return situation.background === "ready" ? "discard" : "nothing";
  if (situation.background === "ready") return decideReady(situation, settings);
  if (situation.stalled || !mayAct(situation, settings)) return "nothing";
  if (isOver(situation, settings)) return situation.background === "running" ? "wait" : "compact";
  if (situation.background === "running") return isAtLeast(situation, settings.background.blockAtShare) ? "wait" : "nothing";
  return startsBackground(situation, settings, random) ? "start-background" : "nothing";
}

function mayAct(situation: Situation, { checkAt, trigger }: CompactionSettings): boolean {
  const { messages, turnOpen, warm, between, usedTokens, limits } = situation;
  if (messages < trigger.minMessages) return false;
  if (checkAt === "request" || between || !turnOpen) return true;
  // A new prompt ends the turn before it, so agents that never tell of an end are looked after too; and inside a turn
  // nothing may be sent that is larger than the limit.
  return !warm || usedTokens > limits.limitTokens;
}

/** A finished summary waits for its threshold, where it shall; one that is no longer needed is thrown away. */
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

// A start by the limit alone would come too late where the reserve takes more of the limit than is left above it.
const LATEST_START = 0.95;

function isAtStart({ usedTokens, limits }: Situation, shareOfLimit: number): boolean {
  return usedTokens >= Math.min(shareOfLimit * limits.limitTokens, LATEST_START * limits.thresholdTokens);
}

// A lead in tokens is meant for large windows.
const MOST_LEAD_SHARE = 0.25;

/** oh-my-pi's lead: a share of the threshold, within bounds. */
function leadOf({ thresholdTokens }: Limits, { background }: CompactionSettings): number {
  const { leadShare, leadMinTokens, leadMaxTokens } = background;
  const most = Math.min(leadMaxTokens, Math.floor(Math.max(leadShare, MOST_LEAD_SHARE) * thresholdTokens));
  return Math.min(most, Math.max(leadMinTokens, Math.floor(leadShare * thresholdTokens)));
}

/** The end of a context, as far as rules about turns need it. */
export interface TurnState {
  /** The entry that opened the newest turn (a user's or a host's message); null: there is none. */
  readonly id: EntryId | null;
  /** The newest prompt has no answer yet, or the last reply waits for its tools or for the model to read their results. */
  readonly open: boolean;
  /** Rounds of tool calls with their results in this turn. */
  readonly rounds: number;
}

/** Reads the end of a context up to where its newest turn starts. Pure; cost: the length of that turn. */
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

/** A reply that was stopped, or failed, ended its turn, whatever it had called: its calls get results that say so. */
function isRunning(messages: readonly ContextMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== "toolResult");
  if (last?.role === "assistant" && (last.stopReason === "aborted" || last.stopReason === "error")) return false;
  return isOpen(messages.at(-1));
}

function isOpen(last: ContextMessage | undefined): boolean {
  if (last === undefined) return false;
  return last.role === "user" || last.role === "toolResult" || (last.role === "assistant" && hasCalls(last));
}

function hasCalls(message: ContextMessage): boolean {
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall");
}

/** Whether an ended turn left work: its reply was cut or stopped, or the host's todo list has open points. R122. */
export function hasOpenWork({ messages }: SessionContext, todos: string | undefined): boolean {
  const last = messages.at(-1);
  if (isOpen(last)) return true;
  if (last?.role === "assistant" && (last.stopReason === "length" || last.stopReason === "aborted")) return true;
  return todos !== undefined && /^\s*[-*] \[ \]|\b(in_progress|pending)\b/m.test(todos);
}

/** Why the automatic path stands still, and how things were then. */
export interface Stall {
  readonly because: "no-headroom" | "too-many-messages" | "undone" | "failed" | "nothing-to-compact";
  /** The user message that the context ended with, at or above it. */
  readonly turnId: EntryId | null;
  readonly thresholdTokens: number;
  readonly usedTokens: number;
  readonly messages: number;
  /** A failure at the end of a turn: the prompt of the next one alone changes nothing. */
  readonly turnOver?: boolean | undefined;
}

/** How things are now. */
export type StallCheck = Omit<Stall, "because" | "turnOver">;

// Another tenth of the threshold is as much as a compaction must save to count (`breaker.minSavingsShare`).
const GROWTH_SHARE = 0.1;
// A summariser that failed is asked again at ever longer intervals, so that one that always fails costs few calls.
const RETRY_GROWTH_SHARE = 0.25;
/** Messages that are worth another summary. */
const LEAST_MESSAGES = 4;

/**
 * Whether the automatic path still has to stand still: until a new turn, another model or settings; where a compaction
 * left too little room, or there was nothing to compact, until the context shrank, or grew by a tenth of the threshold, so
 * that there is something new to summarise; where one failed, until the context grew by a quarter, as a turn may have
 * hundreds of model calls. Without it each request would summarise again what cannot become smaller.
 */
export function isStalled(stall: Stall | null, now: StallCheck): boolean {
  if (stall === null || stall.thresholdTokens !== now.thresholdTokens) return false;
  // What is kept is too many messages by itself, and stays so in the next turn: only new ones can be summarised.
  if (stall.because === "too-many-messages") return now.usedTokens <= now.thresholdTokens && !grewByMessages(stall, now);
  const onlyPrompted = stall.turnOver === true && now.messages === stall.messages + 1;
  if (stall.turnId !== now.turnId && !onlyPrompted) return false;
  if (stall.because === "undone") return true;
  if (stall.because === "failed") return now.usedTokens < (1 + RETRY_GROWTH_SHARE) * stall.usedTokens;
  return now.usedTokens >= stall.usedTokens && now.usedTokens <= stall.usedTokens + GROWTH_SHARE * now.thresholdTokens;
}

function grewByMessages({ messages }: Stall, now: StallCheck): boolean {
  return now.messages < messages || now.messages > messages + Math.max(LEAST_MESSAGES, Math.ceil(GROWTH_SHARE * messages));
}
