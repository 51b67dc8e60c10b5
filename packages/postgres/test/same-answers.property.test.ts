import {
  assistantMessage,
  type EntryInput,
  type SearchPage,
  type SearchRequest,
  type Store,
  toolResult,
  userMessage,
} from "@bough/session-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { serverPlace } from "../../../.ci/test-engine.js";
import { runs } from "../../../.ci/test-runs.js";
import { takeBackTo5 } from "../../session-core/test/world/old-stores.js";
import { openedStore, storePath } from "../../session-core/test/world/stores.js";

// A question has one answer, whatever the engine: the same entries in the same order with the same scores, on stores of several thousand
// entries, many of which are equal and of the same time.

const ENTRIES = 4_000;
const SESSIONS = 12;
/** The first are common, the last rare. */
const WORDS = `the it and lexer parser fails tabs spaces token line file theme colour border footer heron stork migration index cache
  userMessages src/lexer.ts v8 travelled travels wrote written deploying deployed zephyr quartz ocelot marmot tamarind`.split(/\s+/);
const ASKED = `${WORDS.join(" ")} lexre herno travel write deploy zephry fail`.split(" ");

const skewed = fc
  .double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
  .map((number) => WORDS[Math.floor(number ** 2.5 * WORDS.length)] ?? "it");
const text = fc.array(skewed, { minLength: 1, maxLength: 10 }).map((words) => words.join(" "));
const question = fc.array(fc.constantFrom(...ASKED), { minLength: 2, maxLength: 6 }).map((words) => `${words.join(" ")}?`);
const conditions: fc.Arbitrary<Partial<SearchRequest>> = fc.constantFrom(
  {},
  {},
  { sessionId: "s3" },
  { roles: ["user"] as const },
  { roles: ["toolResult"] as const, sinceMs: 1_003_000 },
  { cwd: "/b" },
);

interface Step {
  readonly session: number;
  /** Where the leaf goes before: back by so many entries of the session; 0: it stays. */
  readonly back: number;
  readonly text: number;
  readonly role: number;
  readonly time: number;
}
const step: fc.Arbitrary<Step> = fc.record({
  session: fc.nat(SESSIONS - 1),
  back: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 40 })),
  text: fc.nat(59),
  role: fc.nat(2),
  time: fc.nat(9),
});
const plans = fc.record({
  texts: fc.array(text, { minLength: 60, maxLength: 60 }),
  steps: fc.array(step, { minLength: 120, maxLength: 120 }),
  asked: fc.array(fc.tuple(question, conditions), { minLength: 12, maxLength: 12 }),
});

function entryOf(id: string, text: string, { role, time }: Pick<Step, "role" | "time">, at: number): EntryInput {
  const createdAtMs = 1_000_000 + 1_000 * ((time + at) % 10);
  if (role === 0) return { ...userMessage(text), id, createdAtMs };
  return role === 1 ? { ...assistantMessage(text), id, createdAtMs } : { ...toolResult(`call ${id}`, text), id, createdAtMs };
}

/** Longer than the positions that a server stores, and with words that occur more often. */
const LONG = [`${"lexer hay ".repeat(300)} heron tabs`, `${"straw hay ".repeat(9_000)} stork heron`];

interface Plan {
  readonly texts: readonly string[];
  readonly steps: readonly Step[];
}

async function fill(store: Store, { texts, steps }: Plan): Promise<void> {
  const ids: string[][] = [];
  for (let at = 0; at < SESSIONS; at += 1) {
    await store.createSession({
      id: `s${at}`,
      cwd: at % 2 === 0 ? "/a" : "/b",
      ...(at % 5 === 0 ? { title: `the ${WORDS[at + 3]}` } : {}),
    });
    ids.push([]);
  }
  const each = Math.ceil(ENTRIES / steps.length);
  for (const [number, one] of steps.entries()) {
    const session = await store.openSession(`s${one.session}`);
    const own = ids[one.session] ?? [];
    const leaf = one.back === 0 ? undefined : own.at(-one.back);
    if (leaf !== undefined) await session.moveLeaf(leaf);
    const entries = Array.from({ length: each }, (_, at) =>
      entryOf(`e${number}.${at}`, texts[(one.text + at * one.role) % texts.length] ?? "", { ...one, role: (one.role + at) % 3 }, at),
    );
    await session.append(entries);
    own.push(...entries.map(({ id = "" }) => id));
  }
  for (const [at, own] of ids.entries()) {
    const session = await store.openSession(`s${at}`);
    for (const id of own.slice(0, 3)) await session.labels.set(id, `the ${WORDS[(at + own.length) % WORDS.length]} label`);
  }
  const session = await store.openSession("s1");
  for (const [at, long] of LONG.entries()) await session.append({ ...userMessage(long), id: `long${at}`, createdAtMs: 1_004_000 });
}

const shownOf = ({ hits, total, matched }: SearchPage) => ({
  total,
  matched,
  hits: hits.map(({ sessionId, entryId, score, label }) => `${sessionId} ${entryId ?? "title"} ${score} ${label}`),
});

test("a question has the same answers in a file, indexed or not, after an upgrade, and on a server", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async ({ asked, ...plan }) => {
      const path = storePath();
      const file = await openedStore({ path });
      const server = await openedStore(serverPlace(0));
      await Promise.all([fill(file, plan), fill(server, plan)]);
      const ask = async (store: Store) => {
        const pages: unknown[] = [];
        for (const [query, condition] of asked)
          pages.push([query, condition, shownOf(await store.search({ query, relax: true, limit: 150, snippets: false, ...condition }))]);
        return pages;
      };
      const expected = await ask(server);
      expect(await ask(file)).toEqual(expected);
      await file.catchUpSearch(1_500);
      expect(await ask(file)).toEqual(expected);
      await file.catchUpSearch();
      expect(await ask(file)).toEqual(expected);
      await Promise.all([file.close(), server.close()]);
      takeBackTo5(path);
      const old = await openedStore({ path, mode: "read-only" });
      expect(await ask(old)).toEqual(expected);
      await old.close();
      const upgraded = await openedStore({ path });
      expect(await ask(upgraded)).toEqual(expected);
      await upgraded.close();
    }),
    { numRuns: runs(5) },
  );
}, 120_000);
