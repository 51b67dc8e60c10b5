import { hash } from "node:crypto";
import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceEntry, SourceRecord } from "@bough/session-core/engine";
import { isObject, type JsonObject, numberAt, objectAt, objectsAt, parseTime, stringAt } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import { foreignPayload, messagePayload, userPayload } from "../source/payloads.js";
import { Compactions } from "./compactions.js";
import {
  COPILOT_PROVIDER,
  isTyped,
  toCompactionPayload,
  toReplyPayload,
  toResultPayload,
  toShellPayload,
  toStoppedPayload,
  toUserPayload,
} from "./messages.js";

/** An event with its data. */
interface Part {
  readonly line: number;
  readonly event: JsonObject;
  readonly data: JsonObject;
}

/** Options of a conversation: the state from which it continues, and facts that are not in its events. */
interface ConversationOptions {
  /** The state of an earlier reading of the same conversation. */
  readonly state?: JsonObject | undefined;
  /** Reads the summary in the file of a checkpoint; undefined if there is none. */
  readonly readSummary?: (checkpoint: string) => string | undefined;
  /** True for the conversation of an agent: the text of the calling agent is its prompt. */
  readonly isAgent?: boolean;
}

/** The number of calls without a result that are remembered: a call that a crash cut off never gets one. */
const MOST_OPEN = 200;

/**
 * Converts the events of one conversation, in their order: of a session, of an agent, or of a transcript of VS Code. The events are a
 * log, in which `parentId` names the event before, so each entry is attached to the one before it. `/clear` starts a new first entry.
 *
 * Memory: the calls without a result, and the chunks of one reply.
 */
export class EventConversation {
  readonly #chain: EntryChain;
  readonly #options: ConversationOptions;
  /** The calls without a result: `id`, `name`, and `entryId` of the reply, or `args` of a tool that the user ran. */
  #calls: readonly JsonObject[];
  readonly #compactions: Compactions;
  #model: string | undefined;
  #effort: string | undefined;
  /** Digests of the last system message and of the last reply's thinking: both may be written again. */
  #system: string | undefined;
  #thought: string | undefined;
  /** Chunks of a reply whose later chunks have not come. */
  #chunks: readonly Part[] = [];
  /** Reasoning whose reply has not come. */
  #reasoning: Part | undefined;
  /** The usage of a request whose reply has not come. */
  #usage: Part | undefined;

  constructor(sessionId: SessionId, startMs: number, options: ConversationOptions = {}) {
    const { state = {} } = options;
    this.#chain = new EntryChain(sessionId, startMs, state);
    this.#options = options;
    this.#calls = objectsAt(state, "calls");
    this.#compactions = new Compactions(state);
    this.#model = stringAt(state, "model");
    this.#effort = stringAt(state, "effort");
    this.#system = stringAt(state, "system");
    this.#thought = stringAt(state, "thought");
  }

