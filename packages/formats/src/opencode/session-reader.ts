import type { EntryId, SessionId } from "@bough/session-core";
import { QUIET_MS, RUNNING_MS, type SourceEntry, type SourceRecord } from "@bough/session-core/engine";
import { isObject, type JsonObject, numberAt, objectAt, parseJsonObject, parseTime, stringAt, without } from "@bough/session-core/wire";
import { EntryChain } from "../source/entry-chain.js";
import {
  compactionPayload,
  foreignPayload,
  messagePayload,
  notePayload,
  programReads,
  textBlocks,
  userPayload,
  withOthers,
} from "../source/payloads.js";
import { CLEARED, endOf, isToolPart, modelOf, resultTime, toReplyBlock, toSteps, toToolResult, toUserBlock, usageOf } from "./payloads.js";
import { titleOf } from "./session-header.js";
import type { MessageStore, StoredRecord } from "./store.js";
import { entryOf, sourceOf } from "./written-ids.js";

/** A message or a part. `line`: its number among the records of the session; the parts of a message follow it. */
interface NumberedRecord {
  readonly line: number;
  readonly id: string;
  readonly value: JsonObject;
}

type Part = NumberedRecord;

/** Members of a message with its position, or that opencode writes later. */
const PLACED = ["parentID", "role", "time", "summary", "path", "parts"];
const OF_REPLY = [...PLACED, "providerID", "modelID", "tokens", "cost", "finish"];

/**
 * The records of a session. opencode keeps no tree: each message follows the one before it. The lines are numbers of messages and
 * parts, in the order in which they are read.
 */
export class SessionReader {
  readonly #store: MessageStore;
  readonly #info: JsonObject;
  readonly #sessionId: SessionId;
  readonly #chain: EntryChain;
  #line = 0;
  /** A prompt for a summary whose reply has not been read. */
  #compaction: { readonly message: NumberedRecord; readonly part: Part } | undefined;
  /** Outputs that were cleared from the context later, by the time at which that happened. */
  #cleared: { readonly at: number; readonly part: Part }[] = [];
  #tokens: number | undefined;
  /** The last entry before the place to which the session was reverted. */
  #leaf: { readonly id: EntryId | null } | undefined;

  constructor(store: MessageStore, info: JsonObject, sessionId: SessionId) {
    this.#store = store;
    this.#info = info;
    this.#sessionId = sessionId;
    this.#chain = new EntryChain(sessionId, parseTime(objectAt(info, "time")?.created) ?? 0);
  }

