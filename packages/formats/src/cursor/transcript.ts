import type { SessionId } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import {
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  toContentBlock,
  toReplyBlocks,
} from "@bough/session-core/wire";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import type { SourceLine } from "../source/json-lines.js";
import { foreignPayload, messagePayload, resultPayload } from "../source/payloads.js";
import type { LogConversation } from "../source/record-log.js";
import { userMessages } from "./user-text.js";

/**
 * A transcript of a Cursor agent: a message a line, without ids and times, usually without the results of tools. Ids are derived from the
 * session and the line. Times are those in the prompts, else the time at which the file was changed.
 */
export class TranscriptConversation implements LogConversation {
  readonly isPending = false;
  readonly #chain: EntryChain;
  readonly #sessionId: SessionId;
  readonly #changedAtMs: number;
  #sentAtMs: number | undefined;
  /** The calls without a result, oldest first: results name no call. */
  #openCalls: readonly JsonObject[];

  constructor(sessionId: SessionId, changedAtMs: number, state: JsonObject | undefined) {
    this.#chain = new EntryChain(sessionId, changedAtMs, state);
    this.#sessionId = sessionId;
    this.#changedAtMs = changedAtMs;
    this.#sentAtMs = numberAt(state ?? {}, "sentAtMs");
    this.#openCalls = objectsAt(state ?? {}, "openCalls");
  }

  get state(): JsonObject {
    return { ...this.#chain.state, openCalls: this.#openCalls, sentAtMs: this.#sentAtMs ?? null };
  }

  *finish(): Generator<SourceRecord, void, void> {}

  *read(record: JsonObject, { number: line }: SourceLine): Generator<SourceRecord, void, void> {
    const payloads = this.#payloads(record, line);
    if (payloads.length === 0) yield { kind: "merged", line };
    const createdAtMs = this.#sentAtMs ?? this.#changedAtMs;
    for (const [part, payload] of payloads.entries()) yield this.#chain.add({ line, part, createdAtMs, payload });
  }

  #payloads(record: JsonObject, line: number): readonly JsonObject[] {
    const content = objectAt(record, "message")?.content;
    const isMessage = typeof content === "string" || Array.isArray(content);
    if (record.role === "user" && isMessage) return this.#user(content, line);
    if (record.role === "assistant" && isMessage) return this.#reply(content, line);
    if (record.type === "turn_ended" && record.status === "success" && Object.keys(record).length === 2) return [];
    return [foreignPayload(record, stringAt(record, "type") ?? stringAt(record, "role"))];
  }

  #user(content: unknown, line: number): readonly JsonObject[] {
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
    const results = blocks.filter(isResult).map((block, at) => this.#result(block, line, at));
    const others = blocks.filter((block) => !isResult(block)).map(toContentBlock);
    if (results.length > 0 && others.length === 0) return results;
    const messages = userMessages(others, (sentAtMs) => (this.#sentAtMs = sentAtMs ?? this.#sentAtMs));
    return [...results, ...messages.map(messagePayload)];
  }

  #reply(content: unknown, line: number): readonly JsonObject[] {
    const given: readonly unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
    const calls: JsonObject[] = [];
    const blocks = given.map((block, at) => {
      if (!isObject(block) || block.type !== "tool_use" || typeof block.name !== "string") return block;
      const id = stringAt(block, "id") ?? derivedId(this.#sessionId, line, "call", at);
      calls.push({ id, name: block.name });
      return { ...block, id };
    });
    const results = blocks.filter(isResult);
    const reply = messagePayload({ role: "assistant", content: toReplyBlocks(blocks.filter((block) => !isResult(block))) });
    this.#openCalls = calls.length > 0 ? calls : this.#openCalls;
    return [reply, ...results.map((block, at) => this.#result(block, line, at))];
  }

  #result(block: JsonObject, line: number, at: number): JsonObject {
    const id = stringAt(block, "tool_use_id");
    const call = this.#openCalls.find((one) => id === undefined || one.id === id);
    this.#openCalls = this.#openCalls.filter((one) => one !== call);
    return resultPayload({
      toolCallId: id ?? (call && stringAt(call, "id")) ?? derivedId(this.#sessionId, line, "result", at),
      toolName: call && stringAt(call, "name"),
      content: typeof block.content === "string" ? block.content : toBlocks(block.content),
      isError: block.is_error === true,
    });
  }
}

function toBlocks(content: unknown): readonly JsonObject[] {
  if (content === undefined || content === null) return [];
  return (Array.isArray(content) ? content : [content]).map(toContentBlock);
}

function isResult(block: unknown): block is JsonObject {
  return isObject(block) && block.type === "tool_result";
}
