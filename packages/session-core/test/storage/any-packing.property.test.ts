import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { exportBough, exportMarkdown, exportPi, importPath } from "@bough/formats";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { userMessage } from "../../src/entry/builders.js";
import type { EntryInput } from "../../src/entry/entry.js";
import type { Session } from "../../src/session/session.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { entryNamed, follow } from "../world/grow.js";
import { readAll } from "../world/old-stores.js";
import { collected, findingsOf, raw, storePath, tempFolder } from "../world/stores.js";
import { type Step, steps, TreeModel } from "../world/tree-model.js";

// Two stores take the same steps; one of them is packed and reopened in between. Both must give the same answers.

const HOUR_MS = 60 * 60 * 1000;

/** Text as people and tools write it, and text that breaks what escapes, cuts or counts it. */
const text = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("", "word", "zwei Wörter", "数据 😀", '{"a":"\\u0000"}', "\u0000", "\ud800 half", "tab\tline\n"),
  },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  { weight: 1, arbitrary: fc.nat(3).map((size) => "large text ".repeat(4_000 * size + 1)) },
);
/** JSON of every kind; `__proto__` is a key like any other. */
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[]}'), -0, 1e-7, 2 ** 53, "", [[]]),
);

type Act =
  | { readonly do: "tree"; readonly in: number; readonly steps: readonly Step[] }
  | { readonly do: "say"; readonly in: number; readonly text: string }
  | { readonly do: "keep"; readonly in: number; readonly data: unknown }
  | { readonly do: "burst"; readonly in: number; readonly count: number }
  | { readonly do: "label" | "fork" | "export" | "delete"; readonly in: number; readonly of: number }
  | { readonly do: "pack"; readonly scope: "all" | "old"; readonly most: number }
  | { readonly do: "reopen" | "search" | "wait" };

const number = fc.nat(40);
/** One of three sessions; a number past the last one makes another. */
const which = fc.nat(2);
const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("tree" as const), in: which, steps }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("say" as const), in: which, text }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("keep" as const), in: which, data: json }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("burst" as const), in: which, count: fc.nat(150) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("label", "fork", "export"), in: which, of: number }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), in: which, of: number }) },
    { weight: 7, arbitrary: fc.record({ do: fc.constant("pack" as const), scope: fc.constantFrom("all", "old"), most: fc.nat(3) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("reopen", "search", "wait") }) },
  ),
  { minLength: 6, maxLength: 16, size: "max" },
);

/** A store, the sessions in it, and a model of each. */
class Twin {
  store: Store;
  readonly path: string;
  readonly #isPacked: boolean;
  readonly #models = new Map<string, TreeModel>();
  readonly #handles = new Map<string, Session>();
  #created = 0;

  private constructor(path: string, store: Store, isPacked: boolean) {
    this.path = path;
    this.store = store;
    this.#isPacked = isPacked;
  }

  static async open(isPacked: boolean): Promise<Twin> {
    const path = storePath();
    return new Twin(path, await openStore({ path, durability: "normal" }), isPacked);
  }

  get ids(): readonly string[] {
    return [...this.#models.keys()];
  }

  async take(act: Act, folder: string): Promise<void> {
    switch (act.do) {
      case "pack":
        return this.#isPacked ? this.#pack(act.scope, act.most) : undefined;
      case "reopen":
        return this.#isPacked ? this.#reopen() : undefined;
      case "search":
        return void (await this.store.catchUpSearch());
      case "wait":
        return undefined;
    }
    const chosen = this.ids[act.in % (this.ids.length + 1)] ?? (await this.#create());
    const model = this.#models.get(chosen) ?? new TreeModel();
    const session = await this.#handle(chosen);
    await this.#change(act, session, model, folder);
  }

  async #change(act: Exclude<Act, { do: "pack" | "reopen" | "search" | "wait" }>, session: Session, model: TreeModel, folder: string) {
    switch (act.do) {
      case "tree":
        for (const step of act.steps) await follow(session, model, step);
        return;
      case "say":
        return this.#append(session, model, "u", userMessage(act.text));
      case "keep":
        return this.#append(session, model, "d", { type: "custom", customType: "data", data: act.data });
      case "burst": {
        const words = Array.from({ length: act.count }, () => model.take({ do: "append", kind: "a" }) ?? "");
        return void (await session.write(words.map((word) => ({ kind: "entry", entry: entryNamed(word) }))));
      }
      case "delete":
        this.#models.delete(session.id);
        this.#handles.delete(session.id);
        return this.store.deleteSession(session.id);
    }
    const at = [...model.parents.keys()][act.of % Math.max(1, model.parents.size)];
    if (at === undefined) return;
    if (act.do === "label") return void (await session.labels.set(at, `label ${act.of}`));
    this.#created += 1;
    const id = `${act.do}${this.#created}`;
    if (act.do === "fork") await this.store.forkSession(session.id, { at, id, tree: act.of % 2 === 1 });
    else await this.#importCopy(session, id, folder);
    this.#models.set(id, await modelOf(await this.#handle(id), 1_000 * this.#created));
  }

  async #append(session: Session, model: TreeModel, kind: "u" | "d", entry: EntryInput): Promise<void> {
    const id = model.take({ do: "append", kind }) ?? "";
    await session.append({ ...entry, id });
  }

