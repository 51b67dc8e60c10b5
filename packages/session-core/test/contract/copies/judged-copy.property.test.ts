import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { BoughError } from "../../../src/errors/bough-error.js";
import { InvalidCopyError } from "../../../src/errors/copy-errors.js";
import type { CopiedEntry, CopiedState, SessionCopies } from "../../../src/port/session-copy.js";
import { parseCopiedEntries, parseCopiedPart, parseCopiedState } from "../../../src/rules/copied-schema.js";
import { judgedCopies } from "../../../src/rules/copy-judge.js";
import { type CopyPlace, digestOfEntries, digestOfSession, digestOfState, placeOf } from "../../../src/store/copy-place.js";
import { copyBetween } from "../../../src/store/copy-sessions.js";
import type { Store } from "../../../src/store/store.js";
import { grow, plant } from "../../world/grow.js";
import { findingsOf, openedStore } from "../../world/stores.js";
import { steps, TreeModel } from "../../world/tree-model.js";

/** A text as it arrives: once more read from JSON. */
const sent = <T>(value: T): unknown => JSON.parse(JSON.stringify(value ?? null));

/**
 * A store as another process serves it: everything passes through JSON and the gate. `change`: a lie about what it has; its digests are
 * those of the lie unless they are `honest`.
 */
function servedBy(store: Store, change: (value: unknown) => unknown = (value) => value, honest = false): CopyPlace {
  const place = placeOf(store);
  const { copies } = place;
  const lying: SessionCopies = {
    ...copies,
    state: async (key) => change(sent(await copies.state(key))) as CopiedState,
    entries: async (key, after, upTo) => change(sent(await copies.entries(key, after, upTo))) as CopiedEntry[],
  };
  const digested = honest ? copies : lying;
  return {
    ...place,
    copies: {
      state: async (key) => {
        const state = await lying.state(key);
        return state === null ? undefined : parseCopiedState(typeof key === "string" ? key : key.id, state);
      },
      entries: async (key, after, upTo) => parseCopiedEntries("s", await lying.entries(key, after, upTo)),
      write: ({ state, ...part }) => {
        const { id } = state.session;
        return judgedCopies(copies).write({ ...parseCopiedPart(id, sent(part) as object), state: parseCopiedState(id, sent(state)) });
      },
    },
    far: {
      ofStates: (ids) =>
        Promise.all(
          ids.map(async (id) => {
            const state = await copies.state(id);
            return state === undefined ? null : digestOfState(state);
          }),
        ),
      ofEntries: (key, count) => digestOfEntries(digested, key, Math.min(count, 1000)),
      ofSession: async (key) => {
        const state = await copies.state(key);
        return state === undefined ? null : digestOfSession(copies, state);
      },
    },
  };
}

const judgedPlace = (store: Store): CopyPlace => ({ ...placeOf(store), copies: judgedCopies(placeOf(store).copies) });

/** A session with an entry of each kind, branches, labels, values and a second leaf. */
async function filled(): Promise<Store> {
  const store = await openedStore();
  const { session } = await grow("s1 u1 k1 r1:k1 a1 @u1 a2 u2 c1:u2 u3 x1:a2 m1 h1 d1 n1", {
    store,
    session: { id: "s", cwd: "/home/ada/project", metadata: { owner: "u7" }, title: "All kinds" },
  });
  await session.undoMove();
  await session.labels.set("u2", "here");
  await session.values.set("small", { 1: [null] });
  await (await store.openSession("s", { leaf: "other" })).append({ type: "custom", customType: "data", data: {} });
  return store;
}

/** Everything but row numbers and what a store computes of its own: marks of copies and token counts. */
async function contentOf(store: Store): Promise<unknown> {
  const place = placeOf(store);
  const ids = [...(await place.listIds())].sort();
  return Promise.all(
    ids.map(async (id) => {
      const state = await place.copies.state(id);
      return state && [id, digestOfState(state), await digestOfSession(place.copies, state)];
    }),
  );
}

