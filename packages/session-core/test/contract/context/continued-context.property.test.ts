import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import type { SessionContext } from "../../../src/context/context.js";
import type { EntryInput } from "../../../src/entry/entry.js";
import type { Session } from "../../../src/session/session.js";
import type { Store } from "../../../src/store/store.js";
import { entryNamed, follow, grow, plant } from "../../world/grow.js";
import { openedStore } from "../../world/stores.js";
import { steps, TreeModel } from "../../world/tree-model.js";

const asked = fc.constantFrom("close", "drop", undefined);

/** The context of a handle that knows nothing yet. */
async function freshContext(store: Store, session: Session, danglingCalls: "close" | "drop"): Promise<SessionContext> {
  return (await store.openSession(session.id)).context({ danglingCalls });
}

/** Whether a result was made for one of several calls with one id in a reply: the results of these are equal, and no call is told from another. */
function isOneOfEqualResults(context: SessionContext, at: number): boolean {
  const message = context.messages[at];
  if (message?.role !== "toolResult" || message["synthetic"] !== true) return false;
  const calls = context.messages
    .filter((one, other) => one.role === "assistant" && context.entries[other] === context.entries[at])
    .flatMap((one) => (one.role === "assistant" ? one.content : []))
    .filter((block) => block.type === "toolCall" && block.id === message.toolCallId);
  return calls.length > 1;
}

/** Every message that appears as it did for its entry is the object that it was. */
function expectSameObjects(before: SessionContext, after: SessionContext): void {
  for (const [at, message] of after.messages.entries()) {
    if (isOneOfEqualResults(after, at)) continue;
    const equal = before.messages.filter((one, was) => before.entries[was] === after.entries[at] && isDeepStrictEqual(one, message));
    if (equal.length > 0) expect(equal).toContain(message);
  }
}

// Few ids, so that calls are answered late, twice, by the wrong reply or never, and replies name one id twice.
const ids = fc.constantFrom("c1", "c2", "c3");
const turns = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.array(ids, { minLength: 1, maxLength: 3 }).map((calls) => ({ kind: "k", about: calls.join(",") })) },
      { weight: 6, arbitrary: ids.map((call) => ({ kind: "r", about: call })) },
      { weight: 2, arbitrary: fc.constantFrom("u", "a", "n", "s", "m").map((kind) => ({ kind, about: undefined })) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("x", "y", "c"), about: fc.nat(30) }) },
    ),
    asked,
  ),
  { maxLength: 25, size: "max" },
);

/** The entry of a turn; one that is about an earlier entry chooses among those there are. */
function entryOf(
  { kind, about }: { kind: string; about: string | number | undefined },
  earlier: readonly string[],
): EntryInput | undefined {
  const id = `${kind}${earlier.length}`;
  if (typeof about !== "number") return entryNamed(about === undefined ? id : `${id}:${about}`);
  return earlier.length === 0 ? undefined : entryNamed(`${id}:${earlier[about % earlier.length]}`);
}

describe("a context that is continued", () => {
  test("is the one built anew, and of the same objects, in any tree, whatever was asked before", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 1 }), steps, async (questions, taken) => {
        const { session } = await grow("", { store });
        const model = new TreeModel();
        let before = await session.context();
        for (const [at, step] of taken.entries()) {
          await follow(session, model, step);
          const danglingCalls = questions[at % questions.length];
          if (danglingCalls === undefined) continue;
          const context = await session.context({ danglingCalls });
          expect(context).toEqual(await freshContext(store, session, danglingCalls));
          expectSameObjects(before, context);
          before = context;
        }
      }),
      { numRuns: runs(60) },
    );
  });

  test("is the one built anew wherever it meets calls and results that do not fit", async () => {
    const store = await openedStore();
    await fc.assert(
      fc.asyncProperty(turns, async (taken) => {
        const { session } = await grow("", { store });
        const earlier: string[] = [];
        let before = await session.context();
        for (const [turn, danglingCalls] of taken) {
          const entry = entryOf(turn, earlier);
          if (entry !== undefined) earlier.push((await session.append(entry)).id);
          if (danglingCalls === undefined) continue;
          const context = await session.context({ danglingCalls });
          expect(context).toEqual(await freshContext(store, session, danglingCalls));
          expectSameObjects(before, context);
          before = context;
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test("leaves a context that was given before as it was", async () => {
    const { session } = await grow("u1 k1");
    const before = await session.context();
    for (const words of ["r1:k1", "u2", "x1:u1"]) {
      await plant(session, words);
      await session.context();
      expect(before.entries).toEqual(["u1", "k1", "k1"]);
      expect(before.messages).toMatchObject([{ role: "user" }, { role: "assistant" }, { role: "toolResult", synthetic: true }]);
    }
  });

  test.each([
    ["an edited message", "u1 y1:u1", 0],
    ["a host's message", "n1", 0],
    ["a compaction", "u1 c1", 0],
    ["an edited compaction", "u1 c1 y1:c1", 0],
    ["the summary of a branch", "u1 b1:u1", 1],
    ["the result that closes a call", "k1", 1],
  ])("shows %s as the same object before and after an append, and after an edit of another entry", async (_what, words, at) => {
    const { session } = await grow(words);
    const message = (await session.context()).messages[at];
    expect(message).toBeDefined();
    await plant(session, "u8 u9");
    expect((await session.context()).messages[at]).toBe(message);
    await plant(session, "x9:u8");
    expect((await session.context()).messages[at]).toBe(message);
  });

  test("shows what two branches share as the same objects, also where it is asked for by a leaf", async () => {
    const { session } = await grow("u1 a1 u2");
    const [first, second] = (await session.context()).messages;
    await plant(session, "@a1 u3");
    const moved = await session.context();
    expect([moved.messages[0], moved.messages[1]]).toEqual([first, second]);
    expect(moved.messages[0]).toBe(first);
    expect(moved.messages[1]).toBe(second);
    expect((await session.context({ leafId: "a1" })).messages[1]).toBe(second);
  });

  test("cannot be changed through a message: it throws", async () => {
    const { session } = await grow("u1 y1:u1 k1 n1");
    for (const message of (await session.context()).messages) {
      expect(() => Object.assign(message, { role: "other" })).toThrow(TypeError);
    }
  });
});