  /** Exports a session and imports it under another id. */
  async #importCopy(session: Session, id: string, folder: string): Promise<void> {
    const [header = "", ...lines] = await collected(exportBough(session));
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, [header.replace(JSON.stringify(session.id), JSON.stringify(id)), ...lines].join(""));
    expect((await importPath(this.store, path)).sessions).toMatchObject([{ sessionId: id, outcome: "created" }]);
  }

  async #create(): Promise<string> {
    this.#created += 1;
    const id = `made${this.#created}`;
    this.#handles.set(id, await this.store.createSession({ id, title: `Title ${this.#created}` }));
    this.#models.set(id, new TreeModel());
    return id;
  }

  async #handle(id: string): Promise<Session> {
    const known = this.#handles.get(id) ?? (await this.store.openSession(id));
    this.#handles.set(id, known);
    return known;
  }

  async #pack(scope: "all" | "old", most: number): Promise<void> {
    if (most === 0) return void (await this.store.pack({ scope }));
    for (let step = 0; step < most; step += 1) await this.store.storage.packing.next(scope);
  }

  async #reopen(): Promise<void> {
    await this.store.close();
    this.store = await openStore({ path: this.path, durability: "normal" });
    this.#handles.clear();
  }

  blocks(): number {
    return Number(raw(this.path, (file) => file.prepare("SELECT count(*) FROM payload_block").pluck().get()));
  }
}

/** The model of a session that was copied: its tree and its leaf. */
async function modelOf(session: Session, offset: number): Promise<TreeModel> {
  const model = new TreeModel(offset);
  for await (const { id, parentId } of session.entries()) model.parents.set(id, parentId);
  model.leaf = session.leafId;
  return model;
}

const QUERIES = ["u1", "a1", "word", "wort*", '"large text"', "数据", "title", "name"];

/** Everything that a store can be asked. */
async function answersOf({ store, ids }: Twin) {
  await store.catchUpSearch();
  const sessions = [];
  for (const id of ids) {
    const session = await store.openSession(id);
    const all = await readAll(store, session);
    const contexts = [];
    for (const entry of all.entries.slice(-4)) contexts.push(await session.context({ leafId: entry.id }));
    sessions.push({
      ...all,
      contexts,
      path: await session.path(),
      bough: (await collected(exportBough(session))).join(""),
      pi: (await collected(exportPi(session))).join(""),
      markdown: (await collected(exportMarkdown(session))).join(""),
    });
  }
  const searches = [];
  for (const query of QUERIES) searches.push(await store.search({ query, limit: 30 }));
  return { sessions, searches, list: await store.listSessions({ empty: true, kind: "all" }), statistics: await store.statistics() };
}

/** `toEqual` takes long for megabytes, so it only shows the difference. */
function expectEqual(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

afterEach(() => void vi.useRealTimers());

describe("any use of a store that is packed and reopened in between", () => {
  test("gives the same entries, contexts, outlines, searches, exports and statistics as in a store that never was", async () => {
    let blocks = 0;
    await fc.assert(
      fc.asyncProperty(acts, async (taken) => {
        vi.useFakeTimers({ toFake: ["Date"], now: 1_750_000_000_000 });
        const folder = tempFolder();
        const [packed, plain] = [await Twin.open(true), await Twin.open(false)];
        try {
          for (const act of taken) {
            vi.setSystemTime(Date.now() + (act.do === "wait" ? 2 * HOUR_MS : 1));
            await packed.take(act, folder);
            await plain.take(act, folder);
          }
          blocks += packed.blocks();
          const expected = await answersOf(plain);
          expectEqual(await answersOf(packed), expected);
          expect(await findingsOf(packed.store)).toEqual([]);
          await packed.store.pack();
          expectEqual(await answersOf(packed), expected);
          expect(await findingsOf(packed.store)).toEqual([]);
        } finally {
          await packed.store.close();
          await plain.store.close();
        }
      }),
      // Not shrunk: each attempt takes half a second, and there are hundreds.
      { numRuns: runs(20), endOnFailure: true },
    );
    expect(blocks).toBeGreaterThan(runs(20) / 2);
  });
});
