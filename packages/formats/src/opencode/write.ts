import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  Entry,
  EntryId,
  Message,
  SessionRecord,
  ToolResultMessage,
  Usage,
} from "@bough/session-core";
import { describeFile } from "@bough/session-core/view";
import {
  bashExecutionText,
  branchSummaryText,
  encodeBytes,
  isObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
  toIsoTime,
} from "@bough/session-core/wire";
import { type BranchPlan, planBranch } from "../source/branch-plan.js";
import { idOfEntry, timedId, writtenFrom } from "./written-ids.js";

/** A branch to write as a session file of opencode. */
export interface OpencodeExport {
  /** `parentSessionId`: the session that a new one continues. */
  readonly session: SessionRecord & { readonly parentSessionId?: string | null };
  /** The path from the first entry to the end of the branch. */
  readonly path: AsyncIterable<Entry>;
  /** The entries of the path, with its context edits applied. */
  readonly entries: AsyncIterable<Entry>;
  /** The time of the export, in milliseconds since 1970. The ids of all messages come before those of this time. */
  readonly nowMs: number;
}

/**
 * Yields the lines of a session file, without line breaks: what `opencode export` prints and `opencode import` takes. A message a line.
 *
 * Memory: a number and an id for each entry, and the messages from the last reply on.
 */
export async function* opencodeLines({ session, path, entries, nowMs }: OpencodeExport): AsyncGenerator<string, void, void> {
  const writer = new SessionFileWriter(session, await planBranch(path), nowMs);
  yield `{"info":${JSON.stringify(encodeBytes(writer.info, "entry"))},"messages":[`;
  let comma = "";
  for await (const entry of entries)
    for (const message of writer.write(entry)) {
      yield `${comma}${JSON.stringify(encodeBytes(message, "entry"))}`;
      comma = ",";
    }
  for (const message of writer.flush()) {
    yield `${comma}${JSON.stringify(encodeBytes(message, "entry"))}`;
    comma = ",";
  }
  yield "]}";
}

/** A message, as opencode exports it. Its members change while it is open. */
interface OpenMessage {
  readonly info: Record<string, unknown>;
  readonly parts: Record<string, unknown>[];
}

/** The version of a session that is not from opencode. */
const VERSION = "0.0.0";

/** The agent of opencode that is there without any settings. */
const AGENT = "build";

const NO_MODEL = { providerID: "unknown", modelID: "unknown" };

/** opencode's ids count 1/4096 of a millisecond. Those of a file are below its time by this much and more. */
const MOST_IDS = 1n << 30n;

class SessionFileWriter {
  readonly #session: OpencodeExport["session"];
  readonly #id: string;
  readonly #isOwn: boolean;
  #nextTime: bigint;
  readonly #keptFrom: ReadonlyMap<EntryId, number>;
  /** The messages so far, for the first one that a compaction keeps. */
  readonly #written: { readonly seq: number; readonly id: string }[] = [];
  /** The messages from the last reply on: it waits for its results, and prompts wait for the model that answers them. */
  #open: OpenMessage[] = [];
  /** The parts of the calls of the open reply, by the ids of the calls. */
  readonly #calls = new Map<string, Record<string, unknown>>();
  #promptId = "msg_0";
  #model = NO_MODEL;
  #lastMs: number;

  constructor(session: OpencodeExport["session"], { kept }: BranchPlan, nowMs: number) {
    this.#session = session;
    this.#keptFrom = new Map(kept.map(({ compaction, fromSeq }) => [compaction, fromSeq]));
    this.#id = session.id.startsWith("ses") ? session.id : `ses_${session.id}`;
    this.#isOwn = session.source?.format === "opencode";
    this.#nextTime = BigInt(Math.trunc(nowMs)) * 4096n - MOST_IDS;
    this.#lastMs = session.createdAtMs;
  }

