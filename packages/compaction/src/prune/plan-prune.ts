import { type EntryId, textOf } from "@bough/session-core";
import type { PathItem } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import { oneLine } from "../text/one-line.js";
import { CALL_TOKENS, MESSAGE_TOKENS } from "../tokens/message-tokens.js";
import { findDuplicates, findSupersededReads } from "./repeated-output.js";
import { fileReadOf, type ToolOutput, toolOutputs } from "./tool-output.js";

/** Why a result is pruned. */
export type PruneReason =
  /** It is older than what is protected. */
  | "age"
  /** The file that it shows was read again. */
  | "superseded"
  /** A later result is the same. */
  | "duplicate"
  /** Its tool said so. */
  | "useless";

/** One result to prune: the content of a `context_edit`. The original stays in the store. */
export interface PruneEdit {
  readonly targetId: EntryId;
  readonly replacement: { readonly content: string };
  /** Tokens that the context loses by it, at least. */
  readonly savedTokens: number;
  readonly because: PruneReason;
}

/** What to prune, in the order of the path; nothing where it is not worth it. */
export interface PrunePlan {
  readonly edits: readonly PruneEdit[];
  readonly savedTokens: number;
}

type PruneSettings = CompactionSettings["prune"];

/** What a plan is made from. */
export interface PruneInput {
  /** The span that a context is built from, in the order of the path. */
  readonly items: readonly PathItem[];
  readonly settings: PruneSettings;
  /** The provider's cache is cold. */
  readonly idle: boolean;
}

/**
 * Decides which tool results are taken out of the context: those that were superseded, repeated or useless, while little
 * follows them, and those older than what is protected. Results that the model has not read yet stay; a turn that runs is
 * pruned like any other. Nothing at all where together they save less than `minSavingsTokens`. Does not ask whether pruning is enabled. Pure; linear in the items and their texts; once
 * the edits are applied, the next plan is empty.
 *
 * @example
 * planPrune({ items, settings: readSettings({}).prune, idle: false }).edits[0]?.replacement; // { content: "[Output truncated - …]" }
 */
export function planPrune({ items, settings, idle }: PruneInput): PrunePlan {
  const edits = new Map<number, PruneEdit & { readonly aged: boolean }>();
  for (const { output, pruned, aged } of findReasons(items, settings)) {
    const edit = makeEdit(output, pruned);
    if (edit.savedTokens > 0) edits.set(output.at, { ...edit, aged });
  }
  const going = selectByCacheCost(items, edits, { suffixTokens: settings.cacheSuffixTokens, idle });
  const chosen = [...edits].filter(([at]) => going.has(at)).map(([, { aged: _aged, ...edit }]) => edit);
  const savedTokens = chosen.reduce((sum, edit) => sum + edit.savedTokens, 0);
  return savedTokens < settings.minSavingsTokens ? { edits: [], savedTokens: 0 } : { edits: chosen, savedTokens };
}

interface Reason {
  readonly output: ToolOutput;
  readonly pruned: PruneCause;
  /** It could go for its age alone. */
  readonly aged: boolean;
}

/** Each output that may go and has a reason to, in order. What says where the same can be read comes before mere age. */
function findReasons(items: readonly PathItem[], settings: PruneSettings): readonly Reason[] {
  const all = toolOutputs(items);
  const may = filterPrunable(all, items, settings);
  const old = findAgedOutputs(all, settings.protectTokens);
  const aged = new Set(may.map(({ id }) => id).filter((id) => old.has(id)));
  const whyOf = makeRule(all, aged, settings);
  return may.flatMap((output) => {
    const pruned = whyOf(output);
    return pruned === null ? [] : [{ output, pruned, aged: aged.has(output.id) }];
  });
}

/** Why an output goes, asked of one after the other; null: it stays. */
function makeRule(
  all: readonly ToolOutput[],
  aged: ReadonlySet<EntryId>,
  settings: PruneSettings,
): (output: ToolOutput) => PruneCause | null {
  const useless = (output: ToolOutput) => settings.useless && isUseless(output);
  // No placeholder may send the model to a result that goes as well.
  const stays = (output: ToolOutput) => !aged.has(output.id) && !useless(output) && !wasPruned(output);
  const reread = settings.superseded ? findSupersededReads(all, stays) : new Map<EntryId, string>();
  const repeated = findDuplicates(all, settings.duplicateChars, stays);
  return (output) => {
    const file = reread.get(output.id);
    if (file !== undefined) return { because: "superseded", file: oneLine(file, SHOWN_PATH_CHARS) };
    if (repeated.has(output.id)) return { because: "duplicate" };
    if (useless(output)) return { because: "useless" };
    return aged.has(output.id) ? { because: "age" } : null;
  };
}

/** The outputs that may be pruned at all: read by the model, unprotected, large enough, and as their tools gave them. */
function filterPrunable(all: readonly ToolOutput[], items: readonly PathItem[], settings: PruneSettings): readonly ToolOutput[] {
  const newestReply = items.findLastIndex(({ messages: [message] }) => message?.role === "assistant");
  const kept = lowerCaseNames(settings.protectedTools);
  return all.filter(
    (output) => output.at < newestReply && output.tokens >= settings.minResultTokens && !wasPruned(output) && !isProtected(output, kept),
  );
}

