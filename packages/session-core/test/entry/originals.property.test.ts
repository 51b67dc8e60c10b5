import fc from "fast-check";
import { expect, test } from "vitest";
import { decideOriginals, type Holder, listUndecided, type SharedEntry } from "../../src/entry/origins.js";

interface Plan {
  readonly createdAtMs: number;
  /** The number of the session of which it is a fork, of those before it; -1: none; -2: one that is not in the store. */
  readonly parent: number;
  /** When it comes into the store. */
  readonly order: number;
  /** The entries of the origin in it. */
  readonly entries: number;
}

const plans = fc.array(
  fc.record<Plan>({
    createdAtMs: fc.nat({ max: 3 }),
    parent: fc.integer({ min: -2, max: 5 }),
    order: fc.nat({ max: 99 }),
    entries: fc.integer({ min: 1, max: 2 }),
  }),
  { minLength: 2, maxLength: 7 },
);

function holderOf({ createdAtMs, parent }: Plan, at: number): Holder {
  const parentId = parent === -1 || parent > at ? null : parent === -2 ? "gone" : `session${parent}`;
  return { sessionId: `session${at}`, parentId, createdAtMs, activeAtMs: createdAtMs, arrival: at };
}

const byEntry = (changed: ReturnType<typeof decideOriginals<number>>) =>
  changed.map(({ seq, inherited }) => [seq, inherited] as const).toSorted(([a], [b]) => a - b);

// Sessions that are each other's forks are left out: of these the decision depends on the order.
test("the originals and the new copies decide as all copies do, in whatever order the sessions come", () => {
  fc.assert(
    fc.property(plans, (given) => {
      const holders = given.map(holderOf);
      const order = [...given.keys()].toSorted((a, b) => (given[a]?.order ?? 0) - (given[b]?.order ?? 0));
      const present = new Set<number>();
      const find = (session: number) => (present.has(session) ? holders[session] : undefined);
      let entries: readonly SharedEntry<number>[] = [];
      for (const session of order) {
        present.add(session);
        for (let left = given[session]?.entries ?? 0; left > 0; left -= 1)
          entries = [...entries, { origin: "request", session, seq: entries.length, inherited: false }];
        const few = entries.filter((entry) => !entry.inherited || entry.session === session);
        const whole = byEntry(decideOriginals(entries, find));
        const isInSource = entries.some((entry) => entry.inherited && find(entry.session)?.sessionId === find(session)?.parentId);
        const copied = new Set(isInSource ? ["request"] : []);
        if (listUndecided(["request"], few, session, find, copied).length === 0) expect(byEntry(decideOriginals(few, find))).toEqual(whole);
        const marks = new Map(whole);
        entries = entries.map((entry) => ({ ...entry, inherited: marks.get(entry.seq) ?? entry.inherited }));
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a fork that was created before the original is decided without the copies, unless its source has one", () => {
  const fork = { parentId: "source", activeAtMs: 0 };
  const holders: readonly Holder[] = [
    { ...fork, sessionId: "here", createdAtMs: 2, arrival: 0 },
    { ...fork, sessionId: "arriving", createdAtMs: 1, arrival: 1 },
  ];
  const few = [0, 1].map((session) => ({ origin: "request", session, seq: session, inherited: false }));
  const undecided = (copied: readonly string[]) => listUndecided(["request"], few, 1, (session) => holders[session], new Set(copied));
  expect(undecided([])).toEqual([]);
  expect(undecided(["request"])).toEqual(["request"]);
});
