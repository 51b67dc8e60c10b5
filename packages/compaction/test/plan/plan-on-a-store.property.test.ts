import { assistantMessage, type ContextMessage, type EntryId, type Session, toolResult, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { type Compactable, type KeepRule, planCompaction } from "../../src/plan/plan-compaction.js";
import { readSpan, type Span } from "../../src/plan/span.js";
import { ContextMeter } from "../../src/tokens/context-meter.js";
import { findings, openedStore } from "../world/session.js";

/** One token a character: sizes can be read off the texts. */
const characters = { name: "characters/1", count: (text: string) => text.length };

/**
 * One step of a conversation. `answers` picks one of the calls that still wait (0: the newest), if any does; `calls` is how
 * many calls a reply makes.
 */
interface Step {
  readonly kind: "prompt" | "reply" | "result" | "note" | "command" | "model" | "omit";
  readonly calls: number;
  readonly answers: number;
}

const NOTE = { type: "custom_message", customType: "note", content: "note", display: true } as const;
const COMMAND = { type: "message", message: { role: "bashExecution", command: "ls", output: "" } } as const;
const MODEL = { type: "model_change", provider: "acme", modelId: "m" } as const;

/** What was played so far: entries that may be edited, calls that may be answered. */
interface Played {
  readonly session: Session;
  readonly messages: EntryId[];
  readonly waiting: string[];
}

const ACTS: Readonly<Record<Step["kind"], (played: Played, step: Step) => Promise<unknown>>> = {
  prompt: async ({ session, messages }) => messages.push((await session.append(userMessage("prompt"))).id),
  note: ({ session }) => session.append(NOTE),
  command: ({ session }) => session.append(COMMAND),
  model: ({ session }) => session.append(MODEL),
  reply: async ({ session, messages, waiting }, { calls }) => {
    // Counted anew in each part of a session: ids occur again, as some providers have it.
    const blocks = Array.from(
      { length: calls },
      (_one, at) => ({ type: "toolCall", id: `c${messages.length}.${at}`, name: "t", arguments: {} }) as const,
    );
    messages.push((await session.append(assistantMessage([{ type: "text", text: "reply" }, ...blocks]))).id);
    waiting.push(...blocks.map(({ id }) => id));
  },
  result: async ({ session, messages, waiting }, { answers }) => {
    const [call] = waiting.splice(waiting.length - 1 - (answers % Math.max(1, waiting.length)), 1);
    if (call !== undefined) messages.push((await session.append(toolResult(call, "result"))).id);
  },
  omit: async ({ session, messages }, { answers }) => {
    const targetId = messages[messages.length - 1 - (answers % Math.max(1, messages.length))];
    if (targetId !== undefined) await session.append({ type: "context_edit", targetId, replacement: null });
  },
};

/** Plays the steps: calls are answered late, in any order, with people and hosts in between, or never. */
async function play(session: Session, steps: readonly Step[]): Promise<void> {
  const played: Played = { session, messages: [], waiting: [] };
  for (const step of steps) await ACTS[step.kind](played, step);
}

async function spanOf(session: Session): Promise<Span> {
  return readSpan(session, session.leafId as EntryId, new ContextMeter(session, characters));
}

/** The plan for a session as it is; null: nothing to compact. */
function planFor({ items, context }: Span, keep: KeepRule): Compactable | null {
  const plan = planCompaction({ items, keep, minMessages: 1, inForce: context.compaction?.entryId ?? null });
  return plan.kind === "nothing-to-compact" ? null : plan;
}

/** Carries the plan out, as the engine does. */
async function compact(session: Session, { firstKeptEntryId }: Compactable): Promise<void> {
  await session.append({ type: "compaction", summary: "summary", firstKeptEntryId, tokensBefore: 1 });
}

/** Whether behind each reply stand the results of its calls, and no result stands elsewhere. */
function isValid(messages: readonly ContextMessage[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (open.shift() !== message.toolCallId) return false;
    } else {
      if (open.length > 0) return false;
      open = message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [];
    }
  }
  return open.length === 0;
}

