// An agent whose model is the strict server: everything that may happen to a session between two requests happens to this one.
import { type CompactorOptions, createCompactor, type Summarizer } from "@bough/compaction";
import {
  type EntryInput,
  fromAnthropic,
  openStore,
  type Session,
  type Store,
  toAnthropic,
  toolResult,
  userMessage,
} from "@bough/session-core";
import { onTestFinished } from "vitest";
import { anthropicRoute } from "./anthropic.js";
import { type Answer, type StrictServer, startStrictServer } from "./server.js";

const FABLE = { provider: "anthropic", modelId: "claude-fable-5-1" } as const;
const OPUS = { provider: "anthropic", modelId: "claude-opus-5-5" } as const;

const SYSTEM = "You change modules.";
const TOOLS = [{ name: "read", input_schema: { type: "object" } }];

type Messages = ReturnType<typeof toAnthropic>["messages"];
type Settings = NonNullable<CompactorOptions["settings"]>;

interface Setup {
  readonly window: number;
  readonly settings: Exclude<Settings, string | ((...given: never[]) => unknown)>;
  /** A model writes the summaries; without one, the extract does. */
  readonly summarizer?: Summarizer | undefined;
  readonly seed: number;
}

/** A summarizer that answers as a model would. */
export const wordy: Summarizer = async () => ({
  text: `## Goal\nChange the modules.\n\n## Progress\n${"- A module was read and changed.\n".repeat(12)}\n## Next\nGo on.`,
});

/** Random numbers from 0 up to 1 that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

function callIds(entry: EntryInput): readonly string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant" || !Array.isArray(entry.message.content)) return [];
  return entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

/** A session, its compactor, and the model. */
export class Conversation {
  readonly server: StrictServer;
  readonly #setup: Setup;
  readonly #random: () => number;
  readonly #store: Store;
  #session: Session;
  #compactor: ReturnType<typeof createCompactor>;
  #model: typeof FABLE | typeof OPUS = FABLE;
  #thinkingSent = 0;

  private constructor(setup: Setup, server: StrictServer, store: Store, session: Session) {
    this.#setup = setup;
    this.#random = seeded(setup.seed);
    this.server = server;
    this.#store = store;
    this.#session = session;
    this.#compactor = this.#newCompactor(setup.window);
  }

  static async start(setup: Setup): Promise<Conversation> {
    const random = seeded(setup.seed + 1);
    const route = anthropicRoute((_request, n) => {
      const thinking = [{ type: "thinking", thinking: random() < 0.3 ? "" : `I think about ${n}. `.repeat(5) }];
      const said = random() < 0.5 ? [{ type: "text", text: `I look at ${n}.` }] : [];
      if (random() < 0.25)
        return { content: [...thinking, { type: "text", text: `Module ${n} is done. `.repeat(8) }], stop_reason: "end_turn" };
      const calls = Array.from({ length: random() < 0.2 ? 2 : 1 }, (_one, nth) => ({
        type: "tool_use",
        id: `toolu_${n}_${nth}`,
        name: "read",
        input: { path: `src/${n}.ts` },
        caller: { type: "direct" },
      }));
      return { content: [...thinking, ...said, ...calls], stop_reason: "tool_use" };
    });
    const server = await startStrictServer({ "/v1/messages": route });
    const store = await openStore({ path: ":memory:" });
    onTestFinished(() => store.close());
    return new Conversation(setup, server, store, await store.createSession({}));
  }