  *records(): Generator<SourceRecord, void, void> {
    const title = titleOf(this.#info);
    if (title !== undefined) yield { kind: "title", title, source: "auto" };
    const folder = stringAt(this.#info, "id") ?? this.#sessionId;
    let last: StoredRecord | undefined;
    for (const message of this.#store.messages(folder)) {
      if (last !== undefined) yield* this.#message(last);
      last = message;
    }
    const waitMs = last === undefined || this.#leaf !== undefined ? undefined : waitFor(last);
    if (waitMs !== undefined) yield { kind: "open", waitMs, changedAtMs: this.#store.changedAtMs?.(folder) };
    if (last !== undefined) yield* this.#message(last);
    yield* this.#openCompaction();
    yield* this.#clear(Number.POSITIVE_INFINITY);
    if (this.#leaf !== undefined) yield { kind: "leaf", name: "main", entryId: this.#leaf.id };
  }

  *#message(stored: StoredRecord): Generator<SourceRecord, void, void> {
    this.#line += 1;
    const line = this.#line;
    if (stored.value === undefined) {
      if (stored.problem !== undefined) yield { kind: "problem", problem: stored.problem };
      const orphans: Part[] = [];
      yield* this.#parts(stored, orphans);
      for (const part of orphans) yield this.#add(part, foreignPayload(part.value), part);
      return;
    }
    const message = numbered(line, stored, stored.value);
    const parts: Part[] = [];
    yield* this.#parts(stored, parts);
    yield* this.#clear(createdAt(message) ?? Number.NEGATIVE_INFINITY);
    yield* this.#convert(message, parts);
  }

  /** Collects the parts of a message. Each is merged into its message, and may become an entry too. */
  *#parts(stored: StoredRecord, into: Part[]): Generator<SourceRecord, void, void> {
    for (const part of this.#store.parts(stored)) {
      this.#line += 1;
      if (part.problem !== undefined) yield { kind: "problem", problem: part.problem };
      if (part.value === undefined) continue;
      into.push(numbered(this.#line, part, part.value));
    }
  }

  *#convert(message: NumberedRecord, parts: readonly Part[]): Generator<SourceRecord, void, void> {
    const { value } = message;
    const isSummary = value.role === "assistant" && value.summary === true;
    const isAnswer = isSummary && value.parentID === this.#compaction?.message.id && "finish" in value && !("error" in value);
    if (!isAnswer) yield* this.#openCompaction();
    const before = this.#chain.leafId;
    const revert = objectAt(this.#info, "revert");
    const isReverted = revert !== undefined && this.#leaf === undefined && revert.messageID === message.id;
    const entries = [...(isAnswer ? this.#summary(message, parts) : this.#entries(message, parts))];
    yield* entries;
    const used = new Set(entries.map((entry) => entry.line));
    if (this.#compaction?.message === message) used.add(message.line);
    for (const { line } of [message, ...parts]) if (!used.has(line)) yield { kind: "merged", line };
    if (isReverted) this.#leaf = { id: keptBefore(entries, message, parts, stringAt(revert, "partID")) ?? before };
  }

  #entries(message: NumberedRecord, parts: readonly Part[]): readonly SourceEntry[] {
    const { role } = message.value;
    if (role === "user" || role === "assistant") {
      const known = role === "user" ? this.#prompt(message, parts) : this.#reply(message, parts);
      const unknown = parts.filter(({ value }) => !isKnownPart(value));
      return [...known, ...unknown.map((part) => this.#add(part, foreignPayload(part.value), message))];
    }
    const raw = parts.length === 0 ? message.value : { ...message.value, parts: parts.map(({ value }) => value) };
    return [this.#add(message, foreignPayload(raw, "message"), message)];
  }

  #prompt(message: NumberedRecord, parts: readonly Part[]): readonly SourceEntry[] {
    const compaction = parts.find(({ value }) => value.type === "compaction");
    if (compaction !== undefined) this.#compaction = { message, part: compaction };
    const typed = parts.filter(({ value }) => value.synthetic !== true && value.ignored !== true);
    const injected = parts.filter(({ value }) => value.type === "text" && value.synthetic === true && value.ignored !== true);
    const shown = parts.filter(({ value }) => value.type === "text" && value.ignored === true);
    const payloads: JsonObject[] = [];
    const blocks = typed.map(({ value }) => toUserBlock(value)).filter((block) => block !== undefined);
    const content = parts.length === 0 ? summarized(message.value) : blocks;
    if (content.length > 0) payloads.push(withOthers(userPayload(content), "opencode", without(message.value, PLACED)));
    if (injected.length > 0) {
      const texts = injected.flatMap(({ value }) => toUserBlock(value) ?? []);
      const reads = programReads(mentionedReads(injected.map(({ value }) => stringAt(value, "text") ?? "")));
      payloads.push(messagePayload({ role: "custom", customType: "opencode.synthetic", content: texts, ...reads }));
    }
    if (shown.length > 0)
      payloads.push(
        notePayload(
          "opencode.ignored",
          shown.map(({ value }) => value),
        ),
      );
    // The compaction gets the id of its prompt.
    const first = compaction === undefined ? 0 : 1;
    return payloads.map((payload, at) => this.#add(message, payload, message, at + first));
  }

  #reply(message: NumberedRecord, parts: readonly Part[]): readonly SourceEntry[] {
    const steps = toSteps(parts);
    const [end, usage] = [endOf(message.value), usageOf(message.value)];
    if (steps.length === 0 && end.errorMessage === undefined) return [];
    const entries: SourceEntry[] = [];
    for (const [at, step] of (steps.length === 0 ? [[]] : steps).entries()) {
      const reply = {
        role: "assistant",
        content: step.flatMap(({ value }) => toReplyBlock(value) ?? []),
        ...modelOf(message.value),
        ...(steps.length > 1 ? usageOf(step.find(isStepEnd)?.value ?? {}) : usage),
        ...(at < steps.length - 1 ? { stopReason: "toolUse" } : end),
      };
      const others = at === 0 ? this.#otherFields(message, parts) : {};
      entries.push(this.#add(message, withOthers(messagePayload(reply), "opencode", others), message, at));
      entries.push(...this.#results(step, message));
    }
    this.#tokens = contextTokens(objectAt(usage, "usage") ?? {}) ?? this.#tokens;
    return entries;
  }

  /** Returns the results in the order in which they were written, so that a later import finds new ones after the imported ones. */
  #results(step: readonly Part[], message: NumberedRecord): readonly SourceEntry[] {
    const ended = step.flatMap((part) => {
      const at = resultTime(part.value);
      return at === undefined ? [] : [{ part, at }];
    });
    return ended
      .sort((a, b) => a.at - b.at)
      .map(({ part, at }) => {
        const cleared = parseTime(objectAt(objectAt(part.value, "state") ?? {}, "time")?.compacted);
        if (cleared !== undefined) this.#cleared.push({ at: cleared, part });
        return this.#add(part, toToolResult(part.value), message, 0, at === 0 ? undefined : at);
      });
  }

  /** The parts of a record that the message has no member for: other members, changed files, and failed attempts. */
  #otherFields({ value }: NumberedRecord, parts: readonly Part[]): JsonObject {
    const path = objectAt(value, "path");
    const changes = parts.flatMap((part) => (part.value.type === "patch" ? [part.value] : []));
    const retries = parts.flatMap((part) => (part.value.type === "retry" ? [part.value] : []));
    const isElsewhere = path !== undefined && path.cwd !== this.#info.directory;
    return {
      ...without(value, OF_REPLY),
      ...(isElsewhere ? { path } : {}),
      ...(changes.length === 0 ? {} : { patches: changes }),
      ...(retries.length === 0 ? {} : { retries }),
    };
  }

  /** A compaction: the prompt for the summary and the reply with it are one entry, with the id of the prompt. */
  #summary(reply: NumberedRecord, parts: readonly Part[]): readonly SourceEntry[] {
    const prompt = this.#compaction;
    this.#compaction = undefined;
    if (prompt === undefined) return this.#reply(reply, parts);
    const texts = parts.flatMap(({ value }) => (value.type === "text" ? [stringAt(value, "text") ?? ""] : []));
    const { auto, overflow } = prompt.part.value;
    const tail = stringAt(prompt.part.value, "tail_start_id");
    const payload = compactionPayload({
      summary: texts.join("\n\n"),
      kept: { firstKeptEntryId: tail === undefined ? null : this.#entryOf(tail).id },
      tokensBefore: this.#tokens,
      trigger: overflow === true ? "overflow" : auto === true ? "auto" : "manual",
      usage: objectAt(usageOf(reply.value), "usage"),
    });
    const others = { ...without(reply.value, [...OF_REPLY, "mode", "agent"]), reply: reply.id, ...modelOf(reply.value) };
    return [this.#add(prompt.message, { ...payload, opencode: others }, reply)];
  }

  /** A prompt for a summary that was never written. */
  *#openCompaction(): Generator<SourceRecord, void, void> {
    const open = this.#compaction;
    this.#compaction = undefined;
    if (open === undefined) return;
    const raw = { ...open.message.value, parts: [open.part.value] };
    yield this.#add(open.message, foreignPayload(raw, "compaction"), open.message);
  }

  /** Omits the outputs that were cleared before this time: opencode sends a note instead. */
  *#clear(until: number): Generator<SourceRecord, void, void> {
    const due = this.#cleared.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
    this.#cleared = this.#cleared.filter(({ at }) => at > until);
    for (const { at, part } of due) {
      const targetId = this.#chain.idOf({ line: part.line, id: this.#entryOf(part.id).id });
      const replacement = { content: [{ type: "text", text: CLEARED }] };
      yield this.#add({ ...part, id: `${part.id}:cleared` }, { type: "context_edit", targetId, replacement }, part, 0, at);
    }
  }

  #add(record: NumberedRecord, payload: JsonObject, message: NumberedRecord, part = 0, createdAtMs = createdAt(message)): SourceEntry {
    return this.#chain.add({ line: record.line, ...this.#entryOf(record.id), part, createdAtMs, payload });
  }

  #entryOf(id: string): ReturnType<typeof entryOf> {
    return entryOf(id, this.#sessionId, sourceOf(this.#info));
  }
}

/**
 * Returns the time for which the last message may still change, in milliseconds; undefined: it is a complete reply. opencode writes the
 * parts of a prompt one after the other.
 */
function waitFor({ value }: StoredRecord): number | undefined {
  if (value?.role !== "assistant") return QUIET_MS;
  return objectAt(value, "time")?.completed === undefined && value.error === undefined ? RUNNING_MS : undefined;
}

/** In a database, the ids of a record are columns, so that its JSON is without them. */
function numbered(line: number, { id }: StoredRecord, value: JsonObject): NumberedRecord {
  return { line, id: stringAt(value, "id") ?? id, value: without(value, ["id", "sessionID", "messageID"]) };
}

const KNOWN_PARTS = new Set([
  ...["text", "reasoning", "file", "tool", "agent", "subtask", "compaction"],
  ...["step-start", "step-finish", "snapshot", "patch", "retry"],
]);

function isKnownPart(part: JsonObject): boolean {
  return KNOWN_PARTS.has(stringAt(part, "type") ?? "") && (part.type !== "tool" || isToolPart(part));
}

/** A short form of a prompt whose parts are gone; empty if there is none. */
function summarized({ summary }: JsonObject): readonly JsonObject[] {
  const { body, title } = isObject(summary) ? summary : {};
  const text = [body, title].find((candidate) => typeof candidate === "string" && candidate !== "");
  return typeof text === "string" ? textBlocks(text) : [];
}

function createdAt({ value }: NumberedRecord): number | undefined {
  return parseTime(objectAt(value, "time")?.created);
}

/** The size of the context after a reply. */
function contextTokens(usage: JsonObject): number | undefined {
  const counts = ["input", "output", "cacheRead", "cacheWrite"].flatMap((name) => numberAt(usage, name) ?? []);
  return counts.length === 0 ? undefined : counts.reduce((total, value) => total + value, 0);
}

function isStepEnd({ value }: Part): boolean {
  return value.type === "step-finish";
}

/** The last of a message's entries before the step with the part at which it was reverted; undefined: none. */
function keptBefore(
  entries: readonly SourceEntry[],
  message: NumberedRecord,
  parts: readonly Part[],
  partId: string | undefined,
): EntryId | undefined {
  const step = toSteps(parts).findIndex((candidates) => candidates.some(({ id }) => id === partId));
  const starts = [...entries.entries()].filter(([, { line }]) => line === message.line);
  const [at] = starts[step] ?? [];
  return at === undefined ? undefined : entries[at - 1]?.id;
}

const READ = /^Called the Read tool with the following input: (\{.*\})$/;
const NOT_READ = /^Read tool failed to read /;

/** The arguments with which opencode read the files that the user mentioned. It writes them, and a failure behind them, into injected texts. */
function mentionedReads(texts: readonly string[]): readonly JsonObject[] {
  return texts.flatMap((text, at) => {
    const input = NOT_READ.test(texts[at + 1] ?? "") ? undefined : parseJsonObject(READ.exec(text)?.[1] ?? "");
    return input === undefined ? [] : [input];
  });
}
