import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportBough, exportPi, importPath } from "@bough/formats";
import { describe, expect, test } from "vitest";
import type { EntryInput } from "../../../src/index.js";
import { collected, findingsOf, openedStore, tempFolder } from "../../world/stores.js";

const ODD = '"__proto__":{"polluted":1},"constructor":{"b":1},"toString":"x"';

// As they come from a file or another program: JSON.parse makes `__proto__` a member like any other.
const ENTRIES = [
  `{"type":"message","message":{"role":"user","content":"x",${ODD}}}`,
  `{"type":"message","message":{"role":"user","content":[{"type":"text","text":"x",${ODD}}]}}`,
  `{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"y",${ODD}}],"usage":{"input":1,${ODD},"cost":{"total":1,${ODD}}}}}`,
  `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{${ODD}},${ODD}}]}}`,
  `{"type":"custom","customType":"c","data":{${ODD}},${ODD}}`,
  `{"type":"custom_message","customType":"c","content":"x",${ODD}}`,
  `{${ODD},"type":"model_change","modelId":"m"}`,
];

/** What an entry carries, as text: members of any name, in their order. */
function carried(entry: object): string {
  const { id: _id, seq: _seq, parentId: _parentId, createdAtMs: _createdAtMs, ...payload } = entry as Record<string, unknown>;
  return JSON.stringify(payload);
}

const sorted = (json: string) => [...json].sort().join("");

describe("members whose names an object has by itself", () => {
  test.each(ENTRIES)("are kept: %s", async (json) => {
    const session = await (await openedStore()).createSession();
    const { id } = await session.append(JSON.parse(json) as EntryInput);
    const kept = await session.entry(id);
    // The same members; those that were put back stand last.
    expect(sorted(carried(kept))).toBe(sorted(json));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
  });

  test("an append that is repeated with its id is known again", async () => {
    const session = await (await openedStore()).createSession();
    for (const [at, json] of ENTRIES.entries()) {
      const entry = { ...(JSON.parse(json) as EntryInput), id: `e${at}` };
      expect(await session.append(entry)).toEqual(await session.append(entry));
    }
    expect(await session.path()).toHaveLength(ENTRIES.length);
  });

  test.each(["\ud800", "a\udc00b", "x\0y"])("a custom type %j, which no engine can index as it is, is no damage", async (customType) => {
    const store = await openedStore();
    const session = await store.createSession();
    const { id } = await session.append({ type: "custom", customType, data: 1 });
    await session.append({ type: "custom_message", customType, content: "x", display: true });
    expect(await (await store.openSession(session.id)).entry(id)).toMatchObject({ customType });
    expect(await findingsOf(store)).toEqual([]);
  });

  test.each(["\ud800", "a\udc00b"])(
    "half a character (%j) in a directory or a name of a model is one U+FFFD, and finds it",
    async (half) => {
      const [store, shown] = [await openedStore(), half.toWellFormed()];
      const session = await store.createSession({ cwd: `/${half}`, parent: { sessionId: "s", entryId: null, toolCallId: half } });
      const reply = { role: "assistant" as const, content: [], provider: half, model: half, usage: { input: 1 } };
      await session.append({ type: "message", message: reply });
      expect(await session.record()).toMatchObject({ cwd: `/${shown}`, parent: { toolCallId: shown } });
      expect((await store.listSessions({ cwd: `/${half}` })).items.map(({ id }) => id)).toEqual([session.id]);
      expect((await store.statistics()).usage).toMatchObject([{ provider: shown, model: shown, replies: 1 }]);
      expect((await store.totalsOf([session.id])).get(session.id)?.usage).toMatchObject([{ provider: shown, model: shown }]);
      expect(await findingsOf(store)).toEqual([]);
    },
  );

  test.each([
    ["Bough", exportBough],
    ["pi", exportPi],
  ] as const)("come back from an export as %s and its import", async (name, write) => {
    const session = await (await openedStore()).createSession();
    for (const json of ENTRIES) await session.append(JSON.parse(json) as EntryInput);
    const file = join(tempFolder(), "session.jsonl");
    writeFileSync(file, (await collected(write(session))).join(""));
    const other = await openedStore();
    const { sessions } = await importPath(other, file);
    expect(sessions[0]?.problems).toEqual([]);
    const back = await (await other.openSession(sessions[0]?.sessionId ?? "")).path();
    const count = (text: string) => text.split('"__proto__"').length - 1;
    const before = (await session.path()).map(carried);
    expect(back.map((entry) => count(carried(entry)))).toEqual(before.map(count));
    if (name === "Bough") expect(back.map(carried)).toEqual(before);
    expect(await findingsOf(other)).toEqual([]);
  });
});
