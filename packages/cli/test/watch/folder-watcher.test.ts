import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ChangedPaths } from "../../src/commands/sync-watch.js";
import { FolderWatcher } from "../../src/watch/folder-watcher.js";

/** A watcher of folders in a new folder, and what it reported. */
const watched = (...names: readonly string[]) => watchedWithout(undefined, ...names);

/** The same, without the folders that `skipped` matches. */
function watchedWithout(skipped: RegExp | undefined, ...names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "bough-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seen = new Set<string>();
  const reported: string[] = [];
  let wake: () => void = () => undefined;
  const watcher = new FolderWatcher(
    names.map((name) => ({ folder: join(folder, name), skipped })),
    ["darwin", "win32"].includes(platform()),
    {
      onChange: (path) => {
        seen.add(path);
        reported.push(path.slice(folder.length + 1).replaceAll("\\", "/"));
        wake();
      },
      onUnwatched: (path, reason) => seen.add(`${path}: ${reason}`),
    },
  );
  onTestFinished(() => watcher.close());
  const changed = async (...parts: readonly string[]) => {
    const path = join(folder, ...parts);
    // A folder that is new is reported itself, with what is in it.
    while (![...seen].some((one) => path === one || path.startsWith(join(one, "/"))))
      await new Promise<void>((resolve) => (wake = resolve));
    seen.clear();
  };
  const write = (...parts: readonly string[]) => {
    const path = join(folder, ...parts);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "a");
    return path;
  };
  return { folder, watcher, changed, write, reported };
}

test("reports files that appear, grow and go, in folders at any depth that were there or are new", async () => {
  const { watcher, changed, write } = watched("root");
  const path = write("root", "a", "b", "one.jsonl");
  watcher.start();
  appendFileSync(path, "more");
  await changed("root", "a", "b", "one.jsonl");
  appendFileSync(write("root", "new", "deep", "two.jsonl"), "b");
  await changed("root", "new", "deep", "two.jsonl");
  appendFileSync(write("root", "new", "deep", "three.jsonl"), "b");
  await changed("root", "new", "deep", "three.jsonl");
  rmSync(path);
  await changed("root", "a", "b", "one.jsonl");
});

test("reports a root that is made later, together with folders above it, and one that is removed and made again", async () => {
  const { folder, watcher, changed, write } = watched("x/y/root");
  watcher.start();
  write("x", "y", "root", "one.jsonl");
  await changed("x", "y", "root", "one.jsonl");
  rmSync(join(folder, "x", "y"), { recursive: true });
  await changed("x", "y", "root");
  write("x", "y", "root", "two.jsonl");
  await changed("x", "y", "root", "two.jsonl");
  appendFileSync(write("x", "y", "root", "three.jsonl"), "b");
  await changed("x", "y", "root", "three.jsonl");
});

test("finds a root again whose folders above were moved away, when it is started again", async () => {
  const { folder, watcher, changed, write } = watched("x/y/root");
  write("x", "y", "root", "one.jsonl");
  watcher.start();
  renameSync(join(folder, "x"), join(folder, "old"));
  write("x", "y", "root", "two.jsonl");
  watcher.start();
  appendFileSync(write("x", "y", "root", "three.jsonl"), "b");
  await changed("x", "y", "root", "three.jsonl");
});

test("reports nothing of skipped folders, at any depth, also of new ones", async () => {
  const { watcher, changed, write, reported } = watchedWithout(/^(?:storage\/(?!session$|session\/)[^/]+|log)$/, "root");
  const part = write("root", "storage", "part", "msg_1", "prt_1.json");
  const session = write("root", "storage", "session", "p1", "ses_1.json");
  watcher.start();
  appendFileSync(part, "b");
  write("root", "storage", "part", "msg_2", "prt_2.json");
  write("root", "storage", "message", "ses_1", "msg_1.json");
  write("root", "log", "today.log");
  appendFileSync(session, "b");
  await changed("root", "storage", "session", "p1", "ses_1.json");
  appendFileSync(part, "c");
  write("root", "storage", "message", "ses_1", "msg_2.json");
  appendFileSync(session, "c");
  await changed("root", "storage", "session", "p1", "ses_1.json");
  expect(reported.filter((path) => /part|message|log/.test(path))).toEqual([]);
});

test("watches a root in a folder that the root around it skips", async () => {
  const { watcher, changed, write } = watchedWithout(/^inner$/, "root", "root/inner");
  const path = write("root", "inner", "deep", "one.jsonl");
  watcher.start();
  appendFileSync(path, "b");
  await changed("root", "inner", "deep", "one.jsonl");
});

test("follows links to folders, also where they lead in a circle", async () => {
  const { folder, watcher, changed, write } = watched("root");
  write("root", "a", "one.jsonl");
  write("elsewhere", "two.jsonl");
  symlinkSync(join(folder, "root"), join(folder, "root", "a", "circle"));
  symlinkSync("nowhere", join(folder, "root", "dangling"));
  symlinkSync(join(folder, "elsewhere"), join(folder, "root", "link"));
  watcher.start();
  appendFileSync(join(folder, "root", "a", "one.jsonl"), "b");
  await changed("root", "a", "one.jsonl");
  appendFileSync(join(folder, "elsewhere", "two.jsonl"), "b");
  await changed("root", "link", "two.jsonl");
});

test("a batch of changes has each path once, databases for the files beside them, and everything when nothing comes", async () => {
  const changes = new ChangedPaths();
  for (const path of ["/a/one.jsonl", "/a/one.jsonl", "/b/state.db-wal", "/b/state.db-shm"]) changes.add(path);
  const { signal } = new AbortController();
  expect(await changes.next(60_000, signal)).toEqual({ kind: "paths", paths: ["/a/one.jsonl", "/b/state.db"] });
  expect(await changes.next(1, signal)).toEqual({ kind: "all" });
  const soon = changes.next(60_000, signal);
  changes.add("/late");
  expect(await soon).toEqual({ kind: "paths", paths: ["/late"] });
  await expect(changes.next(60_000, AbortSignal.abort("over"))).rejects.toBe("over");
});
