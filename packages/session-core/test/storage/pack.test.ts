import { readFileSync, statSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { entryNamed, grow } from "../world/grow.js";
import { readAll } from "../world/old-stores.js";
import { findingsOf, openedStore, raw, storePath } from "../world/stores.js";

const long = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ kind: "entry", entry: entryNamed(`u${from + at}`) }) as const);

function counts(path: string) {
  return raw(path, (file) => ({
    rows: file.prepare("SELECT count(*) FROM payload").pluck().get(),
    blocks: file.prepare("SELECT entries FROM payload_block ORDER BY seq").pluck().all(),
  }));
}

const HOUR_MS = 60 * 60 * 1000;

describe("packing a store", () => {
  test("changes nothing that is read", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const { session } = await grow("s1 u1 a1 k1 r1:k1 @a1 u2 c1:u2 u3 x1:u2", { store, session: { title: "Parser" } });
    await session.labels.set("a1", "start");
    const before = await readAll(store, session);
    expect(await store.pack()).toMatchObject({ entries: before.entries.length });
    const again = await openedStore({ path });
    expect(await readAll(again, await again.openSession(session.id))).toEqual(before);
    expect(await findingsOf(again)).toEqual([]);
    expect(counts(path)).toMatchObject({ rows: 0, blocks: [before.entries.length] });
  });

  test("makes blocks of 64 entries, and fills the last one when it continues", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const session = await store.createSession();
    await session.write(long(100));
    await store.pack();
    expect(counts(path)).toEqual({ rows: 0, blocks: [64, 36] });
    await session.write(long(40, 100));
    await store.pack();
    expect(counts(path)).toEqual({ rows: 0, blocks: [64, 64, 12] });
    expect((await session.context()).entries).toHaveLength(140);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("gives a payload that is larger than a block a block of its own", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const session = await store.createSession();
    const text = "x".repeat(200_000);
    await session.write([...long(3), { kind: "entry", entry: { type: "custom", customType: "big", data: { text } } }, ...long(3, 3)]);
    await store.pack();
    expect(counts(path).blocks).toEqual([3, 1, 3]);
    expect((await session.entriesSince(3, 1))[0]).toMatchObject({ data: { text } });
    await session.write(long(1, 6));
    await store.pack();
    expect(counts(path).blocks).toEqual([3, 1, 4]);
  });

  test("reads few large payloads at once", async () => {
    const store = await openedStore({ path: storePath() });
    const session = await store.createSession();
    const data = { text: "x".repeat(300_000) };
    for (let at = 0; at < 10; at += 1) await session.append({ type: "custom", customType: "big", data });
    const progress: number[] = [];
    await store.pack({ onProgress: (done) => progress.push(done) });
    expect(progress).toEqual([4, 8, 10]);
  });

  test("of what is old leaves the newest 128 entries of an active session as rows, and packs full blocks only", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const session = await store.createSession();
    await session.write(long(191));
    expect(await store.pack({ scope: "old" })).toMatchObject({ entries: 0 });
    await session.write(long(1, 191));
    expect(await store.pack({ scope: "old" })).toMatchObject({ entries: 64 });
    expect(counts(path)).toEqual({ rows: 128, blocks: [64] });
  });

  test("of what is old packs sessions without activity for an hour whole", async () => {
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["Date"] });
    const path = storePath();
    const store = await openedStore({ path });
    const session = await store.createSession();
    await session.write(long(3));
    vi.setSystemTime(Date.now() + HOUR_MS);
    expect(await store.pack({ scope: "old" })).toMatchObject({ entries: 0 });
    vi.setSystemTime(Date.now() + 1);
    expect(await store.pack({ scope: "old" })).toMatchObject({ entries: 3 });
    expect(counts(path)).toEqual({ rows: 0, blocks: [3] });
  });

  test("again and again in one handle, between writes, returns free pages each time", async () => {
    const store = await openedStore({ path: storePath() });
    const session = await store.createSession();
    for (let round = 0; round < 4; round += 1) {
      await session.write(long(100, round * 100));
      expect(await store.pack()).toMatchObject({ entries: 100 });
    }
    expect(await session.path()).toHaveLength(400);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("that is open read-only is refused, also where nothing is left to pack", async () => {
    const path = storePath();
    await (await openedStore({ path })).createSession();
    const reader = await openedStore({ path, mode: "read-only" });
    await expect(reader.pack()).rejects.toMatchObject({ code: "STORE_READ_ONLY", path });
  });

  test("returns the free pages to the file system", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const session = await store.createSession();
    await session.write(long(2_000).map((write) => ({ ...write, entry: { ...write.entry, padding: "words ".repeat(100) } })));
    await store.catchUpSearch();
    const { bytesBefore, bytesAfter, freeBytes } = await store.pack();
    expect(freeBytes).toBe(0);
    expect(bytesAfter).toBeLessThan(bytesBefore / 2);
    await store.close();
    expect(statSync(path).size).toBe(bytesAfter);
  });

  test("makes the file itself smaller while another process has it open", async () => {
    const path = storePath();
    const stores = await Promise.all([openedStore({ path }), openedStore({ path })]);
    const session = await stores[0].createSession();
    await session.write(long(2_000).map((write) => ({ ...write, entry: { ...write.entry, padding: "words ".repeat(100) } })));
    // Checkpoints, so that the header of the file is one that this connection has written.
    await stores[0].deleteSession((await stores[0].createSession()).id);
    await session.append(entryNamed("a0"));
    const { bytesAfter } = await stores[0].pack();
    expect([statSync(path).size, statSync(`${path}-wal`).size]).toEqual([bytesAfter, 0]);
    // Each write compares the file with the one that was opened.
    for (const [at, store] of stores.entries()) await (await store.openSession(session.id)).append(entryNamed(`b${at}`));
    expect((await stores[0].openSession(session.id)).leafId).toBe("b1");
  });

  test("stops after the current blocks when it is cancelled, and keeps what it packed", async () => {
    const path = storePath();
    const store = await openedStore({ path });
    const session = await store.createSession();
    await session.write(long(640));
    const cancelled = new AbortController();
    const onProgress = () => cancelled.abort(new Error("enough"));
    await expect(store.pack({ signal: cancelled.signal, onProgress })).rejects.toThrow("enough");
    expect(counts(path)).toEqual({ rows: 128, blocks: Array(8).fill(64) });
    expect((await session.context()).entries).toHaveLength(640);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("leaves nothing of a deleted session in the file", async () => {
    const path = storePath();
    const store = await openStore({ path });
    const kept = await store.createSession({ id: "kept" });
    await kept.write(long(100));
    const session = await store.createSession({ id: "gone" });
    await session.write(long(100, 100));
    await store.pack();
    const data = raw(path, (file) =>
      file.prepare("SELECT data FROM payload_block WHERE session_seq = (SELECT seq FROM session WHERE id = 'gone')").pluck().all(),
    ) as readonly Buffer[];
    await store.deleteSession("gone");
    await store.close();
    const file = readFileSync(path);
    expect(data.map((block) => file.includes(block.subarray(10, 60)))).toEqual(data.map(() => false));
  });
});