  get info(): JsonObject {
    const { title, firstText, createdAtMs, activeAtMs, metadata, cwd, parentSessionId, id } = this.#session;
    const isNew = typeof parentSessionId === "string";
    const own = this.#isOwn ? metadata : {};
    const name = title === null && isNew ? (firstText ?? undefined) : undefined;
    return {
      id: this.#id,
      slug: (isNew ? undefined : stringAt(own, "slug")) ?? `bough-${this.#id.slice(-8).toLowerCase()}`,
      projectID: "global",
      directory: cwd ?? "",
      // A title of this form is none.
      title: title || name || `New session - ${toIsoTime(createdAtMs)}`,
      version: stringAt(own, "version") ?? VERSION,
      metadata: { ...objectAt(own, "metadata"), ...writtenFrom(isNew ? parentSessionId : id, name) },
      time: { created: createdAtMs, updated: Math.max(createdAtMs, activeAtMs) },
    };
  }

  *write(entry: Entry): Generator<OpenMessage, void, void> {
    // The messages of a session are in the order of their times.
    this.#lastMs = Math.max(this.#lastMs, entry.createdAtMs);
    switch (entry.type) {
      case "message":
        return yield* this.#message(entry, entry.message);
      case "custom_message":
        return this.#hidden(entry, entry.content);
      case "branch_summary":
        return this.#hidden(entry, branchSummaryText(entry.summary));
      case "compaction":
        return yield* this.#compaction(entry);
      case "model_change":
        this.#model = { providerID: entry.provider ?? NO_MODEL.providerID, modelID: entry.modelId };
        return;
      // Data of hosts and records of other programs.
      case "thinking_level_change":
      case "context_edit":
      case "custom":
      case "foreign":
        return;
    }
  }

  /** The open messages. They do not change any more. */
  *flush(): Generator<OpenMessage, void, void> {
    const open = this.#open;
    this.#open = [];
    this.#calls.clear();
    for (const { info, parts } of open) {
      if (info["role"] === "user") info["model"] ??= this.#model;
      yield { info, parts };
    }
  }

  *#message(entry: Entry, message: Message): Generator<OpenMessage, void, void> {
    switch (message.role) {
      case "system":
        return;
      case "user": {
        const { info, parts } = this.#begin(entry, "user", { agent: AGENT, ...this.#leftoverOf(entry) });
        parts.push(...this.#contentParts(info, message.content));
        return;
      }
      case "bashExecution":
        return message.excludeFromContext === true ? undefined : this.#hidden(entry, bashExecutionText(message));
      case "custom":
        return this.#hidden(entry, message.content);
      case "toolResult":
        return this.#result(entry, message);
      case "assistant": {
        const { provider, model } = message;
        if (model !== undefined) this.#model = { providerID: provider ?? NO_MODEL.providerID, modelID: model };
        yield* this.flush();
        return this.#reply(entry, message);
      }
    }
  }

  /** A message that is open from now on. */
  #begin({ id: entryId, seq }: Entry, role: "user" | "assistant", members: JsonObject, id = this.#idOf("msg", entryId)): OpenMessage {
    const message = { info: { id, sessionID: this.#id, role, time: { created: this.#lastMs }, ...members }, parts: [] };
    this.#written.push({ seq, id });
    if (role === "user") this.#promptId = id;
    this.#open.push(message);
    return message;
  }

  #idOf(kind: "msg" | "prt", entryId?: EntryId): string {
    const time = this.#nextTime;
    this.#nextTime += 1n;
    const id = timedId(kind, time);
    return entryId === undefined ? id : idOfEntry(id, entryId);
  }

  #part({ id: messageID }: JsonObject, type: string, members: JsonObject): Record<string, unknown> {
    return { id: this.#idOf("prt"), sessionID: this.#id, messageID, type, ...members };
  }

