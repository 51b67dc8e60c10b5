import { expect, test } from "vitest";
import type { Message } from "../../src/entry/message.js";
import { openStore } from "../../src/store/open-store.js";
import { takeBackTo5 } from "../world/old-stores.js";
import { collected, raw, storePath } from "../world/stores.js";

const REPLY: Message = {
  role: "assistant",
  content: [{ type: "toolCall", id: "c1", name: "bash", arguments: { command: "cd /home/ann/app && npm test" } }],
};
const COMMAND = { role: "custom", customType: "claude.command", content: "<command-name>/init</command-name>" } as const;

/** A closed store of version 5 as release 0.1 wrote it: short previews with absolute paths, no custom type of messages. */
async function storeOf5(packed: boolean): Promise<string> {
  const path = storePath();
  const store = await openStore({ path });
  const session = await store.createSession({ id: "s", cwd: "/home/ann/app" });
  for (const message of [COMMAND, REPLY, { role: "user", content: "thank you" } as const])
    await session.append({ type: "message", message });
  if (packed) await store.pack();
  await store.close();
  raw(path, (file) => {
    file.exec(
      "UPDATE entry SET custom_type = NULL, preview = substr('old ' || preview, 1, 10); UPDATE session SET first_text = 'thank you'",
    );
  });
  takeBackTo5(path);
  return path;
}

test.each([[false], [true]])("an upgrade writes the rows of an older store again, packed: %s", async (packed) => {
  const store = await openStore({ path: await storeOf5(packed) });
  const session = await store.openSession("s");
  const rows = await session.tree.outline();
  expect(rows.map(({ preview, customType }) => [preview, customType])).toEqual([
    ["/init", "claude.command"],
    ["[bash npm test]", null],
    ["thank you", null],
  ]);
  expect((await session.record()).firstText).toBe("/init");
  expect(await collected(store.verify())).toEqual([]);
  await store.close();
});

test("a damaged payload keeps its row, and verify reports it", async () => {
  const path = await storeOf5(false);
  raw(path, (file) =>
    file.exec("UPDATE payload SET json = '{\"message\":7}' WHERE entry_seq = 1; UPDATE payload SET json = '{' WHERE entry_seq = 2"),
  );
  const store = await openStore({ path });
  const rows = await (await store.openSession("s")).tree.outline();
  expect(rows.map(({ preview }) => preview)).toEqual(["old /init", "old [bash ", "thank you"]);
  expect((await collected(store.verify())).length).toBeGreaterThan(1);
  await store.close();
});

test("a store of version 5 that is open read-only shows its own rows, without violations", async () => {
  const store = await openStore({ path: await storeOf5(true), mode: "read-only" });
  expect((await (await store.openSession("s")).tree.outline())[0]?.preview).toBe("old /init");
  expect(await collected(store.verify())).toEqual([]);
  await store.close();
});
