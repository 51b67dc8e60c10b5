import {
  type AppendedEntry,
  type ContextMessage,
  type EntryId,
  type EntryInput,
  InvalidArgumentError,
  type Session,
  type SessionContext,
  UnserializableValueError,
} from "@bough/session-core";
import * as rules from "@bough/session-core/arguments";
import { SerialQueue } from "@bough/session-core/engine";
import { isObject, leaveOutThinking, listToolCalls, promptContent } from "@bough/session-core/wire";
import { FrameworkVersionError } from "../peer.js";
import { toMessagePayload, toPiMessage } from "../pi-messages.js";

/** The members of an `Agent` that `keepAgent` uses; pi-agent-core 0.87.1 and later have them. `M`: its `AgentMessage`. */
export interface PiAgent<M extends { readonly role: string }> {
  readonly state: { messages: M[]; readonly systemPrompt: string };
  subscribe(listener: (event: { readonly type: string; readonly message?: M }, signal: AbortSignal) => Promise<void>): () => void;
  prepareRequest?(request: PiRequest<M>, signal?: AbortSignal): unknown;
}

/** The members that are used of what pi passes to `prepareRequest`. */
export interface PiRequest<M> {
  readonly context: { readonly messages: M[] };
  readonly model: { readonly provider: string; readonly id: string };
}