  /** Members of a message of opencode that Bough keeps beside it. */
  #leftoverOf(entry: Entry): JsonObject {
    return this.#isOwn ? (objectAt(entry, "opencode") ?? {}) : {};
  }

  /** A message for the model that no screen shows as the user's. */
  #hidden(entry: Entry, content: string | readonly ContentBlock[]): void {
    const { info, parts } = this.#begin(entry, "user", { agent: AGENT });
    parts.push(...this.#contentParts(info, content, { synthetic: true }));
  }

  #contentParts(info: JsonObject, content: string | readonly ContentBlock[], marks: JsonObject = {}): Record<string, unknown>[] {
    const blocks: readonly ContentBlock[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return blocks.map((block) => this.#filePart(info, block) ?? this.#part(info, "text", { text: textOf(block), ...marks }));
  }

  /** The part of an image or a document; undefined: the block is a text, or a file that opencode would not send. */
  #filePart(info: JsonObject, block: ContentBlock): Record<string, unknown> | undefined {
    if (block.type === "image")
      return this.#part(info, "file", { mime: block.mimeType, url: `data:${block.mimeType};base64,${block.data}` });
    if (block.type === "foreign" && this.#isOwn && isObject(block.raw) && OWN_PARTS.has(block.raw.type))
      return { ...block.raw, ...this.#part(info, String(block.raw.type), {}) };
    if (block.type !== "file" || block.mediaType !== "application/pdf") return undefined;
    const { mediaType: mime, data, url, filename } = block;
    return this.#part(info, "file", {
      mime,
      url: data === undefined ? url : `data:${mime};base64,${data}`,
      ...(filename === undefined ? {} : { filename }),
    });
  }

  #reply(entry: Entry, message: AssistantMessage): void {
    const { usage, stopReason } = message;
    const { patches, retries, ...leftover } = this.#leftoverOf(entry);
    const counts = { cost: usage?.cost?.total ?? 0, tokens: toTokens(usage) };
    const { info, parts } = this.#begin(entry, "assistant", {
      parentID: this.#promptId,
      ...this.#model,
      mode: AGENT,
      agent: AGENT,
      path: this.#path,
      ...leftover,
      ...counts,
      ...toEnd(message),
    });
    info["time"] = { created: this.#lastMs, ...(stopReason === undefined ? {} : { completed: this.#lastMs }) };
    parts.push(this.#part(info, "step-start", {}));
    for (const block of message.content) {
      const part = this.#replyPart(info, block, message);
      parts.push(part);
      if (block.type === "toolCall") this.#calls.set(block.id, part);
    }
    const others = [patches, retries].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
    parts.push(...others.map((part) => ({ ...part, ...this.#part(info, String(part.type), {}) })));
    if (stopReason !== undefined) parts.push(this.#part(info, "step-finish", { reason: String(info["finish"] ?? "unknown"), ...counts }));
  }

  get #path(): JsonObject {
    const cwd = this.#session.cwd ?? "";
    return { cwd, root: cwd };
  }

  #replyPart(info: JsonObject, block: AssistantBlock, { provider }: AssistantMessage): Record<string, unknown> {
    const options = "providerOptions" in block && isObject(block.providerOptions) ? block.providerOptions : undefined;
    const metadata = options === undefined ? {} : { metadata: options };
    switch (block.type) {
      case "text":
        return this.#part(info, "text", { text: block.text, time: this.#moment, ...metadata });
      case "thinking": {
        const { thinking: text, thinkingSignature, redacted } = block;
        const signature = { [redacted === true ? "redactedData" : "signature"]: thinkingSignature };
        const isSigned = thinkingSignature !== undefined && provider === "anthropic";
        const signed = isSigned
          ? { metadata: { ...options, anthropic: { ...objectAt(options ?? {}, "anthropic"), ...signature } } }
          : metadata;
        return this.#part(info, "reasoning", { text, time: this.#moment, ...signed });
      }
      case "toolCall":
        return this.#part(info, "tool", {
          callID: block.id,
          tool: block.name,
          state: { status: "pending", input: block.arguments, raw: "" },
          ...metadata,
        });
      case "image":
      case "file":
      case "foreign":
        return this.#filePart(info, block) ?? this.#part(info, "text", { text: textOf(block), time: this.#moment });
    }
  }

  get #moment(): JsonObject {
    return { start: this.#lastMs, end: this.#lastMs };
  }

  /** Completes the call. A result without one is a text for the model. */
  #result(entry: Entry, { toolCallId, toolName, content, isError, details }: ToolResultMessage): void {
    const part = this.#calls.get(toolCallId);
    const state = objectAt(part ?? {}, "state");
    if (part === undefined || state === undefined) {
      this.#hidden(entry, content);
      return;
    }
    this.#calls.delete(toolCallId);
    const blocks: readonly ContentBlock[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const files = blocks.map((block) => [block, this.#filePart({ id: part["messageID"] }, block)] as const);
    const text = files.flatMap(([block, file]) => (file === undefined ? [textOf(block)] : [])).join("\n");
    const attachments = files.flatMap(([, file]) => file ?? []);
    const start = numberAt(objectAt(state, "time") ?? {}, "start") ?? this.#lastMs;
    const known = isObject(details) && this.#isOwn ? details : {};
    // The entry of the result is found again by the id of the part.
    part["id"] = idOfEntry(String(part["id"]), entry.id);
    part["state"] = isError
      ? { status: "error", input: state.input, error: text, ...known, time: { start, end: this.#lastMs } }
      : {
          ...{ status: "completed", input: state.input, output: text, title: toolName ?? "", metadata: {} },
          ...known,
          time: { start, end: this.#lastMs },
          ...(attachments.length === 0 ? {} : { attachments }),
        };
    this.#written.push({ seq: entry.seq, id: String(part["messageID"]) });
  }

  /** A compaction is a prompt for a summary, and the reply with it. The messages from `tail_start_id` on stay. */
  *#compaction(entry: Extract<Entry, { type: "compaction" }>): Generator<OpenMessage, void, void> {
    yield* this.flush();
    const { summary, trigger, usage } = entry;
    const fromSeq = this.#keptFrom.get(entry.id) ?? Number.POSITIVE_INFINITY;
    const first = this.#written.find(({ seq }) => seq >= fromSeq)?.id;
    const { info, parts } = this.#begin(entry, "user", { agent: AGENT });
    parts.push(this.#part(info, "compaction", { auto: trigger !== "manual", ...(first === undefined ? {} : { tail_start_id: first }) }));
    const members = { parentID: info["id"], ...this.#model, mode: "compaction", agent: "compaction", path: this.#path, summary: true };
    const counts = { cost: usage?.cost?.total ?? 0, tokens: toTokens(usage) };
    const reply = this.#begin(entry, "assistant", { ...members, ...counts, finish: "stop" }, this.#idOf("msg"));
    reply.info["time"] = { created: this.#lastMs, completed: this.#lastMs };
    reply.parts.push(this.#part(reply.info, "text", { text: summary, time: this.#moment }));
    yield* this.flush();
  }
}

/** Parts of opencode that Bough keeps as foreign blocks. */
const OWN_PARTS: ReadonlySet<unknown> = new Set(["file", "agent", "subtask"]);

/** The text of a block, or the name of what it is. */
function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return `[${block.mimeType}]`;
    case "file":
      return `[${describeFile(block)}]`;
    case "foreign":
      return `[${block.originalType}]`;
  }
}

/** opencode counts the thinking of a reply apart from its output. */
function toTokens({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, totalTokens, ...more }: Usage = {}): JsonObject {
  const given = numberAt(more, "reasoning") ?? 0;
  const reasoning = given <= output ? given : 0;
  const total = totalTokens ?? input + output + cacheRead + cacheWrite;
  return { total, input, output: output - reasoning, reasoning, cache: { read: cacheRead, write: cacheWrite } };
}

const FINISHES: ReadonlyMap<string, string> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["toolUse", "tool-calls"],
  ["contentFilter", "content-filter"],
]);

/** The end of a reply. opencode sends an interrupted reply with its texts, and no other one that failed. */
function toEnd({ stopReason, errorMessage, content }: AssistantMessage): JsonObject {
  const message = errorMessage ?? "";
  if (stopReason === "aborted") return { error: { name: "MessageAbortedError", data: { message } } };
  if (stopReason === "error") return content.length > 0 ? { finish: "error" } : { error: { name: "UnknownError", data: { message } } };
  return stopReason === undefined ? {} : { finish: FINISHES.get(stopReason) ?? stopReason };
}
