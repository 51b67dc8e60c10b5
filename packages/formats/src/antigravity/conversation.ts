import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import { type JsonObject, numberAt, objectAt, objectsAt, parseJson, parseTime, stringAt } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import type { SourceLine } from "../source/json-lines.js";
import {
  compactionPayload,
  foreignPayload,
  hiddenPayload,
  notePayload,
  replyPayload,
  resultPayload,
  textBlocks,
  thinkingBlocks,
  userPayload,
} from "../source/payloads.js";
import type { LogConversation } from "../source/record-log.js";

/** Steps that the program adds for the model, and steps that only say what happened. */
const HIDDEN = new Set<unknown>(["SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "CONVERSATION_HISTORY", "USER_RULES", "KNOWLEDGE_ARTIFACTS"]);
const NOTES = new Set<unknown>(["ERROR_MESSAGE", "TASK_BOUNDARY", "NOTIFY_USER", "FINISH"]);

/** The tags around what the user typed. Not a pattern: it takes cubic time if the closing tag is missing. */
const [OPEN_REQUEST, CLOSE_REQUEST] = ["<USER_REQUEST>", "</USER_REQUEST>"];
/** The name of the chosen model. The bounds keep the pattern linear. */
const SELECTION = /Model Selection` from .{0,200} to ([^\n\r\u2028\u2029<]{1,200})/;
const FAILED = /^(?:ERROR|FAILED|CANCELED|CANCELLED|INVALID)/i;

interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/** A prompt, by the number of its step: what is taken back is written again from there. */
interface Prompt {
  readonly step: number;
  readonly before: EntryId | null;
}

/** The steps of a conversation of Antigravity. Results name no call: they are those of the open calls, in their order. */
export class AntigravityConversation implements LogConversation {
  readonly isPending = false;
  readonly #chain: EntryChain;
  #model: string | undefined;
  /** The calls since the last prompt, and the number of those with a result. */
  #calls: OpenCall[];
  #answered = 0;
  /** Their steps grow. */
  readonly #prompts: Prompt[];
  #step: number;

  constructor(sessionId: SessionId, startMs: number, state: JsonObject = {}) {
    this.#chain = new EntryChain(sessionId, startMs, objectAt(state, "chain"));
    this.#model = stringAt(state, "model");
    this.#calls = objectsAt(state, "open").map((call) => ({ id: String(call.id), name: String(call.name) }));
    this.#prompts = objectsAt(state, "prompts").map((one) => ({
      step: numberAt(one, "step") ?? 0,
      before: stringAt(one, "before") ?? null,
    }));
    this.#step = numberAt(state, "step") ?? -1;
  }

  get state(): JsonObject {
    return {
      chain: this.#chain.state,
      model: this.#model,
      open: this.#calls.slice(this.#answered),
      prompts: [...this.#prompts],
      step: this.#step,
    };
  }

  *read(record: JsonObject, { number: line }: SourceLine): Generator<SourceRecord, void, void> {
    const createdAtMs = parseTime(record.created_at);
    const payloads = this.#payloads(record, line);
    for (const [part, payload] of payloads.entries()) yield this.#chain.add({ line, part, createdAtMs, payload });
    if (payloads.length === 0) yield { kind: "merged", line };
  }

  *finish(): Generator<SourceRecord, void, void> {}

  #payloads(record: JsonObject, line: number): readonly JsonObject[] {
    const { type } = record;
    const content = stringAt(record, "content") ?? "";
    if (type === "USER_INPUT") return this.#prompt(content, numberAt(record, "step_index"));
    this.#step = Math.max(this.#step, numberAt(record, "step_index") ?? 0);
    if (type === "CHECKPOINT") return content === "" ? [] : [compactionPayload({ summary: content })];
    if (HIDDEN.has(type)) return content === "" ? [] : [hiddenPayload(`antigravity.${String(type).toLowerCase()}`, content)];
    if (NOTES.has(type)) return [notePayload(`antigravity.${String(type).toLowerCase()}`, record)];
    if (typeof type !== "string") return [foreignPayload(record)];
    const calls = objectsAt(record, "tool_calls").map((call, at) => toCall(call, `call-${line}-${at}`));
    const reply =
      type === "PLANNER_RESPONSE" || calls.length > 0 ? this.#reply(record, calls, type === "PLANNER_RESPONSE" ? content : "") : [];
    return type === "PLANNER_RESPONSE" ? reply : [...reply, ...this.#result(record, type, content)];
  }

  #prompt(content: string, step = this.#step + 1): readonly JsonObject[] {
    const chosen = SELECTION.exec(content)?.[1]?.trimEnd();
    this.#model = chosen?.replace(/(?<=.)\.$/, "") || this.#model;
    let undone: Prompt | undefined;
    while ((this.#prompts.at(-1)?.step ?? Number.NEGATIVE_INFINITY) >= step) undone = this.#prompts.pop();
    if (undone !== undefined && step <= this.#step) this.#chain.moveTo(undone.before);
    this.#prompts.push({ step, before: this.#chain.leafId });
    this.#step = step;
    this.#calls = [];
    this.#answered = 0;
    const start = content.indexOf(OPEN_REQUEST);
    const end = start < 0 ? -1 : content.indexOf(CLOSE_REQUEST, start);
    if (end < 0) return [userPayload(content)];
    const request = content.slice(start + OPEN_REQUEST.length, end).trim();
    const added = (content.slice(0, start) + content.slice(end + CLOSE_REQUEST.length)).trim();
    return [userPayload(request), ...(added === "" ? [] : [hiddenPayload("antigravity.context", added)])];
  }

  #reply(record: JsonObject, calls: readonly JsonObject[], text: string): readonly JsonObject[] {
    for (const { id, name } of calls) this.#calls.push({ id: String(id), name: String(name) });
    const content = [...thinkingBlocks(stringAt(record, "thinking")), ...textBlocks(text), ...calls];
    return content.length === 0 ? [] : [replyPayload({ content, provider: "google", model: this.#model })];
  }

  #result(record: JsonObject, type: string, content: string): readonly JsonObject[] {
    const call = this.#calls[this.#answered];
    if (call === undefined) return content === "" ? [] : [hiddenPayload(`antigravity.${type.toLowerCase()}`, content)];
    this.#answered += 1;
    const isError = FAILED.test(stringAt(record, "status") ?? "");
    const details = Array.isArray(record.truncated_fields) ? { type, truncated_fields: record.truncated_fields } : { type };
    return [resultPayload({ toolCallId: call.id, toolName: call.name, content, isError, details })];
  }
}

/** A call. The values of its arguments are JSON texts. */
function toCall(call: JsonObject, id: string): JsonObject {
  const args = Object.entries(objectAt(call, "args") ?? {});
  const values = args.map(([name, value]) => [name, typeof value === "string" ? (parseJson(value) ?? value) : value]);
  return { type: "toolCall", id, name: stringAt(call, "name") ?? "unknown", arguments: Object.fromEntries(values) };
}
