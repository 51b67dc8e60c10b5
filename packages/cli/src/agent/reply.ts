import { type AiSdkStreamPart, StepReader } from "@bough/adapters/ai-sdk";
import type { AssistantBlock, ToolCallBlock, Usage } from "@bough/session-core";
import type { TextStreamPart, ToolSet } from "ai";

/** Error messages for the model about calls with invalid arguments, by the id of the call. */
export type UnparsableCalls = ReadonlyMap<string, string>;

/** A reply, complete or interrupted. */
export interface Reply {
  /** Text, thinking and call blocks, ordered by their start. */
  readonly content: readonly AssistantBlock[];
  readonly calls: readonly ToolCallBlock[];
  readonly unparsableCalls: UnparsableCalls;
  readonly usage: Usage | undefined;
  /** The name of the model in the response. */
  readonly model: string | undefined;
  /** Why it ended; stored as it is. */
  readonly stopReason: string;
  /** The error, if `stopReason` is `error`. */
  readonly error: unknown;
}

/** A request that failed before any answer and is sent again. */
export interface Retry {
  readonly error: unknown;
  /** The number of the coming attempt, from 2, and how many there are. */
  readonly attempt: number;
  readonly attempts: number;
  /** The delay before it; 0: it is sent now. */
  readonly waitMs: number;
}

/** Receives the deltas of a reply. */
export interface ReplyListener {
  readonly text: (delta: string) => void;
  readonly thinking: (delta: string) => void;
  /** Called before the delay and after it. */
  readonly retry: (retry: Retry) => void;
}

const UNPARSABLE = "The arguments are not a JSON object. Call again with valid JSON.";

/** Builds a reply from the parts of a stream and passes its deltas to a listener. */
export class ReplyBuilder {
  readonly #reader = new StepReader();
  readonly #listener: ReplyListener;

  constructor(listener: ReplyListener) {
    this.#listener = listener;
  }

  take(part: TextStreamPart<ToolSet> & AiSdkStreamPart): void {
    this.#reader.take(part);
    if (part.type === "text-delta" && part.text !== "") this.#listener.text(part.text);
    else if (part.type === "reasoning-delta" && part.text !== "") this.#listener.thinking(part.text);
  }

  /** Records an error of the stream. Only the first one is kept. */
  fail(error: unknown): void {
    this.#reader.fail(error);
  }

  /** Records an abort. A complete reply stays complete; an error of the stream is a consequence of the abort. */
  stop(): void {
    this.#reader.stop();
  }

  /** The reply so far. Without a final part of the stream its stop reason is `error`. */
  reply(): Reply {
    const { usage, invalidCalls, ...read } = this.#reader.read();
    // A call of a tool that does not exist has arguments; `runCalls` answers it.
    const unparsable = read.calls.filter((call) => invalidCalls.has(call.id) && "unreadable" in call.arguments);
    return {
      ...read,
      usage: usage !== undefined && Object.keys(usage).length > 0 ? usage : undefined,
      unparsableCalls: new Map(unparsable.map(({ id }) => [id, UNPARSABLE])),
    };
  }
}