describe("a copy from a store that another process serves", () => {
  test.each(["from", "to"] as const)("has all kinds of entries, copied %s it, and forks", async (side) => {
    const [store, other] = [await filled(), await openedStore()];
    await plant(await store.forkSession("s", { id: "fork" }), "u9 a9");
    const [from, to] = side === "from" ? [servedBy(store), judgedPlace(other)] : [placeOf(store), servedBy(other)];
    const { sessions } = await copyBetween(from, to);
    expect(sessions.map(({ outcome }) => outcome)).toEqual(["copied", "copied"]);
    expect(await contentOf(other)).toEqual(await contentOf(store));
    expect(await findingsOf(other)).toEqual([]);
    expect((await copyBetween(from, to)).sessions.map(({ outcome }) => outcome)).toEqual(["unchanged", "unchanged"]);
  });

  test("has a title and labels that were cut before a space or inside of a character", async () => {
    const [store, other] = [await openedStore(), await openedStore()];
    const { session } = await grow("u1 a1", { store, session: { id: "s", title: `${"t".repeat(499)} and more` } });
    await session.labels.set("a1", `${"l".repeat(499)}\u{1f600} and more`);
    expect((await session.record()).title).toBe("t".repeat(499));
    expect((await session.labels.list()).map(({ label }) => label)).toEqual(["l".repeat(499)]);
    expect((await copyBetween(servedBy(store), judgedPlace(other))).sessions).toMatchObject([{ error: null, outcome: "copied" }]);
    // As versions before cut it.
    const state = await placeOf(store).copies.state("s");
    const title = `${"t".repeat(499)} `;
    expect(parseCopiedState("s", { ...state, session: { ...state?.session, title } }).session.title).toBe(title);
  });

  test("is continued as any tree is", async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, fc.constantFrom("from", "to"), async (before, after, side) => {
        const [store, other] = [await openedStore(), await openedStore()];
        await store.createSession({ id: "s" });
        const [from, to] = side === "from" ? [servedBy(store), judgedPlace(other)] : [placeOf(store), servedBy(other)];
        const model = new TreeModel();
        for (const part of [before, after]) {
          await take(store, model, part);
          const { sessions } = await copyBetween(from, to, { update: true });
          expect(sessions).toMatchObject([{ error: null, difference: null }]);
          expect(await contentOf(other)).toEqual(await contentOf(store));
        }
        expect(await findingsOf(other)).toEqual([]);
      }),
      { numRuns: runs(40) },
    );
  });
});

async function take(store: Store, model: TreeModel, part: readonly (typeof steps extends fc.Arbitrary<infer S> ? S : never)[number][]) {
  const session = await store.openSession("s");
  for (const step of part) {
    const word = model.take(step);
    if (word === "undo") await session.undoMove();
    else if (word === "redo") await session.redoMove();
    else if (word !== undefined) await plant(session, word);
    model.leaf = session.leafId;
  }
}

/** The paths to all values in a JSON value. */
function pathsIn(value: unknown, at: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [at];
  const entries = Array.isArray(value) ? value.map((member, key) => [key, member] as const) : Object.entries(value);
  return [at, ...entries.flatMap(([key, member]) => pathsIn(member, [...at, key]))];
}

function changedAt(value: unknown, path: readonly (string | number)[], put: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return put;
  if (Array.isArray(value)) return value.map((member, at) => (at === key ? changedAt(member, rest, put) : member));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: changedAt(object[key], rest, put) };
}

const lie = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    -1,
    0,
    1,
    2,
    3,
    7,
    99,
    1.5,
    1e300,
    "",
    "u1",
    "a1",
    "\0",
    "\ud800",
    "a\nb",
    "{}",
    "[]",
    [],
    {},
    [null],
  ),
  fc.constantFrom<unknown>(
    '{"message":{"role":"user","content":1}}',
    '{"type":"custom","summary":"x"}',
    '{"message":{"role":"user","content":"x"}}',
  ),
  fc.string(),
  fc.integer({ min: -3, max: 20 }),
);

