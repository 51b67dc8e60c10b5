import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import {
  type EntryReference,
  isId,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  parseArguments,
  parseTime,
  stringAt,
  without,
} from "@bough/session-core/wire";
import { CallNames } from "../source/call-names.js";
import { derivedId } from "../source/derived-id.js";
import { EntryChain } from "../source/entry-chain.js";
import type { SourceLine } from "../source/json-lines.js";
import {
  compactionPayload,
  countsOf,
  foreignPayload,
  keptEntries,
  notePayload,
  replyPayload,
  resultPayload,
  toMediaContent,
  toText,
  userPayload,
} from "../source/payloads.js";
import type { LogConversation } from "../source/record-log.js";
import { listOf, push, removeWhile, type Stack, stackOf } from "../source/stack.js";

/** Updates that say what others do: lists for menus, the start of something whose end is another update. */
const REPEATED =
  /^(?:available_commands(?:_update)?|background_tasks|auto_compact_started|current_mode_update|session_info_update|usage_update|config_option_update)$/;

/** OpenAI's way of counting: the prompt includes the cached tokens. */
const USAGE = {
  input_tokens: "inputTokens",
  output_tokens: "outputTokens",
  total_tokens: "totalTokens",
  cached_tokens: "cachedReadTokens",
  cache_write_tokens: "cacheCreationTokens",
};

/** The line of an update, and the id of the entry that it begins: the same in a copy of the update, which a fork begins with. */
interface Place {
  readonly line: number;
  readonly createdAtMs: number | undefined;
  readonly id: string | undefined;
  readonly origin: EntryReference | undefined;
}

/** A piece of the conversation that later updates may complete. */
interface Pending {
  readonly role: "user" | "reply";
  /** The request of a reply, the number of a prompt: pieces with the same one belong together. */
  readonly key: unknown;
  readonly place: Place;
  readonly blocks: JsonObject[];
  readonly behind: (() => SourceRecord)[];
}

interface Prompt {
  readonly index: number;
  readonly before: EntryId | null;
  /** Its entry; empty until it is written. */
  readonly id: EntryId;
}

/**
 * A log of updates of the Agent Client Protocol (https://agentclientprotocol.com, `session/update`), as Grok Build keeps them: pieces of
 * messages, calls and their states. The usage is that of a turn, and becomes that of its last reply.
 */
export class AcpConversation implements LogConversation {
  readonly #sessionId: SessionId;
  readonly #chain: EntryChain;
  #model: string | undefined;
  /** Their indexes increase towards the top. */
  #prompts: Stack<Prompt>;
  /** The names of calls without a result. */
  readonly #names: CallNames;
  #pending: Pending | undefined;

  /** The file with the history that the last compaction left. */
  #checkpoint: string | undefined;
  readonly #readCheckpoint: (file: string) => JsonObject | undefined;

  /** `readCheckpoint` reads a file beside the log. */
  constructor({ sessionId, startMs, model, readCheckpoint = () => undefined }: AcpOptions, state: JsonObject = {}) {
    this.#sessionId = sessionId;
    this.#readCheckpoint = readCheckpoint;
    this.#checkpoint = stringAt(state, "checkpoint");
    this.#chain = new EntryChain(sessionId, startMs, objectAt(state, "chain"));
    this.#model = stringAt(state, "model") ?? model;
    this.#names = new CallNames(state.names);
    const prompts = objectsAt(state, "prompts").map((one) => ({
      index: numberAt(one, "index") ?? 0,
      before: stringAt(one, "before") ?? null,
      id: stringAt(one, "id") ?? "",
    }));
    this.#prompts = stackOf(prompts);
  }

  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  mayWait(): boolean {
    return true;
  }

