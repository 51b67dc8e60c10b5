import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { userMessage } from "../../src/entry/builders.js";
import type { EntryInput } from "../../src/entry/entry.js";
import type { Session } from "../../src/session/session.js";
import { openStore } from "../../src/store/open-store.js";
import { entryNamed } from "../world/grow.js";
import { openedStore, raw, storePath } from "../world/stores.js";

// Each block that a store reads stays open for the entries after it. A test sees that by damage: an opened block is still readable.

/** A packed store of one session; gives its path and a handle. */
async function packed(entries: readonly EntryInput[]): Promise<{ path: string; session: Session }> {
  const path = storePath();
  const store = await openedStore({ path });
  const session = await store.createSession();
  await session.write(entries.map((entry) => ({ kind: "entry", entry })));
  await store.pack();
  return { path, session };
}

const damageAll = (path: string) => raw(path, (file) => file.exec("UPDATE payload_block SET data = x'00'"));
const codeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: { readonly code?: string }) => error.code,
  );

test("a block is opened once, whichever of its entries are read", async () => {
  const { path, session } = await packed(Array.from({ length: 128 }, (_, at) => entryNamed(`u${at}`)));
  await session.entry("u1");
  damageAll(path);
  expect(await codeOf(session.entry("u0"))).toBe("read");
  expect(await codeOf(session.entry("u63"))).toBe("read");
  expect(await codeOf(session.entry("u64"))).toBe("PAYLOAD_DAMAGED");
});

test("entries of a block that compresses badly are read in any order, from whatever part of it is decompressed", async () => {
  const textOf = (at: number) =>
    `${at} ${createHash("sha512")
      .update(`${at}`)
      .digest("base64")
      .repeat((at % 7) + 1)}`;
  const { path } = await packed(Array.from({ length: 64 }, (_, at) => ({ ...userMessage(textOf(at)), id: `u${at}` })));
  const order = fc.shuffledSubarray(
    Array.from({ length: 64 }, (_, at) => at),
    { minLength: 1 },
  );
  await fc.assert(
    fc.asyncProperty(order, async (read) => {
      const store = await openStore({ path, mode: "read-only" });
      const [record] = (await store.listSessions()).items;
      const session = await store.openSession(record?.id ?? "");
      for (const at of read) expect(await session.entry(`u${at}`)).toMatchObject({ message: { content: textOf(at) } });
      await store.close();
    }),
    { numRuns: runs(40) },
  );
});

test("at most 64 blocks stay open, those that were read last", async () => {
  const { path, session } = await packed(Array.from({ length: 66 * 64 }, (_, at) => entryNamed(`u${at}`)));
  const first = (block: number) => session.entry(`u${64 * block}`);
  for (let block = 0; block < 64; block += 1) await first(block);
  await first(0);
  await first(64);
  damageAll(path);
  const outcomes = await Promise.all([0, 1, 2, 63, 64, 65].map((block) => codeOf(first(block))));
  expect(outcomes).toEqual(["read", "PAYLOAD_DAMAGED", "read", "read", "read", "PAYLOAD_DAMAGED"]);
});

test("opened blocks take at most 8 MB, but one of any size stays open", async () => {
  const large = (id: string, megabytes: number) => ({ type: "custom", customType: "big", data: "x".repeat(megabytes * 1e6), id }) as const;
  const { path, session } = await packed([large("d1", 3), large("d2", 3), large("d3", 3), large("d4", 9)]);
  for (const id of ["d1", "d2", "d3"]) await session.entry(id);
  const { path: other, session: huge } = await packed([large("d1", 3), large("d4", 9)]);
  for (const id of ["d1", "d4"]) await huge.entry(id);
  damageAll(path);
  damageAll(other);
  expect(await Promise.all(["d1", "d2", "d3"].map((id) => codeOf(session.entry(id))))).toEqual(["PAYLOAD_DAMAGED", "read", "read"]);
  expect(await Promise.all(["d1", "d4"].map((id) => codeOf(huge.entry(id))))).toEqual(["PAYLOAD_DAMAGED", "read"]);
});
