import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openStore, userMessage } from "@bough/session-core";
import { storageOf } from "@bough/session-core/engine";
import { describe, expect, onTestFinished, test, vi } from "vitest";

const run = promisify(execFile);
const script = (path: string) => fileURLToPath(new URL(path, import.meta.url));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "bough-shared-"));
  onTestFinished(() => {
    chmodSync(made, 0o700);
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

/** Another process opens a store, appends to a session, and closes it. */
async function writeElsewhere(path: string): Promise<void> {
  const writing = run(process.execPath, [script("../concurrency/writer.mjs"), "w"]);
  writing.child.stdin?.end(JSON.stringify({ what: "create", path, count: 1 }));
  await writing;
}

test("a process that closes a store leaves the journal to one that has opened it twice and closed it once", async () => {
  const path = join(folder(), "store.db");
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const session = await store.createSession();
  await session.append(userMessage("one"));
  await (await openStore({ path })).close();
  await writeElsewhere(path);
  expect(existsSync(`${path}-wal`)).toBe(true);
  await session.append(userMessage("two"));
  expect((await store.statistics()).sessions).toBe(2);
});

test("a store tells of the writes of others, and not of its own", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const path = join(folder(), "store.db");
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const told: unknown[] = [];
  const end = storageOf(store).onChange((change) => told.push(change));
  await store.createSession();
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual([]);
  await writeElsewhere(path);
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual([{ sessionIds: null }]);
  end();
  await writeElsewhere(path);
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toHaveLength(1);
});

describe("a store in a folder where the reader may not write", () => {
  async function saved(): Promise<{ readonly inside: string; readonly path: string }> {
    const inside = folder();
    const path = join(inside, "store.db");
    const store = await openStore({ path });
    await store.createSession();
    await store.close();
    return { inside, path };
  }

  async function readBy(inside: string, path: string): Promise<string> {
    chmodSync(path, 0o644);
    chmodSync(inside, 0o555);
    return (await run(process.execPath, [script("reader.mjs"), path])).stdout;
  }

  test("is read", async () => {
    const { inside, path } = await saved();
    expect(await readBy(inside, path)).toBe("1");
  });

  test("whose journal cannot be read without writing says so, instead of leaving out what it holds", async () => {
    const { path } = await saved();
    const writing = await openStore({ path });
    await writing.createSession();
    const crashed = folder();
    const copy = join(crashed, "store.db");
    for (const side of ["", "-wal"]) copyFileSync(`${path}${side}`, `${copy}${side}`);
    await writing.close();
    chmodSync(`${copy}-wal`, 0o644);
    expect(await readBy(crashed, copy)).toBe("STORE_DENIED");
  });
});
