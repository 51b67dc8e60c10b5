import { type Compactor, type PreparedRequest, toolTokens } from "@bough/compaction";
import { roughCounter } from "@bough/compaction/internals";
import { BoughError, type Session } from "@bough/session-core";
import type { Io } from "../terminal/io.js";
import { askModel } from "./ask-model.js";
import type { ChatModel } from "./chat-model.js";
import { withoutSecretVariables } from "./erase-secrets.js";
import { failureLine, shortFailure } from "./failure-line.js";
import { type PermissionAnswer, PermissionChecker, type PermissionRequest, type Permissions } from "./permissions.js";
import type { Reply, Retry } from "./reply.js";
import { buildRequestFrame, type RequestFrame } from "./request-frame.js";
import { type CallRunner, notRun, runCalls } from "./run-calls.js";
import type { Tool } from "./tools/tool.js";
import { replyEntry, TurnBranch } from "./turn-branch.js";
import type { TurnEvent, TurnResult } from "./turn-events.js";

/** Maximum rounds of calls and results in one turn. */
const MAX_ROUNDS = 50;
/** Maximum number of retries of a request that got no response. */
const RETRIES = 3;

/** Options of a turn. While it runs, the caller must not move the leaf with this session handle. */
interface TurnOptions {
  /** Its leaf is at the user's message, which `appendUserMessage` stored. */
  readonly session: Session;
  readonly compactor: Compactor;
  readonly model: ChatModel;
  /** Default: `read`, `write`, `edit` and `bash`. */
  readonly tools?: readonly Tool[] | undefined;
  readonly permissions: Permissions;
  readonly cwd: string;
  /** The environment of commands; variables that contain the model's API keys are removed. */
  readonly env: Io["env"];
  /** Stops the turn. */
  readonly signal: AbortSignal;
  /** The thinking level; undefined: the default of the model. */
  readonly thinking?: string | undefined;
  readonly onEvent: (event: TurnEvent) => void;
  /** Asks the user to confirm a call. After an abort the answer is ignored. */
  readonly ask: (call: PermissionRequest) => Promise<PermissionAnswer>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Default 3. */
  readonly retries?: number | undefined;
  /** Default 50. */
  readonly maxRounds?: number | undefined;
}

/**
 * Runs a turn: requests replies and runs their tool calls until a reply has no calls. Each reply and each result is stored as
 * soon as it is complete. An interrupted reply is stored as far as it was received. Errors of the model or the store are
 * returned as a `TurnResult`. Any other exception is a bug.
 *
 * @example
 * await appendUserMessage(session, "What does the parser do?");
 * const result = await runTurn({ session, compactor, model, permissions: { read: "allow" }, ...rest });
 */