/** Each message as one word, in the order of the alphabet: a late result stands elsewhere on the path than in a context. */
function words(messages: readonly ContextMessage[]): readonly string[] {
  return messages.map((message) => JSON.stringify(message)).sort();
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>(
      "prompt",
      "prompt",
      "reply",
      "reply",
      "reply",
      "result",
      "result",
      "result",
      "note",
      "command",
      "model",
      "omit",
    ),
    calls: fc.nat(2),
    answers: fc.nat(2),
  }),
  { minLength: 4, maxLength: 30 },
);
const rules: fc.Arbitrary<KeepRule> = fc.oneof(
  fc.record({ by: fc.constant("tokens" as const), tokens: fc.nat(200), wholeTurnTokens: fc.nat(200) }),
  fc.record({ by: fc.constant("messages" as const), messages: fc.integer({ min: 1, max: 10 }) }),
  fc.record({ by: fc.constant("rounds" as const), rounds: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ by: "nothing" as const }),
);

describe("a plan that was carried out", () => {
  test("leaves a context of the summary and the kept tail, each result after its call", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, rules, async (all, keep) => {
        const session = await store.createSession({});
        await play(session, all);
        if (session.leafId === null) return;
        const span = await spanOf(session);
        const plan = planFor(span, keep);
        if (plan === null) return;
        await compact(session, plan);
        const { messages } = await session.context();
        expect(messages[0]?.role).toBe("compactionSummary");
        expect(words(messages.slice(1))).toEqual(words(plan.keep.flatMap((item) => item.messages)));
        expect(isValid(messages)).toBe(true);
      }),
      { numRuns: runs(200) },
    );
    expect(await findings(store)).toEqual([]);
  });

  test("is continued by the next one: the kept tail and later entries are each included once", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(steps, steps, rules, async (before, after, keep) => {
        const session = await store.createSession({});
        await play(session, before);
        if (session.leafId === null) return;
        const plan = planFor(await spanOf(session), keep);
        if (plan === null) return;
        await compact(session, plan);
        const compaction = session.leafId;
        await play(session, after);
        const path = (await session.path()).map(({ id }) => id);
        const behind = path.slice(path.indexOf(compaction) + 1);
        const kept = plan.keep.map(({ id }) => id);
        const next = (await spanOf(session)).items.map(({ id }) => id);
        expect(next).toEqual(kept.length === 0 ? behind : [...kept, compaction, ...behind]);
      }),
      { numRuns: runs(100) },
    );
  });

  test("accepts the result of a tool that was running, even if nothing is kept", async () => {
    const session = await (await openedStore()).createSession({});
    await session.append(userMessage("look"));
    const call = { type: "toolCall", id: "late", name: "t", arguments: {} } as const;
    const reply = await session.append(assistantMessage([call]));
    await session.append(userMessage("and hurry"));
    const plan = planFor(await spanOf(session), { by: "nothing" });
    if (plan === null) throw new Error("the first prompt can be summarized");
    await compact(session, plan);
    await session.append(toolResult("late", "what it found"));
    const { messages } = await session.context();
    expect(plan.firstKeptEntryId).toBe(reply.id);
    expect(messages.map(({ role }) => role)).toEqual(["compactionSummary", "assistant", "toolResult", "user"]);
    expect(JSON.stringify(messages)).toContain("what it found");
  });

  test("ignores a running tool of a reply that is followed by another reply", async () => {
    const session = await (await openedStore()).createSession({});
    await session.append(userMessage("look"));
    await session.append(assistantMessage([{ type: "toolCall", id: "lost", name: "t", arguments: {} }]));
    await session.append(userMessage("again"));
    await session.append(assistantMessage("nothing there"));
    const plan = planFor(await spanOf(session), { by: "nothing" });
    expect(plan?.keep).toEqual([]);
  });
});
