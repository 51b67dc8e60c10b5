import { BoughSessionRepo } from "@bough/adapters/pi";
import { openStore } from "@bough/session-core";
import { BACKGROUND_CONTEXT as HERE } from "@earendil-works/pi-agent-core/harness/context";
import {
  branchTip,
  type Entry,
  entryLabel,
  type ForkOptions,
  laneConfig,
  laneState,
  list,
  MemorySessionRepo,
  type Session,
  value,
  type Write,
} from "@earendil-works/pi-agent-core/harness/session";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../.ci/test-runs.js";
import { type Fork, fork, type Step, step } from "./programs.js";

// The same random commits, forks and reads through pi's own repository in memory and through the adapter: every answer is the same,
// except that numbers of writes may have gaps. So numbers are compared by their rank in the session.

/** The id of the entry at a place of the session. */
async function idAt(session: Session, at: number): Promise<string> {
  const entries = await session.findEntries({ order: "asc" }, HERE);
  return entries[(at - 1) % Math.max(1, entries.length)]?.id ?? "gone";
}

async function forkOptions(session: Session, given: Fork): Promise<ForkOptions> {
  if (given.scope === "tree") return { scope: "tree", id: "fork" };
  const { at, ...options } = given;
  return { ...options, id: "fork", ...(at === undefined ? {} : { entryId: await idAt(session, at) }) };
}

/** One of the two sides: a session and its repository. */
interface Side {
  readonly repo: Pick<MemorySessionRepo, "create" | "open" | "fork">;
  session: Session;
}

const LANE = { model: { provider: "p", modelId: "m" }, thinkingLevel: "off" as const, activeToolNames: [] };
const IDLE = { currentOperationId: null, lastOperationId: null, inbox: [] };
const applicationList = (name: string) => list<unknown>("app", name);
const NOTHING = "nothing to do";

/** Does a step; what it gives is compared. Numbers are replaced by names of what they number. */
async function perform(side: Side, { ...given }: Step): Promise<unknown> {
  const { session } = side;
  switch (given.kind) {
    case "commit":
      return session.mutate(async (mutator) => {
        const { seqs, stats } = await mutator.commit(given.writes, HERE);
        return { count: seqs.length, ascending: seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] ?? 0)), stats };
      }, HERE);
    case "grow": {
      const { length } = await session.findEntries(undefined, HERE);
      const below = given.below === 0 ? null : await idAt(session, given.below);
      const writes = given.entries.map((one, at): Write => {
        const parent = at === 0 ? (below === "gone" ? null : below) : `n${length + at - 1}`;
        return { kind: "entry", entry: { ...one, id: `n${length + at}`, parentId: parent } };
      });
      return perform(side, { kind: "commit", writes: [...writes, ...given.rest] });
    }
    case "tip": {
      const tip = await idAt(session, given.at);
      // A tip that does not exist is refused by the adapter only.
      if (tip === "gone") return NOTHING;
      await session.setValue(branchTip(given.branch), tip, HERE);
      await session.setValue(laneConfig(given.branch), LANE, HERE);
      return session.setValue(laneState(given.branch), IDLE, HERE);
    }
    case "scan": {
      const { start, after, stopAtId, ...query } = given.query;
      const cursor = after === undefined ? undefined : await session.getEntry(await idAt(session, after), HERE);
      const stop = stopAtId === undefined ? {} : { stopAtId: await idAt(session, stopAtId) };
      const from = { ...query, ...stop, start: await idAt(session, start) };
      const found = await session.scanBranch({ ...from, ...(cursor === undefined ? {} : { cursor: { seq: cursor.seq } }) }, HERE);
      return found.map(({ seq: _seq, timestamp: _timestamp, ...rest }) => rest);
    }
    case "read": {
      const { key: name, after, ...options } = given.query;
      const all = await session.readList(applicationList(name), undefined, HERE);
      const at = after === undefined ? undefined : all[after];
      const page = await session.readList(
        applicationList(name),
        { ...options, ...(at === undefined ? {} : { cursor: { seq: at.seq } }) },
        HERE,
      );
      return page.map((element) => all.findIndex(({ seq }) => seq === element.seq));
    }
    case "reopen":
      await session.close(HERE);
      side.session = await side.repo.open(session.metadata, HERE);
      return NOTHING;
  }
}

/** What a session holds, with the order of all numbers. */
async function contents(session: Session) {
  const entries = await session.findEntries({ order: "asc" }, HERE);
  const values = await session.scanValues(value("app"), HERE);
  const labels = await session.scanValues(entryLabel(""), HERE);
  const tips = await session.scanValues(branchTip(""), HERE);
  const names = ["", "x", "x/1", "x/2", "ü"];
  const lists = await Promise.all(names.map((name) => session.readList(applicationList(name), undefined, HERE)));
  const numbered = [...entries, ...values, ...lists.flat()];
  return {
    entries: entries.map(({ seq: _seq, timestamp: _timestamp, ...rest }: Entry) => rest),
    values: [...values, ...labels, ...tips].map(({ address, value: held }) => [address.namespace, address.key, held]),
    lists: lists.map((elements) => elements.map((element) => element.value)),
    name: await session.getName(HERE),
    stats: await session.getStats(HERE),
    order: rankOf(numbered.map(({ seq }) => seq)),
  };
}

function rankOf(numbers: readonly number[]): readonly number[] {
  const sorted = [...numbers].sort((a, b) => a - b);
  return numbers.map((number) => sorted.indexOf(number));
}

/** The answer, or that there was an error. */
async function answer(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch {
    return "an error";
  }
}

test("the adapter answers as pi's own repository in memory", async () => {
  const outcomes = new Map<string, number>();
  const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), fork, async (steps, chosen) => {
      const store = await openStore({ path: ":memory:" });
      const repos = [new MemorySessionRepo({ now: () => 1 }), new BoughSessionRepo(store, { now: () => 1 })] as const;
      const sides: Side[] = await Promise.all(repos.map(async (repo) => ({ repo, session: await repo.create({ id: "s" }, HERE) })));
      const [pi, ours] = sides as [Side, Side];
      for (const one of steps) {
        const expected = await answer(() => perform(pi, one));
        expect(await answer(() => perform(ours, one))).toEqual(expected);
        count(`${one.kind}${expected === "an error" ? ", refused" : ""}`);
      }
      expect(await contents(ours.session)).toEqual(await contents(pi.session));
      const forked = await Promise.all(
        sides.map(({ repo, session }) =>
          answer(async () => contents(await repo.fork(session.metadata, await forkOptions(session, chosen), HERE))),
        ),
      );
      // In a fork entries have new numbers, and elements of lists the old ones.
      expect(withoutOrder(forked[1])).toEqual(withoutOrder(forked[0]));
      count(`fork of ${chosen.scope}${forked[0] === "an error" ? ", refused" : ""}`);
      for await (const violation of store.verify()) throw new Error(violation.message);
      await store.close();
    }),
    { numRuns: runs(150) },
  );
  // Each kind of step was both done and refused where it can be.
  for (const what of [
    "commit",
    "commit, refused",
    "scan",
    "scan, refused",
    "read",
    "tip",
    "reopen",
    "fork of tree",
    "fork of branch",
    "fork of branch, refused",
  ]) {
    expect(outcomes.get(what) ?? 0, what).toBeGreaterThan(3);
  }
});

function withoutOrder(given: unknown): unknown {
  return typeof given === "object" && given !== null && "order" in given ? { ...given, order: undefined } : given;
}