/** The methods of a compactor that `keepAgent` calls; `createCompactor` of `@bough/compaction` makes one. */
export interface RequestCompactor {
  /** Called before each request. */
  prepareRequest(input: {
    readonly toolTokens?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<{ readonly context: SessionContext; readonly continuePrompt: string | null }>;
  /** Called at the end of each run that was not aborted. */
  turnEnded(input: { readonly signal?: AbortSignal | undefined }): Promise<unknown>;
}

/** Options of `keepAgent`. */
export interface KeepAgentOptions {
  /** Shortens what is sent: `createCompactor({ session, contextWindow: 200_000 })`, of the same session. Default: the whole context is sent. */
  readonly compactor?: RequestCompactor | undefined;
  /** Tokens of the definitions of the tools, for the compactor: `toolTokens(roughCounter, agent.state.tools)`. Default 0. */
  readonly toolTokens?: number | undefined;
}

/** An agent whose messages are kept. */
export interface KeptAgent {
  /**
   * Gives the agent the messages of the session's context, for example after a move of the leaf. Requests have them in any case; an interface that
   * draws `agent.state.messages` needs it. Call it between two runs.
   */
  reload(): Promise<void>;
  /** Ends it: the agent sends its own messages again, and nothing more is stored. */
  detach(): void;
}

const SESSION = rules.withMethods("a session", "append", "context");
const AGENT = rules.withMethods("an Agent of pi-agent-core", "subscribe", "prompt");
const OPTIONS = rules.options({
  compactor: rules.optional(rules.withMethods("a compactor", "prepareRequest", "turnEnded")),
  toolTokens: rules.optional(rules.ruleOf("a number of tokens", (value) => typeof value === "number" && value >= 0)),
} satisfies rules.RulesOf<KeepAgentOptions>);

/**
 * Keeps the messages of pi's `Agent` at the leaf of a session. Each message is an entry when it ends, before pi runs its tools. Each request
 * has the context of the session, so that moves of the leaf, compactions and edits are in force for the next request. The agent goes on where
 * the session stands; an agent with messages starts an empty session with them. Replies and results are stored below what they answer, also if
 * the leaf was moved meanwhile. If another writer moved the leaf, the messages become a branch.
 *
 * System messages of the agent stay its own: what they make of the prompt is stored, and none is taken from the session. Messages of roles that an
 * application defined come back to its `convertToLlm` unchanged. Summaries, commands of the user and custom messages of other programs are
 * messages of the user in requests.
 * The agent's own `prepareRequest` stays in force but for the messages; `agent.reset()` does not change what is sent.
 *
 * After a failed write nothing more is stored, and `agent.prompt` rejects with the error.
 *
 * @throws {InvalidArgumentError} the agent is kept already, or it and the session both have messages.
 * @throws {FrameworkVersionError} the agent is of pi-agent-core before 0.87.1, which has no `prepareRequest`.
 * @example
 * await keepAgent(agent, session, { compactor: createCompactor({ session, contextWindow: 200_000 }) });
 * await agent.prompt("Why does the parser fail on tabs?");
 */
export async function keepAgent<M extends { readonly role: string }>(
  agent: PiAgent<M>,
  session: Session,
  options: KeepAgentOptions = {},
): Promise<KeptAgent> {
  rules.checkArgument("agent", agent, AGENT);
  rules.checkArgument("session", session, SESSION);
  rules.checkArgument("options", options, OPTIONS);
  if (!("prepareRequest" in agent)) throw new FrameworkVersionError("@earendil-works/pi-agent-core", ">=0.87.1", "Agent.prepareRequest");
  if (KEPT.has(agent)) throw new InvalidArgumentError("agent", "one that is not kept", "an agent that is kept already");
  KEPT.add(agent);
  const keeper = new AgentKeeper(agent, session, options);
  try {
    await keeper.start();
  } catch (error) {
    KEPT.delete(agent);
    throw error;
  }
  return { reload: () => keeper.reload(), detach: () => keeper.detach() };
}

/** The agents that are kept: a second keeper would store each message again. */
const KEPT = new WeakSet<object>();

class AgentKeeper<M extends { readonly role: string }> {
  readonly #agent: PiAgent<M>;
  readonly #session: Session;
  readonly #options: KeepAgentOptions;
  readonly #queue = new SerialQueue();
  /** Contexts share their messages, which never change. */
  readonly #converted = new WeakMap<ContextMessage, M>();
  /** The prompt that was stored last. */
  #prompt = "";
  /** The parent of the next reply or result: the leaf of its request, or the entry that was stored last. */
  #at: EntryId | null = null;
  /** The entry of the message that the agent was given behind a system message of its own. */
  readonly #followers = new WeakMap<M, EntryId>();
  /** System messages behind the last other message. */
  readonly #unfollowed = new Set<M>();
  #failure: { readonly error: unknown } | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(agent: PiAgent<M>, session: Session, options: KeepAgentOptions) {
    this.#agent = agent;
    this.#session = session;
    this.#options = options;
  }

  async start(): Promise<void> {
    const context = await this.#session.context();
    const given = this.#agent.state.messages;
    const messages = given.filter((message) => !isSystem(message));
    if (context.messages.length > 0 && messages.length > 0)
      throw new InvalidArgumentError("agent", "without messages, because the session has messages", `${messages.length} messages`);
    this.#prompt = context.system ?? "";
    const entries = [
      ...given
        .filter(isSystem)
        .slice(-1)
        .flatMap((message) => this.#promptEntry(message)),
      ...messages.map(entryOf),
    ];
    if (entries.length > 0) await this.#append(entries);
    if (messages.length === 0) await this.reload();
    this.#attach();
  }

  #attach(): void {
    const own = this.#agent.prepareRequest;
    this.#agent.prepareRequest = async (request, signal) => {
      const update = await own?.call(this.#agent, request, signal);
      return this.#unsubscribe === undefined ? update : this.#prepare(request, update, signal);
    };
    this.#unsubscribe = this.#agent.subscribe((event, signal) => this.#take(event, signal));
  }

  detach(): void {
    if (this.#unsubscribe === undefined) return;
    KEPT.delete(this.#agent);
    this.#unsubscribe();
    this.#unsubscribe = undefined;
  }

  async reload(): Promise<void> {
    const context = await this.#session.context();
    this.#agent.state.messages = this.#toPi(context, this.#agent.state.messages.filter(isSystem));
  }

  /** pi waits for it, and ends the run with its error. */
  async #take({ type, message }: { readonly type: string; readonly message?: M }, signal: AbortSignal): Promise<void> {
    if (type === "message_end" && message !== undefined) await this.#queue.run(() => this.#store(message));
    if (type === "agent_end") await this.#endTurn(signal);
  }

  /** An error of the compactor does not fail the run, which has its reply: the next request calls the compactor again, and fails with it. */
  async #endTurn(signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await this.#options.compactor?.turnEnded({ signal }).catch(() => undefined);
  }

  async #store(message: M): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const entries = isSystem(message) ? this.#promptEntry(message) : [entryOf(message)];
    try {
      const stored = entries.length > 0 ? await this.#append(entries, await this.#parentOf(message)) : undefined;
      this.#at = stored?.id ?? this.#at;
      if (isSystem(message)) this.#unfollowed.add(message);
      else if (stored !== undefined) this.#follow(stored.id);
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  /**
   * The entry of a system message, with the whole prompt that is in force with it: pi adds its text and sections to those before, and of Bough's
   * the latest is in force. None if it leaves the prompt as it is, as one that only adds tools, or empty.
   */
  #promptEntry(message: M): readonly EntryInput[] {
    const { systemPrompt } = this.#agent.state;
    if (systemPrompt === "" || systemPrompt === this.#prompt) return [];
    this.#prompt = systemPrompt;
    return [{ type: "message", message: { ...message, role: "system", content: systemPrompt } }];
  }

  #follow(id: EntryId): void {
    for (const system of this.#unfollowed) this.#followers.set(system, id);
    this.#unfollowed.clear();
  }

  /** The entry below which a reply or a result belongs if the leaf was moved away from what it answers; undefined: below the leaf. */
  async #parentOf({ role }: M): Promise<EntryId | undefined> {
    const { leafId, tree } = this.#session;
    const at = this.#at;
    if ((role !== "assistant" && role !== "toolResult") || at === null || at === leafId) return undefined;
    return leafId !== null && (await tree.commonAncestor(at, leafId)) === at ? undefined : at;
  }

  /** Values that JSON does not have, such as a date in the details of a result, are stored as `JSON.stringify` writes them. */
  async #append(entries: readonly EntryInput[], parentId?: EntryId): Promise<AppendedEntry> {
    try {
      return await this.#session.append(entries, { onConflict: "branch", parentId });
    } catch (error) {
      if (!(error instanceof UnserializableValueError)) throw error;
      return await this.#session.append(JSON.parse(JSON.stringify(entries)), { onConflict: "branch", parentId });
    }
  }

