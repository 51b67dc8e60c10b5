import { type ContextMessage, type EntryId, type ModelSetting, type ThinkingBlock, textOf } from "@bough/session-core";
import { coveredFileLists } from "../plan/file-lists.js";
import { type Compactable, coveredItems, coveredMessages, coveredTokens, type Trigger } from "../plan/plan-compaction.js";
import type { Span } from "../plan/span.js";
import type { CompactionSettings } from "../settings/settings.js";
import { hasRecallTools, readCurrentPrompt } from "../summary/compose.js";
import { cutToTokens } from "../summary/part.js";
import type { WrittenSummary } from "../summary/summary-job.js";
import { findModelFamily } from "../tokens/known-models.js";
import { readHostState } from "./call-hook.js";
import type { ContextState } from "./context-state.js";
import type { Draft, DraftPayload } from "./draft.js";
import type { Engine } from "./engine.js";
import { fitSummary } from "./fit-summary.js";

/** A draft to write. */
export interface DraftRequest {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  /** The first entry of the kept tail; undefined: the settings decide. */
  readonly keepFrom?: EntryId | undefined;
  /** Plan even if nothing came after the compaction in force. */
  readonly again?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly state: ContextState;
  readonly span: Span;
}

/** A summary that a summarizer wrote. */
interface SummaryForDraft {
  readonly written: WrittenSummary;
  readonly askedModel: boolean;
  /** From the hook `compacting`. */
  readonly preserveData: unknown;
}

/**
 * Makes the compaction entry of a summary: its body with file lists, host state and notes, and the fields that describe it.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: the summary has at least as many tokens as what it replaces.
 */
export async function composeDraft(
  engine: Engine,
  request: DraftRequest,
  plan: Compactable,
  { written, askedModel, preserveData }: SummaryForDraft,
): Promise<Draft> {
  const { span, state } = request;
  const messages = coveredMessages(plan);
  const files = await coveredFileLists(engine.session, span, coveredItems(plan));
  const parts = {
    kind: "compaction",
    body: written.body,
    messages,
    previous: span.context.compaction?.payload.summary ?? null,
    prompt: currentPrompt(request, plan),
    files,
    cwd: (await engine.session.record()).cwd,
    host: await readHostState(engine, request.signal),
    covers: coveredRange(plan),
    recall: engine.options.recall ?? hasRecallTools(engine.session),
    settings: state.settings,
    model: state.model,
  } as const;
  const { summary, tokens } = fitSummary(parts, state, coveredTokens(plan) + span.previousSummaryTokens);
  const thinking = lastThinking(messages, state.model, state.settings.request.reattachThinking);
  const payload: DraftPayload = {
    ...commonPayload(request, plan),
    summary,
    details: files,
    method: written.method,
    shortSummary: written.shortSummary,
    fidelity: written.fidelity,
    ...(written.title === null ? {} : { title: written.title }),
    ...(written.usage === undefined ? {} : { usage: written.usage }),
    ...(thinking === null ? {} : { lastThinking: thinking }),
    ...(preserveData === undefined ? {} : { preserveData }),
  };
  const { fidelity, failures, requestId = null, usage = null } = written;
  return { ...commonDraft(request, plan, payload, tokens), askedModel, fidelity, failures, requestId, usage };
}

/** The fields that every compaction entry of this package has. */
export function commonPayload({ attemptId, trigger, instructions, state }: DraftRequest, plan: Compactable) {
  return {
    type: "compaction",
    firstKeptEntryId: plan.firstKeptEntryId,
    tokensBefore: state.use.systemTokens + state.use.toolTokens + state.use.messageTokens,
    trigger,
    attemptId,
    covers: { ...coveredRange(plan), messages: coveredMessages(plan).length },
    ...(instructions === null ? {} : { instructions }),
  } as const;
}

/** The fields of a draft that do not depend on who wrote the summary. */
export function commonDraft({ attemptId, trigger, span }: DraftRequest, plan: Compactable, payload: DraftPayload, summaryTokens: number) {
  return {
    attemptId,
    trigger,
    leafId: span.leafId,
    previousId: span.context.compaction?.entryId ?? null,
    covered: new Set(coveredItems(plan).map(({ id }) => id)),
    payload,
    coveredTokens: coveredTokens(plan) + span.previousSummaryTokens,
    summaryTokens,
    method: payload.method,
  };
}

function coveredRange(plan: Compactable) {
  const items = coveredItems(plan);
  return { fromEntryId: items[0]?.id ?? "", toEntryId: items.at(-1)?.id ?? "", entries: items.length };
}

/** Maximum size of a prompt quoted in the summary, as a share of the threshold; a longer one loses its middle. */
const PROMPT_SHARE = 0.125;

/**
 * The text of the newest prompt if it is summarized while its turn is still running, so that the context keeps it word
 * for word. null: it is in the kept tail, or its turn has ended, or the setting `userMessages` quotes it.
 */
function currentPrompt({ state, span }: DraftRequest, plan: Compactable): string | null {
  if (!state.turn.open || state.settings.userMessages.enabled) return null;
  if (plan.keep.some(({ messages }) => messages[0]?.role === "user")) return null;
  const newest = coveredMessages(plan).findLast(({ role }) => role === "user");
  const stored = span.context.compaction?.payload.summary;
  const carried = stored === undefined ? null : readCurrentPrompt(stored);
  const text = newest?.role === "user" ? textOf(newest.content) : carried;
  return text === null ? null : cutToTokens(text, Math.floor(PROMPT_SHARE * state.limits.thresholdTokens), state.meter.counter);
}

/** The last thinking block of the messages, byte for byte; null if the setting or the model does not need it. */
function lastThinking(
  messages: readonly ContextMessage[],
  model: ModelSetting | null,
  setting: CompactionSettings["request"]["reattachThinking"],
): ThinkingBlock | null {
  if (setting === "never" || (setting === "auto" && !findModelFamily(model).needsThinking)) return null;
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const block = message.content.findLast((one): one is ThinkingBlock => one.type === "thinking");
    if (block !== undefined) return block;
  }
  return null;
}
