import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { treeNames } from "../../../../session-core/test/world/grow.js";
import { findingsOf, openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import { assertImportable, importPath } from "../../../src/transfer/import-path.js";
import { fileOf } from "../../world/sources.js";

const header = (id: string) => ({ type: "bough-session", version: 1, id, createdAtMs: 1 });
/** Records of a file of pi: its header, and the entries given. */
const ofPi = (...entries: readonly object[]) => [{ type: "session", version: 3, id: "pi", timestamp: PI_TIME, cwd: "/p" }, ...entries];
const PI_TIME = "2026-01-01T00:00:00.000Z";
const said = (id: string, parentId: string | null, text = id) => ({
  type: "entry",
  id,
  parentId,
  createdAtMs: 5,
  entry: { type: "message", message: { role: "user", content: text } },
});

describe("importing into a store whose own file is met", () => {
  test("leaves it and its journal unopened, under whatever name, and takes the rest of the folder", async () => {
    const folder = tempFolder();
    const path = join(folder, "store.db");
    const store = await openedStore({ path });
    fileOf([header("s"), said("a", null), ""], "session.jsonl", folder);
    linkSync(path, join(folder, "linked.jsonl"));
    symlinkSync(`${path}-wal`, join(folder, "journal.jsonl"));
    expect(await importPath(store, folder)).toMatchObject({ sessions: [{ sessionId: "s" }], failed: [], otherFiles: 0 });
    await expect(importPath(store, path)).rejects.toThrow("the store itself");
  });
});

describe("importing a folder", () => {
  test("lets the event loop turn between two files, and what onProgress throws ends it there", async () => {
    const folder = tempFolder();
    for (const id of ["a", "b", "c"]) fileOf([header(id), said("e", null), ""], `${id}.jsonl`, folder);
    const store = await openedStore();
    const stop = new AbortController();
    const onProgress = ({ filesDone, sessionsDone }: { filesDone: number; sessionsDone: number }) => {
      if (filesDone === 0) setImmediate(() => stop.abort(new Error(`stopped with ${sessionsDone + 1}`)));
      stop.signal.throwIfAborted();
    };
    await expect(importPath(store, folder, { onProgress })).rejects.toThrow("stopped with 1");
    expect((await store.listSessions()).items.map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("importing a file", () => {
  test("leaves its bytes as they are, and importing it again adds nothing", async () => {
    const path = fileOf([header("s"), said("a", null), said("b", "a"), ""]);
    const before = readFileSync(path);
    const store = await openedStore();
    expect((await importPath(store, path)).sessions).toMatchObject([
      { sessionId: "s", format: "bough", path, outcome: "created", entriesAdded: 2 },
    ]);
    expect((await importPath(store, path)).sessions).toMatchObject([{ outcome: "unchanged", entriesAdded: 0 }]);
    expect(readFileSync(path)).toEqual(before);
  });

  test("reports a torn last line as torn, and takes it in whole once its writer has ended it", async () => {
    const store = await openedStore();
    const path = fileOf([header("s"), said("a", null), '{"type":"entry","id":"b","par']);
    expect((await importPath(store, path)).sessions[0]?.problems).toMatchObject([{ code: "torn-line", path, line: 3 }]);
    fileOf([header("s"), said("a", null), said("b", "a"), ""], "session.jsonl", dirname(path));
    expect((await importPath(store, path)).sessions).toMatchObject([{ outcome: "extended", entriesAdded: 1, problemCount: 0 }]);
  });

  test("reports malformed lines with file and line, and takes the rest", async () => {
    const path = fileOf([header("s"), said("a", null), "{ no json", "[1]", { type: "unheard-of" }, "", said("b", "a"), ""]);
    const store = await openedStore();
    const [session] = (await importPath(store, path)).sessions;
    expect(session?.problems.map(({ code, line }) => [code, line])).toEqual([
      ["malformed-line", 3],
      ["malformed-line", 4],
      ["malformed-line", 5],
    ]);
    expect(await treeNames(await store.openSession("s"))).toBe(">a a>b");
  });

  test("splits lines at line feeds only: U+2028 and a lone CR are part of a text", async () => {
    const path = fileOf([header("s"), JSON.stringify(said("a", null, "x")).replace('"x"', '"one\u2028two\u2029three"'), ""]);
    const store = await openedStore();
    await importPath(store, path);
    expect(await (await store.openSession("s")).entry("a")).toMatchObject({ message: { content: "one\u2028two\u2029three" } });
  });

  test("takes times in parts of a millisecond, of entries, labels and the session, as whole ones", async () => {
    const labelled = { type: "label", entryId: "a", label: "x", createdAtMs: 2.5 };
    const path = fileOf([{ ...header("s"), createdAtMs: 1.5 }, { ...said("a", null), createdAtMs: 3.25 }, labelled, ""]);
    const store = await openedStore();
    await importPath(store, path);
    const session = await store.openSession("s");
    expect([(await session.record()).createdAtMs, (await session.entry("a")).createdAtMs]).toEqual([1, 3]);
    expect(await session.labels.list()).toMatchObject([{ createdAtMs: 2 }]);
  });

  test.each([
    ["that is missing", "SOURCE_NOT_FOUND", undefined],
    ["of no known format", "UNKNOWN_FORMAT", ["hello"]],
    ["that is empty", "UNKNOWN_FORMAT", []],
    ["of a newer version", "UNKNOWN_FORMAT_VERSION", [{ ...header("s"), version: 99 }]],
    ["of a session whose id cannot be one", "INVALID_ENTRY", [header("two words"), said("a", null)]],
  ])("%s makes one typed error and nothing in the store", async (_what, code, lines) => {
    const store = await openedStore();
    const path = lines === undefined ? join(tempFolder(), "none.jsonl") : fileOf(lines);
    await expect(importPath(store, path)).rejects.toMatchObject({ code });
    expect((await store.listSessions({ empty: true })).items).toEqual([]);
  });

  test("is known by its absolute path, by whatever path it is imported", async () => {
    const path = fileOf([header("s"), said("a", null)]);
    const store = await openedStore();
    const { sessions } = await importPath(store, relative(process.cwd(), path));
    expect(sessions.map((session) => session.path)).toEqual([path]);
    expect((await (await store.openSession("s")).record()).source?.path).toBe(path);
  });

  test("is told by its content, never by its name", async () => {
    const store = await openedStore();
    const path = fileOf([header("s"), said("a", null)], "notes.txt");
    expect((await importPath(store, path)).sessions).toHaveLength(1);
  });
});

describe("importing a folder", () => {
  test("takes every session file below it once, whatever links lead to it, and counts the others", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "deep/er"), { recursive: true });
    fileOf([header("one"), said("a", null)], "one.jsonl", folder);
    fileOf([header("two"), said("a", null)], "two.jsonl", join(folder, "deep/er"));
    writeFileSync(join(folder, "readme.md"), "# no session");
    writeFileSync(join(folder, "odd.jsonl"), '{"prompt":"hi","output":"?"}\n');
    writeFileSync(join(folder, "settings.json"), '{\n  "theme": "dark",\n  "fonts": []\n}\n');
    writeFileSync(join(folder, "table.json"), "[\n  1,\n  2\n]\n");
    symlinkSync(join(folder, "one.jsonl"), join(folder, "link.jsonl"));
    symlinkSync(folder, join(folder, "deep/loop"));
    const store = await openedStore();
    const report = await importPath(store, folder);
    expect(report.sessions.map(({ sessionId }) => sessionId).sort()).toEqual(["one", "two"]);
    expect([report.otherFiles, report.failed]).toEqual([4, []]);
    expect(report.skipped).toEqual([
      { path: join(folder, "odd.jsonl"), reason: "no known format has a first record with prompt, output" },
      { path: join(folder, "readme.md"), reason: "it does not begin with JSON" },
      { path: join(folder, "settings.json"), reason: "no known format has a first record with theme, fonts" },
      { path: join(folder, "table.json"), reason: "its JSON does not begin with an object that has members" },
    ]);
    expect(await findingsOf(store)).toEqual([]);
  });

  test("reports a folder that is too deep in others, and takes the rest", async () => {
    const folder = tempFolder();
    // 1,500 of them, which a path may have, are more than the stack holds.
    mkdirSync(join(folder, "a/".repeat(502)), { recursive: true });
    fileOf([header("one"), said("a", null)], "one.jsonl", join(folder, "a/".repeat(500)));
    const { sessions, failed } = await importPath(await openedStore(), folder);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(["one"]);
    expect(failed.map(({ path, error }) => [path, error.message])).toEqual([
      [join(folder, "a/".repeat(501)).slice(0, -1), expect.stringContaining("it is more than 500 folders deep; move it up.")],
    ]);
  });

  test("says which files could not be read, and takes the others", async () => {
    const folder = tempFolder();
    fileOf([{ ...header("new"), version: 99 }], "a.jsonl", folder);
    fileOf([header("bad id"), said("a", null)], "b.jsonl", folder);
    fileOf([header("large"), said("a", null), { type: "value", key: "k", value: "x".repeat(17_000_000) }], "c.jsonl", folder);
    fileOf([header("good"), said("a", null)], "d.jsonl", folder);
    const store = await openedStore();
    const { sessions, failed } = await importPath(store, folder);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(["good"]);
    expect(failed.map(({ error }) => error.code)).toEqual(["UNKNOWN_FORMAT_VERSION", "INVALID_ENTRY", "VALUE_TOO_LARGE"]);
  });

  test("without a session file is refused", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "readme.md"), "# no session");
    await expect(importPath(await openedStore(), folder)).rejects.toMatchObject({ code: "NO_SESSIONS_FOUND", looked: 1 });
  });

  test.each(["a file", "a folder"])("%s without a conversation makes no session, and says why", async (which) => {
    const folder = tempFolder();
    const model = { type: "model_change", id: "m", parentId: null, timestamp: PI_TIME, provider: "p", modelId: "m" };
    const path = fileOf(
      ofPi(model, { type: "session_info", id: "i", parentId: "m", timestamp: PI_TIME, name: "Draft" }),
      "draft.jsonl",
      folder,
    );
    const store = await openedStore();
    await expect(importPath(store, which === "a file" ? path : folder)).rejects.toMatchObject({ code: "NO_CONVERSATION" });
    await expect(assertImportable(path)).rejects.toMatchObject({ code: "NO_CONVERSATION" });
    expect((await store.listSessions({ empty: true })).items).toEqual([]);
  });

  test.each([true, "always"] as const)("skips files without a conversation until they have one (threads: %s)", async (threads) => {
    const folder = tempFolder();
    fileOf([header("good"), said("a", null)], "good.jsonl", folder);
    const path = fileOf(ofPi(), "draft.jsonl", folder);
    const store = await openedStore();
    const { sessions, skipped, otherFiles } = await importPath(store, folder, { threads });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(["good"]);
    expect([otherFiles, skipped]).toEqual([1, [{ path, reason: "it contains no conversation yet, only a header or settings" }]]);
    const message = { role: "user", content: "Hello", timestamp: 1 };
    fileOf(ofPi({ type: "message", id: "u", parentId: null, timestamp: PI_TIME, message }), "draft.jsonl", folder);
    expect((await importPath(store, folder, { threads })).sessions.map(({ outcome }) => outcome)).toEqual(["created", "unchanged"]);
  });

  test("tells how far it is, in files and bytes, to the end", async () => {
    const folder = tempFolder();
    for (const id of ["one", "two"]) fileOf([header(id), said("a", null)], `${id}.jsonl`, folder);
    const progress: string[] = [];
    await importPath(await openedStore(), folder, {
      onProgress: ({ filesDone, filesTotal, bytesDone, bytesTotal }) =>
        progress.push(`${filesDone}/${filesTotal} ${bytesDone <= bytesTotal}`),
    });
    expect(progress.at(0)).toBe("0/2 true");
    expect(progress.at(-1)).toBe("2/2 true");
  });
});
