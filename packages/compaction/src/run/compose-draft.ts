import { type EntryId, type FileLists, fileLists, type Session, textOf } from "@bough/session-core";
import { HookResultError } from "../errors/compaction-errors.js";
import { SummaryRejectedError } from "../errors/summarizer-errors.js";
import { groupMessages, unsentStart, withMetadata } from "../plan/cut-points.js";
import { fileListsOf, joinLists } from "../plan/file-lists.js";
import { type Compactable, coveredItems, coveredMessages, coveredTokens, type Trigger } from "../plan/plan-compaction.js";
import type { PathItem, Span } from "../plan/span.js";
import { hasRecallTools } from "../recall/recall-tools.js";
import { composeSummary, readCurrentPrompt, type SummaryParts } from "../summary/compose.js";
import { cutToTokens } from "../summary/fold.js";
import type { WrittenSummary } from "../summary/summary-job.js";
import { redact } from "../text/redact.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { hostStateOf } from "./call-hook.js";
import type { ContextState } from "./context-state.js";
import { type Draft, type DraftPayload, lastThinking } from "./draft.js";
import type { Engine } from "./engine.js";
import type { SuppliedCompaction } from "./options.js";

/** What is to be written. */
export interface DraftRequest {
  readonly attemptId: string;
  readonly trigger: Trigger;
  readonly instructions: string | null;
  /** Keep this entry and all behind it; undefined: as the settings say. */
  readonly keepFrom?: EntryId | undefined;
  /** Plan also where nothing came after the compaction in force. */
  readonly again?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly state: ContextState;
  readonly span: Span;
}

/** A summary and what came with it. */
export interface Written {
  readonly written: WrittenSummary;
  readonly askedModel: boolean;
  readonly preserveData: unknown;
}

/**
 * The entry of a summary that was written: the body with its lists and notes, and what a reader needs to judge it.
 *
 * @throws {SummaryRejectedError} `larger-than-source`: with all that settings add, and without it, nothing is won.
 */