export async function runTurn(options: TurnOptions): Promise<TurnResult> {
  const turn = new Turn(options);
  try {
    return await turn.run();
  } catch (error) {
    if (options.signal.aborted && (error === options.signal.reason || isAbort(error))) return turn.stoppedResult();
    // For example: the session was deleted, the store is full or read-only, or a setting is invalid.
    if (error instanceof BoughError) return turn.failedResult(error.message, error.code);
    throw error;
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

class Turn {
  readonly #options: TurnOptions;
  readonly #branch: TurnBranch;
  readonly #runner: Omit<CallRunner, "tools">;
  /** The tools of the last request. */
  #tools: readonly Tool[] = [];
  /** One retry after a context overflow; reset by each successful request. */
  #canRetryOverflow = true;
  /** Text of the current reply that is not stored yet. */
  #partialText = "";

  constructor(options: TurnOptions) {
    this.#options = options;
    const { session, permissions, cwd, ask, env, signal, onEvent, now } = options;
    const checker = new PermissionChecker(permissions, cwd, ask);
    this.#branch = new TurnBranch(session);
    const context = { cwd, env: withoutSecretVariables(env, options.model.secrets), signal };
    this.#runner = { branch: this.#branch, checker, context, onEvent, now, pending: { text: "" } };
  }

  async run(): Promise<TurnResult> {
    const { maxRounds = MAX_ROUNDS, signal } = this.#options;
    for (let round = 1; round <= maxRounds; ) {
      const reply = await this.#request(round);
      const overflow = overflowErrorOf(reply);
      if (overflow !== undefined && (await this.#shortenContext(overflow))) continue;
      const turnResult = await this.#storeReply(reply, round);
      if (turnResult !== undefined) return turnResult;
      this.#canRetryOverflow = true;
      await runCalls({ ...this.#runner, tools: this.#tools }, reply.calls, reply.unparsableCalls, reply.stopReason === "length");
      if (signal.aborted) return this.stoppedResult();
      round += 1;
    }
    return { kind: "too-many-rounds", rounds: maxRounds };
  }

  stoppedResult(): TurnResult {
    return { kind: "stopped", entryId: this.#branch.newest };
  }

  failedResult(message: string, code: string | null): TurnResult {
    const unstored = this.#partialText + this.#runner.pending.text;
    return { kind: "failed", message, code, entryId: this.#branch.newest, unstored: unstored === "" ? null : unstored };
  }

  async #request(round: number): Promise<Reply> {
    const { compactor, model, signal, thinking, retries = RETRIES, onEvent, session } = this.#options;
    await this.#branch.ensureLeaf();
    const before = buildRequestFrame(this.#options, await session.context());
    const prepared = await compactor.prepareRequest({ signal, ...frameTokens(before) });
    onEvent({ kind: "request", round, use: prepared.use });
    // A compaction may have added the recall tools.
    const { system, tools } = buildRequestFrame(this.#options, prepared.context);
    this.#tools = tools;
    return askModel({ model, context: requestContext(prepared), system, tools, thinking, retries, signal }, this.#listener());
  }

  #listener() {
    const { onEvent, model } = this.#options;
    return {
      text: (delta: string) => {
        this.#partialText += delta;
        onEvent({ kind: "text", delta });
      },
      thinking: (delta: string) => onEvent({ kind: "thinking", delta }),
      retry: ({ error, ...retry }: Retry) => onEvent({ kind: "wait", reason: shortFailure(error, model.secrets), ...retry }),
    };
  }

  /** After a context overflow: compacts, and returns whether to send the request again. */
  async #shortenContext(error: unknown): Promise<boolean> {
    if (!this.#canRetryOverflow || this.#partialText !== "") return false;
    const { compactor, signal, onEvent, model } = this.#options;
    const { kind } = await compactor.reportOverflow(error, { signal });
    if (kind !== "retry") return false;
    this.#canRetryOverflow = false;
    onEvent({ kind: "retry", message: failureLine(error, model.secrets) });
    return true;
  }

  /** Stores a reply. Returns the result of the turn, or undefined if the reply has calls to run. */
  async #storeReply(reply: Reply, round: number): Promise<TurnResult | undefined> {
    if (reply.usage !== undefined) this.#options.onEvent({ kind: "usage", usage: reply.usage });
    if (reply.stopReason === "aborted" || reply.stopReason === "error") return this.#storeIncompleteReply(reply, reply.stopReason);
    if (reply.content.length === 0)
      return this.#storeIncompleteReply({ ...reply, stopReason: "error", error: "the model returned an empty reply" }, "error");
    const entryId = await this.#append(reply, undefined);
    return reply.calls.length === 0 ? { kind: "done", entryId, stopReason: reply.stopReason, rounds: round } : undefined;
  }

  async #storeIncompleteReply(reply: Reply, interruption: "aborted" | "error"): Promise<TurnResult> {
    const message = interruption === "error" ? failureLine(reply.error, this.#options.model.secrets) : undefined;
    // A failed reply is stored with its reason, also an empty one, which no converter sends. An empty stopped reply says nothing.
    if (reply.content.length > 0 || message !== undefined) await this.#append(reply, message, interruption);
    return message === undefined ? this.stoppedResult() : this.failedResult(message, null);
  }

  async #append(reply: Reply, errorMessage: string | undefined, interruption?: "aborted" | "error") {
    const { model, now, onEvent } = this.#options;
    const results = interruption === undefined ? [] : notRun(reply.calls, interruption, now());
    const entryId = await this.#branch.appendAll([replyEntry(reply, model, errorMessage, now()), ...results]);
    this.#partialText = "";
    onEvent({ kind: "reply", entryId });
    return entryId;
  }
}

function frameTokens({ system, tools }: RequestFrame) {
  return {
    toolTokens: toolTokens(roughCounter, tools),
    ...(system === undefined ? {} : { systemTokens: roughCounter.count(system) }),
  };
}

/**
 * Returns the value that `reportOverflow` examines: the error, or an empty reply that ended with `length`, because some models
 * truncate the context and then have no tokens left to reply. Undefined for any other reply.
 */
function overflowErrorOf({ stopReason, error, content, usage }: Reply): unknown {
  if (stopReason === "error") return error;
  return stopReason === "length" && content.length === 0 ? { role: "assistant", content: [], stopReason, usage } : undefined;
}

/**
 * The context of a request. It must end with a user message: after an interrupted reply a prompt to continue is added,
 * because providers reject a request that ends with an assistant message. The prompt is not stored.
 */
function requestContext({ context, continuePrompt }: PreparedRequest) {
  const last = context.messages.findLast((message) => message.role !== "assistant" || message.content.length > 0);
  const prompt = continuePrompt ?? (last?.role === "assistant" ? "Continue where you left off." : null);
  return prompt === null ? context : { ...context, messages: [...context.messages, { role: "user" as const, content: prompt }] };
}
