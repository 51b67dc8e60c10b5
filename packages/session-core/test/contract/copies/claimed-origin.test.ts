import { describe, expect, test } from "vitest";
import { imported } from "../../../../formats/test/world/sources.js";
import { userMessage } from "../../../src/entry/builders.js";
import type { CopiedEntry, CopiedSession } from "../../../src/port/session-copy.js";
import type { SourceRecord, SourceSession } from "../../../src/port/source.js";
import { judgedCopies } from "../../../src/rules/copy-judge.js";
import { type CopyPlace, placeOf } from "../../../src/store/copy-place.js";
import { copyBetween } from "../../../src/store/copy-sessions.js";
import type { Store } from "../../../src/store/store.js";
import { findingsOf, openedStore } from "../../world/stores.js";

// An origin says of which entry another one is a copy. Another machine can say what it likes: a claim must hide nothing that is here.

const USAGE = { input: 10, output: 7, cost: { total: 1 } };
const REPLY = {
  role: "assistant",
  content: [{ type: "text", text: "the reply says zebra" }],
  provider: "p",
  model: "m",
  usage: USAGE,
  responseId: "response-1",
};
const PROMPT = userMessage("the prompt says zebra");

/** A session of an agent with these entries, one after the other. */
function fileOf(sessionId: string, entries: readonly (readonly [id: string, payload: unknown])[]): SourceSession {
  const createdAtMs = 1_000_000;
  const records = entries.map(
    ([id, payload], at): SourceRecord => ({
      kind: "entry",
      line: at + 1,
      id,
      parentId: entries[at - 1]?.[0] ?? null,
      createdAtMs: createdAtMs + at,
      payload,
    }),
  );
  return { header: { sessionId, kind: "conversation", createdAtMs }, records: () => records };
}

/** A store with a session of an agent, "own", and one that was written here, "native". */
async function ownStore(): Promise<Store> {
  const store = await openedStore();
  await imported(
    store,
    fileOf("own", [
      ["p1", PROMPT],
      ["r1", { type: "message", message: REPLY }],
    ]),
  );
  await (await store.createSession({ id: "native" })).append({ ...userMessage("the native prompt says zebra"), id: "n1" });
  return store;
}

interface Lie {
  readonly entry?: (entry: CopiedEntry) => Partial<CopiedEntry>;
  readonly session?: Partial<CopiedSession>;
}

/** A store that another machine serves, and what that changes of it. */
function lying(store: Store, { entry = () => ({}), session = {} }: Lie): CopyPlace {
  const place = placeOf(store);
  return {
    ...place,
    copies: {
      ...place.copies,
      state: async (key) => {
        const state = await place.copies.state(key);
        return state && { ...state, session: { ...state.session, ...session } };
      },
      entries: async (key, after, upTo) => (await place.copies.entries(key, after, upTo)).map((one) => ({ ...one, ...entry(one) })),
    },
  };
}

const judged = (store: Store): CopyPlace => ({ ...placeOf(store), copies: judgedCopies(placeOf(store).copies) });

const outputOf = (usage: readonly { outputTokens: number }[]) => usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0);

/** What a search finds, and what own sessions count. */
async function seenIn(store: Store) {
  const { hits } = await store.search({ query: "zebra" });
  const own = await (await store.openSession("own")).statistics();
  return {
    found: hits.map(({ sessionId, entryId }) => `${sessionId} ${entryId}`).sort(),
    output: [outputOf(own.usage), outputOf(own.inheritedUsage)],
  };
}

const UNTOUCHED = { found: ["native n1", "own p1", "own r1"], output: [7, 0] };

/** The origin of an entry of the session "own". */
async function originIn(store: Store, id: string): Promise<string> {
  const { copies } = placeOf(store);
  const state = await copies.state("own");
  if (state === undefined) throw new Error("There is no session own.");
  return (await copies.entries(state.row, 0, 10)).find((entry) => entry.id === id)?.origin ?? "";
}

const EARLIER = { createdAtMs: 1, activeAtMs: 1 };

describe("an entry from another machine that says it is the original of one that is here hides nothing", () => {
  test.each([
    ["a prompt of an agent", "p1"],
    ["a reply of an agent", "r1"],
  ])("that another text has the origin of %s", async (_what, id) => {
    const [store, far] = [await ownStore(), await openedStore()];
    await (await far.createSession({ id: "liar" })).append({ ...userMessage("nothing of it"), id: "x1" });
    const origin = await originIn(store, id);
    await copyBetween(lying(far, { entry: () => ({ origin }), session: EARLIER }), judged(store));
    expect(await seenIn(store)).toEqual(UNTOUCHED);
    expect((await store.search({ query: "nothing" })).total).toBe(1);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that it is a copy of an entry that was written here", async () => {
    const [store, far] = [await ownStore(), await openedStore()];
    await (await far.createSession({ id: "liar" })).append({ ...userMessage("nothing of it"), id: "x1" });
    await copyBetween(lying(far, { entry: () => ({ origin: "native n1" }), session: EARLIER }), judged(store));
    expect(await seenIn(store)).toEqual(UNTOUCHED);
    expect(await findingsOf(store)).toEqual([]);
  });

  test.each([
    ["another text", { ...REPLY, content: [{ type: "text", text: "nothing of it" }] }],
    ["no usage", { ...REPLY, usage: undefined }],
  ])("that its reply has the id of the response, and %s", async (_what, message) => {
    const [store, far] = [await ownStore(), await openedStore()];
    await imported(
      far,
      fileOf("liar", [
        ["p9", userMessage("another prompt")],
        ["r9", { type: "message", message }],
      ]),
    );
    await copyBetween(lying(far, { session: EARLIER }), judged(store));
    expect((await seenIn(store)).output).toEqual([7, 0]);
    expect((await seenIn(store)).found).toEqual(expect.arrayContaining(UNTOUCHED.found));
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that it was a fork, and is none any more", async () => {
    const [store, far] = [await ownStore(), await openedStore()];
    await (await far.createSession({ id: "liar" })).append({ ...userMessage("nothing of it"), id: "x1" });
    const origin = await originIn(store, "p1");
    const parent = { sessionId: "own", entryId: "r1", toolCallId: null };
    for (const session of [
      { ...EARLIER, parent },
      { ...EARLIER, parent: null },
    ]) {
      await copyBetween(lying(far, { entry: () => ({ origin }), session }), judged(store), { update: true });
      expect(await seenIn(store)).toEqual(UNTOUCHED);
      expect(await findingsOf(store)).toEqual([]);
    }
  });
});

describe("an entry from another machine that is the original", () => {
  test("becomes it, and counts once, where the session here has the same content", async () => {
    const [store, far] = [await ownStore(), await openedStore()];
    await imported(
      far,
      fileOf("source", [
        ["p1", PROMPT],
        ["r1", { type: "message", message: REPLY }],
      ]),
    );
    await copyBetween(lying(far, { session: EARLIER }), judged(store));
    expect(await seenIn(store)).toEqual({ found: ["native n1", "source p1", "source r1"], output: [0, 7] });
    expect(outputOf((await store.statistics()).usage)).toBe(7);
    expect(await findingsOf(store)).toEqual([]);
  });
});
