import { type EntryId, textOf } from "@bough/session-core";
import { shortLine } from "@bough/session-core/view";
import type { PathItem } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import { CALL_TOKENS, MESSAGE_TOKENS } from "../tokens/message-tokens.js";
import { findDuplicates, findSupersededReads } from "./repeated-output.js";
import { collectToolOutputs, parseFileRead, type ToolOutput } from "./tool-output.js";

/** The reason why a result is pruned. */
type PruneReason =
  /** It is older than the protected tokens. */
  | "age"
  /** A later call read the same file again. */
  | "superseded"
  /** A later result has the same text. */
  | "duplicate"
  /** Its tool marked it as useless. */
  | "useless";

/** One result to prune, as the content of a `context_edit`. The original entry stays in the store. */
export interface PruneEdit {
  readonly targetId: EntryId;
  readonly replacement: { readonly content: string };
  /** The tokens that the context saves, at least. */
  readonly savedTokens: number;
  readonly because: PruneReason;
}

/** The results to prune, in path order; none if they save too little. */
export interface PrunePlan {
  readonly edits: readonly PruneEdit[];
  readonly savedTokens: number;
}

/** The input of a plan. */
interface PruneInput {
  /** The entries that a context is built from, in path order. */
  readonly items: readonly PathItem[];
  readonly settings: PruneSettings;
  /** The provider's prompt cache is cold. */
  readonly idle: boolean;
  /** Old output is pruned, oldest first, until this much is saved. Default: all old output is pruned. */
  readonly wantedTokens?: number | undefined;
}

type PruneSettings = CompactionSettings["prune"];

/**
 * Decides which tool results to prune: superseded, repeated and useless ones if few tokens follow them, and results older
 * than `protectTokens`. Results that the model has not read yet stay. The plan is empty if all together save less than
 * `minSavingsTokens`. Does not check whether pruning is enabled. Pure; linear in the items and their texts. Once the
 * edits are applied, the next plan is empty.
 *
 * @example
 * planPrune({ items, settings: readSettings({}).prune, idle: false }).edits[0]?.replacement; // { content: "[Output truncated - …]" }
 */
export function planPrune({ items, settings, idle, wantedTokens = Number.POSITIVE_INFINITY }: PruneInput): PrunePlan {
  const edits = new Map<number, PruneEdit & { readonly aged: boolean }>();
  for (const { output, pruned, aged } of findReasons(items, settings)) {
    const edit = makeEdit(output, pruned);
    if (edit.savedTokens > 0) edits.set(output.at, { ...edit, aged });
  }
  const selected = selectByCacheCost(items, edits, { suffixTokens: settings.cacheSuffixTokens, idle });
  const chosen = takeWanted(
    [...edits].filter(([at]) => selected.has(at)).map(([, edit]) => edit),
    wantedTokens,
  );
  const savedTokens = chosen.reduce((sum, edit) => sum + edit.savedTokens, 0);
  return savedTokens < settings.minSavingsTokens ? { edits: [], savedTokens: 0 } : { edits: chosen, savedTokens };
}

/** All edits for another reason than age, and of the others, oldest first, as many as save the wanted tokens. */
function takeWanted(edits: readonly (PruneEdit & { readonly aged: boolean })[], wantedTokens: number): readonly PruneEdit[] {
  let saved = edits.reduce((sum, { because, savedTokens }) => sum + (because === "age" ? 0 : savedTokens), 0);
  return edits.flatMap(({ aged: _aged, ...edit }) => {
    if (edit.because !== "age") return [edit];
    if (saved >= wantedTokens) return [];
    saved += edit.savedTokens;
    return [edit];
  });
}

interface Reason {
  readonly output: ToolOutput;
  readonly pruned: PruneCause;
  /** Its age alone is a reason. */
  readonly aged: boolean;
}

/** The outputs that may be pruned and have a reason, in path order. A reason that names another copy has precedence over age. */
function findReasons(items: readonly PathItem[], settings: PruneSettings): readonly Reason[] {
  const all = collectToolOutputs(items);
  const may = filterPrunable(all, items, settings);
  const old = findAgedOutputs(all, settings.protectTokens);
  const aged = new Set(may.map(({ id }) => id).filter((id) => old.has(id)));
  const reasonFor = makeRule(all, aged, settings);
  return may.flatMap((output) => {
    const pruned = reasonFor(output);
    return pruned === null ? [] : [{ output, pruned, aged: aged.has(output.id) }];
  });
}

/** Makes the function that finds the reason to prune an output; null: none. */
function makeRule(
  all: readonly ToolOutput[],
  aged: ReadonlySet<EntryId>,
  settings: PruneSettings,
): (output: ToolOutput) => PruneCause | null {
  const useless = (output: ToolOutput) => settings.useless && isUseless(output);
  // A placeholder must not refer to a result that is pruned as well.
  const stays = (output: ToolOutput) => !aged.has(output.id) && !useless(output) && !wasPruned(output);
  const superseded = settings.superseded ? findSupersededReads(all, stays) : new Map<EntryId, string>();
  const duplicates = findDuplicates(all, settings.duplicateChars, stays);
  return (output) => {
    const file = superseded.get(output.id);
    if (file !== undefined) return { because: "superseded", file: shortLine(file, SHOWN_PATH_CHARS) };
    if (duplicates.has(output.id)) return { because: "duplicate" };
    if (useless(output)) return { because: "useless" };
    return aged.has(output.id) ? { because: "age" } : null;
  };
}

