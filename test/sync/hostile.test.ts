import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { importPath } from "@bough/formats";
import { openStore, type Store } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { BOUGH } from "../terminal/test-home.js";
import { piLines, piMessage, type SyncedHome, syncedHome } from "./synced-home.js";

const WRITER = fileURLToPath(new URL("random-writer.mjs", import.meta.url));

/** The entries of every session of a store: `session/entry parent payload`. */
async function contentOf(store: Store): Promise<ReadonlySet<string>> {
  const content = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await store.listSessions({ kind: "all", archived: "all", empty: true, cursor });
    for (const { id } of page.items)
      for await (const { id: entryId, parentId, seq: _seq, label: _label, ...rest } of (await store.openSession(id)).entries())
        content.add(JSON.stringify([id, entryId, parentId, rest]));
    if (page.next === null) return content;
    cursor = page.next;
  }
}

/** What a new store has after it imported the session files as they are now. A file that was rotated away is none for the agent. */
async function imported(folder: string): Promise<ReadonlySet<string>> {
  const store = await openStore({ path: ":memory:" });
  try {
    for (const [path, , , content] of stateOf(folder)) if (path.endsWith(".jsonl") && content !== "") await importPath(store, path);
    return await contentOf(store);
  } finally {
    await store.close();
  }
}

async function expectUpToDate(here: SyncedHome, folder: string): Promise<void> {
  const expected = await imported(folder);
  const present = await here.withStore(contentOf);
  expect([...expected].filter((entry) => !present.has(entry))).toEqual([]);
  expect(expected.size).toBeGreaterThan(0);
  expect(await here.violations()).toEqual([]);
}

/** Name, size, times and content of everything in a folder; links are not followed. */
function stateOf(folder: string): readonly (readonly [path: string, changedAtMs: number, bytes: number, content: string])[] {
  return readdirSync(folder, { encoding: "utf8" })
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path);
      const content = stats.isFile() ? readFileSync(path, "utf8") : "";
      return [[path, stats.mtimeMs, stats.size, content] as const, ...(stats.isDirectory() ? stateOf(path) : [])];
    });
}

/** The lines on stderr that are not progress. */
function messagesIn(stderr: string): readonly string[] {
  return stderr.split("\n").filter((line) => line.startsWith("bough: "));
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on("close", resolve));
}

