import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BoughError, type Store } from "@bough/session-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { findingsOf, openedStore, tempFolder } from "../../../session-core/test/world/stores.js";
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
