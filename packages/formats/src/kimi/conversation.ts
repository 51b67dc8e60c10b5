import type { EntryId, SessionId } from "@bough/session-core";
import type { SourceRecord } from "@bough/session-core/engine";
import {
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
import { EntryChain } from "../source/entry-chain.js";
import type { SourceLine } from "../source/json-lines.js";
import {
  compactionPayload,
  countsOf,
  foreignPayload,
  hiddenPayload,
  keptEntries,
  messagePayload,
  notePayload,
  replyPayload,
  resultPayload,
  thinkingBlocks,
  toMediaContent,
  toText,
  userPayload,
} from "../source/payloads.js";
import type { LogConversation } from "../source/record-log.js";
import { listOf, push, removeWhile, type Stack, stackOf } from "../source/stack.js";

/** Records that repeat what others say, or that say how a request was made: tools, their schemas, limits. */
const REPEATED =
  /^(?:metadata|turn\.(?:prompt|steer|ended)|prompt\.completed|llm\.tools_snapshot|full_compaction\..+|token_counting\..+|plugin\.session_start|runtime\.set_binding|tools\..+|agent\.(?:message\.appended|turn\..+)|context\.undone)$/;

const NOTES = /^(?:turn\.cancel|permission\..+|plan.*|todo.*|goal.*|swarm.*)$/;

const USAGE = {
  input: "inputOther",
  output: "output",
  cacheRead: "inputCacheRead",
  cacheWrite: "inputCacheCreation",
};

/** A message of the user to which a turn can be taken back, or the mark of a compaction before which none can be. */
interface Anchor {
  readonly line: number;
  readonly before: EntryId | null;
  readonly id: EntryId;
  /** False for a message in the middle of a turn, which an undo does not count. */
  readonly isTurn: boolean;
}

/** A request to the model whose reply is being written. */
interface Step {
  readonly line: number;
  readonly id: string | undefined;
  readonly createdAtMs: number | undefined;
  readonly blocks: JsonObject[];
  /** The records that belong behind the reply: the results of its calls, messages that came meanwhile. */
  readonly behind: (() => SourceRecord)[];
  ended: JsonObject | undefined;
}

/** The journal of an agent of Kimi Code. */
export class KimiConversation implements LogConversation {
  readonly #isSubagent: boolean;
  readonly #chain: EntryChain;
  /** Their line numbers increase towards the top. */
  #anchors: Stack<Anchor>;
  /** The messages of the user that the last compaction kept. */
  #kept: readonly EntryId[];
  /** The usage of the request for a summary, and true while one is made. */
  #summaryUsage: JsonObject | undefined;
  #isSummarizing: boolean;
  /** The line of the undo that the last switch repeats. */
  #switchedUndo: number | undefined;
  #model: { readonly provider?: string | undefined; readonly model?: string | undefined };
  #prompt: string | undefined;
  /** The names of calls without a result. */
  readonly #names: CallNames;
  #step: Step | undefined;

  constructor(sessionId: SessionId, startMs: number, isSubagent: boolean, state: JsonObject = {}) {
    this.#isSubagent = isSubagent;
    this.#chain = new EntryChain(sessionId, startMs, objectAt(state, "chain"));
    this.#model = { provider: stringAt(state, "provider"), model: stringAt(state, "model") };
    this.#prompt = stringAt(state, "prompt");
    this.#names = new CallNames(state.names);
    this.#kept = Array.isArray(state.kept) ? state.kept.map(String) : [];
    this.#summaryUsage = objectAt(state, "summaryUsage");
    this.#isSummarizing = state.isSummarizing === true;
    this.#switchedUndo = numberAt(state, "switchedUndo");
    const anchors = objectsAt(state, "anchors").map((one) => ({
      line: numberAt(one, "line") ?? 0,
      before: stringAt(one, "before") ?? null,
      id: stringAt(one, "id") ?? "",
      isTurn: one.isTurn !== false,
    }));
    this.#anchors = stackOf(anchors);
  }

  get isPending(): boolean {
    return this.#step !== undefined;
  }

  mayWait({ type }: JsonObject): boolean {
    return type === "context.append_loop_event";
  }

  get state(): JsonObject {
    const [anchors, names] = [this.#anchors, this.#names.snapshot()];
    return {
      chain: this.#chain.state,
      ...this.#model,
      ...this.#summaryState,
      prompt: this.#prompt,
      // Built on access: most states are dropped unread.
      get anchors() {
        return listOf(anchors);
      },
      kept: this.#kept,
      switchedUndo: this.#switchedUndo,
      get names() {
        return names();
      },
    };
  }

  get #summaryState(): JsonObject {
    return this.#isSummarizing ? { isSummarizing: true, summaryUsage: this.#summaryUsage } : {};
  }

  *read(record: JsonObject, { number: line }: SourceLine): Generator<SourceRecord, void, void> {
    const type = stringAt(record, "type") ?? "";
    const createdAtMs = parseTime(record.time) ?? parseTime(record.created_at);
    const add = (payload: JsonObject, id?: string) => this.#add(line, createdAtMs, payload, id);
    switch (type) {
      case "context.append_message":
        return yield* this.#message(objectAt(record, "message") ?? {}, line, createdAtMs);
      case "context.append_loop_event":
        return yield* this.#event(objectAt(record, "event") ?? {}, record, line, createdAtMs);
      case "context.undo":
        yield* this.#endStep();
        // Newer versions write a switch to another branch before it, which says the same.
        if (line !== this.#switchedUndo) this.#undo(numberAt(record, "count") ?? 0);
        return yield { kind: "merged", line };
      case "agent.switched":
        yield* this.#endStep();
        this.#switchedUndo = numberAt(record, "legacyUndoLine");
        this.#goOnAfter(numberAt(objectAt(record, "base") ?? {}, "line") ?? line);
        return yield { kind: "merged", line };
      case "context.clear":
        yield* this.#endStep();
        this.#chain.moveTo(null);
        this.#anchors = undefined;
        this.#kept = [];
        // The prompt of the system stays.
        if (this.#prompt !== undefined) return yield add(messagePayload({ role: "system", content: this.#prompt }));
        return yield { kind: "merged", line };
      case "usage.record":
        if (this.#isSummarizing) this.#summaryUsage = countsOf(objectAt(record, "usage"), USAGE);
        return yield { kind: "merged", line };
      case "context.apply_compaction":
        yield* this.#endStep();
        return yield* this.#compaction(record, line, createdAtMs);
      case "llm.request":
        this.#isSummarizing = record.kind === "compaction";
        this.#summaryUsage = undefined;
        this.#model = { provider: stringAt(record, "provider"), model: stringAt(record, "model") ?? this.#model.model };
        return yield { kind: "merged", line };
      case "config.update":
      case "profile.bind":
        return yield* this.#settings(record, line, createdAtMs);
    }
    if (REPEATED.test(type)) yield { kind: "merged", line };
    else if (NOTES.test(type)) yield* this.#behind(() => add(notePayload(`kimi.${type}`, without(record, ["type", "time", "agentId"]))));
    else yield* this.#behind(() => add(foreignPayload(record)));
  }

  *finish(): Generator<SourceRecord, void, void> {
    yield* this.#endStep();
    yield* this.#chain.movedLeaf();
  }

  #add(line: number, createdAtMs: number | undefined, payload: JsonObject, id?: string): SourceRecord {
    return this.#chain.add({ line, id, createdAtMs, payload });
  }

  /** Yields an entry now, or behind the reply that is being written. */
  *#behind(entry: () => SourceRecord): Generator<SourceRecord, void, void> {
    if (this.#step === undefined) yield entry();
    else this.#step.behind.push(entry);
  }

  *#settings(record: JsonObject, line: number, createdAtMs: number | undefined): Generator<SourceRecord, void, void> {
    const [alias, prompt] = [stringAt(record, "modelAlias"), stringAt(record, "systemPrompt")];
    if (alias !== undefined) this.#model = { model: alias.split("/").at(-1) };
    if (prompt === undefined || prompt === this.#prompt) return yield { kind: "merged", line };
    this.#prompt = prompt;
    yield* this.#behind(() => this.#add(line, createdAtMs, messagePayload({ role: "system", content: prompt })));
  }

  *#message(message: JsonObject, line: number, createdAtMs: number | undefined): Generator<SourceRecord, void, void> {
    const origin = objectAt(message, "origin") ?? {};
    const content = toMediaContent(message.content);
    const id = stringAt(message, "id");
    switch (message.role) {
      case "user": {
        if (isTyped(origin) || (this.#isSubagent && origin.kind === "system_trigger"))
          return yield* this.#prompted(content, line, createdAtMs, id, origin.inTurn !== true);
        const kind = stringAt(origin, "kind") ?? "message";
        return yield* this.#behind(() => this.#add(line, createdAtMs, hiddenPayload(`kimi.${kind}`, content), id));
      }
      case "assistant":
        return yield* this.#behind(() =>
          this.#add(line, createdAtMs, replyPayload({ content: this.#replyBlocks(message), ...this.#model }), id),
        );
      case "tool": {
        const toolCallId = stringAt(message, "toolCallId") ?? "unknown";
        const result = { toolCallId, toolName: this.#names.take(toolCallId), content, isError: message.isError === true };
        return yield* this.#behind(() => this.#add(line, createdAtMs, resultPayload(result), id));
      }
    }
    yield* this.#behind(() => this.#add(line, createdAtMs, foreignPayload(message, "message")));
  }

  *#prompted(
    content: ReturnType<typeof toMediaContent>,
    line: number,
    createdAtMs: number | undefined,
    id: string | undefined,
    isTurn: boolean,
  ): Generator<SourceRecord, void, void> {
    const { typed, added } = this.#isSubagent ? withoutContext(content) : { typed: content, added: undefined };
    yield* this.#behind(() => {
      const before = this.#chain.leafId;
      const entry = this.#chain.add({ line, id, createdAtMs, payload: userPayload(typed) });
      this.#anchors = push(this.#anchors, { line, before, id: entry.id, isTurn });
      return entry;
    });
    if (added === undefined) return;
    yield* this.#behind(() => this.#chain.add({ line, id, part: 1, createdAtMs, payload: hiddenPayload("kimi.git-context", added) }));
  }

  #replyBlocks(message: JsonObject): readonly JsonObject[] {
    const texts = toMediaContent(message.content);
    const calls = objectsAt(message, "toolCalls");
    const blocks = typeof texts === "string" ? [{ type: "text", text: texts }] : texts;
    return [...blocks, ...calls.map((call) => this.#call(stringAt(call, "id"), stringAt(call, "name"), call.arguments))];
  }

  #call(id = "unknown", name = "unknown", args: unknown = {}): JsonObject {
    this.#names.add(id, name);
    return { type: "toolCall", id, name, arguments: parseArguments(args) };
  }

  *#event(event: JsonObject, record: JsonObject, line: number, createdAtMs: number | undefined): Generator<SourceRecord, void, void> {
    switch (event.type) {
      case "step.begin":
        yield* this.#endStep();
        this.#step = { line, id: stringAt(event, "uuid"), createdAtMs, blocks: [], behind: [], ended: undefined };
        return;
      case "content.part":
        this.#begun(line, createdAtMs).blocks.push(...partBlocks(event.part));
        break;
      case "tool.call":
        this.#begun(line, createdAtMs).blocks.push(this.#call(stringAt(event, "toolCallId"), stringAt(event, "name"), event.args));
        break;
      case "tool.result":
        return yield* this.#behind(() => this.#add(line, createdAtMs, this.#result(event)));
      case "step.end":
        if (this.#step !== undefined && (this.#step.id === undefined || this.#step.id === event.uuid)) {
          this.#step.ended = event;
          yield* this.#endStep();
        }
        break;
      default:
        return yield* this.#behind(() => this.#add(line, createdAtMs, foreignPayload(record)));
    }
    yield { kind: "merged", line };
  }

  /** The reply that is being written. The journal may begin in the middle of one. */
  #begun(line: number, createdAtMs: number | undefined): Step {
    this.#step ??= { line, id: undefined, createdAtMs, blocks: [], behind: [], ended: undefined };
    return this.#step;
  }

  #result(event: JsonObject): JsonObject {
    const result = objectAt(event, "result") ?? {};
    const { output, note } = result;
    const toolCallId = stringAt(event, "toolCallId") ?? "unknown";
    const parts = Array.isArray(output) ? toMediaContent(output) : toText(output);
    const blocks = typeof parts === "string" ? [{ type: "text", text: parts }] : parts;
    const content = typeof note === "string" && note !== "" ? [...blocks, { type: "text", text: note }] : parts;
    const details = without(result, ["output", "isError", "note"]);
    return resultPayload({ toolCallId, toolName: this.#names.take(toolCallId), content, isError: result.isError === true, details });
  }

  /** Completes the reply: with its usage if its end was written, and without if it was cancelled. */
  *#endStep(): Generator<SourceRecord, void, void> {
    const step = this.#step;
    this.#step = undefined;
    if (step === undefined) return;
    const { blocks, ended = {}, line, id, createdAtMs } = step;
    const usage = countsOf(objectAt(ended, "usage"), USAGE);
    const parts = {
      content: blocks,
      ...this.#model,
      usage,
      stopReason: stringAt(ended, "finishReason"),
      responseId: stringAt(ended, "messageId"),
    };
    if (blocks.length === 0 && usage === undefined) yield { kind: "merged", line };
    else yield this.#add(line, createdAtMs, replyPayload(parts), id);
    for (const entry of step.behind) yield entry();
  }

  /** Takes back turns: all, if there are fewer. */
  #undo(count: number): void {
    let [left, line] = [count, Number.POSITIVE_INFINITY];
    for (let rest = this.#anchors; rest !== undefined && left >= 1; rest = rest.below) {
      if (!rest.top.isTurn) continue;
      left -= 1;
      line = rest.top.line;
    }
    this.#backTo((anchor) => anchor.line >= line);
  }

  /** Goes back to the state at a line of the journal. */
  #goOnAfter(line: number): void {
    this.#backTo((anchor) => anchor.line > line);
  }

  #backTo(isUndone: (anchor: Anchor) => boolean): void {
    const { removed, rest } = removeWhile(this.#anchors, isUndone);
    if (removed !== undefined) this.#chain.moveTo(removed.before);
    this.#anchors = rest;
  }

  /** A compaction. It keeps messages of the user, the first and the last ones, before the summary. */
  *#compaction(record: JsonObject, line: number, createdAtMs: number | undefined): Generator<SourceRecord, void, void> {
    const summary = stringAt(record, "summary") || stringAt(record, "contextSummary") || toText(objectAt(record, "summary")?.content);
    if (summary === "") return yield this.#add(line, createdAtMs, foreignPayload(record));
    const ids = [...this.#kept, ...listOf(this.#anchors).map(({ id }) => id)];
    const count = Math.min(numberAt(record, "keptUserMessageCount") ?? 0, ids.length);
    const head = Math.min(numberAt(record, "keptHeadUserMessageCount") ?? 0, count);
    const kept = [...ids.slice(0, head), ...ids.slice(ids.length - (count - head))];
    const { tokensBefore, tokensAfter } = record;
    yield this.#add(line, createdAtMs, {
      ...compactionPayload({ summary, kept: keptEntries(kept), tokensBefore, tokensAfter, usage: this.#summaryUsage }),
      kimi: without(record, ["type", "time", "agentId", "summary", "contextSummary", "tokensBefore", "tokensAfter", "wireLines"]),
    });
    this.#anchors = undefined;
    this.#kept = kept;
    this.#isSummarizing = false;
    this.#summaryUsage = undefined;
  }
}

function isTyped({ kind, trigger }: JsonObject): boolean {
  return kind === undefined || kind === "user" || ((kind === "skill_activation" || kind === "plugin_command") && trigger === "user-slash");
}

const CONTEXT = /^\s*<git-context>[\s\S]*?<\/git-context>\s*(?=\S)/;

/** The prompt of an agent, and what the program wrote before it. */
function withoutContext(content: ReturnType<typeof toMediaContent>): {
  readonly typed: typeof content;
  readonly added: string | undefined;
} {
  const [first, ...others] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const text = stringAt(first ?? {}, "text") ?? "";
  const added = CONTEXT.exec(text)?.[0];
  return added === undefined
    ? { typed: content, added }
    : { typed: [{ type: "text", text: text.slice(added.length) }, ...others], added: added.trim() };
}

function partBlocks(part: unknown): readonly JsonObject[] {
  if (!isObject(part) || part.type !== "think") {
    const blocks = toMediaContent([part]);
    return typeof blocks === "string" ? [] : blocks;
  }
  return thinkingBlocks(stringAt(part, "think"), stringAt(part, "encrypted") ?? stringAt(part, "signature"));
}
