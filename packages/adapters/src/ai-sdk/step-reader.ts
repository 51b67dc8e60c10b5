import {
  type AssistantBlock,
  type AssistantMessage,
  type EntryInput,
  normalizeUsage,
  type ToolCallBlock,
  toolResult,
  type Usage,
} from "@bough/session-core";
import { isObject } from "@bough/session-core/wire";
import type { ProviderMetadata } from "ai";
import { type AiSdkStreamPart, isStreamPart, type StepPart, type StreamPart } from "./step.js";
import { callsOf, messageOf, providerOf, replyBlocks, replyEntries, resultEntries } from "./step-entries.js";
import { readStopReason } from "./stop-reason.js";

/** The received parts of a step. */
export interface StepRead {
  /** Blocks in the order in which they began. An interrupted step has no calls with incomplete arguments. */
  readonly content: AssistantMessage["content"];
  readonly calls: readonly ToolCallBlock[];
  /** The ids of calls whose arguments are not a JSON object, or which name no tool. */
  readonly invalidCalls: ReadonlySet<string>;
  readonly usage: Usage | undefined;
  /** As the server named it. */
  readonly model: string | undefined;
  /** As `stopReasonOf` names it: `stop`, `length`, `toolUse`, `contentFilter`, `aborted`, `error`. */
  readonly stopReason: string;
  /** The error, if `stopReason` is `error`. */
  readonly error: unknown;
}

const CONNECTION_ENDED = "the connection ended before the response was complete";

/** A part that is still growing. */
interface GrowingPart {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: ProviderMetadata;
}

/**
 * Reads the parts of one step of `fullStream`. At any time it gives what was received so far, also after an abort or an error. Takes
 * the parts of a stream in their order and constant time each.
 *
 * @example
 * const reader = new StepReader();
 * for await (const part of result.fullStream) reader.take(part);
 * const { content, stopReason, usage } = reader.read();
 */
export class StepReader {
  readonly #parts: (StepPart | GrowingPart)[] = [];
  readonly #growing = new Map<string, GrowingPart>();
  readonly #callIds = new Set<string>();
  readonly #invalidCalls = new Set<string>();
  #usage: Usage | undefined;
  #model: string | undefined;
  #stopReason: string | undefined;
  #error: unknown;

