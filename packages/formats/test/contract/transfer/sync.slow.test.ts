import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Store } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { pathNames } from "../../../../session-core/test/world/grow.js";
import { findingsOf, lastingPlace, openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import { MAX_LINKED } from "../../../src/source/links.js";
import { importPath } from "../../../src/transfer/import-path.js";
import type { ImportProgress } from "../../../src/transfer/import-run.js";
import { findOrphanedSessions } from "../../../src/transfer/orphans.js";
import { type SyncedAgent, type SyncOptions, syncSessions } from "../../../src/transfer/sync.js";

const HEADER = { type: "session", version: 3, id: "s", timestamp: "2025-11-21T12:00:00.000Z", cwd: "/home/ada/app" };

/** A line of a pi session: `u1` is a prompt and `a1` a reply, as in `grow`, below the one before. */
function piLine(name: string, parentId: string | null) {
  const role = name.startsWith("u") ? "user" : "assistant";
  const message = { role, content: [{ type: "text", text: name }], timestamp: 1 };
  return { type: "message", id: name, parentId, timestamp: "2025-11-21T12:00:01.000Z", message };
}

const lines = (...objects: readonly object[]) => objects.map((object) => `${JSON.stringify(object)}\n`).join("");
const piFile = (header: object, names: string) =>
  lines(header, ...names.split(" ").map((name, at, all) => piLine(name, all[at - 1] ?? null)));

/** A home directory with agents' folders, and syncs of it. */
class Home {
  readonly folder = tempFolder();
  readonly pi = join(this.folder, ".pi", "agent", "sessions");

  path(name: string): string {
    return join(this.pi, name);
  }

  /** Writes a file as it was left an hour ago. */
  write(name: string, text: string, path = this.path(name)): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return settle(path);
  }

  append(name: string, text: string): void {
    appendFileSync(this.path(name), text);
    settle(this.path(name));
  }

  sync(store: Store, options: SyncOptions = {}) {
    return syncSessions(store, { environment: { env: {}, home: this.folder, platform: "linux" }, ...options });
  }

  /** The counts and sessions of the only agent of this home. */
  async syncOne(store: Store, options: SyncOptions = {}) {
    const { agents } = await this.sync(store, options);
    return brief(agents[0]);
  }
}

function settle(path: string): string {
  const { size } = statSync(path);
  utimesSync(path, 1_700_000_000 + size, 1_700_000_000 + size);
  return path;
}

function brief(agent: SyncedAgent | undefined) {
  if (agent === undefined) return undefined;
  const { files, newFiles, changedFiles, goneFiles, sessions, failed } = agent;
  const counts = [files, newFiles, changedFiles, goneFiles].join(" ");
  return {
    counts,
    sessions: sessions.map(
      ({ sessionId, outcome, entriesAdded, entriesKnown }) => `${sessionId} ${outcome} ${entriesAdded} ${entriesKnown}`,
    ),
    failed: failed.map(({ error }) => error.code),
  };
}

const NOTHING = { sessions: [], failed: [] };

async function names(store: Store, id = "s"): Promise<string> {
  return pathNames(await store.openSession(id));
}

