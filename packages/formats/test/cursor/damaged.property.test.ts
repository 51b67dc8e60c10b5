import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BoughError, type Store } from "@bough/session-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { findingsOf, openedStore, raw, tempFolder } from "../../../session-core/test/world/stores.js";
import { cursorFormat } from "../../src/cursor/format.js";
import { importPath } from "../../src/transfer/import-path.js";
import { drawing, MUTATIONS, mutated } from "../world/mutations.js";
import { ask, call, chatFile, info, reply, result, say, summary, system } from "./chat-files.js";
import { answer, composer, editorFile, prompt, thought, tool } from "./editor-files.js";

/** How many damaged databases of each kind are tried. */
const RUNS = 60;

const bubbles = { u1: prompt("1"), t1: thought("hm"), f1: tool({ result: "{}" }), u2: prompt("2"), a2: answer("2") };

const DATABASES = {
  chat: () =>
    chatFile([
      { messages: [system, info, ask("one"), reply(call("c", { a: 1 })), result("c", "r"), say("done")], state: [0, 1, 2, 3, 4, 5] },
      { messages: [summary("s"), ask("two"), say("2")], state: [0, 6, 5, 7, 8] },
      { messages: [ask("three")], state: [0, 6, 5, 9] },
    ]),
  editor: () => editorFile(composer("c", ["u1", "t1", "f1"], bubbles)),
};

async function attempted(store: Store, path: string): Promise<boolean> {
  try {
    await importPath(store, path);
    return true;
  } catch (error) {
    if (error instanceof BoughError) return false;
    throw error;
  }
}

test.each(["chat", "editor"] as const)(
  "any damage of the database of the %s is an error with a code, or an import that a second one does not change",
  async (name) => {
    const content: Buffer = readFileSync(DATABASES[name]());
    const changes = fc.array(fc.record({ name: fc.constantFrom(...MUTATIONS), seed: fc.nat() }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const copy = join(tempFolder(), "store.db");
        let file = content;
        for (const change of list) file = mutated(file, change.name, drawing(change.seed), content);
        writeFileSync(copy, file);
        const store = await openedStore();
        if (!(await attempted(store, copy))) return;
        expect(await findingsOf(store)).toEqual([]);
        const { entries } = await store.statistics();
        await importPath(store, copy);
        expect((await store.statistics()).entries).toBe(entries);
      }),
      { numRuns: runs(RUNS) },
    );
  },
);

test("a damaged page, or a result that is nested too deeply, costs no other chat", async () => {
  const text = (mark: string) => `${"x".repeat(10_000)}${mark}${"x".repeat(10_000)}`;
  const path = editorFile({
    ...composer("a", ["a1", "a2", "a3"], { a1: prompt("first"), a2: prompt("next"), a3: prompt(text("MARK")) }),
    ...composer("b", ["b1", "b2"], { b1: prompt("second"), b2: answer("") }),
    ...composer("c", ["c1"], { c1: prompt("third") }),
  });
  const file = readFileSync(path);
  // The first bytes of a page in the middle of a long value are the number of its next page.
  file.fill(0xff, Math.floor(file.indexOf("MARK") / 4096) * 4096, Math.floor(file.indexOf("MARK") / 4096) * 4096 + 4);
  writeFileSync(path, file);
  raw(path, (database) =>
    database
      .prepare("UPDATE cursorDiskKV SET value = ? WHERE key = 'bubbleId:b:b2'")
      .run(`{"type":2,"toolFormerData":{"name":"x","status":"completed","result":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`),
  );
  const store = await openedStore();
  const { sessions, failed } = await importPath(store, path);
  expect(failed).toEqual([]);
  expect(sessions.map(({ sessionId, problems }) => [sessionId, problems.map(({ code }) => code)])).toEqual([
    ["a", ["unreadable-file"]],
    ["b", []],
    ["c", []],
  ]);
  expect(await (await store.openSession("a")).record()).toMatchObject({ firstText: "first" });
});

test("Cursor's folders follow its variables and the system", () => {
  const foldersOn = (platform: NodeJS.Platform, env: Record<string, string>) =>
    (cursorFormat.agents ?? []).map(({ name, folders }) => [
      name,
      folders({ env, home: "/home/ada", platform }).map((folder) => folder.replaceAll("\\", "/")),
    ]);
  expect([
    foldersOn("linux", {}),
    foldersOn("linux", { CURSOR_DATA_DIR: "/data", CURSOR_CONFIG_DIR: "/data", XDG_CONFIG_HOME: "/xdg" }),
    foldersOn("darwin", {}),
  ]).toMatchSnapshot();
});
