import { CONNECTION_ENDED, readFinishStep } from "@bough/compaction/internals";
import type { AssistantMessage, ToolCallBlock, Usage } from "@bough/session-core";
import type { FinishReason, TextStreamPart, ToolSet } from "ai";

type Part = TextStreamPart<ToolSet>;
type Block = AssistantMessage["content"][number];

/** How a reply ended, in the words that are stored as `stopReason`. */
export type ReplyEnd = "stop" | "length" | "toolUse" | "contentFilter" | "aborted" | "error";

/** A call whose arguments could not be read, by its id: what to tell the model. */
export type UnreadableCalls = ReadonlyMap<string, string>;

/** What came of a reply. */
export interface Reply {
  /** Texts, thoughts and calls in the order in which they began. */
  readonly content: readonly Block[];
  readonly calls: readonly ToolCallBlock[];
  readonly unreadable: UnreadableCalls;
  readonly usage: Usage | undefined;
  /** As the server named the model. */
  readonly model: string | undefined;
  readonly end: ReplyEnd;
  /** Why, where `end` is `error`. */
  readonly error: unknown;
}

/** What is heard while a reply comes. */
export interface ReplyListener {
  readonly text: (delta: string) => void;
  readonly thinking: (delta: string) => void;
}

const ENDS: Readonly<Record<FinishReason, ReplyEnd>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "toolUse",
  "content-filter": "contentFilter",
  error: "error",
  other: "stop",
};

/** A block that grows. */
interface Growing {
  readonly kind: "text" | "thinking";
  readonly pieces: string[];
  signature: string | undefined;
  redacted: boolean;
}

/** Builds a reply from the parts of a stream. Pure, but for what it tells its listener. */
export class ReplyBuilder {
  readonly #blocks: (Growing | ToolCallBlock)[] = [];
  readonly #open = new Map<string, Growing>();
  readonly #unreadable = new Map<string, string>();
  readonly #listener: ReplyListener;
  #usage: Usage | undefined;
  #model: string | undefined;
  #end: ReplyEnd | undefined;
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
        this.#end = "aborted";
        return;
      case "error":
        this.fail(part.error);
        return;
      default:
        return;
    }
  }

  /** The stream broke; the first reason counts. */
  fail(error: unknown): void {
    if (this.#end === "error" || this.#end === "aborted") return;
    this.#end = "error";
    this.#error = error;
  }

  /** Esc. A reply that was whole by then stays whole; a stream that broke did so because of it. */
  stop(): void {
    if (this.#end !== undefined && this.#end !== "error") return;
    this.#end = "aborted";
    this.#error = undefined;
  }

  /** What came so far. A stream that ended without saying so broke off. */
  reply(): Reply {
    const end = this.#end ?? "error";
    const error = this.#end === undefined ? CONNECTION_ENDED : this.#error;
    const isBroken = end === "error" || end === "aborted";
    const content = this.#blocks.map(finished).filter((block): block is Block => block !== undefined);
    // Of a call that broke off nobody knows what it was to be.
    const kept = content.filter((block) => !(isBroken && block.type === "toolCall" && this.#unreadable.has(block.id)));
    const calls = kept.filter((block): block is ToolCallBlock => block.type === "toolCall");
    return { content: kept, calls, unreadable: this.#unreadable, usage: this.#usage, model: this.#model, end, error };
  }

  #grow(kind: Growing["kind"], id: string, delta: string): Growing {
    const key = `${kind} ${id}`;
    const known = this.#open.get(key);
    // Servers use one id for all texts; after a call or a thought another block begins.
    const block = known !== undefined && this.#blocks.at(-1) === known ? known : this.#begin(kind, key);
    block.pieces.push(delta);
    if (delta !== "") this.#listener[kind](delta);
    return block;
  }

  #begin(kind: Growing["kind"], key: string): Growing {
    const block: Growing = { kind, pieces: [], signature: undefined, redacted: false };
    this.#open.set(key, block);
    this.#blocks.push(block);
    return block;
  }

  #think(part: Extract<Part, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>): void {
    const about = part.providerMetadata?.["anthropic"];
    const [signature, redacted] = [about?.["signature"], about?.["redactedData"]];
    const delta = part.type === "reasoning-delta" ? part.text : "";
    if (delta === "" && typeof signature !== "string" && typeof redacted !== "string") return;
    // A signature may come when its thought is over and something else has begun.
    const known = this.#open.get(`thinking ${part.id}`);
    const block = delta === "" && known !== undefined ? known : this.#grow("thinking", part.id, delta);
    if (typeof signature === "string") block.signature = signature;
    if (typeof redacted === "string") Object.assign(block, { signature: redacted, redacted: true });
  }

  #call(part: Extract<Part, { type: "tool-call" }>): void {
    const input: unknown = part.input;
    const isReadable = isObject(input);
    const id = this.#ownId(part.toolCallId);
    this.#blocks.push({
      type: "toolCall",
      id,
      name: part.toolName,
      arguments: isReadable ? input : { unreadable: typeof input === "string" ? input : JSON.stringify(input ?? null) },
    });
    if (!isReadable) this.#unreadable.set(id, "The arguments are not a JSON object. Call again with valid JSON.");
  }

  /** Small servers give every call the same id, or none; a result must find its call. */
  #ownId(given: string): string {
    const taken = new Set(this.#blocks.map((block) => ("type" in block ? block.id : "")));
    if (given !== "" && !taken.has(given)) return given;
    return `${given === "" ? "call" : given}-${this.#blocks.length + 1}`;
  }

  #finish(part: Extract<Part, { type: "finish-step" }>): void {
    const { model, usage, end } = readFinishStep(part);
    this.#model = model;
    this.#usage = usage;
    if (this.#end === "error" || this.#end === "aborted") return;
    if (end === "overflow") this.fail(part.rawFinishReason);
    else if (end !== undefined) this.#end = ENDS[end];
    if (this.#end === "error" && this.#error === undefined) this.#error = "the model ended its answer with an error";
  }
}

function finished(block: Growing | ToolCallBlock): Block | undefined {
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