describe("what another process says", () => {
  test("never brings a store into a state that verify refuses, whatever single value is another one", async () => {
    const store = await filled();
    await fc.assert(
      fc.asyncProperty(fc.nat(), lie, fc.boolean(), async (at, put, ofState) => {
        const target = await openedStore();
        const change = (value: unknown) => {
          if (Array.isArray(value) === ofState || value === null) return value;
          const paths = pathsIn(value);
          return changedAt(value, paths[at % paths.length] ?? [], put);
        };
        await copyBetween(servedBy(store, change), judgedPlace(target)).catch((error: unknown) => {
          // A lie that no digest can be computed of.
          if (!(error instanceof TypeError)) expect(error).toBeInstanceOf(BoughError);
        });
        expect(await findingsOf(target)).toEqual([]);
      }),
      { numRuns: runs(400) },
    );
  });

  const entry = (at: number, change: Partial<Record<keyof CopiedEntry, unknown>>) => (value: unknown) =>
    Array.isArray(value) ? value.map((one, place) => (place === at ? { ...one, ...change } : one)) : value;
  const state = (change: Partial<Record<keyof CopiedState, unknown>>) => (value: unknown) =>
    Array.isArray(value) ? value : { ...(value as object), ...change };

  test.each<[string, (value: unknown) => unknown, RegExp]>([
    ["a parent that is not older", entry(3, { parent: 4 }), /entry 4: its parent is not older/],
    ["an id that another entry has", entry(3, { id: "u1" }), /entry 4: its id is that of another entry/],
    ["an id of two lines", entry(3, { id: "a\nb" }), /visible characters/],
    ["a gap", entry(3, { place: 5 }), /entry 4: it has the place 5/],
    ["another depth", entry(3, { depth: 9 }), /entry 4: what applies at its place/],
    ["a payload that no schema accepts", entry(1, { payload: '{"message":{"role":"user","content":1}}' }), /entry 2: .*content/],
    ["a payload that is no JSON", entry(1, { payload: "{" }), /entry 2: its payload is no JSON object/],
    ["a payload with a type of its own", entry(1, { payload: '{"type":"custom","customType":"x"}' }), /entry 2: its payload names a type/],
    ["a payload of another kind", entry(1, { kind: 3 }), /entry 2: it is of another kind/],
    ["a leaf at no entry", state({ leaves: [{ name: "main", at: 99 }] }), /a leaf is at no entry/],
    ["no leaf main", state({ leaves: [] }), /it has no leaf main/],
    ["a label of two lines", state({ labels: [{ at: 1, label: "a\nb", createdAtMs: 1 }] }), /labels\.0\.label/],
    ["a value that is no JSON", state({ values: [{ key: "k", json: "{", updatedAtMs: 1 }] }), /values\.0\.json/],
    ["the id of another session", state({ row: { id: "other", seq: 1 } }), /the id of another one/],
  ])("%s is refused, with the reason, and nothing more is written", async (_name, change, reason) => {
    const target = await openedStore();
    const [result] = (await copyBetween(servedBy(await filled(), change), judgedPlace(target))).sessions;
    expect(result).toMatchObject({ outcome: "failed", error: expect.any(InvalidCopyError) });
    expect(result?.error?.message).toMatch(reason);
    expect(await target.findSession("s")).toBeUndefined();
  });

  test("is compared with its own digest: a payload that it changed on the way is no copy", async () => {
    const target = await openedStore();
    const change = entry(1, { payload: '{"message":{"role":"user","content":"another text"}}' });
    const [result] = (await copyBetween(servedBy(await filled(), change, true), judgedPlace(target))).sessions;
    expect(result).toMatchObject({ outcome: "failed", error: { code: "COPY_DIFFERS" } });
    expect(await target.findSession("s")).toBeUndefined();
  });
});
