import { expect, test } from "vitest";
import { SUPPORTED_VERSION } from "../../src/sqlite/file/migrate.js";
import { openStore } from "../../src/store/open-store.js";
import { grow } from "../world/grow.js";
import { takeBackTo4 } from "../world/old-stores.js";
import { raw, storePath } from "../world/stores.js";

/** A store of version 4, which did not list private entries, with private and other commands; `packed`: their payloads are in a block. */
async function storeOfBefore(packed: boolean): Promise<string> {
  const path = storePath();
  const store = await openStore({ path });
  const { session } = await grow("u1", { store });
  for (const [at, excludeFromContext] of [true, false, undefined, true].entries()) {
    const message = { role: "bashExecution", command: `echo zebra${at}`, output: "zebra", excludeFromContext } as const;
    await session.append({ type: "message", message, id: `b${at}` });
  }
  if (packed) await store.pack();
  await store.catchUpSearch();
  await store.close();
  takeBackTo4(path);
  return path;
}

async function findZebras(path: string, mode: "read-write" | "read-only", includePrivate: boolean) {
  const store = await openStore({ path, mode });
  const { hits } = await store.search({ query: "zebra*", includePrivate });
  await store.close();
  return hits
    .map(({ entryId, isPrivate }) => `${entryId}${isPrivate ? " private" : ""}`)
    .sort()
    .join(", ");
}

test.each([[false], [true]])("an upgrade finds the private commands of an older store, packed: %s", async (packed) => {
  const path = await storeOfBefore(packed);
  expect(await findZebras(path, "read-write", false)).toBe("b1, b2");
  expect(await findZebras(path, "read-write", true)).toBe("b0 private, b1, b2, b3 private");
  expect(raw(path, (file) => file.pragma("user_version", { simple: true }))).toBe(SUPPORTED_VERSION);
});

test("an older store that is opened read-only takes every command as private", async () => {
  const path = await storeOfBefore(true);
  expect(await findZebras(path, "read-only", false)).toBe("");
  expect(await findZebras(path, "read-only", true)).toBe("b0 private, b1 private, b2 private, b3 private");
});

test("a payload that an upgrade cannot read counts as private", async () => {
  const path = await storeOfBefore(false);
  raw(path, (file) =>
    file.exec("UPDATE payload SET json = 'excludeFromContext' WHERE entry_seq = (SELECT seq FROM entry WHERE id = 'b1')"),
  );
  expect(await findZebras(path, "read-write", false)).toBe("b2");
});

test("the list of a deleted session's private entries goes with it", async () => {
  const path = storePath();
  const store = await openStore({ path });
  const { session } = await grow("u1", { store });
  await session.append({ type: "message", message: { role: "bashExecution", command: "x", output: "", excludeFromContext: true } });
  await store.deleteSession(session.id);
  await store.close();
  expect(raw(path, (file) => file.prepare("SELECT count(*) FROM private_entry").pluck().get())).toBe(0);
});
