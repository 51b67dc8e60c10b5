import { type Compactor, type PreparedRequest, toolTokens } from "@bough/compaction";
import { type FailureParts, readFailureParts, roughCounter } from "@bough/compaction/providers";
import { withoutSecrets } from "@bough/formats/secrets";
import { BoughError, type Session, type ToolCallBlock } from "@bough/session-core";
import { raceAbort } from "@bough/session-core/engine";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";
import { truncate } from "../terminal/width.js";
import { askModel, type Reply, type Retry } from "./ask-model.js";
import type { ChatModel } from "./chat-model.js";
import { withoutSecretVariables } from "./erase-secrets.js";
import { type CheckCall, callChecker, type PermissionAnswer, type PermissionRequest, type Permissions } from "./permissions.js";
import { buildRequestFrame, type RequestFrame } from "./request-frame.js";
import { type FileToolName, isFileTool, type Tool, type ToolContext, type ToolOutcome } from "./tools/tool.js";
import { replyEntry, resultEntry, TurnBranch } from "./turn-branch.js";
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
  readonly #check: CheckCall;
  readonly #context: Omit<ToolContext, "target">;
  /** The tools of the last request. */
  #tools: readonly Tool[] = [];
  /** One retry after a context overflow; reset by each successful request. */
  #canRetryOverflow = true;
  /** Text of the current reply that is not stored yet. */
  #partialText = "";
  /** Output of the last tool that is not stored yet. */
  #pendingOutput = "";

  constructor(options: TurnOptions) {
    this.#options = options;
    const { session, permissions, cwd, ask, env, signal, model } = options;
    this.#branch = new TurnBranch(session);
    this.#check = callChecker(permissions, cwd, ask);
    this.#context = { cwd, env: withoutSecretVariables(env, model.secrets), signal };
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
      await this.#runCalls(reply);
      if (signal.aborted) return this.stoppedResult();
      round += 1;
    }
    return { kind: "too-many-rounds", rounds: maxRounds };
  }

  stoppedResult(): TurnResult {
    return { kind: "stopped", entryId: this.#branch.newest };
  }

  failedResult(message: string, code: string | null): TurnResult {
    const unstored = this.#partialText + this.#pendingOutput;
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
    const entryId = await this.#branch.append(replyEntry(reply, model, errorMessage, now()), ...results);
    this.#partialText = "";
    onEvent({ kind: "reply", entryId });
    return entryId;
  }

  /**
   * Runs the calls of a reply sequentially. Each result is stored before the next call runs. A call that does not run gets a
   * result with the reason, so that every call has a result.
   */
  async #runCalls({ calls, unparsableCalls, stopReason }: Reply): Promise<void> {
    for (const call of calls) {
      this.#options.onEvent({ kind: "tool", id: call.id, name: call.name, input: call.arguments });
      const reasonNotToRun = stopReason === "length" ? CUT_OFF : unparsableCalls.get(call.id);
      const outcome = reasonNotToRun === undefined ? await this.#runCall(call) : failedOutcome(reasonNotToRun);
      await this.#storeResult(call, outcome);
    }
  }

  async #runCall(call: ToolCallBlock): Promise<ToolOutcome> {
    const context = this.#context;
    if (context.signal.aborted) return failedOutcome(STOPPED);
    const tool = this.#tools.find(({ name }) => name === call.name);
    if (tool === undefined) return failedOutcome(`There is no tool ${call.name}. ${listTools(this.#tools)}`);
    const { name } = tool;
    // Recall tools only read the session and need no permission.
    if (!isFileTool(name)) return tool.run(call.arguments, { ...context, target: null });
    const permission = await this.#checkUnlessStopped(call, name);
    if (permission === undefined) return failedOutcome(STOPPED);
    return permission.isAllowed ? tool.run(call.arguments, { ...context, target: permission.target }) : failedOutcome(DENIED);
  }

  /** The permission of a call; undefined if the turn is stopped before the user answers. */
  async #checkUnlessStopped(call: ToolCallBlock, name: FileToolName) {
    const { signal } = this.#context;
    try {
      const permission = await raceAbort(this.#check(call.id, name, call.arguments), signal);
      return signal.aborted ? undefined : permission;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #storeResult(call: ToolCallBlock, outcome: ToolOutcome): Promise<void> {
    const { now, onEvent } = this.#options;
    this.#pendingOutput = outcome.text;
    const entryId = await this.#branch.append(resultEntry(call.id, call.name, outcome, now()));
    this.#pendingOutput = "";
    onEvent({ kind: "tool-result", id: call.id, name: call.name, ...outcome, entryId });
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

const STOPPED = "Not run: the user stopped the turn.";
const DENIED = "Not run: the user denied this call. Ask what they want instead.";
const CUT_OFF = "Not run: the reply reached its token limit, and this call may be incomplete. Call again with less text.";

/** The results of the calls of an interrupted reply, which do not run. */
function notRun(calls: readonly ToolCallBlock[], why: "aborted" | "error", nowMs: number) {
  const outcome = failedOutcome(why === "aborted" ? STOPPED : "Not run: the reply was interrupted.");
  return calls.map(({ id, name }) => resultEntry(id, name, outcome, nowMs));
}

function listTools(tools: readonly Tool[]): string {
  return tools.length === 0 ? "No tools are enabled." : `Tools: ${tools.map(({ name }) => name).join(", ")}.`;
}

function failedOutcome(text: string): ToolOutcome {
  return { text, isError: true };
}

/** Maximum width of the line, in columns. */
const MAX = 400;

/** Length of a response body that is searched, in UTF-16 code units; a page can have any length. */
const LOOKED_AT = 100_000;

/** Also removed before the cut, because a secret may be cut in half there. */
const CUT_EDGE = 5_000;

/**
 * Describes why a model call failed, in one line of at most 400 columns that is safe to show and store: the HTTP status, the
 * message of the server, and the cause behind a bare "fetch failed". Secrets are removed, also in the spellings of URLs,
 * HTML, JSON and Base64. The time is linear in the length of the response.
 */
export function failureLine(error: unknown, secrets: readonly string[]): string {
  const { status, ...parts } = readFailureParts(error);
  const words = describeFailure(parts, secrets);
  const isRefusal = status !== undefined && (status < 200 || status > 299);
  const line = isRefusal ? `HTTP ${status}: ${words === "" ? "no explanation" : words}` : words;
  const clean = cleaned(line, secrets);
  return truncate(safe(clean === "" ? "the request to the model failed" : clean), MAX, "…");
}

/** Messages of libraries for a stream that ended too early; they depend on the version of Node. */
const BROKE_OFF = /^(terminated$|Failed to process successful response)/;

/** The HTTP status of a failure, else its line: short enough for a line of progress. */
function shortFailure(error: unknown, secrets: readonly string[]): string {
  const { status } = readFailureParts(error);
  return status === undefined ? failureLine(error, secrets) : `HTTP ${status}`;
}

function describeFailure({ message, cause, body }: Omit<FailureParts, "status">, secrets: readonly string[]): string {
  if (BROKE_OFF.test(message))
    return `The connection broke in the middle of the reply${cause === "" || cause === message ? "" : `: ${cause}`}`;
  // A proxy in front of a model answers with a page: its beginning explains more than "Bad Gateway" alone.
  const hasPage = body !== "" && !body.includes(message) && message.length <= 40;
  const page = hasPage ? `: ${withoutTags(cleaned(body, secrets)).slice(0, 200)}` : "";
  return `${message}${page}${cause === "" || message.includes(cause) ? "" : ` (${cause})`}`;
}

/** Removes HTML tags in linear time: a tag contains no `<`. */
function withoutTags(page: string): string {
  return page
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** The beginning of a text in one line, without secrets. */
function cleaned(text: string, secrets: readonly string[]): string {
  const beginning = withoutSecrets(text.slice(0, LOOKED_AT), secrets);
  return (text.length > LOOKED_AT ? beginning.slice(0, -CUT_EDGE) : beginning).replace(/\s+/g, " ").trim();
}
