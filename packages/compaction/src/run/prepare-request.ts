import type { ContextMessage, EntryId, SessionContext } from "@bough/session-core";
import { RequestTooLargeError } from "../errors/compaction-errors.js";
import { messageBudget } from "../rules/message-budget.js";
import type { TokenUse } from "../rules/token-use.js";
import type { Change } from "../shrink/request/change.js";
import { type ShapedRequest, shapeRequest } from "../shrink/request/shape-request.js";
import { messageTokens } from "../tokens/message-tokens.js";
import { type AutomaticWork, keepWithinThreshold } from "./automatic.js";
import { runDeferred } from "./deferred.js";
import type { Engine } from "./engine.js";
import { idle } from "./lock.js";
import type { Look } from "./look.js";
import type { RequestInput } from "./options.js";
import { thinkingOf } from "./thinking.js";

/** A request that fits, and how it was made to. */
export interface PreparedRequest {
  /** For the converters: `toAISDK(prepared.context)`, `toAnthropic`, `toOpenAIChat`… Its messages are the ones that fit. */
  readonly context: SessionContext;
  readonly messages: readonly ContextMessage[];
  /** `entries[i]` is the entry behind `messages[i]`. */
  readonly entries: readonly EntryId[];
  readonly use: TokenUse;
  /** false only where the input says `tooLarge: "return"`: not even everything that may be left out was enough. */
  readonly fits: boolean;
  readonly done: AutomaticWork & { readonly changes: readonly Change[] };
  /** A prompt to go on with, where a compaction came between turns and work is left. */
  readonly continuePrompt: string | null;
}

// Copilot CLI's warning: what cannot be compacted takes most of the window.
const FIXED_WARNING_SHARE = 0.8;

/** See `Compactor.prepareRequest`. */
export async function prepareRequest(engine: Engine, input: RequestInput): Promise<PreparedRequest> {
  input.signal?.throwIfAborted();
  await idle(engine.session, input.signal);
  const deferred = await runDeferred(engine, input.signal);
  const { look, compaction, background, pruned } = await keepWithinThreshold(engine, input, false, deferred);
  const shaped = shape(engine, look);
  const context = { ...look.context, messages: shaped.messages, entries: shaped.entries };
  const use = { ...look.use, messageTokens: shaped.totalTokens, ...totalOf(look, shaped) };
  tell(engine, look, shaped, use);
  if (!shaped.fits && input.tooLarge !== "return") throw new RequestTooLargeError(use.totalTokens, requestLimit(look));
  engine.memory.lastRequest = context;
  engine.memory.lastRequestAtMs = engine.now();
  engine.memory.requests += 1;
  const done = { compaction, background, pruned, changes: shaped.changes };
  const continuePrompt = compaction?.kind === "compacted" ? compaction.continuePrompt : null;
  return { context, messages: shaped.messages, entries: shaped.entries, use, fits: shaped.fits, done, continuePrompt };
}

/** What a request may have at most. A guard that is off still keeps what the window cannot hold from being sent. */
function requestLimit({ settings, limits }: Look): number {
  return settings.request.guard === "off" ? limits.hardLimitTokens : limits.limitTokens;
}

function shape(engine: Engine, look: Look): ShapedRequest {
  const { memory } = engine;
  const { calibration } = memory;
  const { counter } = look.meter;
  return shapeRequest({
    messages: look.context.messages,
    entries: look.context.entries,
    tokens: look.measured.perMessage,
    count: (message) => messageTokens(counter, message, look.model),
    // Where the provider counts more than we do, or counts what we were not told of, less fits by our count.
    limitTokens: messageBudget({
      windowTokens: look.limits.windowTokens,
      limitTokens: Math.max(1, Math.floor((requestLimit(look) - calibration.unseenTokens) / calibration.ratio)),
      toolTokens: look.use.toolTokens,
      toolMarginShare: look.settings.window.toolMarginShare,
    }),
    systemTokens: look.use.systemTokens,
    settings: look.settings.request,
    windowTokens: look.limits.windowTokens,
    model: look.model,
    known: { totalTokens: look.measured.total, largestTokens: look.measured.largest },
    leftOutThinking: thinkingOf(look.context.compaction?.payload),
  });
}

/** What the provider reported is about all messages; once some are left out, only our count is right. */
function totalOf({ use }: Look, { totalTokens, changes }: ShapedRequest): Pick<TokenUse, "totalTokens" | "source"> {
  if (changes.length === 0) return use;
  return { totalTokens: use.systemTokens + use.toolTokens + totalTokens, source: "counted" };
}

function tell(engine: Engine, look: Look, shaped: ShapedRequest, use: TokenUse): void {
  const fixedTokens = use.systemTokens + use.toolTokens;
  if (fixedTokens >= FIXED_WARNING_SHARE * use.limitTokens)
    engine.emit({ type: "usage_warning", fixedTokens, limitTokens: use.limitTokens });
  if (shaped.changes.length > 0) {
    engine.emit({
      type: "truncation",
      tokensBefore: look.measured.total,
      tokensAfter: shaped.totalTokens,
      messagesBefore: look.context.messages.length,
      messagesAfter: shaped.messages.length,
      changes: shaped.changes,
    });
  }
  engine.emit({ type: "usage_info", use, messages: shaped.messages.length, isInitial: engine.memory.requests === 0 });
}