  /** `update`: what the application's own `prepareRequest` returned. */
  async #prepare(request: PiRequest<M>, update: unknown, signal: AbortSignal | undefined) {
    const { compactor, toolTokens } = this.#options;
    const changes = isObject(update) ? update : {};
    await this.#returnToLeaf();
    const prepared = (await compactor?.prepareRequest({ toolTokens, signal })) ?? {
      context: await this.#session.context(),
      continuePrompt: null,
    };
    this.#at = this.#session.leafId;
    const wish = prepared.continuePrompt === null ? [] : this.#messages([{ role: "user", content: prepared.continuePrompt, timestamp: 0 }]);
    const { provider, id: modelId } = { ...request.model, ...(isObject(changes.model) ? changes.model : {}) };
    const sent = leaveOutThinking(prepared.context, { model: { provider, modelId } });
    const messages = [...this.#toPi(sent, request.context.messages.filter(isSystem)), ...wish];
    return { ...changes, context: { ...request.context, ...(isObject(changes.context) ? changes.context : {}), messages } };
  }

  /** The leaf of a store is where the last writer moved it; a request is of the path that its reply continues. */
  async #returnToLeaf(): Promise<void> {
    const to = this.#session.leafId;
    if ((await this.#session.refresh()) !== to) await this.#session.write([{ kind: "moveLeaf", to }], { onConflict: "branch" });
  }

  /** The messages of a context, with the agent's system messages where they stood: providers keep what precedes a change of tools in their caches. */
  #toPi(context: SessionContext, system: readonly M[]): M[] {
    const known = new Set(context.entries);
    const failed = resultsOfFailed(context.messages);
    const rest = [...system];
    const sent = context.messages.flatMap((message, at) => {
      const later = rest.findIndex((one) => !this.#isDue(one, context.entries[at], known));
      const due = rest.splice(0, later === -1 ? rest.length : later);
      return [...due, ...(failed.has(message) ? [] : this.#convert(message))];
    });
    return [...sent, ...rest];
  }

  /** A system message is due before the message that followed it, and at the start where that one is not on the path, or not in the window. */
  #isDue(system: M, id: EntryId | undefined, known: ReadonlySet<EntryId>): boolean {
    const follower = this.#followers.get(system);
    if (follower === undefined) return !this.#unfollowed.has(system);
    return follower === id || !known.has(follower);
  }

  #convert(message: ContextMessage): readonly M[] {
    const known = this.#converted.get(message);
    if (known !== undefined) return [known];
    const [converted] = this.#messages([requestMessage(message)]);
    if (converted !== undefined) this.#converted.set(message, converted);
    return converted === undefined ? [] : [converted];
  }

  #messages(values: readonly unknown[]): readonly M[] {
    return values.filter((value): value is M => isObject(value) && typeof value.role === "string");
  }
}

/**
 * The results of replies that failed or were aborted. pi sends no such reply (`transformMessages` of pi-ai 1.6.0), but the results of its calls,
 * which providers then refuse.
 */
function resultsOfFailed(messages: readonly ContextMessage[]): ReadonlySet<ContextMessage> {
  let failed = new Set<string>();
  const results = messages.filter((message) => {
    if (message.role === "assistant")
      failed = new Set(FAILED.test(message.stopReason ?? "") ? listToolCalls(message).map(({ id }) => id) : []);
    return message.role === "toolResult" && failed.has(message.toolCallId);
  });
  return new Set(results);
}

const FAILED = /^(?:error|aborted)$/;

/** Marks messages of the agent whose role Bough's schema knows and pi's core does not. */
const OF_AGENT = "ofPiAgent";

function entryOf(message: { readonly role: string }): EntryInput {
  return toMessagePayload(message.role === "custom" || message.role === "bashExecution" ? { ...message, [OF_AGENT]: true } : message);
}

/**
 * A message as the agent has it; undefined: it is not sent. Messages of other programs whose role pi's core does not know become messages of
 * the user, because pi sends no others.
 */
function requestMessage(message: ContextMessage): object | undefined {
  const { [OF_AGENT]: isOfAgent, ...own }: Readonly<Record<string, unknown>> = { ...message };
  if (isOfAgent === true) return own;
  if (message.role === "assistant" || message.role === "user" || message.role === "toolResult") return toPiMessage(message, 0);
  const whole = toPiMessage({ ...message }, 0);
  if (whole.role !== message.role) return whole;
  const content = promptContent(message);
  return content === null ? undefined : toPiMessage({ role: "user", content }, 0);
}

function isSystem(message: { readonly role: string }): boolean {
  return message.role === "system";
}
