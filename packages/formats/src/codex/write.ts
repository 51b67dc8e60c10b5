import { randomUUID } from "node:crypto";
import { type Entry, type EntryId, type Message, nativeCompactionOf, type SessionRecord, type Usage } from "@bough/session-core";
import {
  compactionSummaryText,
  type EntryReference,
  encodeBytes,
  isObject,
  type JsonObject,
  opaqueSummaryText,
  stringAt,
  toIsoTime,
  without,
} from "@bough/session-core/wire";
import { type BranchPlan, planBranch } from "../source/branch-plan.js";
import { FORKED_FROM, isRolloutRecord, ORIGIN } from "./rollout-file.js";
import { inputItem, toBranchSummaryItem, toRolloutParts } from "./write-items.js";

type RolloutSession = SessionRecord & { readonly parentSessionId?: string | null };

/** A branch to write as a rollout. */
export interface CodexExport {
  /** `parentSessionId`: the session that a new one continues; importers link the two. */
  readonly session: RolloutSession;
  /** The path from the first entry to the end of the branch. */
  readonly path: AsyncIterable<Entry>;
  /** The entries of the path as the context has them: edited, without those that are omitted. */
  readonly entries: AsyncIterable<Entry>;
}

/**
 * Yields the lines of a rollout, without line breaks: the model reads the items, the interface shows the events.
 *
 * Memory: the items that compactions kept, the ids of calls, and while it starts, a number for each entry.
 */
export async function* codexLines({ session, path, entries }: CodexExport): AsyncGenerator<string, void, void> {
  const plan = await planBranch(path);
  const writer = new RolloutWriter(session, plan);
  yield toLine(session.createdAtMs, "session_meta", toMeta(session, plan.system));
  for await (const entry of entries) yield* writer.write(entry);
  yield* writer.finish();
}

function toLine(createdAtMs: number, type: string, payload: JsonObject, origin?: EntryReference): string {
  const line = { timestamp: toIsoTime(createdAtMs), type, payload, ...(origin === undefined ? {} : { [ORIGIN]: { ...origin } }) };
  return JSON.stringify(encodeBytes(line, "entry"));
}

