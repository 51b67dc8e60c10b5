import { type EntryId, textOf } from "@bough/session-core";
import type { PathItem } from "../../plan/span.js";
import type { CompactionSettings } from "../../settings/settings.js";
import { oneLine } from "../../text/one-line.js";
import { agedOutputs } from "./by-age.js";
import { pastGuard } from "./cache-guard.js";
import { duplicates } from "./duplicates.js";
import { isPlaceholder, type Pruned, placeholder, placeholderTokens, SHOWN_PATH_CHARS } from "./placeholder.js";
import { isProtected, protectedNames } from "./protected.js";
import type { PruneEdit, PrunePlan } from "./prune-plan.js";
import { supersededReads } from "./superseded.js";
import { type ToolOutput, toolOutputs } from "./tool-output.js";
import { isUseless } from "./useless.js";

export type { PruneEdit, PrunePlan, PruneReason } from "./prune-plan.js";

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
  for (const { output, pruned, aged } of reasons(items, settings)) {
    const edit = editOf(output, pruned);
    if (edit.savedTokens > 0) edits.set(output.at, { ...edit, aged });
  }
  const going = pastGuard(items, edits, { suffixTokens: settings.cacheSuffixTokens, idle });
  const chosen = [...edits].filter(([at]) => going.has(at)).map(([, { aged: _aged, ...edit }]) => edit);
  const savedTokens = chosen.reduce((sum, edit) => sum + edit.savedTokens, 0);
  return savedTokens < settings.minSavingsTokens ? { edits: [], savedTokens: 0 } : { edits: chosen, savedTokens };
}

interface Reason {
  readonly output: ToolOutput;
  readonly pruned: Pruned;
  /** It could go for its age alone. */
  readonly aged: boolean;
}

/** Each output that may go and has a reason to, in order. What says where the same can be read comes before mere age. */
function reasons(items: readonly PathItem[], settings: PruneSettings): readonly Reason[] {
  const all = toolOutputs(items);
  const may = prunable(all, items, settings);
  const old = agedOutputs(all, settings.protectTokens);
  const aged = new Set(may.map(({ id }) => id).filter((id) => old.has(id)));
  const whyOf = rulesOf(all, aged, settings);
  return may.flatMap((output) => {
    const pruned = whyOf(output);
    return pruned === null ? [] : [{ output, pruned, aged: aged.has(output.id) }];
  });
}

/** Why an output goes, asked of one after the other; null: it stays. */
function rulesOf(all: readonly ToolOutput[], aged: ReadonlySet<EntryId>, settings: PruneSettings): (output: ToolOutput) => Pruned | null {
  const useless = (output: ToolOutput) => settings.useless && isUseless(output);
  // No placeholder may send the model to a result that goes as well.
  const stays = (output: ToolOutput) => !aged.has(output.id) && !useless(output) && !wasPruned(output);
  const reread = settings.superseded ? supersededReads(all, stays) : new Map<EntryId, string>();
  const repeated = duplicates(all, settings.duplicateChars, stays);
  return (output) => {
    const file = reread.get(output.id);
    if (file !== undefined) return { because: "superseded", file: oneLine(file, SHOWN_PATH_CHARS) };
    if (repeated.has(output.id)) return { because: "duplicate" };
    if (useless(output)) return { because: "useless" };
    return aged.has(output.id) ? { because: "age" } : null;
  };
}

/** The outputs that may be pruned at all: read by the model, unprotected, large enough, and as their tools gave them. */
function prunable(all: readonly ToolOutput[], items: readonly PathItem[], settings: PruneSettings): readonly ToolOutput[] {
  const newestReply = items.findLastIndex(({ messages: [message] }) => message?.role === "assistant");
  const kept = protectedNames(settings.protectedTools);
  return all.filter(
    (output) => output.at < newestReply && output.tokens >= settings.minResultTokens && !wasPruned(output) && !isProtected(output, kept),
  );
}

function wasPruned({ result }: ToolOutput): boolean {
  return isPlaceholder(textOf(result.content));
}

function editOf({ id, tokens }: ToolOutput, pruned: Pruned): PruneEdit {
  const content = placeholder(pruned, tokens);
  return { targetId: id, replacement: { content }, savedTokens: tokens - placeholderTokens(content), because: pruned.because };
}
