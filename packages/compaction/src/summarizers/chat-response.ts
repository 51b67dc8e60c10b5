import type { Usage } from "@bough/session-core";
import { z } from "zod";
import { SummarizerCallError } from "../errors/summarizer-errors.js";
import { toCallError } from "./call-failure.js";
import { CONNECTION_ENDED, type ModelReply, type ReplyEnd } from "./reply.js";
import { readReplyEnd, readReplyUsage } from "./reply-data.js";

const usage = z.record(z.string(), z.unknown()).nullish().catch(undefined);

// Mistral's reasoning models return parts; only the text parts are the reply.
const textContent = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).transform(textOfParts)])
  .nullish();

const message = z
  .looseObject({
    content: textContent,
    refusal: z.string().nullish(),
    tool_calls: z.array(z.unknown()).nullish(),
    function_call: z.unknown().optional(),
  })
  .nullish();

/** One chunk of a stream, or a whole completion: they differ only in `delta` and `message`. */
const completion = z.looseObject({
  error: z.unknown().optional(),
  model: z.string().nullish().catch(undefined),
  usage,
  choices: z
    .array(z.looseObject({ delta: message, message, finish_reason: z.string().nullish() }))
    .nullish()
    .transform((given) => given ?? []),
});

function textOfParts(parts: readonly { readonly type: string; readonly text?: string | undefined }[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("");
}

/** Collects the chunks of one response. */
export class ChatResponse {
  readonly #pieces: string[] = [];
  #end: ReplyEnd | undefined;
  #callsTool = false;
  #refuses = false;
  usage: Usage | undefined;
  model: string | undefined;

  /**
   * Adds one JSON text: a chunk or a whole completion. @returns the new text.
   *
   * @throws {SummarizerCallError} it is not a chat completion, or it reports a failure in the middle of the response.
   */
  add(json: string, secrets: readonly string[]): string {
    const chunk = completion.safeParse(parsed(json));
    if (!chunk.success) throw new SummarizerCallError("network", "the server's response is not a chat completion");
    const { error, choices } = chunk.data;
    if (error !== undefined && error !== null) throw toCallError(typeof error === "object" ? error : new Error(String(error)), { secrets });
    this.usage = readReplyUsage(chunk.data.usage) ?? this.usage;
    this.model = chunk.data.model ?? this.model;
    return choices
      .slice(0, 1)
      .map((choice) => this.#takeChoice(choice))
      .join("");
  }

  #takeChoice({ delta, message, finish_reason }: z.output<typeof completion>["choices"][number]): string {
    const part = delta ?? message;
    if ((part?.tool_calls?.length ?? 0) > 0 || (part?.function_call ?? undefined) !== undefined) this.#callsTool = true;
    if ((part?.refusal ?? "") !== "") this.#refuses = true;
    // z.ai reports an overflow as the finish reason.
    if (finish_reason === "model_context_window_exceeded") throw new SummarizerCallError("overflow", finish_reason);
    if (typeof finish_reason === "string" && finish_reason !== "") this.#end = readReplyEnd(finish_reason);
    const piece = part?.content ?? "";
    this.#pieces.push(piece);
    return piece;
  }

  /** Marks the end of a response without a finish reason. */
  finish(): void {
    this.#end ??= "unknown";
  }

  /** The whole reply. @throws {SummarizerCallError} the connection ended before the response did. */
  toReply(): ModelReply {
    if (this.#end === undefined) throw new SummarizerCallError("network", CONNECTION_ENDED);
    return { text: this.#pieces.join(""), end: this.#end, callsTool: this.#callsTool, refuses: this.#refuses };
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Not JSON; the schema rejects it.
    return undefined;
  }
}