  #newCompactor(contextWindow: number, settings: Settings = { ...this.#setup.settings, tokenizer: "rough" }) {
    const { summarizer } = this.#setup;
    return createCompactor({
      session: this.#session,
      contextWindow,
      settings,
      model: this.#model,
      random: () => 0.5,
      ...(summarizer === undefined ? {} : { summarizer }),
    });
  }

  /** Plays a turn: a prompt, and requests until the model calls no more tools. Stops early where `lastRound` says so. */
  async turn(n: number, rounds = 12): Promise<void> {
    await this.#session.append(userMessage(`Please change module ${n}. ${this.#words(40)}`));
    for (let round = 0; round < rounds; round += 1) if (!(await this.#round())) break;
    await this.#compactor.turnEnded({});
  }

  /** One request and its results. Returns whether the model waits for more. */
  async #round(): Promise<boolean> {
    const { context } = await this.#compactor.prepareRequest({ tooLarge: "return" });
    return this.#send(toAnthropic(context).messages);
  }

  async #send(messages: Messages): Promise<boolean> {
    const { status, body } = await this.#post(messages);
    if (status !== 200) return false;
    const replies = fromAnthropic(body);
    await this.#session.append(replies);
    const ids = replies.flatMap(callIds);
    for (const id of ids)
      await this.#session.append(toolResult(id, this.#words(100 + Math.floor(this.#random() * 1_400)), { toolName: "read" }));
    return ids.length > 0;
  }

  async #post(messages: Messages): Promise<Answer> {
    for (const { content } of messages)
      if (typeof content !== "string") this.#thinkingSent += content.filter((block) => "signature" in block).length;
    return this.server.post("/v1/messages", { model: this.#model.modelId, system: SYSTEM, tools: TOOLS, messages });
  }

  #words(count: number): string {
    return Array.from({ length: count }, () => `word${Math.floor(this.#random() * 1e3)}`).join(" ");
  }

  /** One of the things that happen to a session; `n` chooses. */
  async happens(n: number): Promise<void> {
    const events = [
      this.#branch,
      this.#edit,
      this.#switchModel,
      this.#crash,
      this.#undo,
      this.#squeeze,
      this.#fork,
      this.#compact,
      this.#steer,
    ];
    await events[n % events.length]?.call(this);
  }

  /** Goes back, says something else, and returns with the summary of the branch or to its end. */
  async #branch(): Promise<void> {
    const path = await this.#session.path();
    const prompts = path.filter((entry) => entry.type === "message" && entry.message.role === "user");
    const end = this.#session.leafId;
    const start = prompts[Math.max(0, prompts.length - 3)];
    if (start === undefined || end === null) return;
    await this.#compactor.navigate(start.id, { summarize: this.#random() < 0.5 });
    await this.turn(1_000, 3);
    if (this.#random() < 0.6) await this.#session.moveLeaf(end);
  }

  /** Edits or omits an earlier result. */
  async #edit(): Promise<void> {
    const { messages, entries } = await this.#session.context();
    const results = entries.filter((_id, at) => messages[at]?.role === "toolResult");
    const targetId = results[Math.floor(this.#random() * results.length)];
    if (targetId !== undefined) await this.#session.append({ type: "context_edit", targetId, replacement: { content: "Edited." } });
  }

  async #switchModel(): Promise<void> {
    this.#model = this.#model === FABLE ? OPUS : FABLE;
    await this.#session.append({ type: "model_change", ...this.#model });
    await this.#compactor.modelChanged({ model: this.#model, contextWindow: this.#setup.window });
  }

  /** The process dies between a call and its result; another one goes on, and the result arrives late. */
  async #crash(): Promise<void> {
    await this.#session.append(userMessage("And then?"));
    const { context } = await this.#compactor.prepareRequest({ tooLarge: "return" });
    const answer = await this.#post(toAnthropic(context).messages);
    if (answer.status === 200) await this.#session.append(fromAnthropic(answer.body));
    await this.#reopen(this.#session.id);
    await this.turn(2_000, 2);
    const [late] = (await this.#session.context()).messages.flatMap((message) =>
      message.role === "toolResult" && message["synthetic"] === true ? [message.toolCallId] : [],
    );
    if (late !== undefined && this.#random() < 0.5) await this.#session.append(toolResult(late, "It arrived late.", { toolName: "read" }));
  }

  /** Omits the compaction in force. */
  async #undo(): Promise<void> {
    const { compaction } = await this.#session.context();
    if (compaction !== null) await this.#session.append({ type: "context_edit", targetId: compaction.entryId, replacement: null });
  }

  /** One request must fit a window that it does not fit, and nothing may be summarized. */
  async #squeeze(): Promise<void> {
    const small = this.#newCompactor(Math.max(4_000, Math.floor(this.#setup.window / 6)), {
      ...this.#setup.settings,
      tokenizer: "rough",
      enabled: false,
    });
    await this.#session.append(userMessage("In short?"));
    const { context } = await small.prepareRequest({ tooLarge: "return" });
    await this.#send(toAnthropic(context).messages);
    await small.close();
  }

  /** Goes on in a copy of the session. */
  async #fork(): Promise<void> {
    await this.#reopen((await this.#store.forkSession(this.#session.id)).id);
  }

  async #compact(): Promise<void> {
    await this.#compactor.compact({ instructions: "Keep the paths.", when: "turn-end" });
  }

  /** Two prompts in a row, and a note of the host. */
  async #steer(): Promise<void> {
    await this.#session.append(userMessage("Mind the tests."));
    await this.#session.append({ type: "custom_message", customType: "note", content: "The tests run.", display: true });
  }

  /** Another process opens a session: nothing that this one knew is there. */
  async #reopen(sessionId: string): Promise<void> {
    await this.#compactor.close();
    this.#session = await this.#store.openSession(sessionId);
    this.#compactor = this.#newCompactor(this.#setup.window);
  }

  /** What was sent of signed thinking, in blocks, over all requests. */
  get thinkingSent(): number {
    return this.#thinkingSent;
  }

  async compactions(): Promise<number> {
    return (await this.#session.list({ types: ["compaction"], limit: 10_000 })).length;
  }

  async close(): Promise<void> {
    await this.#compactor.close();
  }
}