export async function composeDraft(
  engine: Engine,
  order: DraftRequest,
  plan: Compactable,
  { written, askedModel, preserveData }: Written,
): Promise<Draft> {
  const { span, state } = order;
  const files = await coveredFileLists(engine.session, span, plan);
  const parts: SummaryParts = {
    kind: "compaction",
    body: written.body,
    messages: coveredMessages(plan),
    previous: span.context.compaction?.payload.summary ?? null,
    prompt: currentPrompt(order, plan),
    files,
    cwd: (await engine.session.record()).cwd,
    host: await hostStateOf(engine, order.signal),
    covers: coversOf(plan),
    recall: engine.options.recall ?? hasRecallTools(engine.session),
    settings: state.settings,
    model: state.model,
  };
  const { summary, tokens } = composeWithinBound(parts, order, coveredTokens(plan) + span.previousSummaryTokens);
  const thinking = lastThinking(coveredMessages(plan), state.model, state.settings.request.reattachThinking);
  const payload: DraftPayload = {
    ...commonPayload(order, plan),
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
  return { ...draftOf(order, plan, payload, tokens), askedModel, fidelity, failures, requestId, usage };
}

/** A summary that a hook brought, as it is but for secrets; what it has no word on is taken from the plan. */
export function draftFromHook(order: DraftRequest, plan: Compactable, supplied: SuppliedCompaction): Draft {
  const { summary: given, firstKeptEntryId = plan.firstKeptEntryId, details, title, shortSummary } = supplied;
  if (typeof given !== "string" || given.trim() === "")
    throw new HookResultError("beforeCompact", "its summary must be a text that is not empty");
  if (firstKeptEntryId !== null && typeof firstKeptEntryId !== "string")
    throw new HookResultError("beforeCompact", "firstKeptEntryId must be an entry's id or null");
  const chosen = planWithCut(order, plan, firstKeptEntryId);
  const summary = order.state.settings.summary.redact ? redact(given) : given;
  const payload: DraftPayload = {
    ...commonPayload(order, chosen),
    summary,
    firstKeptEntryId,
    method: "hook",
    fromHook: true,
    ...(details === undefined ? {} : { details }),
    ...(title === undefined ? {} : { title }),
    ...(shortSummary === undefined ? {} : { shortSummary }),
  };
  const tokens = messageTokens(order.state.meter.counter, { role: "compactionSummary", summary }, order.state.model);
  return { ...draftOf(order, chosen, payload, tokens), askedModel: false, fidelity: null, failures: [], requestId: null, usage: null };
}

/** Why a path must not be cut there; null: it may. The same rules as for our own cuts. */
function invalidCutReason(items: readonly PathItem[], at: number): string | null {
  if (at === -1) return "is not on the part of the path that is compacted";
  if (!items.slice(0, at).some(({ messages }) => messages.length > 0)) return "leaves nothing to summarise";
  const unsent = unsentStart(items);
  if (unsent !== null && at > unsent) return "would summarise a prompt that the model has not answered";
  const starts = groupMessages(items).map(({ start }) => withMetadata(items, start));
  const isCut = at === items.length || groupMessages(items).some(({ start }) => start === at) || starts.includes(at);
  return isCut ? null : "is no place to cut: it would part a call from its result";
}

/** The plan with the cut where a hook wants it. */
function planWithCut({ span }: DraftRequest, plan: Compactable, firstKeptEntryId: EntryId | null): Compactable {
  if (firstKeptEntryId === plan.firstKeptEntryId) return plan;
  const { items } = span;
  const at = firstKeptEntryId === null ? items.length : items.findIndex(({ id }) => id === firstKeptEntryId);
  const problem = invalidCutReason(items, at);
  if (problem !== null) throw new HookResultError("beforeCompact", `firstKeptEntryId ${firstKeptEntryId ?? "null"} ${problem}`);
  return { kind: "whole-turns", summarize: span.items.slice(0, at), prefix: [], keep: span.items.slice(at), firstKeptEntryId };
}

/** Of the threshold, a prompt that is carried along takes at most this share; of a longer one head and tail stay. */
const PROMPT_SHARE = 0.125;

/**
 * The words of the newest prompt, where its turn goes on and it is summarised (Copilot CLI keeps the latest prompt); null:
 * it is kept, or answered, or the setting `userMessages` carries it.
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

function commonPayload({ attemptId, trigger, instructions, state }: DraftRequest, plan: Compactable) {
  return {
    type: "compaction",
    firstKeptEntryId: plan.firstKeptEntryId,
    tokensBefore: state.use.systemTokens + state.use.toolTokens + state.use.messageTokens,
    trigger,
    attemptId,
    covers: { ...coversOf(plan), messages: coveredMessages(plan).length },
    ...(instructions === null ? {} : { instructions }),
  } as const;
}

function draftOf({ attemptId, trigger, span }: DraftRequest, plan: Compactable, payload: DraftPayload, summaryTokens: number) {
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

function coversOf(plan: Compactable) {
  const items = coveredItems(plan);
  return { fromEntryId: items[0]?.id ?? "", toEntryId: items.at(-1)?.id ?? "", entries: items.length };
}

/**
 * Everything that settings add, or where that would make the context larger or take more of the window than a summary may,
 * less and less of it, down to the body alone; `details` has the files all the same. A body that is too long loses its middle.
 */
function composeWithinBound(
  given: SummaryParts,
  { state }: DraftRequest,
  bound: number,
): { readonly summary: string; readonly tokens: number } {
  const { counter } = state.meter;
  const { summaryTokens } = state.limits;
  const composed = (some: SummaryParts) => {
    const summary = composeSummary(some);
    return { summary, tokens: messageTokens(counter, { role: "compactionSummary", summary }, state.model) };
  };
  const parts = limitRepeatedParts(given, summaryTokens);
  const bare = {
    ...parts.settings,
    userMessages: { ...parts.settings.userMessages, enabled: false },
    keep: { ...parts.settings.keep, head: false },
  };
  const alone = { ...bare, summary: { ...bare.summary, fileLists: false, keepGoing: "never" } } as const;
  const fewer = [
    { ...parts, host: null, settings: bare },
    { ...parts, host: null, covers: null, settings: bare },
    { ...parts, host: null, covers: null, prompt: null, settings: alone },
  ];
  for (const some of [parts, ...fewer]) {
    const whole = composed(some);
    const beside = whole.tokens - counter.count(some.body);
    const isTooLong = whole.tokens > summaryTokens;
    // Beside a body of less than half of the share, something else goes first.
    if (isTooLong && beside > summaryTokens / 2 && some.settings !== alone) continue;
    const body = isTooLong ? cutToTokens(some.body, Math.max(1, summaryTokens - beside), counter) : some.body;
    const shortest = isTooLong ? composed({ ...some, body }) : whole;
    if (shortest.tokens < bound) return shortest;
  }
  throw new SummaryRejectedError("larger-than-source", parts.body);
}

/** UTF-16 code units of a token, at least, and tokens of a path with its line, at most, as they usually are. */
const CHARS_PER_TOKEN = 3;
const TOKENS_PER_PATH = 16;

/** The parts that repeat what is in the session, so that none of them takes the room of the body in a small window. */
function limitRepeatedParts(parts: SummaryParts, summaryTokens: number): SummaryParts {
  const chars = (share: number) => Math.floor(share * summaryTokens * CHARS_PER_TOKEN);
  const { keep, userMessages } = parts.settings;
  return {
    ...parts,
    mostPaths: Math.floor((0.2 * summaryTokens) / TOKENS_PER_PATH),
    settings: {
      ...parts.settings,
      keep: { ...keep, headChars: Math.min(keep.headChars, chars(0.2)) },
      userMessages: { ...userMessages, maxChars: Math.min(userMessages.maxChars, chars(0.4)) },
    },
  };
}

/** What is covered has read and modified, with what earlier summaries say of theirs. */
async function coveredFileLists(session: Session, { context, items }: Span, plan: Compactable): Promise<FileLists> {
  const covers = coversOf(plan);
  const own = fileLists(await session.fileOperations({ fromId: covers.fromEntryId, toId: covers.toEntryId }));
  const earlier = context.compaction === null ? [] : [fileListsOf(context.compaction.payload)];
  const branches = items.filter(({ type }) => type === "branch_summary");
  const covered = new Set(coveredItems(plan).map(({ id }) => id));
  for (const { id } of branches) if (covered.has(id)) earlier.push(fileListsOf(await session.entry(id)));
  return earlier.reduce(joinLists, own);
}
