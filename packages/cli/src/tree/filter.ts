import type { OutlineRow } from "@bough/session-core";
import { isConversation, isOnlyCalls, isSummary, isTyped } from "@bough/session-core/view";
import type { TreeFilter } from "./filter-names.js";

interface FilterRule {
  /** Its bit in the result of `filterBits`, which is set for the rows that it shows. `shownRows` adds labels and leaves. */
  readonly bit: number;
  /**
   * True if the navigator also shows all leaves and labeled entries. A filter that selects one kind of entry adds only the
   * current leaf, so that the user sees the current position.
   */
  readonly keepsMarks: boolean;
}

const CONVERSATION = 1;
const WITH_TEXT = 2;
const FROM_USER = 4;
const SUMMARY = 8;
const ANY = 16;
const PROMPT = 32;
const FAILED = 64;

const RULES: Readonly<Record<TreeFilter, FilterRule>> = {
  default: { bit: CONVERSATION, keepsMarks: true },
  "no-tools": { bit: WITH_TEXT, keepsMarks: true },
  user: { bit: FROM_USER, keepsMarks: false },
  // Shows no row because of its kind.
  labeled: { bit: 0, keepsMarks: false },
  summaries: { bit: SUMMARY, keepsMarks: false },
  all: { bit: ANY, keepsMarks: true },
};

/** True if the filter shows all leaves and labeled entries in the navigator. */
export function keepsMarks(filter: TreeFilter): boolean {
  return RULES[filter].keepsMarks;
}

/** The bit of a filter in the result of `filterBits`. */
export function filterBit(filter: TreeFilter): number {
  return RULES[filter].bit;
}

/** True if a move to the entry puts its text at the prompt, and the leaf at its parent. */
export function returnsToPrompt(bits: number): boolean {
  return (bits & PROMPT) !== 0;
}

/** True if the row is a reply that only calls tools. */
export function hasOnlyCalls(bits: number): boolean {
  return (bits & (CONVERSATION | WITH_TEXT)) === CONVERSATION;
}

/** True if the row is the result of a tool call that failed. */
export function isFailedResult(bits: number): boolean {
  return (bits & FAILED) !== 0;
}

/** True if the row is a message of the user, which begins a turn. */
export function isFromUser(bits: number): boolean {
  return (bits & FROM_USER) !== 0;
}

/**
 * Returns the bits of a row: one for each filter that shows it because of its kind, and those of `returnsToPrompt` and `isFailedResult`.
 */
export function filterBits(row: OutlineRow): number {
  let bits = ANY;
  if (isConversation(row)) bits |= isOnlyCalls(row) ? CONVERSATION : CONVERSATION | WITH_TEXT;
  if (isTyped(row)) bits |= FROM_USER;
  if (row.role === "toolResult" && row.isError) bits |= FAILED;
  if (row.type === "custom_message" || (row.type === "message" && (row.role === "user" || row.role === "custom"))) bits |= PROMPT;
  if (isSummary(row)) bits |= SUMMARY;
  return bits;
}