describe("a sync", () => {
  test("imports new files, then nothing, then what was appended, from where reading ended", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("a/s.jsonl", piFile(HEADER, "u1 a1"));
    expect(await home.syncOne(store)).toEqual({ counts: "1 1 0 0", sessions: ["s created 2 0"], failed: [] });
    expect(await home.syncOne(store)).toEqual({ counts: "1 0 0 0", ...NOTHING });
    home.append("a/s.jsonl", lines(piLine("u2", "a1"), piLine("a2", "u2")));
    expect(await home.syncOne(store)).toEqual({ counts: "1 0 1 0", sessions: ["s extended 2 0"], failed: [] });
    expect(await names(store)).toBe("u1 a1 u2 a2");
    expect(await findingsOf(store)).toEqual([]);
  });

  test("makes no session of a file until it has a conversation", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", lines(HEADER));
    expect(await home.syncOne(store)).toEqual({ counts: "1 1 0 0", sessions: [], failed: [] });
    expect(await home.syncOne(store)).toEqual({ counts: "1 0 0 0", ...NOTHING });
    home.append("s.jsonl", lines(piLine("u1", null), piLine("a1", "u1")));
    expect(await home.syncOne(store)).toEqual({ counts: "1 0 1 0", sessions: ["s created 2 0"], failed: [] });
  });

  test("reads no file that did not change", async () => {
    const [home, store] = [new Home(), await openedStore()];
    for (const id of ["a", "b"]) home.write(`${id}.jsonl`, piFile({ ...HEADER, id }, "u1 a1"));
    const read = new Set<string>();
    const onProgress = ({ path }: ImportProgress) => read.add(path);
    await home.sync(store);
    home.append("b.jsonl", lines(piLine("u2", "a1")));
    await home.sync(store, { onProgress });
    expect([...read]).toEqual([home.path("b.jsonl")]);
  });

  test("reads a file that was written again from its start", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    await home.sync(store);
    home.write("s.jsonl", piFile({ ...HEADER, cwd: "/home/ada/another" }, "u1 a1 u2"));
    expect(await home.syncOne(store)).toEqual({ counts: "1 0 1 0", sessions: ["s extended 1 2"], failed: [] });
    expect(await names(store)).toBe("u1 a1 u2");
  });

  test("keeps everything of a file that was truncated, and goes on with what is written then", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", piFile(HEADER, "u1 a1 u2 a2"));
    await home.sync(store);
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    expect((await home.syncOne(store))?.sessions).toEqual(["s unchanged 0 2"]);
    expect(await names(store)).toBe("u1 a1 u2 a2");
    home.append("s.jsonl", lines(piLine("u3", "a1")));
    expect((await home.syncOne(store))?.sessions).toEqual(["s extended 1 0"]);
    expect((await (await store.openSession("s")).tree.tips()).map(({ id }) => id).toSorted()).toEqual(["a2", "u3"]);
  });

  test("the leaf follows the source to another branch, unless a person placed it", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", piFile(HEADER, "u1 a1 u2"));
    await home.sync(store);
    home.append("s.jsonl", lines(piLine("u3", "a1")));
    await home.sync(store);
    expect(await names(store)).toBe("u1 a1 u3");
    await (await store.openSession("s")).moveLeaf("u1");
    home.append("s.jsonl", lines(piLine("u4", "u3")));
    await home.sync(store);
    expect(await names(store)).toBe("u1");
  });

  test("a torn last line is read when it is whole", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const last = lines(piLine("u2", "a1"));
    home.write("s.jsonl", piFile(HEADER, "u1 a1") + last.slice(0, 50));
    expect((await home.syncOne(store))?.sessions).toEqual(["s created 2 0"]);
    home.append("s.jsonl", last.slice(50));
    expect((await home.syncOne(store))?.sessions).toEqual(["s extended 1 0"]);
    expect(await names(store)).toBe("u1 a1 u2");
  });

  test("takes titles and labels that the agent changed later, and none in place of those of a person", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const label = (text: string, at: string) => ({
      type: "label",
      id: `l${at}`,
      parentId: "a1",
      targetId: "u1",
      label: text,
      timestamp: at,
    });
    const title = (name: string) => ({ type: "session_info", id: name, parentId: "a1", name });
    home.write("s.jsonl", piFile(HEADER, "u1 a1") + lines(title("first"), label("one", "2025-11-21T12:01:00.000Z")));
    await home.sync(store);
    home.append("s.jsonl", lines(title("second"), label("two", "2025-11-21T12:02:00.000Z"), piLine("u2", "a1")));
    await home.sync(store);
    const session = await store.openSession("s");
    expect((await session.record()).title).toBe("second");
    expect(await session.labels.list()).toMatchObject([{ label: "two" }]);
    await store.renameSession("s", "mine");
    await session.labels.set("u1", "my label");
    home.append("s.jsonl", lines(title("third"), label("three", "2025-11-21T12:03:00.000Z"), piLine("u3", "u2")));
    await home.sync(store);
    expect((await session.record()).title).toBe("mine");
    expect(await session.labels.list()).toMatchObject([{ label: "my label" }]);
  });
});

