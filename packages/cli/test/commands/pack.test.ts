import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { importPath } from "@bough/formats";
import { openStore } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { parserSession, type World, world } from "../world.js";

async function worldWithLongSession(): Promise<World> {
  const here = world();
  const lines = Array.from({ length: 2_000 }, (_, at) => ({
    type: "message",
    id: `e${at}`,
    parentId: at === 0 ? null : `e${at - 1}`,
    timestamp: "2025-11-20T10:00:00.000Z",
    message: { role: "user", content: `question ${at}: ${"the parser fails on tabs ".repeat(20)}`, timestamp: 0 },
  }));
  const header = {
    type: "session",
    version: 3,
    id: "0a1b2c3d-0000-4000-8000-000000000001",
    timestamp: "2025-11-20T10:00:00.000Z",
    cwd: "/x",
  };
  const file = here.path("long.jsonl");
  writeFileSync(file, [header, ...lines].map((line) => JSON.stringify(line)).join("\n"));
  const store = await openStore({ path: here.store });
  await importPath(store, file);
  await store.close();
  return here;
}

describe("bough pack", () => {
  test("compresses every payload, prints what was saved, and changes nothing that is read", async () => {
    const here = await worldWithLongSession();
    const before = await here.run(["export", "@1", "--format", "bough"]);
    const { out, exit } = await here.run(["pack"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^[\d,]+ entries packed in .*sessions\.db: [\d.]+ MB before, [\d.]+ (kB|MB) now, [\d.]+ (kB|MB) saved\.\n$/);
    expect((await here.run(["export", "@1", "--format", "bough"])).out).toBe(before.out);
    expect((await here.run(["verify"])).exit).toBe(0);
  });

  test("prints as JSON the sizes of the file before and after", async () => {
    const here = await worldWithLongSession();
    const packed = JSON.parse((await here.run(["pack", "--json"])).out) as { bytesBefore: number; bytesAfter: number };
    expect(packed).toMatchObject({ store: here.store, freeBytes: 0 });
    expect(packed.bytesAfter).toBeLessThan(packed.bytesBefore / 2);
  });

  test("reports a packed store as such", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["pack"]);
    expect((await here.run(["pack"])).out).toMatch(/^0 entries packed in /);
  });

  test("ends with 130 when it is interrupted, and loses nothing", async () => {
    const here = await worldWithLongSession();
    const { exit, err } = await here.run(["pack"], { interruptedAt: Promise.resolve() });
    expect(exit).toBe(130);
    expect(err).toContain("What was packed stays packed");
    expect((await here.run(["verify"])).exit).toBe(0);
  });

  test("creates no store", async () => {
    const { exit, err } = await world().run(["pack"]);
    expect(exit).toBe(4);
    expect(err).toContain("There is no store");
  });
});

describe("a store of an older version", () => {
  const OLD_STORE = join(import.meta.dirname, "../../../session-core/test/fixtures/store-version-3.db.gz");

  function worldOfOldStore(): World {
    const here = world();
    writeFileSync(here.store, gunzipSync(readFileSync(OLD_STORE)));
    return here;
  }

  test("is upgraded by the first command that opens it, which says so on stderr", async () => {
    const here = worldOfOldStore();
    const first = await here.run(["tree", "tree"]);
    expect(first).toMatchObject({ exit: 0, err: `Upgraded ${here.store}. Older versions of Bough can no longer open it.\n` });
    expect(await here.run(["tree", "tree"])).toMatchObject({ exit: 0, err: "", out: first.out });
  });

  test("leaves nothing but JSON on stdout with --json", async () => {
    const { out } = await worldOfOldStore().run(["tree", "tree", "--json"]);
    expect(() => JSON.parse(out)).not.toThrow();
  });
});