  get state(): JsonObject {
    const [prompts, checkpoint, names] = [this.#prompts, this.#checkpoint, this.#names.snapshot()];
    return {
      chain: this.#chain.state,
      model: this.#model,
      // Built on access: most states are dropped unread.
      get prompts() {
        return listOf(prompts);
      },
      checkpoint,
      get names() {
        return names();
      },
    };
  }

  *read(record: JsonObject, { number: line }: SourceLine): Generator<SourceRecord, void, void> {
    const params = objectAt(record, "params") ?? {};
    const update = objectAt(params, "update");
    const meta = objectAt(params, "_meta") ?? {};
    const seconds = numberAt(record, "timestamp");
    const createdAtMs =
      numberAt(meta, "agentTimestampMs") ?? (seconds === undefined ? parseTime(record.timestamp) : Math.round(seconds * 1000));
    const place = { line, createdAtMs, ...this.#identity(stringAt(meta, "eventId"), createdAtMs) };
    const kind = stringAt(update ?? {}, "sessionUpdate");
    if (update === undefined || kind === undefined) return yield* this.#behind(() => this.#add(place, foreignPayload(record, "update")));
    switch (kind) {
      case "user_message_chunk":
        return yield* this.#prompt(update, place);
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return yield* this.#chunk(update, kind === "agent_thought_chunk", meta, place);
      case "tool_call":
        return yield* this.#call(update, meta, place);
      case "tool_call_update":
        return yield* this.#callUpdate(update, place);
      case "turn_completed":
        yield* this.#end(update);
        return yield { kind: "merged", line };
      case "rewind_marker":
        yield* this.#end();
        this.#rewind(numberAt(update, "target_prompt_index"));
        return yield { kind: "merged", line };
      case "compaction_checkpoint":
        this.#checkpoint = stringAt(update, "checkpoint_file");
        return yield { kind: "merged", line };
      case "auto_compact_completed":
        yield* this.#end();
        return yield this.#add(place, this.#compaction(update));
    }
    if (REPEATED.test(kind)) yield { kind: "merged", line };
    else yield* this.#behind(() => this.#add(place, notePayload(`grok.${kind}`, without(update, ["sessionUpdate"]))));
  }

  *finish(): Generator<SourceRecord, void, void> {
    yield* this.#end();
    yield* this.#chain.movedLeaf();
  }

  /** An event is named after the session in which it happened. */
  #identity(event: string | undefined, createdAtMs = 0): Pick<Place, "id" | "origin"> {
    if (event === undefined) return { id: undefined, origin: undefined };
    const id = derivedId("grok", event, createdAtMs);
    const sessionId = event.replace(/-\d+$/, "");
    return { id, origin: sessionId === this.#sessionId || !isId(sessionId) ? undefined : { sessionId, entryId: id } };
  }

  #add(place: Place, payload: JsonObject): SourceRecord {
    return this.#chain.add({ ...place, payload });
  }

  *#behind(entry: () => SourceRecord): Generator<SourceRecord, void, void> {
    if (this.#pending === undefined) yield entry();
    else this.#pending.behind.push(entry);
  }

  /** The piece to which an update belongs; a new one if it is of another message. */
  *#open(role: Pending["role"], key: unknown, place: Place): Generator<SourceRecord, Pending, void> {
    const known = this.#pending;
    if (known !== undefined && known.role === role && known.key === key) return known;
    yield* this.#end();
    const opened = { role, key, place, blocks: [], behind: [] };
    this.#pending = opened;
    return opened;
  }