  /** The state from which a later reading continues, if nothing is pending. */
  get state(): JsonObject {
    const texts = { model: this.#model, effort: this.#effort, system: this.#system, thought: this.#thought };
    const known = Object.entries(texts).filter(([, text]) => text !== undefined);
    return { ...this.#chain.state, calls: this.#calls, ...this.#compactions.state, ...Object.fromEntries(known) };
  }

  /** True if the last events become one entry with later ones. */
  get isPending(): boolean {
    return this.#chunks.length > 0 || this.#reasoning !== undefined || this.#usage !== undefined;
  }

  /** The prompt of an agent, which none of its events has. */
  addPrompt(text: string, line: number, id: EntryId): SourceEntry {
    this.#compactions.add(id, "prompt", text.length);
    return this.#chain.add({ line, id, payload: userPayload(text) });
  }

  *read(event: JsonObject, line: number): Generator<SourceRecord, void, void> {
    const type = stringAt(event, "type") ?? "";
    const data = objectAt(event, "data");
    const part = { line, event, data: data ?? {} };
    if (data === undefined) {
      yield* this.finish();
      yield* this.#add(part, [toForeign(part)]);
    } else if (isRepeated(type, data)) {
      if (type === "tool.execution_start") this.#nameCall(data);
      yield { kind: "merged", line };
    } else if (type === "assistant.message" && isReply(data)) {
      yield* this.#readReply(part);
    } else if (type === "assistant.reasoning") {
      yield* this.#readReasoning(part);
    } else if (type === "session.usage_record" && isObject(data.usage)) {
      yield* this.#readUsage(part);
    } else {
      yield* this.finish();
      const payloads = this.#toPayloads(type, part);
      if (payloads.length === 0) yield { kind: "merged", line };
      yield* this.#add(part, payloads);
    }
  }

  /** Writes the pending events: a reply whose later chunks did not come, reasoning or a usage without a reply. */
  *finish(): Generator<SourceRecord, void, void> {
    const [reasoning, written, chunks] = [this.#reasoning, this.#usage, this.#chunks.map(({ data }) => data)];
    const usage = written !== undefined && chunks.some((data) => isOfRequest(data, written)) ? written : undefined;
    const parts = [reasoning, usage, ...this.#chunks].filter((part) => part !== undefined);
    const first = this.#chunks[0] ?? parts[0];
    this.#chunks = [];
    this.#reasoning = undefined;
    this.#usage = undefined;
    if (first !== undefined) {
      for (const { line } of parts) if (line !== first.line) yield { kind: "merged", line };
      const thinking = reasoning && stringAt(reasoning.data, "content");
      yield* this.#addReply(first, chunks, { thinking, model: this.#model, usage: usage && objectAt(usage.data, "usage") });
    }
    // A request that failed: no reply has its usage.
    if (written !== undefined && usage === undefined)
      yield* this.#add(written, [this.#toStopped(written, "usage", "The request has no reply.") ?? toForeign(written)]);
  }

  *#addReply(first: Part, chunks: readonly JsonObject[], about: Parameters<typeof toReplyPayload>[1]): Generator<SourceEntry, void, void> {
    const [entry] = this.#add(first, [toReplyPayload(chunks.length === 0 ? [{}] : chunks, about)]);
    if (entry === undefined) return;
    const texts = chunks.map((data) => stringAt(data, "reasoningText") ?? "").join("");
    this.#thought = texts === "" ? undefined : digest(texts);
    for (const { toolCallId, name } of chunks.flatMap((data) => objectsAt(data, "toolRequests")))
      this.#openCall(toolCallId, name, { entryId: entry.id });
    yield entry;
  }

  *#readReply(part: Part): Generator<SourceRecord, void, void> {
    const { data } = part;
    const before = this.#chunks.at(-1)?.data;
    if (before !== undefined && !isSameReply(before, data)) yield* this.finish();
    this.#chunks = [...this.#chunks, part];
    const count = numberAt(data, "chunkCount") ?? 1;
    if ((numberAt(data, "chunkIndex") ?? 0) + 1 >= count) yield* this.finish();
  }

  *#readReasoning(part: Part): Generator<SourceRecord, void, void> {
    const text = stringAt(part.data, "content");
    if (text !== undefined && digest(text) === this.#thought) {
      yield { kind: "merged", line: part.line };
      return;
    }
    // A usage alone waits for the same reply.
    if (text === undefined || this.#reasoning !== undefined || this.#chunks.length > 0) yield* this.finish();
    if (text === undefined) yield* this.#add(part, [toForeign(part)]);
    else this.#reasoning = part;
  }

  /** The usage of a request is written before its reply; the id of the request is in both. */
  *#readUsage(part: Part): Generator<SourceRecord, void, void> {
    if (this.#usage !== undefined || (this.#chunks.length > 0 && !this.#chunks.some(({ data }) => isOfRequest(data, part))))
      yield* this.finish();
    this.#usage = part;
  }

  /** Converts an event to payloads; empty: it has none of its own. */
  #toPayloads(type: string, part: Part): readonly JsonObject[] {
    const { data } = part;
    switch (type) {
      case "user.message":
        return [toUserPayload(data, this.#isPrompt(data)) ?? toForeign(part)];
      case "tool.execution_complete":
        return [this.#toResult(data) ?? toForeign(part)];
      case "tool.user_requested":
        this.#openCall(data.toolCallId, data.toolName, { args: data.arguments });
        return [toForeign(part)];
      case "session.start":
        return this.#toSettings(data, stringAt(data, "selectedModel"));
      case "session.model_change":
        return stringAt(data, "newModel") === undefined ? [toForeign(part)] : this.#toSettings(data, stringAt(data, "newModel"));
      case "session.resume":
        this.#compactions.restart();
        return [toForeign(part)];
      case "session.compaction_start":
        this.#compactions.start(stringAt(data, "compactionAttemptId"));
        return [toForeign(part)];
      case "session.compaction_complete":
        return [this.#toCompaction(data) ?? this.#toStopped(part, "compactionTokensUsed", failedCompaction(data)) ?? toForeign(part)];
      case "session.context_cleared":
        this.#chain.moveTo(null);
        this.#compactions.clear();
        this.#system = undefined;
        return [toForeign(part)];
      case "system.message":
        return this.#toSystem(data) ?? [toForeign(part)];
      case "system.notification":
        return [toNotification(data) ?? toForeign(part)];
    }
    return [toForeign(part)];
  }

  #isPrompt(data: JsonObject): boolean {
    return isTyped(data) || (this.#options.isAgent === true && stringAt(data, "source")?.startsWith("agent-") === true);
  }

  #toSettings(data: JsonObject, model: string | undefined): readonly JsonObject[] {
    const effort = stringAt(data, "reasoningEffort");
    const { newModel: _, ...rest } = data;
    const payloads: JsonObject[] = [];
    const more = "newModel" in data ? { copilot: rest } : {};
    if (model !== undefined && model !== this.#model)
      payloads.push({ type: "model_change", provider: COPILOT_PROVIDER, modelId: model, ...more });
    if (effort !== undefined && effort !== this.#effort) payloads.push({ type: "thinking_level_change", thinkingLevel: effort });
    this.#model = model ?? this.#model;
    this.#effort = effort ?? this.#effort;
    return payloads;
  }

  #toSystem({ content, ...rest }: JsonObject): readonly JsonObject[] | undefined {
    if (typeof content !== "string") return undefined;
    const own = digest(content);
    if (own === this.#system) return [];
    this.#system = own;
    return [{ ...messagePayload({ role: "system", content }), copilot: rest }];
  }

  #toResult(data: JsonObject): JsonObject | undefined {
    const call = this.#calls.find(({ id }) => id === data.toolCallId);
    this.#calls = this.#calls.filter((one) => one !== call);
    const entryId = call && stringAt(call, "entryId");
    // The results of one reply are kept together with it.
    if (entryId !== undefined) this.#compactions.keepReply(entryId);
    const args = call && objectAt(call, "args");
    const shell = args && toShellPayload(data, args);
    return shell ?? toResultPayload(data, call && stringAt(call, "name"));
  }

  #toCompaction(data: JsonObject): JsonObject | undefined {
    const kept = this.#compactions.end(stringAt(data, "compactionAttemptId"));
    if (data.success !== true) return undefined;
    const summary = stringAt(data, "summaryContent") || this.#options.readSummary?.(stringAt(data, "checkpointPath") ?? "");
    return summary === undefined ? undefined : toCompactionPayload(data, summary, kept);
  }

  #toStopped({ data }: Part, counts: string, errorMessage: string): JsonObject | undefined {
    return toStoppedPayload(data, objectAt(data, counts) ?? {}, errorMessage, this.#model);
  }

  *#add({ event, line }: Part, payloads: readonly JsonObject[]): Generator<SourceEntry, void, void> {
    const createdAtMs = parseTime(event.timestamp);
    for (const [part, payload] of payloads.entries()) {
      const entry = this.#chain.add({ line, id: stringAt(event, "id"), part, createdAtMs, payload });
      if (payload.type === "message") this.#rememberMessage(entry.id, objectAt(payload, "message") ?? {});
      yield entry;
    }
  }

  #rememberMessage(entryId: EntryId, message: JsonObject): void {
    const { role } = message;
    if (role === "system") return;
    const kind = role === "user" ? "prompt" : role === "assistant" ? "reply" : "other";
    this.#compactions.add(entryId, kind, kind === "prompt" ? textLength(message) : 0);
  }

  #openCall(id: unknown, name: unknown, more: JsonObject): void {
    if (typeof id === "string" && typeof name === "string") this.#calls = [...this.#calls, { id, name, ...more }].slice(-MOST_OPEN);
  }

  /** The name of a call that no reply has. */
  #nameCall({ toolCallId, toolName }: JsonObject): void {
    if (!this.#calls.some(({ id }) => id === toolCallId)) this.#openCall(toolCallId, toolName, {});
  }
}

/** True for events that repeat others, or whose facts are all in an entry. */
function isRepeated(type: string, data: JsonObject): boolean {
  switch (type) {
    case "assistant.turn_start":
    case "assistant.turn_end":
    case "tool.execution_start":
      return true;
    case "hook.start":
      return HOOKS_OF_TOOLS.has(data.hookType);
    case "hook.end":
      return HOOKS_OF_TOOLS.has(data.hookType) && data.success === true && data.output === undefined;
  }
  return false;
}

/** Their input is the call and its result. */
const HOOKS_OF_TOOLS = new Set<unknown>(["preToolUse", "postToolUse"]);

function failedCompaction({ error }: JsonObject): string {
  return typeof error === "string" && error !== "" ? `The compaction failed: ${error}` : "The compaction failed.";
}

/** True if the usage record is that of the reply with this data. Without the id of a request, the record before the reply is. */
function isOfRequest(reply: JsonObject, { data }: Part): boolean {
  const [own, recorded] = [stringAt(reply, "apiCallId"), stringAt(objectAt(data, "usage") ?? {}, "apiCallId")];
  return own === undefined || recorded === undefined || own === recorded;
}

function isSameReply(a: JsonObject, b: JsonObject): boolean {
  return ["apiCallId", "messageId"].some((name) => typeof a[name] === "string" && a[name] !== "" && a[name] === b[name]);
}

/** True if the members that become a reply have their types; some versions write null for a missing one. */
function isReply(data: JsonObject): boolean {
  const isMissing = (name: string) => data[name] === undefined || data[name] === null;
  const texts = ["content", "reasoningText", "reasoningOpaque", "model"];
  return (
    texts.every((name) => isMissing(name) || typeof data[name] === "string") &&
    (isMissing("toolRequests") || Array.isArray(data.toolRequests)) &&
    (isMissing("outputTokens") || typeof data.outputTokens === "number")
  );
}

function toNotification({ content, ...details }: JsonObject): JsonObject | undefined {
  if (typeof content !== "string") return undefined;
  return messagePayload({ role: "custom", customType: "copilot.notification", display: true, content, details });
}

/** The characters of the texts of a content. */
function textLength(message: JsonObject): number {
  if (typeof message.content === "string") return message.content.length;
  return objectsAt(message, "content").reduce((sum, block) => sum + (stringAt(block, "text")?.length ?? 0), 0);
}

function toForeign({ event }: Part): JsonObject {
  return foreignPayload(event);
}

function digest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 16);
}