function wasPruned({ result }: ToolOutput): boolean {
  return isPlaceholder(textOf(result.content));
}

function makeEdit({ id, tokens }: ToolOutput, pruned: PruneCause): PruneEdit {
  const content = formatPlaceholder(pruned, tokens);
  return { targetId: id, replacement: { content }, savedTokens: tokens - estimatePlaceholderTokens(content), because: pruned.because };
}

/** A result that could be pruned. */
export interface PruneCandidate {
  readonly savedTokens: number;
  /** Its age alone is reason enough: the guard does not hold it. */
  readonly aged: boolean;
}

/**
 * Which candidates go, by their places. A change early in a request costs the provider's cache of all that follows, so
 * what is not old goes only where at most `suffixTokens` follow it as they then are, or where the cache is cold anyway
 * (oh-my-pi's guard). Counted as they then are, so that planning again finds nothing more. Linear in the items.
 */
export function selectByCacheCost(
  items: readonly PathItem[],
  candidates: ReadonlyMap<number, PruneCandidate>,
  { suffixTokens, idle }: { readonly suffixTokens: number; readonly idle: boolean },
): ReadonlySet<number> {
  const going = new Set<number>();
  let after = 0;
  for (const [back, { tokens }] of items.toReversed().entries()) {
    const at = items.length - 1 - back;
    const candidate = candidates.get(at);
    const goes = candidate !== undefined && (candidate.aged || idle || after <= suffixTokens);
    if (goes) going.add(at);
    after += tokens - (goes ? candidate.savedTokens : 0);
  }
  return going;
}

/** The outputs behind the newest `protectTokens` tokens of tool output (pi's and oh-my-pi's age rule). Linear. */
export function findAgedOutputs(outputs: readonly ToolOutput[], protectTokens: number): ReadonlySet<EntryId> {
  const aged = new Set<EntryId>();
  let newer = 0;
  for (const { id, tokens } of outputs.toReversed()) {
    newer += tokens;
    if (newer > protectTokens) aged.add(id);
  }
  return aged;
}

/**
 * Whether the settings keep the output of a tool. A skill that was loaded by reading its file counts as output of the tool
 * `skill` (oh-my-pi's rule): it holds instructions that are to be followed until the end.
 */
export function isProtected(output: ToolOutput, protectedTools: ReadonlySet<string>): boolean {
  if (protectedTools.has(output.tool.toLowerCase())) return true;
  return protectedTools.has("skill") && /(^|[\\/])SKILL\.md$/i.test(fileReadOf(output)?.path ?? "");
}

/** The names as `isProtected` compares them: agents differ in capitals only. */
export function lowerCaseNames(tools: readonly string[]): ReadonlySet<string> {
  return new Set(tools.map((tool) => tool.toLowerCase()));
}

/** Whether the tool itself said that nobody will need its output: `details.useless` (oh-my-pi's rule). */
export function isUseless({ result: { details } }: ToolOutput): boolean {
  return typeof details === "object" && details !== null && "useless" in details && details.useless === true;
}

/** Longest name of a file in a placeholder, in UTF-16 code units. */
export const SHOWN_PATH_CHARS = 80;

/** What a result is pruned for; `file`: which file was read again (one line, no longer than `SHOWN_PATH_CHARS`). */
export type PruneCause =
  | { readonly because: Exclude<PruneReason, "superseded"> }
  | { readonly because: "superseded"; readonly file: string };

/**
 * What stands in place of a result of so many tokens: pi's and oh-my-pi's line, which says besides where the same is found.
 *
 * @example
 * placeholder({ because: "age" }, 1_200); // "[Output truncated - 1200 tokens]"
 */
export function formatPlaceholder(pruned: PruneCause, tokens: number): string {
  const where = describeCopy(pruned);
  return `[Output truncated - ${tokens} tokens${where === null ? "" : `; ${where}`}]`;
}

function describeCopy(pruned: PruneCause): string | null {
  switch (pruned.because) {
    case "age":
      return null;
    case "superseded":
      return `a later read has ${pruned.file}`;
    case "duplicate":
      return "a later result is the same";
    case "useless":
      return "its tool marked it as useless";
  }
}

/** Whether a text is such a line, of this program or of pi. */
export function isPlaceholder(text: string): boolean {
  return text.length < 200 && /^\[Output truncated - \d+ tokens(; [^\n]*)?\]$/.test(text);
}

/**
 * Tokens that a placeholder has at most, with the frame of its message: no tokenizer is loaded for a line. Plain ASCII is
 * two characters a token or better; anything else may be a token a byte.
 */
export function estimatePlaceholderTokens(text: string): number {
  const bytes = Buffer.byteLength(text);
  const wide = text.match(/[^\x20-\x7e]/gu)?.join("") ?? "";
  const wideBytes = Buffer.byteLength(wide);
  return MESSAGE_TOKENS + CALL_TOKENS + Math.ceil((bytes - wideBytes) / 2) + wideBytes;
}
