import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type EntryInput, LeafMovedError, type Session, type Store, type Write } from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import {
  type AgentInputItem,
  applySessionHistoryMutations,
  type CallModelInputFilter,
  MemorySession,
  type OpenAIResponsesCompactionArgs,
  type OpenAIResponsesCompactionAwareSession,
  type RunContext,
  type RunContextAwareSession,
  type SessionHistoryRewriteArgs,
  type SessionHistoryRewriteAwareSession,
  type SessionHistoryTransactionArgs,
  type SessionHistoryTransactionAwareSession,
  UserError,
} from "@openai/agents-core";
import { requireStore } from "../store-argument.js";
import { readHistory, rewrite, START_ANEW, toWrites } from "./history.js";
import { entriesOf } from "./items.js";

/** The methods of a compactor that a session calls; `createCompactor` of `@bough/compaction` makes one. */
export interface TurnCompactor {
  /** Called after each turn of a run. */
  turnEnded(): Promise<unknown>;
  /** Called where the runner or the host forces a compaction. */
  compact(): Promise<unknown>;
  /** Called before each request of a run with `fitInput`. */
  prepareRequest(): Promise<unknown>;
}

/** The session that keeps the history of an agent. */
export interface BoughSessionOptions {
  /** Default: a new id. A session of this id is continued; if there is none, it is created. */
  readonly id?: string | undefined;
  /** The leaf of this history. Default `main`. Several agents can grow several branches of one session. */
  readonly leaf?: string | undefined;
  /** The title of a session that is created. */
  readonly title?: string | undefined;
  /** Makes the compactor that shortens the history: `(session) => createCompactor({ session, contextWindow: 200_000 })`. */
  readonly compactor?: ((session: Session) => TurnCompactor) | undefined;
}

const OPTIONS = rules.options({
  id: rules.optional(rules.TEXT),
  leaf: rules.optional(rules.TEXT),
  title: rules.optional(rules.TEXT),
  compactor: rules.optional(rules.CALLBACK),
  // The name of the SDK's own sessions. Ignored, it would begin a new session with each run.
  sessionId: rules.ruleOf("given as id", (value) => value === undefined),
} satisfies rules.RulesOf<BoughSessionOptions & { readonly sessionId: undefined }>);

/** The most attempts of a change, repeated when another process moved the leaf. Of changes at the same time, each round completes one. */
const MAX_TRIES = 500;

/** Values with this prefix name the transactions that were applied. */
const OPERATIONS = "openai-agents.operation.";

/**
 * A session of the OpenAI Agents SDK in a store: each item of the history is an entry. `popItem`, `clearSession` and rewrites move the
 * leaf, so that nothing is lost: what left the history is another branch of the tree.
 *
 * @example
 * const session = new BoughSession(store, { id: "support-7" });
 * await run(agent, "Why does the parser fail on tabs?", { session });
 */