  *#prompt(update: JsonObject, place: Place): Generator<SourceRecord, void, void> {
    const meta = objectAt(update, "_meta") ?? {};
    // A command of the program, which no model reads.
    if (meta.hostTurn === true) {
      yield* this.#end();
      return yield this.#add(place, notePayload("grok.command", update.content));
    }
    const index = numberAt(meta, "promptIndex");
    const isNew = this.#pending?.role !== "user" || this.#pending.key !== index;
    const pending = yield* this.#open("user", index, place);
    if (isNew) this.#startPrompt(index);
    else yield { kind: "merged", line: place.line };
    this.#model = stringAt(meta, "modelId") ?? this.#model;
    pending.blocks.push(...blocksOf(update.content));
  }

  /** A prompt whose number was used before replaces that one and what follows it. */
  #startPrompt(index: number | undefined): void {
    if (index === undefined) return;
    this.#rewind(index);
    this.#prompts = push(this.#prompts, { index, before: this.#chain.leafId, id: "" });
  }

  /** Goes back to the state before a prompt; nothing if it was not written. */
  #rewind(index = Number.POSITIVE_INFINITY): void {
    const { removed: undone, rest } = removeWhile(this.#prompts, (prompt) => prompt.index >= index);
    if (undone !== undefined) this.#chain.moveTo(undone.before);
    this.#prompts = rest;
  }

  *#chunk(update: JsonObject, isThought: boolean, meta: JsonObject, place: Place): Generator<SourceRecord, void, void> {
    const isNew = this.#pending;
    const pending = yield* this.#open("reply", this.#keyOf(meta), place);
    if (isNew === pending) yield { kind: "merged", line: place.line };
    const last = pending.blocks.at(-1);
    for (const block of blocksOf(update.content)) {
      const text = stringAt(block, "text");
      const name = isThought ? "thinking" : "text";
      if (text !== undefined && last?.type === name) Object.assign(last, { [name]: `${String(last[name])}${text}` });
      else pending.blocks.push(text !== undefined && isThought ? { type: "thinking", thinking: text } : { ...block });
    }
  }

  /** The request of a reply. Without a mark of it, a result ends a reply. */
  #keyOf(meta: JsonObject): unknown {
    const pending = this.#pending?.role === "reply" ? this.#pending : undefined;
    return (
      numberAt(meta, "streamStartMs") ?? (pending !== undefined && pending.behind.length === 0 ? pending.key : `${pending === undefined}`)
    );
  }

  *#call(update: JsonObject, meta: JsonObject, place: Place): Generator<SourceRecord, void, void> {
    const isNew = this.#pending;
    const pending = yield* this.#open("reply", this.#keyOf(meta), place);
    if (isNew === pending) yield { kind: "merged", line: place.line };
    const id = stringAt(update, "toolCallId") ?? `call-${place.line}`;
    const tool = toolOf(update);
    const name = stringAt(tool, "name") ?? stringAt(update, "title") ?? "unknown";
    this.#names.add(id, name);
    pending.blocks.push({ type: "toolCall", id, name, arguments: parseArguments(tool.input ?? update.rawInput) });
    if (hasEnded(update)) yield* this.#result(update, place);
  }

  *#callUpdate(update: JsonObject, place: Place): Generator<SourceRecord, void, void> {
    if (hasEnded(update)) return yield* this.#result(update, place);
    // Of a reply that is written already, nothing changes.
    const call = this.#pending?.blocks.find(({ type, id }) => type === "toolCall" && id === update.toolCallId);
    const { input } = toolOf(update);
    if (call !== undefined && isObject(input)) Object.assign(call, { arguments: input });
    yield { kind: "merged", line: place.line };
  }

  *#result(update: JsonObject, place: Place): Generator<SourceRecord, void, void> {
    const toolCallId = stringAt(update, "toolCallId") ?? "unknown";
    const output = objectAt(update, "rawOutput");
    const seen = stringAt(output ?? {}, "output_for_prompt");
    const parts = objectsAt(update, "content");
    const shown = parts.flatMap((part) => (part.type === "content" ? blocksOf(part.content) : []));
    const exitCode = numberAt(output ?? {}, "exit_code") ?? 0;
    const toolName = this.#names.take(toolCallId);
    const payload = resultPayload({
      toolCallId,
      toolName,
      content: seen ?? (shown.length > 0 ? shown : toText(update.rawOutput)),
      isError: update.status === "failed" || exitCode !== 0,
      details: detailsOf(output, parts),
    });
    yield* this.#behind(() => this.#add(place, payload));
  }

  /** A compaction: its summary is in the file of its checkpoint, with the prompts that stay before it. */
  #compaction(update: JsonObject): JsonObject {
    const history = readHistory(this.#checkpoint === undefined ? undefined : this.#readCheckpoint(this.#checkpoint));
    this.#checkpoint = undefined;
    const kept = listOf(this.#prompts, history.kept).flatMap(({ id }) => (id === "" ? [] : [id]));
    const counts = { tokensBefore: update.tokens_before, tokensAfter: update.tokens_after };
    const summary = history.summary || stringAt(update, "summary_preview") || "Grok Build compacted the conversation.";
    return {
      ...compactionPayload({ summary, kept: keptEntries(kept), ...counts }),
      grok: without(update, ["sessionUpdate", "summary_preview", "tokens_before", "tokens_after"]),
    };
  }

  /** Completes the message that is being written; `turn`: the end of the turn. */
  *#end(turn: JsonObject = {}): Generator<SourceRecord, void, void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending === undefined) return;
    const { role, place, blocks, behind } = pending;
    if (role === "user") {
      yield this.#add(place, userPayload(blocks));
      const prompt = this.#prompts;
      if (prompt?.top.id === "") this.#prompts = push(prompt.below, { ...prompt.top, id: this.#chain.leafId ?? "" });
    } else {
      const usage = usageOf(objectAt(turn, "usage"));
      const stopReason = blocks.some(({ type }) => type === "toolCall") ? "tool_calls" : stringAt(turn, "stop_reason");
      yield this.#add(place, replyPayload({ content: blocks, provider: "xai", model: this.#model, usage, stopReason }));
    }
    for (const entry of behind) yield entry();
  }
}