describe("sources that go away", () => {
  test("leave their sessions in the store, and go on when they come back", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const path = home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    await home.sync(store);
    renameSync(path, `${path}.bak`);
    expect(await home.syncOne(store)).toEqual({ counts: "0 0 0 1", ...NOTHING });
    expect(await home.syncOne(store)).toEqual({ counts: "0 0 0 0", ...NOTHING });
    expect(await names(store)).toBe("u1 a1");
    renameSync(`${path}.bak`, path);
    home.append("s.jsonl", lines(piLine("u2", "a1")));
    expect((await home.syncOne(store))?.sessions).toEqual(["s extended 1 0"]);
  });

  test("a session that was deleted in the store stays deleted, also when its file grows, until it is imported", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    await home.sync(store);
    await store.deleteSession("s");
    home.append("s.jsonl", lines(piLine("u2", "a1")));
    expect((await home.syncOne(store))?.sessions).toEqual([]);
    expect(await store.findSession("s")).toBeUndefined();
    await importPath(store, home.pi);
    home.append("s.jsonl", lines(piLine("a2", "u2")));
    expect((await home.syncOne(store))?.sessions).toEqual(["s extended 1 3"]);
  });

  test("a moved file is the same session", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const path = home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    await home.sync(store);
    mkdirSync(home.path("archived"));
    renameSync(path, home.path("archived/s.jsonl"));
    expect(await home.syncOne(store)).toMatchObject({ counts: "1 1 0 1", sessions: ["s unchanged 0 2"] });
    const source = async () => (await (await store.openSession("s")).record()).source?.path;
    expect(await source()).toBe(home.path("archived/s.jsonl"));
    // The sync of a watch may see the new file after the old one is gone.
    renameSync(home.path("archived"), home.path("kept"));
    await home.sync(store, { paths: [home.path("archived")] });
    expect(await source()).toBe(home.path("archived/s.jsonl"));
    await home.sync(store, { paths: [home.path("kept")] });
    expect(await source()).toBe(home.path("kept/s.jsonl"));
  });
});

describe("bad input of a sync", () => {
  test("a file that cannot be read is named each time, and does not stop the others", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("newer.jsonl", lines({ ...HEADER, id: "n", version: 9 }));
    symlinkSync("loop.jsonl", home.path("loop.jsonl"));
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    const failed = ["SOURCE_UNREADABLE", "UNKNOWN_FORMAT_VERSION"];
    expect(await home.syncOne(store)).toMatchObject({ sessions: ["s created 2 0"], failed });
    expect(await home.syncOne(store)).toMatchObject({ sessions: [], failed });
  });

  test("a link that would make the whole disk a folder of sessions is named and not followed", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    symlinkSync("/", home.path("root"));
    symlinkSync(dirname(home.path("")), home.path("above"));
    symlinkSync(home.path(""), home.path("circle"));
    const { agents } = await home.sync(store);
    const [agent] = agents;
    expect(agent?.sessions.map(({ sessionId }) => sessionId)).toEqual(["s"]);
    expect(agent?.failed.map(({ error }) => error.message)).toEqual([
      expect.stringContaining("which contains this folder; it is not followed"),
      expect.stringContaining("which contains this folder; it is not followed"),
    ]);
    expect(agent?.links).toEqual([]);
  });

  test("a link to a folder elsewhere is followed and named, up to a number of files", async () => {
    const [home, other, store] = [new Home(), realpathSync(tempFolder()), await openedStore()];
    writeFileSync(join(other, "t.jsonl"), piFile({ ...HEADER, id: "t" }, "u1 a1"));
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    symlinkSync(other, home.path("elsewhere"));
    const { agents } = await home.sync(store);
    expect(agents[0]?.sessions.map(({ sessionId }) => sessionId).sort()).toEqual(["s", "t"]);
    expect(agents[0]?.links).toEqual([{ path: home.path("elsewhere"), target: other }]);
    for (let at = 0; at <= MAX_LINKED; at += 1) writeFileSync(join(other, `a${at}.txt`), "");
    const again = await home.sync(store);
    expect(again.agents[0]?.failed.map(({ error }) => error.message)).toEqual([expect.stringContaining("not all were looked at")]);
  });

  test("files of no known format are looked at once", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("other.jsonl", lines({ a: 1 }));
    expect(await home.syncOne(store)).toEqual({ counts: "1 1 0 0", ...NOTHING });
    expect(await home.syncOne(store)).toEqual({ counts: "1 0 0 0", ...NOTHING });
  });

  test("nothing in the folders of agents is changed", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const path = home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    const before = [readFileSync(path, "utf8"), statSync(path).mtimeMs, statSync(path).ctimeMs];
    await home.sync(store);
    expect([readFileSync(path, "utf8"), statSync(path).mtimeMs, statSync(path).ctimeMs]).toEqual(before);
  });

  test("a machine without agents has an empty report", async () => {
    expect(await new Home().sync(await openedStore())).toEqual({ agents: [] });
  });
});