export class BoughSession
  implements
    RunContextAwareSession,
    SessionHistoryRewriteAwareSession,
    SessionHistoryTransactionAwareSession,
    OpenAIResponsesCompactionAwareSession
{
  /** The runner passes its context to each call, which has the usage of the model. */
  readonly acceptsRunContext = true;
  readonly #store: Store;
  readonly #options: BoughSessionOptions;
  readonly #usage = new UsageReader();
  #opened: Promise<Session> | undefined;
  #compactor: TurnCompactor | undefined;
  readonly #run = new RunItems();

  /** @throws {InvalidArgumentError} an option is of the wrong type, or misspelled. */
  constructor(store: Store, options: BoughSessionOptions = {}) {
    rules.checkArgument("options", options, OPTIONS);
    this.#store = requireStore(store);
    this.#options = options;
  }

  /** The session in the store, to branch, label, search, compact or export it. Created by the first call. */
  async open(): Promise<Session> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      // The next call tries again.
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<Session> {
    const { id, leaf, title, compactor } = this.#options;
    const created = { ...(title === undefined ? {} : { title }) };
    const options = leaf === undefined ? {} : { leaf };
    const session =
      id === undefined ? await this.#store.createSession(created) : await this.#store.openOrCreateSession(id, created, options);
    const opened = id === undefined && leaf !== undefined ? await this.#store.openSession(session.id, options) : session;
    this.#compactor = compactor?.(opened);
    return opened;
  }

  async getSessionId(): Promise<string> {
    return (await this.open()).id;
  }

  /** Returns the history, oldest first, or the newest `limit` items of it. A compaction in force is its first item. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && limit <= 0) return [];
    const session = await this.open();
    await session.refresh();
    const items = (await readHistory(session, limit)).items.map(({ item }) => structuredClone(item));
    if (limit === undefined) this.#run.begin(structuredClone(items));
    return items;
  }

  /** Appends items. The usage of the requests since the last call is stored with the last reply among them. */
  async addItems(items: AgentInputItem[], runContext?: RunContext): Promise<void> {
    const session = await this.open();
    const entries = this.#entries(this.#run.takeAdded(items), runContext, session.leafId === null);
    if (entries.length > 0) await session.append(entries, { onConflict: "follow" });
  }

  /** `isWhole`: the items are a whole history, as a compaction session of the SDK adds it, and not only what came last. */
  #entries(items: readonly AgentInputItem[], runContext: RunContext | undefined, isWhole = false): readonly EntryInput[] {
    return this.#usage.attach(entriesOf(items, isWhole), runContext);
  }

  /** Takes the newest item out of the history and returns it. A summary stays. */
  async popItem(): Promise<AgentInputItem | undefined> {
    return this.#change(async (session) => {
      const history = await readHistory(session, 1);
      const last = history.items.at(-1);
      if (last === undefined || last.entry.type === "compaction") return { writes: [], result: undefined };
      const rest = last.place === 0 ? [] : (await readHistory(session, last.place + 1)).items.slice(0, -1);
      const before = { ...history, items: [...rest, last] };
      return {
        writes: rewrite(
          before,
          rest.map(({ item }) => item),
        ),
        result: structuredClone(last.item),
      };
    });
  }

  /** Moves the leaf before the first entry: the history is empty, and what was said stays in the tree. */
  async clearSession(): Promise<void> {
    const session = await this.open();
    const operations = await session.values.list(OPERATIONS);
    const removals = operations.map(({ key }): Write => ({ kind: "value", key, value: undefined }));
    await session.write([...START_ANEW, ...removals], { onConflict: "follow" });
  }

  /**
   * Replaces the history by the items that a compaction of the provider left. With an encrypted item among them this is a compaction entry
   * below what it replaces, which can be undone; without one the items begin a new branch.
   */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const entries = entriesOf(items, true);
    const start = entries.some(({ type }) => type === "compaction") ? [] : START_ANEW;
    await this.#change(async () => ({ writes: [...start, ...toWrites(entries)], result: undefined }));
  }

  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    if (mutations.length === 0) return;
    await this.#change(async (session) => {
      const history = await readHistory(session);
      const items = applySessionHistoryMutations(
        history.items.map(({ item }) => item),
        mutations,
      );
      return { writes: rewrite(history, items), result: undefined };
    });
  }

  /** Appends items or replaces the end of the history, once for each operation id, in one transaction with the record of the id. */
  async applyHistoryTransaction(given: SessionHistoryTransactionArgs, runContext?: RunContext): Promise<void> {
    // Read once: the caller may change it while another process makes this one try again.
    const args = given && { ...given };
    // Made once: making them notes what the run has stored, and the usage that is counted.
    let appended: readonly Write[] | undefined;
    await this.#change(async (session) => {
      // A transaction that was applied has changed the history to which its precondition applies.
      if (await isApplied(session, args)) return { writes: [], result: undefined };
      const expected = args?.transaction?.type === "replace_suffix" ? args.transaction.expectedSuffix?.length : 0;
      const history = await readHistory(session, expected === undefined || expected === 0 ? 1 : expected);
      const before = expected === 0 ? [] : history.items.map(({ item }) => item);
      // The framework's own session validates the transaction and says what it results in.
      const model = new MemorySession({ initialItems: before });
      await model.applyHistoryTransaction(args);
      const after = await model.getItems();

      const key = OPERATIONS + digest(args.operationId);
      const transaction = digest(canonicalText(args.transaction));
      if ((await session.values.get(key)) !== undefined)
        throw new UserError("Session history operation was already applied with a different transaction.");
      if (expected === 0) appended ??= toWrites(this.#entries(this.#run.takeAdded(after), runContext));
      const changes = appended ?? rewrite(history, after);
      return { writes: [...changes, { kind: "value", key, value: transaction }], result: undefined };
    });
  }

  /** Compacts the history after a turn, if a compactor was given and its threshold is passed. The runner calls it. */
  async runCompaction(args?: OpenAIResponsesCompactionArgs): Promise<null> {
    await this.open();
    await (args?.force === true ? this.#compactor?.compact() : this.#compactor?.turnEnded());
    return null;
  }

  /**
   * Keeps the requests of a running tool loop within the context window: `run(agent, input, { session, callModelInputFilter:
   * session.fitInput })`. Before each request it stores what the run has done so far (the runner itself stores it at the end of the
   * run), lets the compactor work, and sends the history as it is then. Input that is not the history of this session is not changed.
   */
  readonly fitInput: CallModelInputFilter = async ({ modelData }) => {
    const session = await this.open();
    const added = this.#run.newItems(modelData.input);
    if (added === undefined) return modelData;
    const entries = entriesOf(added, false);
    if (entries.length > 0) await session.append(entries, { onConflict: "follow" });
    this.#run.noteStored(added);
    await this.#compactor?.prepareRequest();
    return { ...modelData, input: (await readHistory(session)).items.map(({ item }) => item) };
  };

  /** Makes a change that depends on the history. Reads it again where another process has moved the leaf meanwhile. */
  async #change<T>(plan: (session: Session) => Promise<{ readonly writes: readonly Write[]; readonly result: T }>): Promise<T> {
    const session = await this.open();
    for (let tries = 1; ; tries += 1) {
      await session.refresh();
      const expectedLeafId = session.leafId;
      const { writes, result } = await plan(session);
      try {
        if (writes.length > 0) await session.write(writes, { expectedLeafId });
        return result;
      } catch (error) {
        if (!(error instanceof LeafMovedError) || tries === MAX_TRIES) throw error;
      }
    }
  }
}

