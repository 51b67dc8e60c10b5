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
  if (situation.background === "running") return isAtLeast(situation, settings.background.block) ? "wait" : "nothing";
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
  if (situation.usedTokens < settings.background.applyMin * situation.limits.thresholdTokens) return "discard";
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
  if (background.coldStart !== null && !situation.warm) return startsAt(situation, background.coldStart);
  const jitter = background.jitterShare === 0 ? 0 : (random() * 2 - 1) * background.jitterShare;
  return startsAt(situation, background.start + jitter);
}

// A start by the limit alone would come too late where the reserve takes more of the limit than is left above it.
const LATEST_START = 0.95;

function startsAt({ usedTokens, limits }: Situation, shareOfLimit: number): boolean {
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