function writing(folder: string, seed: number, steps: number): ChildProcess {
  // Without any folder of an agent, a sync that starts before the writer would end with an error.
  mkdirSync(folder, { recursive: true });
  const child = spawn(process.execPath, [WRITER, folder, String(seed), String(steps)], { stdio: ["ignore", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function syncing(here: SyncedHome): ChildProcess {
  const child = spawn(process.execPath, [BOUGH, "sync"], { env: here.env, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

describe("a folder into which another process writes at random", () => {
  test.each([1, 2, 3])("is in the store whole after a last look, watched all the while (seed %i)", async (seed) => {
    const here = syncedHome();
    const folder = dirname(here.pi("any"));
    const watching = await here.watch();
    expect(await ended(writing(folder, seed, 2500))).toBe(0);
    await watching.until((said) => said.includes('"entriesAdded"'));
    watching.kill("SIGTERM");
    expect(await watching.ended).toEqual({ exit: 0, signal: null });
    const before = stateOf(folder);
    // 4: links to nowhere.
    expect([0, 3]).toContain(here.run("sync").exit);
    expect(stateOf(folder)).toEqual(before);
    await expectUpToDate(here, folder);
  });

  test("is in the store whole although each sync of it was killed", async () => {
    const here = syncedHome();
    const folder = dirname(here.pi("any"));
    const writer = ended(writing(folder, 4, 600));
    for (let at = 0; at < 12; at += 1) {
      const sync = syncing(here);
      const timer = setTimeout(() => sync.kill("SIGKILL"), 60 + at * 30);
      await ended(sync);
      clearTimeout(timer);
    }
    await writer;
    expect([0, 3]).toContain(here.run("sync").exit);
    await expectUpToDate(here, folder);
  });

  test("is in the store once although several syncs read it at the same time", async () => {
    const here = syncedHome();
    const folder = dirname(here.pi("any"));
    const writer = writing(folder, 5, 600);
    const exits: (number | null)[] = [];
    const isWritten = ended(writer);
    for (let round = 0; round < 3; round += 1) exits.push(...(await Promise.all([syncing(here), syncing(here), syncing(here)].map(ended))));
    await isWritten;
    expect([0, 3]).toContain(here.run("sync").exit);
    // 3: a line that was cut in the middle when it was read.
    expect(exits.filter((exit) => exit !== 0 && exit !== 3)).toEqual([]);
    await expectUpToDate(here, folder);
  });
});

describe("a disk that fills", () => {
  test("ends the sync with one line, nothing half imported, and the next one goes on", async () => {
    const here = syncedHome();
    const folder = dirname(here.pi("any"));
    for (let at = 0; at < 40; at += 1)
      here.write(here.pi(`p/${at}.jsonl`), piLines(`s${at}`, ...Array.from({ length: 30 }, (_, n) => `${at} ${n} ${"x".repeat(2000)}`)));
    const before = stateOf(folder);
    const exits = [200, 2000, 4000].map((blocks) => {
      const script = `trap "" XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`;
      const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, BOUGH, "sync"], { env: here.env, encoding: "utf8" });
      expect(messagesIn(stderr)).toHaveLength(1);
      return status;
    });
    // SQLite says full, or of the files beside the store that it cannot write them.
    expect(exits.filter((exit) => exit !== 9 && exit !== 7)).toEqual([]);
    here.bough("sync");
    expect(stateOf(folder)).toEqual(before);
    await expectUpToDate(here, folder);
  });
});

describe("folders that cannot be read", () => {
  test("cost what is in them, told once while they are watched, until they can be", async () => {
    const here = syncedHome();
    const open = here.write(here.pi("open/one.jsonl"), piLines("one", "first"));
    const locked = dirname(here.write(here.pi("locked/two.jsonl"), piLines("two", "hidden")));
    const file = here.write(here.pi("open/three.jsonl"), piLines("three", "hidden too"));
    giveAway(here.folder);
    chmodSync(locked, 0);
    chmodSync(file, 0);
    onTestFinished(() => chmodSync(locked, 0o700));
    const watching = here.startAs(NOBODY, "sync", "--watch", "--json");
    await watching.until((said) => said.startsWith("Watching"));
    here.append(open, piMessage(1, "second"));
    await watching.imported("one", 2);
    const failures = watching.lines.filter((said) => said.includes("SOURCE_UNREADABLE"));
    expect(failures.map((said) => JSON.parse(said).path).sort()).toEqual([locked, file].sort());
    chmodSync(locked, 0o755);
    chmodSync(file, 0o644);
    await watching.imported("two", 1);
    await watching.imported("three", 1);
  });

  test("links that lead in a circle, out of the folder or nowhere end", () => {
    const here = syncedHome();
    const path = here.write(here.pi("a/one.jsonl"), piLines("one", "first"));
    const outside = here.write(join(here.folder, "outside", "two.jsonl"), piLines("two", "elsewhere"));
    mkdirSync(here.pi("b"));
    for (const [target, link] of [
      [here.pi(""), here.pi("a/up")],
      [here.pi("a"), here.pi("b/a")],
      [here.pi("b"), here.pi("a/b")],
      [path, here.pi("b/again.jsonl")],
      [here.pi("self.jsonl"), here.pi("self.jsonl")],
      ["nowhere.jsonl", here.pi("dangling.jsonl")],
      [dirname(outside), here.pi("outside")],
    ] as const)
      symlinkSync(target, link);
    const { exit, stdout, stderr } = here.run("sync", "--json");
    expect(exit).toBe(3);
    expect(JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "FILES_FAILED", message: expect.stringMatching(/^2 files could not be imported/) },
    });
    const [pi] = JSON.parse(stdout).agents;
    expect(pi.sessions.map(({ sessionId }: { sessionId: string }) => sessionId).sort()).toEqual(["one", "two"]);
    rmSync(here.pi("self.jsonl"));
    rmSync(here.pi("dangling.jsonl"));
    expect(here.bough("sync")).toContain("up to date");
  });
});

/** A user whom permissions bind, where the tests run as root; otherwise the one who runs them. */
const NOBODY = process.geteuid?.() === 0 ? 65_534 : process.geteuid?.();

function giveAway(folder: string): void {
  if (NOBODY === undefined) return;
  for (const path of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) chownSync(join(folder, path), NOBODY, -1);
}