/** True if this transaction was applied before. */
async function isApplied(session: Session, args: SessionHistoryTransactionArgs): Promise<boolean> {
  if (typeof args?.operationId !== "string") return false;
  const applied = await session.values.get(OPERATIONS + digest(args.operationId));
  return applied !== undefined && applied === digest(canonicalText(args.transaction));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** JSON with the members of each object in order, and bytes as base64. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (member instanceof Uint8Array) return { base64: Buffer.from(member).toString("base64") };
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Distributes the usage that a run counts over the entries of its replies. */
class UsageReader {
  readonly #counted = new WeakMap<RunContext, Totals>();

  /**
   * Returns the entries, the last reply among them with the usage of all requests of the run since the last call. Without a reply, or
   * without a run, they stay as they are.
   */
  attach(entries: readonly EntryInput[], runContext: RunContext | undefined): readonly EntryInput[] {
    if (runContext === undefined) return entries;
    const replyIndex = entries.findLastIndex((entry) => entry.type === "message" && entry.message.role === "assistant");
    const entry = entries[replyIndex];
    if (entry?.type !== "message" || entry.message.role !== "assistant") return entries;
    const now = totalsOf(runContext);
    const before = this.#counted.get(runContext) ?? NOTHING;
    if (now.input === before.input && now.output === before.output) return entries;
    this.#counted.set(runContext, now);
    const cacheRead = now.cacheRead - before.cacheRead;
    const usage = { input: now.input - before.input - cacheRead, output: now.output - before.output, cacheRead };
    return entries.with(replyIndex, { ...entry, message: { ...entry.message, usage: { ...usage, ...contextOf(runContext) } } });
  }
}

/** The prompt of the last request of a run: the counts of a reply are sums over its requests, and not the size of a context. */
function contextOf({ usage: { requestUsageEntries = [] } }: RunContext): { readonly contextTokens?: number } {
  const last = requestUsageEntries.findLast(({ endpoint }) => endpoint !== "responses.compact");
  return last === undefined || last.inputTokens === 0 ? {} : { contextTokens: last.inputTokens };
}

/** Tokens of a run so far. `input` includes `cacheRead`, as OpenAI counts. */
interface Totals {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

const NOTHING: Totals = { input: 0, output: 0, cacheRead: 0 };

function totalsOf({ usage }: RunContext): Totals {
  const cached = usage.inputTokensDetails.reduce((sum, { cached_tokens, cachedTokens }) => sum + (cached_tokens ?? cachedTokens ?? 0), 0);
  return { input: usage.inputTokens, output: usage.outputTokens, cacheRead: cached };
}

/**
 * The items of the run that uses a session now. The runner passes its whole history with every request, and adds its items to the
 * session only at its end; a session that compacts in between stores them earlier, and has to know them when they are added.
 */
class RunItems {
  /** The history that the run started with. */
  #start: readonly AgentInputItem[] = [];
  /** The items of the run that are stored already. */
  #stored: readonly AgentInputItem[] = [];

  /** A run starts with this history. */
  begin(history: readonly AgentInputItem[]): void {
    this.#start = history;
    this.#stored = [];
  }

  /** The items of a request that are not stored yet; undefined if the request is not of this run. */
  newItems(input: readonly AgentInputItem[]): readonly AgentInputItem[] | undefined {
    const known = [...this.#start, ...this.#stored];
    return startsWith(input, known) ? input.slice(known.length) : undefined;
  }

  noteStored(items: readonly AgentInputItem[]): void {
    this.#stored = [...this.#stored, ...structuredClone(items)];
  }

  /** Returns the added items of the runner that are not stored yet. Items that the run changed since count as not stored. */
  takeAdded(items: readonly AgentInputItem[]): readonly AgentInputItem[] {
    const added = startsWith(items, this.#stored) ? items.slice(this.#stored.length) : items;
    this.#start = [...this.#start, ...this.#stored, ...structuredClone(added)];
    this.#stored = [];
    return added;
  }
}

function startsWith(items: readonly AgentInputItem[], start: readonly AgentInputItem[]): boolean {
  return start.length <= items.length && start.every((item, at) => isDeepStrictEqual(comparable(item), comparable(items[at])));
}

/** Returns an item without its id and without members that are undefined: the runner may drop them. */
function comparable(item: AgentInputItem | undefined): unknown {
  return JSON.parse(JSON.stringify({ ...item, id: undefined }));
}