describe("options of a sync", () => {
  test("a dry run counts and writes nothing", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    expect(await home.syncOne(store, { dryRun: true })).toEqual({ counts: "1 1 0 0", ...NOTHING });
    expect((await store.listSessions({ kind: "all" })).items).toEqual([]);
    expect(await home.syncOne(store)).toMatchObject({ counts: "1 1 0 0", sessions: ["s created 2 0"] });
  });

  test("only the named agents, and only the named paths", async () => {
    const [home, store] = [new Home(), await openedStore()];
    home.write("a/s.jsonl", piFile(HEADER, "u1 a1"));
    home.write("b/t.jsonl", piFile({ ...HEADER, id: "t" }, "u1 a1"));
    expect((await home.sync(store, { agents: ["CLAUDE code"] })).agents).toEqual([]);
    expect((await home.syncOne(store, { paths: [home.path("b")] }))?.sessions).toEqual(["t created 2 0"]);
    expect((await home.syncOne(store, { paths: [home.path("a/s.jsonl")] }))?.sessions).toEqual(["s created 2 0"]);
    rmSync(home.path("a/s.jsonl"));
    expect((await home.syncOne(store, { paths: [home.path("b")] }))?.counts).toBe("1 0 0 0");
    expect((await home.syncOne(store, { paths: [home.path("a/s.jsonl")] }))?.counts).toBe("0 0 0 1");
    await expect(home.sync(store, { agents: ["nobody"] })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("an abort ends it between two files; the next sync goes on", async () => {
    const [home, store] = [new Home(), await openedStore()];
    for (const id of ["a", "b", "c"]) home.write(`${id}.jsonl`, piFile({ ...HEADER, id }, "u1"));
    const stop = new AbortController();
    const aborted = home.sync(store, { signal: stop.signal, onProgress: ({ path }) => path.endsWith("b.jsonl") && stop.abort() });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    expect(await home.syncOne(store)).toMatchObject({ counts: "3 1 0 0", sessions: ["c created 1 0"] });
  });
});

test("two handles on one store sync at once: every entry is there once", async () => {
  const [home, place] = [new Home(), lastingPlace()];
  for (let at = 0; at < 20; at += 1) home.write(`${at}.jsonl`, piFile({ ...HEADER, id: `s${at}` }, "u1 a1 u2"));
  const stores = [await openedStore(place), await openedStore(place)];
  await Promise.all(stores.map((store) => home.sync(store)));
  for (let at = 0; at < 20; at += 1) home.append(`${at}.jsonl`, lines(piLine("a2", "u2")));
  await Promise.all(stores.map((store) => home.sync(store)));
  const [store] = stores;
  for (let at = 0; at < 20; at += 1) expect(store && (await names(store, `s${at}`))).toBe("u1 a1 u2 a2");
  expect(store && (await findingsOf(store))).toEqual([]);
});

describe("orphaned sessions", () => {
  test("are those whose every file is gone", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const [kept, gone, moved] = ["kept", "gone", "moved"].map((id) => home.write(`${id}.jsonl`, piFile({ ...HEADER, id }, "u1 a1")));
    await home.sync(store);
    await store.createSession({ id: "mine" });
    expect(await findOrphanedSessions(store)).toEqual(new Set());
    rmSync(gone ?? "");
    renameSync(moved ?? "", home.path("elsewhere.jsonl"));
    await home.sync(store);
    expect(await findOrphanedSessions(store)).toEqual(new Set(["gone"]));
    rmSync(kept ?? "");
    expect(await findOrphanedSessions(store)).toEqual(new Set(["gone", "kept"]));
  });

  test("of an import without a sync are told by the file of the import", async () => {
    const [home, store] = [new Home(), await openedStore()];
    const path = home.write("s.jsonl", piFile(HEADER, "u1 a1"));
    await importPath(store, home.pi);
    expect(await findOrphanedSessions(store)).toEqual(new Set());
    rmSync(path);
    expect(await findOrphanedSessions(store)).toEqual(new Set(["s"]));
  });
});