/** True if Codex recorded the session: then its settings, its tools and its system message are valid in Codex. */
function isOfCodex({ source }: SessionRecord): boolean {
  return source?.format === "codex";
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Members of a first line that name the files with the earlier part of the session. The written file has the whole branch: with these members
 * Codex looks for the other files, and rejects a session without them.
 */
const PARTS_OF_HISTORY = ["history_mode", "history_base", "forked_from_ordinal_exclusive"];

function toMeta(session: RolloutSession, system: string | undefined): JsonObject {
  const { version, gitBranch: _gitBranch, archived: _archived, ...metadata } = session.metadata;
  const rest = without(metadata, PARTS_OF_HISTORY);
  const isOwn = isOfCodex(session);
  return {
    id: UUID.test(session.id) ? session.id : randomUUID(),
    timestamp: toIsoTime(session.createdAtMs),
    cwd: session.cwd ?? "",
    originator: "bough",
    cli_version: isOwn && typeof version === "string" ? version : "0.0.0",
    source: "cli",
    ...(isOwn ? rest : {}),
    ...(session.parentSessionId ? { [UUID.test(session.parentSessionId) ? "forked_from_id" : FORKED_FROM]: session.parentSessionId } : {}),
    ...(isOwn && system !== undefined ? { base_instructions: { text: system } } : {}),
  };
}

class RolloutWriter {
  readonly #session: RolloutSession;
  readonly #plan: BranchPlan;
  /** The items of the calls so far, by the ids of the calls. */
  readonly #calls = new Map<string, JsonObject>();
  /** The items since the first one that each coming compaction keeps, by their entries. */
  readonly #kept = new Map<EntryId, Map<EntryId, readonly JsonObject[]>>();
  #nextKept = 0;
  #turn: JsonObject | undefined;
  #model: string | undefined;
  #effort: string | null | undefined;
  #isTurnWritten = true;
  #sum: Record<string, number> = {};
  #lastMs: number;
  #entryId: EntryId = "";
  /** The entry that is written; undefined: the rollout is no continuation of another session. */
  #origin: EntryReference | undefined;

  constructor(session: RolloutSession, plan: BranchPlan) {
    this.#session = session;
    this.#plan = plan;
    this.#lastMs = session.createdAtMs;
  }

  *write(entry: Entry): Generator<string, void, void> {
    this.#lastMs = entry.createdAtMs;
    this.#entryId = entry.id;
    const { parentSessionId } = this.#session;
    this.#origin = typeof parentSessionId === "string" ? { sessionId: parentSessionId, entryId: entry.id } : undefined;
    for (
      let next = this.#plan.kept[this.#nextKept];
      next !== undefined && next.fromSeq <= entry.seq;
      next = this.#plan.kept[this.#nextKept]
    ) {
      this.#kept.set(next.compaction, new Map());
      this.#nextKept += 1;
    }
    switch (entry.type) {
      case "message":
        return yield* this.#writeMessage(entry.message);
      case "custom_message":
        return yield* this.#writeMessage({ role: "custom", customType: entry.customType, content: entry.content, details: entry.details });
      case "branch_summary":
        return yield* this.#writeItems([toBranchSummaryItem(entry.summary)]);
      case "compaction":
        return yield* this.#writeCompaction(entry);
      case "model_change":
        return this.#setModel(entry.provider, entry.modelId);
      case "thinking_level_change":
        return this.#set({ effort: entry.thinkingLevel });
      case "custom":
        if (entry.customType === "codex.turn_context" && isObject(entry.data)) this.#set({ turn: entry.data });
        return;
      case "foreign":
        if (isObject(entry.raw) && isRolloutRecord(entry.raw)) yield JSON.stringify(encodeBytes(entry.raw, "entry"));
        return;
      case "context_edit":
        return;
    }
  }

  *finish(): Generator<string, void, void> {
    yield* this.#writeTurn();
    const { title, titleSource, id } = this.#session;
    if (title !== null && titleSource === "user")
      yield toLine(this.#lastMs, "event_msg", {
        type: "thread_name_updated",
        ...(UUID.test(id) ? { thread_id: id } : {}),
        thread_name: title,
      });
  }

  /** Codex asks the provider of its own configuration, so a model of another one is not set. */
  #setModel(provider: string | undefined, model: string): void {
    if (isOfCodex(this.#session) || provider === undefined || /^openai|^azure/.test(provider)) this.#set({ model });
  }

  #set(change: { readonly model?: string; readonly effort?: string | null; readonly turn?: JsonObject }): void {
    this.#model = change.model ?? this.#model;
    if (change.effort !== undefined) this.#effort = change.effort;
    this.#turn = change.turn ?? this.#turn;
    this.#isTurnWritten = false;
  }

  /** The settings, if they were changed since they were last written. A turn has no settings before its model is known. */
  *#writeTurn(): Generator<string, void, void> {
    if (this.#isTurnWritten || this.#model === undefined) return;
    this.#isTurnWritten = true;
    const required = {
      cwd: this.#session.cwd ?? "",
      approval_policy: "on-request",
      sandbox_policy: { type: "read-only" },
      summary: "auto",
    };
    const effort = typeof this.#effort === "string" ? { effort: this.#effort } : {};
    yield toLine(this.#lastMs, "turn_context", { ...(this.#turn ?? required), model: this.#model, ...effort }, this.#origin);
  }

  *#writeMessage(message: Message): Generator<string, void, void> {
    const { items, events } = toRolloutParts(message, this.#calls);
    for (const item of items) {
      const id = stringAt(item, "call_id");
      if (id !== undefined) this.#calls.set(id, item);
    }
    yield* this.#writeItems(items);
    for (const event of events) yield toLine(this.#lastMs, "event_msg", event);
    if (message.role === "assistant") yield* this.#writeUsage(message.usage);
  }

  *#writeItems(items: readonly JsonObject[]): Generator<string, void, void> {
    yield* this.#writeTurn();
    for (const kept of this.#kept.values()) kept.set(this.#entryId, items);
    for (const item of items) yield toLine(this.#lastMs, "response_item", item, this.#origin);
  }

  *#writeUsage(usage: Usage | undefined): Generator<string, void, void> {
    if (usage === undefined) return;
    const last = toCounts(usage);
    this.#sum = Object.fromEntries(Object.entries(last).map(([name, count]) => [name, count + (this.#sum[name] ?? 0)]));
    const info = { total_token_usage: this.#sum, last_token_usage: last, model_context_window: null };
    yield toLine(this.#lastMs, "event_msg", { type: "token_count", info, rate_limits: null });
  }

  /**
   * A compaction of Codex has its own list, or none in early versions, which rebuild it; for others it is the summary, and the items
   * that were kept.
   */
  *#writeCompaction(entry: Extract<Entry, { type: "compaction" }>): Generator<string, void, void> {
    const { summary, details, usage } = entry;
    const { opening, reply, native, ...own } = isObject(details) ? details : {};
    const isOwn = Array.isArray(own["replacement_history"]) || (isOfCodex(this.#session) && opening !== undefined);
    const list = this.#takeKept(entry);
    yield* this.#writeTurn();
    if (Array.isArray(reply)) {
      for (const item of reply.filter(isObject)) yield toLine(this.#lastMs, "response_item", item, this.#origin);
      yield* this.#writeUsage(usage);
    }
    // Codex writes no message where OpenAI encrypted the summary: the reader made the note.
    const provider = nativeCompactionOf({ details: { native } })?.provider;
    const said = isOwn && provider !== undefined && summary === opaqueSummaryText(provider, []) ? "" : summary;
    const message = typeof opening === "string" ? opening + said : said;
    yield toLine(this.#lastMs, "compacted", { message, ...(isOwn ? own : { replacement_history: list }) }, this.#origin);
    yield toLine(this.#lastMs, "event_msg", { type: "context_compacted" });
  }

  /** The items of the context after a compaction: the summary and what it keeps. */
  #takeKept({ id, summary, keptEntryIds }: Extract<Entry, { type: "compaction" }>): readonly JsonObject[] {
    const kept = this.#kept.get(id) ?? new Map<EntryId, readonly JsonObject[]>();
    this.#kept.delete(id);
    const order = new Set(keptEntryIds ?? [null, ...kept.keys()]);
    // What a list of kept entries leaves out, no later compaction keeps.
    for (const other of keptEntryIds ? this.#kept.values() : []) for (const one of other.keys()) if (!order.has(one)) other.delete(one);
    return [...order].flatMap((one) => (one === null ? inputItem("user", compactionSummaryText(summary)) : (kept.get(one) ?? [])));
  }
}

function toCounts({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, totalTokens, ...more }: Usage): Record<string, number> {
  const prompt = input + cacheRead + cacheWrite;
  const reasoning = more["reasoning"];
  return {
    input_tokens: prompt,
    cached_input_tokens: cacheRead,
    ...(cacheWrite === 0 ? {} : { cache_write_input_tokens: cacheWrite }),
    output_tokens: output,
    reasoning_output_tokens: typeof reasoning === "number" ? reasoning : 0,
    total_tokens: totalTokens ?? prompt + output,
  };
}
