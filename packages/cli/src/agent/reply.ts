import { CONNECTION_ENDED, readFinishStep } from "@bough/compaction/internals";
import type { AssistantMessage, ToolCallBlock, Usage } from "@bough/session-core";
import type { FinishReason, TextStreamPart, ToolSet } from "ai";

type Part = TextStreamPart<ToolSet>;
type Block = AssistantMessage["content"][number];

/** Why a reply ended; stored as `stopReason`. */
type StopReason = "stop" | "length" | "toolUse" | "contentFilter" | "aborted" | "error";

/** Error messages for the model about calls with invalid arguments, by the id of the call. */
export type UnparsableCalls = ReadonlyMap<string, string>;

/** A reply, complete or interrupted. */
export interface Reply {
  /** Text, thinking and call blocks, ordered by their start. */
  readonly content: readonly Block[];
  readonly calls: readonly ToolCallBlock[];
  readonly unparsableCalls: UnparsableCalls;
  readonly usage: Usage | undefined;
  /** The name of the model in the response. */
  readonly model: string | undefined;
  readonly stopReason: StopReason;
  /** The error, if `stopReason` is `error`. */
  readonly error: unknown;
}

/** Receives the deltas of a reply. */
export interface ReplyListener {
  readonly text: (delta: string) => void;
  readonly thinking: (delta: string) => void;
}

const STOP_REASONS: Readonly<Record<FinishReason, StopReason>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "toolUse",
  "content-filter": "contentFilter",
  error: "error",
  other: "stop",
};

/** A text or thinking block that is being received. */
interface OpenBlock {
  readonly kind: "text" | "thinking";
  readonly pieces: string[];
  signature: string | undefined;
  redacted: boolean;
}

/** Builds a reply from the parts of a stream and passes its deltas to a listener. */
export class ReplyBuilder {
  readonly #blocks: (OpenBlock | ToolCallBlock)[] = [];
  readonly #open = new Map<string, OpenBlock>();
  readonly #unparsableCalls = new Map<string, string>();
  readonly #listener: ReplyListener;
  #usage: Usage | undefined;
  #model: string | undefined;
  #stopReason: StopReason | undefined;
  #error: unknown;

  constructor(listener: ReplyListener) {
    this.#listener = listener;
  }

  take(part: Part): void {
    switch (part.type) {
      case "text-delta":
        this.#grow("text", part.id, part.text);
        return;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#think(part);
        return;
      case "tool-call":
        this.#call(part);
        return;
      case "finish-step":
        this.#finish(part);
        return;
      case "abort":
        this.#stopReason = "aborted";
        return;
      case "error":
        this.fail(part.error);
        return;
      default:
        return;
    }
  }

  /** Records an error of the stream. Only the first one is kept. */
  fail(error: unknown): void {
    if (this.#stopReason === "error" || this.#stopReason === "aborted") return;
    this.#stopReason = "error";
    this.#error = error;
  }

  /** Records an abort. A complete reply stays complete; an error of the stream is a consequence of the abort. */
  stop(): void {
    if (this.#stopReason !== undefined && this.#stopReason !== "error") return;
    this.#stopReason = "aborted";
    this.#error = undefined;
  }

  /** The reply so far. Without a final part of the stream its stop reason is `error`. */
  reply(): Reply {
    const stopReason = this.#stopReason ?? "error";
    const error = this.#stopReason === undefined ? CONNECTION_ENDED : this.#error;
    const isInterrupted = stopReason === "error" || stopReason === "aborted";
    const content = this.#blocks.map(finished).filter((block): block is Block => block !== undefined);
    // The arguments of an interrupted call are incomplete.
    const kept = content.filter((block) => !(isInterrupted && block.type === "toolCall" && this.#unparsableCalls.has(block.id)));
    const calls = kept.filter((block): block is ToolCallBlock => block.type === "toolCall");
    return { content: kept, calls, unparsableCalls: this.#unparsableCalls, usage: this.#usage, model: this.#model, stopReason, error };
  }

  #grow(kind: OpenBlock["kind"], id: string, delta: string): OpenBlock {
    const key = `${kind} ${id}`;
    const known = this.#open.get(key);
    // Some servers use one id for all texts; a block of another kind in between starts a new block.
    const block = known !== undefined && this.#blocks.at(-1) === known ? known : this.#begin(kind, key);
    block.pieces.push(delta);
    if (delta !== "") this.#listener[kind](delta);
    return block;
  }

  #begin(kind: OpenBlock["kind"], key: string): OpenBlock {
    const block: OpenBlock = { kind, pieces: [], signature: undefined, redacted: false };
    this.#open.set(key, block);
    this.#blocks.push(block);
    return block;
  }

  #think(part: Extract<Part, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>): void {
    const metadata = part.providerMetadata?.["anthropic"];
    const [signature, redacted] = [metadata?.["signature"], metadata?.["redactedData"]];
    const delta = part.type === "reasoning-delta" ? part.text : "";
    if (delta === "" && typeof signature !== "string" && typeof redacted !== "string") return;
    // A signature may arrive after the next block has started.
    const known = this.#open.get(`thinking ${part.id}`);
    const block = delta === "" && known !== undefined ? known : this.#grow("thinking", part.id, delta);
    if (typeof signature === "string") block.signature = signature;
    if (typeof redacted === "string") Object.assign(block, { signature: redacted, redacted: true });
  }

  #call(part: Extract<Part, { type: "tool-call" }>): void {
    const input: unknown = part.input;
    const isParsed = isObject(input);
    const id = this.#ownId(part.toolCallId);
    this.#blocks.push({
      type: "toolCall",
      id,
      name: part.toolName,
      arguments: isParsed ? input : { unreadable: typeof input === "string" ? input : JSON.stringify(input ?? null) },
    });
    if (!isParsed) this.#unparsableCalls.set(id, "The arguments are not a JSON object. Call again with valid JSON.");
  }

  /** Some servers send the same id for every call, or none. Ids must be unique to pair results with calls. */
  #ownId(given: string): string {
    const taken = new Set(this.#blocks.map((block) => ("type" in block ? block.id : "")));
    if (given !== "" && !taken.has(given)) return given;
    return `${given === "" ? "call" : given}-${this.#blocks.length + 1}`;
  }

  #finish(part: Extract<Part, { type: "finish-step" }>): void {
    const { model, usage, end } = readFinishStep(part);
    this.#model = model;
    this.#usage = usage;
    if (this.#stopReason === "error" || this.#stopReason === "aborted") return;
    if (end === "overflow") this.fail(part.rawFinishReason);
    else if (end !== undefined) this.#stopReason = STOP_REASONS[end];
    if (this.#stopReason === "error" && this.#error === undefined) this.#error = "the model ended its answer with an error";
  }
}

function finished(block: OpenBlock | ToolCallBlock): Block | undefined {
  if ("type" in block) return block;
  const text = block.pieces.join("");
  if (block.kind === "text") return text === "" ? undefined : { type: "text", text };
  if (text === "" && block.signature === undefined) return undefined;
  return {
    type: "thinking",
    thinking: text,
    ...(block.signature === undefined ? {} : { thinkingSignature: block.signature }),
    ...(block.redacted ? { redacted: true } : {}),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