/** The text of the summary in the history that a compaction left, and the number of the user's prompts that it kept. */
function readHistory(checkpoint: JsonObject | undefined): { readonly summary: string | undefined; readonly kept: number } {
  const users = objectsAt(checkpoint ?? {}, "compacted_history").filter(({ type }) => type === "user");
  const texts = users
    .filter(({ synthetic_reason: reason }) => reason === "compaction_meta")
    .map(({ content }) =>
      blocksOf(content)
        .map((block) => stringAt(block, "text") ?? "")
        .join("\n"),
    );
  const summary = texts.findLast((text) => !text.startsWith("<user_info>"));
  return { summary, kept: users.filter(({ synthetic_reason: reason }) => reason === undefined || reason === null).length };
}

/** The facts of a session that its log does not say. */
interface AcpOptions {
  readonly sessionId: SessionId;
  readonly startMs: number;
  readonly model?: string | undefined;
  readonly readCheckpoint?: ((file: string) => JsonObject | undefined) | undefined;
}

function toolOf(update: JsonObject): JsonObject {
  return objectAt(objectAt(update, "_meta") ?? {}, "x.ai/tool") ?? {};
}

function hasEnded({ status }: JsonObject): boolean {
  return status === "completed" || status === "failed";
}

/** The blocks of a content of the protocol. */
function blocksOf(content: unknown): readonly JsonObject[] {
  const blocks = toMediaContent(Array.isArray(content) ? content : content === undefined ? [] : [content]);
  return typeof blocks === "string" ? [{ type: "text", text: blocks }] : blocks;
}

function usageOf(usage: JsonObject | undefined): JsonObject | undefined {
  const counts = countsOf(usage, USAGE);
  if (counts === undefined) return undefined;
  const { cached_tokens, cache_write_tokens, ...rest } = counts;
  const ticks = numberAt(usage ?? {}, "costUsdTicks");
  // A dollar has 10^10 ticks.
  return { ...rest, input_tokens_details: { cached_tokens, cache_write_tokens }, ...(ticks === undefined ? {} : { cost: ticks / 1e10 }) };
}

/** The output of a tool without its bytes and the texts that are the result; changes of files. */
function detailsOf(output: JsonObject | undefined, parts: readonly JsonObject[]): JsonObject {
  const changes = parts.filter(({ type }) => type === "diff");
  return { ...without(output ?? {}, ["output", "output_for_prompt"]), ...(changes.length === 0 ? {} : { changes }) };
}
