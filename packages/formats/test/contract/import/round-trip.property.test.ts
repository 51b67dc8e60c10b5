import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EntryInput, Session, Store } from "@bough/session-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../.ci/test-runs.js";
import { follow, grow } from "../../../../session-core/test/world/grow.js";
import { collected, findingsOf, openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import { steps, TreeModel } from "../../../../session-core/test/world/tree-model.js";
import { exportBough } from "../../../src/transfer/export.js";
import { importPath } from "../../../src/transfer/import-path.js";

async function roundTrip(session: Session, path: string): Promise<{ store: Store; again: Session }> {
  writeFileSync(path, (await collected(exportBough(session, { secrets: "keep" }))).join(""));
  const store = await openedStore();
  const { sessions } = await importPath(store, path);
  expect(sessions).toMatchObject([{ sessionId: session.id, problemCount: 0, foreignAdded: 0 }]);
  return { store, again: await store.openSession(session.id) };
}

/** All that must come through, without what belongs to one file. */
async function kept(session: Session) {
  const entries = (await collected(session.entries())).map((entry) => ({ ...entry, seq: 0 }));
  const { source: _source, archivedAtMs: _archived, activeAtMs: _active, ...record } = await session.record();
  const [labels, leaves, values] = [await session.labels.list(), await session.leaves(), await session.values.list()];
  const contexts = [];
  for (const { id } of entries) contexts.push(await session.context({ leafId: id }));
  return { entries, record, labels, leaves, values: values.map(({ key, value }) => [key, value]), contexts };
}

describe("our own format", () => {
  test("brings any session back: tree, labels, leaves, values, title, and the context at every entry", async () => {
    const store = await openedStore();
    const path = join(tempFolder(), "session.jsonl");
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.nat(40), { maxLength: 4 }),
        fc.option(fc.string({ unit: "grapheme" })),
        async (taken, marked, title) => {
          const { session } = await grow("", { store, session: { title: title ?? undefined, cwd: "/p", metadata: { v: [1, null] } } });
          const model = new TreeModel();
          for (const step of taken) await follow(session, model, step);
          const ids = [...model.parents.keys()];
          for (const [at, mark] of marked.entries()) {
            const id = ids[mark % Math.max(1, ids.length)];
            if (id === undefined) continue;
            await session.labels.set(id, `label ${mark}`);
            await session.values.set(`k${mark}`, { mark });
            await (await store.openSession(session.id, { leaf: `leaf ${at}` })).moveLeaf(id);
          }
          const { store: other, again } = await roundTrip(session, path);
          expect(await kept(again)).toEqual(await kept(session));
          expect(await findingsOf(other)).toEqual([]);
        },
      ),
      { numRuns: runs(25) },
    );
  });

  test("brings any content back, byte for byte", async () => {
    const store = await openedStore();
    const path = join(tempFolder(), "session.jsonl");
    // JSON has no −0, and `__proto__` is no name that schemas keep.
    const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__"));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string({ unit: "binary" }), json), { minLength: 1, maxLength: 6 }), async (contents) => {
        const { session } = await grow("", { store });
        for (const [text, data] of contents) {
          await session.append({
            type: "message",
            message: { role: "user", content: text },
            vendor: JSON.parse(JSON.stringify(data)),
          } as EntryInput);
        }
        const { again } = await roundTrip(session, path);
        expect((await kept(again)).entries).toEqual((await kept(session)).entries);
      }),
      { numRuns: runs(40) },
    );
  });

  test("imported into the store it was exported from adds nothing", async () => {
    const { store, session } = await grow("u1 a1 @u1 a2 c1:a2 x1:c1");
    const path = join(tempFolder(), "session.jsonl");
    writeFileSync(path, (await collected(exportBough(session, { secrets: "keep" }))).join(""));
    expect((await importPath(store, path)).sessions).toMatchObject([{ sessionId: session.id, outcome: "unchanged" }]);
  });

  test("comes line by line: a session longer than a page is never held whole", async () => {
    const { session } = await grow("");
    await session.write(
      Array.from({ length: 1_200 }, (_, at) => ({ kind: "entry", entry: { type: "custom", customType: "t", id: `d${at}` } }) as const),
    );
    const lines = await collected(exportBough(session, { secrets: "keep" }));
    expect(lines).toHaveLength(1_202);
    expect(lines.every((line) => line.endsWith("\n") && line.indexOf("\n") === line.length - 1)).toBe(true);
  });
});