// A placeholder for a smaller result would save next to nothing.
const MIN_RESULT_TOKENS = 50;

/** The outputs that may be pruned: read by the model, not protected, large enough and not pruned before. */
function filterPrunable(all: readonly ToolOutput[], items: readonly PathItem[], settings: PruneSettings): readonly ToolOutput[] {
  const newestReply = items.findLastIndex(({ messages: [message] }) => message?.role === "assistant");
  const kept = lowerCaseNames(settings.protectedTools);
  return all.filter(
    (output) => output.at < newestReply && output.tokens >= MIN_RESULT_TOKENS && !wasPruned(output) && !isProtected(output, kept),
  );
}

function wasPruned({ result }: ToolOutput): boolean {
  return isPlaceholder(textOf(result.content));
}

function makeEdit({ id, tokens }: ToolOutput, pruned: PruneCause): PruneEdit {
  const content = formatPlaceholder(pruned, tokens);
  return { targetId: id, replacement: { content }, savedTokens: tokens - estimatePlaceholderTokens(content), because: pruned.because };
}

/** A result that may be pruned. */
interface PruneCandidate {
  readonly savedTokens: number;
  /** Its age alone is a reason, so the cost of the cache does not matter. */
  readonly aged: boolean;
}

/**
 * Selects candidates, by index. A change early in a request invalidates the provider's prompt cache for everything that
 * follows. A candidate that is not aged is therefore selected only if at most `suffixTokens` follow it, or if the cache
 * is cold. The tokens that follow are counted after pruning, so that planning again finds nothing more. Linear in the
 * items.
 */
function selectByCacheCost(
  items: readonly PathItem[],
  candidates: ReadonlyMap<number, PruneCandidate>,
  { suffixTokens, idle }: { readonly suffixTokens: number; readonly idle: boolean },
): ReadonlySet<number> {
  const selected = new Set<number>();
  let after = 0;
  for (const [back, { tokens }] of items.toReversed().entries()) {
    const at = items.length - 1 - back;
    const candidate = candidates.get(at);
    const isSelected = candidate !== undefined && (candidate.aged || idle || after <= suffixTokens);
    if (isSelected) selected.add(at);
    after += tokens - (isSelected ? candidate.savedTokens : 0);
  }
  return selected;
}

/** The outputs older than the newest `protectTokens` tokens of tool output. Linear. */
function findAgedOutputs(outputs: readonly ToolOutput[], protectTokens: number): ReadonlySet<EntryId> {
  const aged = new Set<EntryId>();
  let newer = 0;
  for (const { id, tokens } of outputs.toReversed()) {
    newer += tokens;
    if (newer > protectTokens) aged.add(id);
  }
  return aged;
}

/**
 * True if the settings protect the output of a tool. Reading a file SKILL.md counts as output of the tool `skill`: the
 * model has to follow its instructions until the end.
 */
function isProtected(output: ToolOutput, protectedTools: ReadonlySet<string>): boolean {
  if (protectedTools.has(output.tool.toLowerCase())) return true;
  return protectedTools.has("skill") && /(^|[\\/])SKILL\.md$/i.test(parseFileRead(output)?.path ?? "");
}

/** Names in lower case: agents differ only in capitals. */
function lowerCaseNames(tools: readonly string[]): ReadonlySet<string> {
  return new Set(tools.map((tool) => tool.toLowerCase()));
}

/** True if the tool marked its output as useless (`details.useless`). */
function isUseless({ result: { details } }: ToolOutput): boolean {
  return typeof details === "object" && details !== null && "useless" in details && details.useless === true;
}

/** Longest file name in a placeholder, in UTF-16 code units. */
export const SHOWN_PATH_CHARS = 80;

/** The reason with its data. `file`: the file that was read again, one line of at most `SHOWN_PATH_CHARS`. */
export type PruneCause =
  | { readonly because: Exclude<PruneReason, "superseded"> }
  | { readonly because: "superseded"; readonly file: string };

/**
 * The text that replaces a result of `tokens` tokens. The form is that of pi and oh-my-pi, and adds where the same text
 * is.
 *
 * @example
 * formatPlaceholder({ because: "age" }, 1_200); // "[Output truncated - 1200 tokens]"
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

/** True if a text is a placeholder, written by this package or by pi. */
export function isPlaceholder(text: string): boolean {
  return text.length < 200 && /^\[Output truncated - \d+ tokens(; [^\n]*)?\]$/.test(text);
}

/**
 * Upper bound of a placeholder's tokens, with those of its message; needs no tokenizer. ASCII has at least two characters
 * a token, other text at least one byte a token.
 */
export function estimatePlaceholderTokens(text: string): number {
  const bytes = Buffer.byteLength(text);
  const wide = text.match(/[^\x20-\x7e]/gu)?.join("") ?? "";
  const wideBytes = Buffer.byteLength(wide);
  return MESSAGE_TOKENS + CALL_TOKENS + Math.ceil((bytes - wideBytes) / 2) + wideBytes;
}
