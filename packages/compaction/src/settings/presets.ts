import type { SettingsInput } from "./settings.js";

// Data only. The numbers are those of each system's documentation and public code; docs/compaction.md describes the presets.

/** Settings with which compaction works as in a known system, with that system's defaults. */
export const PRESETS = {
  /** The defaults of the schema. */
  balanced: {},
  /** pi: a reserve of 16,384 tokens; keeps the message at which 20,000 tokens are reached; prunes nothing, no background summaries. */
  pi: {
    trigger: { reserveTokens: 16_384, reserveShare: 0, minMessages: 1, manualMinMessages: 1 },
    background: { start: null, leadShare: 0, minShareToApply: 0 },
    keep: { by: "tokens", recentTokens: 20_000, crossing: true, adaptive: false },
    prune: { enabled: false },
    request: { fit: "off", toolResultShare: 0 },
    summary: { prompt: "structured", mode: "simple", breadcrumb: false, redact: false, onFailure: "fail" },
    breaker: { maxIneffective: 0, failures: 0 },
  },
  /** oh-my-pi: a reserve of 15 %, a background summary from an eighth before the threshold, at most 20,000 tokens kept, pruning. */
  "oh-my-pi": {
    trigger: { reserveTokens: 16_384, reserveShare: 0.15, minMessages: 1, manualMinMessages: 1 },
    background: { start: null, leadShare: 0.125, apply: "threshold", minShareToApply: 0 },
    keep: { by: "tokens", recentTokens: 20_000 },
    prune: { duplicateChars: 0, when: "early", lowWaterShare: 0, protectTokens: 40_000, protectShare: 0.4, minSavingsShare: 0 },
    request: { fit: "off", toolResultShare: 0 },
    summary: { prompt: "structured", mode: "simple", breadcrumb: false, redact: false, onFailure: "fail" },
    breaker: { maxIneffective: 0, failures: 0 },
  },
  /** GitHub Copilot CLI: a background summary from 80 %, awaited at 95 %; everything is summarized, the user's messages are quoted. */
  "copilot-cli": {
    trigger: { threshold: 0.95, reserveShare: 0, minMessages: 4, manualMinMessages: 2, headroomShare: 1 },
    background: { start: 0.8, jitterShare: 0, coldStart: null, blockAtShare: 0.95, minShareToApply: 0 },
    keep: { by: "nothing" },
    prune: { enabled: false },
    request: { fit: "dropOldest", targetShare: 0.95, toolResultShare: 0, protectedTools: ["report_intent", "report_progress"] },
    summary: { prompt: "checkpoint", mode: "auto", breadcrumb: false, onFailure: "fail" },
    userMessages: { enabled: true },
    breaker: { maxIneffective: 0, failures: 0 },
  },
  /** VS Code Copilot Chat: a margin for tools, a background summary that starts later while the cache is cold, dropping by priority. */
  vscode: {
    window: { toolMarginShare: 0.1 },
    trigger: { threshold: 1, reserveShare: 0, minMessages: 1, headroomShare: 1 },
    background: { start: 0.8, jitterShare: 0.02, coldStart: 0.9, blockAtShare: 1, minShareToApply: 0.65 },
    keep: { by: "rounds", recentRounds: 1 },
    prune: { enabled: false },
    request: { fit: "byPriority", targetShare: 1, toolResultShare: 0.5, toolResultHeadShare: 0.4, imageBytes: 2_500_000 },
    summary: { prompt: "handoff", mode: "auto", toolResultShare: 0.5, toolArgumentChars: 200, temperature: 0, onFailure: "fail" },
    breaker: { maxIneffective: 0, failures: 0 },
  },
  /** co-cli: compacts above 40 messages and keeps 20 of them (none by hand); old tool output is cut to 2,000 characters. */
  "co-cli": {
    trigger: { threshold: 0.5, reserveShare: 0, maxMessages: 40, minMessages: 5 },
    background: { start: null, leadShare: 0 },
    keep: { by: "messages", recentMessages: 20, manual: "nothing", head: true },
    prune: { enabled: false },
    request: { trimChars: 2_000, fit: "off", toolResultShare: 0 },
    summary: { prompt: "working-set", onFailure: "marker" },
  },
  /** An agent in Python: checks between turns, inside a turn only if the request would not fit; half of pi's reserve. */
  "python-agent": {
    checkAt: "turn-end",
    manual: "when-idle",
    trigger: { reserveTokens: 8_192, reserveShare: 0, minMessages: 1, manualMinMessages: 1 },
    background: { start: null, leadShare: 0 },
    keep: { by: "tokens", recentTokens: 16_384 },
    prune: { enabled: false },
    request: { fit: "off", toolResultShare: 0 },
    summary: { prompt: "structured", splitTurns: "concurrent", breadcrumb: false, redact: false, onFailure: "fail" },
    autoContinue: false,
    breaker: { maxIneffective: 0, failures: 0 },
  },
} as const satisfies Readonly<Record<string, SettingsInput>>;

/** The name of a preset. */
export type PresetName = keyof typeof PRESETS;
