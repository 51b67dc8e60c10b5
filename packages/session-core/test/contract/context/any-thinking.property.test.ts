// For any tree: each signed block of a request stands behind exactly the blocks behind which it was produced.
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { toAnthropic } from "../../../src/context/converters/anthropic.js";
import { assistantMessage } from "../../../src/entry/builders.js";
import type { Entry } from "../../../src/entry/entry.js";
import type { EntryId } from "../../../src/ids/ids.js";
import type { Session } from "../../../src/session/session.js";
import { plant } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";

const KINDS = [
  "user",
  "reply",
  "reply",
  "reply",
  "call",
  "call",
  "result",
  "edit",
  "omit",
  "compact",
  "undo",
  "system",
  "branch",
  "move",
  "model",
] as const;
/** What is done, and where on the path or in the tree. */
const step = fc.record({ kind: fc.constantFrom(...KINDS), place: fc.double({ min: 0, max: 0.999, noNaN: true }) });

type Step = { readonly kind: (typeof KINDS)[number]; readonly place: number };

const MODELS = ["claude-fable-5-1", "claude-opus-5-5", "claude-sonnet-4-5"] as const;

/** A session that grows at random, and what each signed block was produced behind. */
class Conversation {
  readonly made = new Map<string, string>();
  readonly #session: Session;
  readonly #all: EntryId[] = [];
  #model: string = MODELS[0];
  #n = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async take({ kind, place }: Step): Promise<void> {
    const path = await this.#session.path();
    const pick = path[Math.floor(place * path.length)]?.id;
    const compaction = path.findLast(({ type }) => type === "compaction")?.id;
    const name = this.#next();
    const planted: Partial<Record<Step["kind"], string | undefined>> = {
      user: `u${name}`,
      system: `s${Math.floor(place * 3)}x${name}`,
      result: openCall(path, place) && `r${name}:${openCall(path, place)}`,
      edit: pick && `y${name}:${pick}`,
      omit: pick && `x${name}:${pick}`,
      compact: pick && `c${name}:${pick}`,
      branch: pick && `b${name}:${pick}`,
      undo: compaction && `x${name}:${compaction}`,
    };
    const word = planted[kind];
    if (kind === "reply" || kind === "call") await this.#reply(kind === "call");
    else if (kind === "model") this.#model = MODELS[Math.floor(place * MODELS.length)] ?? MODELS[0];
    else if (kind === "move") await this.#session.moveLeaf(this.#all[Math.floor(place * this.#all.length)] ?? null);
    else if (word !== undefined) await this.#plant(word);
  }

  #next(): number {
    this.#n += 1;
    return this.#n;
  }

  async #plant(word: string): Promise<void> {
    await plant(this.#session, word);
    this.#all.push(this.#session.leafId ?? "");
  }

  async #reply(calls: boolean): Promise<void> {
    const n = this.#next();
    const signature = `S${n}`;
    const context = await this.#session.context();
    const prompt = toAnthropic({ ...context, model: { provider: "anthropic", modelId: this.#model } });
    // A provider answers no empty request.
    if (prompt.messages.length === 0) return;
    this.made.set(signature, canonical(prompt));
    const call = { type: "toolCall", id: `call${n}`, name: "bash", arguments: {} } as const;
    const thinking = { type: "thinking", thinking: "", thinkingSignature: signature } as const;
    const more = calls ? [call] : [{ type: "text", text: `a${n}` } as const];
    const { id } = await this.#session.append(assistantMessage([thinking, ...more], { provider: "anthropic", model: this.#model }));
    this.#all.push(id);
  }

  /** The signed blocks that the request at an entry has for a model, each with what stands before it. */
  async sentAt(leafId: EntryId, modelId: string): Promise<readonly [signature: string, before: string][]> {
    const prompt = toAnthropic({ ...(await this.#session.context({ leafId })), model: { provider: "anthropic", modelId } });
    return prompt.messages.flatMap((message, at) =>
      message.content.flatMap((block, nth): [string, string][] => {
        if (block.type !== "thinking") return [];
        const own = { ...message, content: message.content.slice(0, nth) };
        return [[String(block.signature), canonical({ ...prompt, messages: [...prompt.messages.slice(0, at), own] })]];
      }),
    );
  }

  get leaves(): readonly EntryId[] {
    return this.#all;
  }
}

/** A call on the path, later ones more often. */
function openCall(path: readonly Entry[], place: number): string | undefined {
  const calls = path.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant"
      ? entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      : [],
  );
  return calls[Math.floor(Math.sqrt(place) * calls.length)];
}

/** A request as the provider reads it: system text, then blocks with their role. */
function canonical({
  system = "",
  messages,
}: {
  readonly system?: string;
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
}): string {
  return JSON.stringify([system, ...messages.flatMap(({ role, content }) => content.map((block) => [role, block]))]);
}

test("each signed block that is sent has the prefix that it was produced with, at every entry and for every model", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const store = await openedStore();
      const conversation = new Conversation(await store.createSession({}));
      for (const one of steps) await conversation.take(one);
      for (const leafId of conversation.leaves)
        for (const model of MODELS.slice(0, 2))
          for (const [signature, before] of await conversation.sentAt(leafId, model)) expect(before).toBe(conversation.made.get(signature));
      await store.close();
    }),
    { numRuns: runs(200) },
  );
});