  /** Takes the next part. Parts of unknown types are ignored. */
  take(part: AiSdkStreamPart): void {
    if (!isStreamPart(part)) return;
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#start(part);
        break;
      case "text-delta":
      case "text-end":
        this.#grow("text", part.id, "text" in part ? part.text : "", part.providerMetadata);
        break;
      case "reasoning-delta":
      case "reasoning-end":
        this.#grow("reasoning", part.id, "text" in part ? part.text : "", part.providerMetadata);
        break;
      case "tool-call":
        this.#takeCall(part);
        break;
      case "file":
      case "source":
      case "custom":
      case "reasoning-file":
      case "tool-result":
      case "tool-error":
      case "tool-approval-request":
        this.#parts.push(part);
        break;
      case "finish-step":
        this.#finish(part);
        break;
      case "abort":
        this.stop();
        break;
      case "error":
        this.fail(part.error);
    }
  }

  /** Records an error. Only the first one is kept, and none after an abort. */
  fail(error: unknown): void {
    if (isCut(this.#stopReason)) return;
    this.#stopReason = "error";
    this.#error = error;
  }

  /** Records an abort. A complete reply stays complete; an error is a consequence of the abort. */
  stop(): void {
    if (this.#stopReason !== undefined && this.#stopReason !== "error") return;
    this.#stopReason = "aborted";
    this.#error = undefined;
  }

  /** The step so far. Without a final part its stop reason is `error`. */
  read(): StepRead {
    const stopReason = this.#stopReason ?? "error";
    const content = replyBlocks(this.#parts);
    const kept = isCut(stopReason) ? content.filter((block) => this.#isComplete(block)) : content;
    return {
      content: kept,
      calls: callsOf(kept),
      invalidCalls: this.#invalidCalls,
      usage: this.#usage,
      model: this.#model,
      stopReason,
      error: this.#stopReason === undefined ? CONNECTION_ENDED : this.#error,
    };
  }

  /** True if a block of an interrupted step is complete enough for a request. */
  #isComplete(block: AssistantBlock): boolean {
    return block.type === "toolCall" ? !this.#invalidCalls.has(block.id) : block.type !== "text" || block.text !== "";
  }

  /**
   * The entries of the step: what was received; of an interrupted one also a result for each call, so that none stays open. A call of a
   * complete step waits for its approval, or for the page that runs it. None if nothing was received.
   */
  entries(names: { readonly provider: string | undefined; readonly model: string | undefined }): EntryInput[] {
    const { content, calls, usage, model = names.model, stopReason, error } = this.read();
    if (content.length === 0) return [];
    const fields = {
      provider: providerOf(names.provider, content),
      model,
      stopReason,
      ...(stopReason === "error" ? { errorMessage: messageOf(error) } : {}),
    };
    return [...replyEntries(content, fields, usage), ...this.results(), ...(isCut(stopReason) ? this.#closed(calls, stopReason) : [])];
  }

  #closed(calls: readonly ToolCallBlock[], stopReason: string): EntryInput[] {
    const answered = new Set(this.#parts.flatMap((part) => ("toolCallId" in part && part.type !== "tool-call" ? [part.toolCallId] : [])));
    const why = stopReason === "aborted" ? "The turn was aborted before this call ended." : "The turn failed before this call ended.";
    const open = calls.filter(({ id }) => !answered.has(id));
    return open.map(({ id, name }) => toolResult(id, why, { toolName: name, isError: true }));
  }

  /** The entries of the results that were received. */
  results(): EntryInput[] {
    return resultEntries(this.#parts);
  }

  /** Some providers say what they need back where a part begins. */
  #start({ type, id, providerMetadata }: Extract<StreamPart, { type: "text-start" | "reasoning-start" }>): void {
    const kind = type === "text-start" ? "text" : "reasoning";
    if (providerMetadata !== undefined) this.#begin(kind, `${kind} ${id}`).providerMetadata = providerMetadata;
  }

  /** Adds to a part. What a provider says of a part may come after the next one has begun. */
  #grow(type: GrowingPart["type"], id: string, delta: string, metadata: ProviderMetadata | undefined): void {
    if (delta === "" && metadata === undefined) return;
    const key = `${type} ${id}`;
    const known = this.#growing.get(key);
    // Some servers use one id for all texts; a part of another kind in between begins a new one.
    const isCurrent = known !== undefined && (delta === "" || this.#parts.at(-1) === known);
    const part = isCurrent ? known : this.#begin(type, key);
    part.text += delta;
    if (metadata !== undefined) part.providerMetadata = { ...part.providerMetadata, ...metadata };
  }

  #begin(type: GrowingPart["type"], key: string): GrowingPart {
    const part: GrowingPart = { type, text: "" };
    this.#growing.set(key, part);
    this.#parts.push(part);
    return part;
  }

  /** Some servers send the same id for every call, or none. Ids must be unique to pair results with calls. */
  #takeCall(call: Extract<StreamPart, { type: "tool-call" }>): void {
    const given = call.toolCallId;
    const id = given !== "" && !this.#callIds.has(given) ? given : `${given === "" ? "call" : given}-${this.#parts.length + 1}`;
    this.#callIds.add(id);
    if (!isObject(call.input) || call.invalid === true) this.#invalidCalls.add(id);
    this.#parts.push({ ...call, toolCallId: id });
  }

  #finish(part: Extract<StreamPart, { type: "finish-step" }>): void {
    this.#model = part.response.modelId;
    this.#usage = normalizeUsage(part.usage);
    if (isCut(this.#stopReason)) return;
    const end = readStopReason(part.finishReason, part.rawFinishReason);
    if (end === "overflow") this.fail(part.rawFinishReason);
    else if (end !== undefined) this.#stopReason = end;
    if (this.#stopReason === "error" && this.#error === undefined) this.#error = "the model ended its answer with an error";
  }
}

/** True if a step did not come to its end. */
function isCut(stopReason: string | undefined): boolean {
  return stopReason === "error" || stopReason === "aborted";
}
