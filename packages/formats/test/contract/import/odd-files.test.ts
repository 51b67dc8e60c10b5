import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { Store } from "@bough/session-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { findingsOf, openedStore, tempFolder } from "../../../../session-core/test/world/stores.js";
import { findSourceFiles, SourceFolders } from "../../../src/source/source-folders.js";
import { importPath } from "../../../src/transfer/import-path.js";
import { fileOf } from "../../world/sources.js";

const SESSION = "22222222-2222-4222-8222-222222222222";
const HASH = "a".repeat(64);

const piHeader = (id: string) => ({ type: "session", version: 3, id, timestamp: "2025-01-01T00:00:00Z" });
const piEntry = (content: unknown = "hi") => ({ type: "message", id: "a", parentId: null, message: { role: "user", content } });
const claude = (rest: object = {}) => ({
  type: "user",
  uuid: "u1",
  parentUuid: null,
  sessionId: SESSION,
  timestamp: "2025-01-01T00:00:00Z",
  message: { role: "user", content: "do it" },
  ...rest,
});
const agentLine = claude({ isSidechain: true, agentId: "x", uuid: "s1" });

function write(path: string, ...lines: readonly (object | string)[]): string {
  mkdirSync(dirname(path), { recursive: true });
  return fileOf([...lines, ""], path.slice(dirname(path).length + 1), dirname(path));
}

async function socketAt(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

/** A folder of a good session, and of what `make` puts beside it. */
async function importedWith(make: (folder: string) => void | Promise<void>) {
  const folder = tempFolder();
  write(join(folder, "zz-good.jsonl"), piHeader("good"), piEntry());
  await make(folder);
  const store = await openedStore();
  const report = await importPath(store, folder);
  expect(report.sessions.map(({ sessionId }) => sessionId)).toContain("good");
  expect(await findingsOf(store)).toEqual([]);
  const failed = report.failed.map(({ path, error }) => [
    path.slice(folder.length + 1),
    error.code,
    error.message.replace(`${folder}/`, ""),
  ]);
  const problems = report.sessions.flatMap((session) => session.problems);
  return {
    ...report,
    store,
    folder,
    failed,
    problems: problems.map(({ path, code, message }) => [path.slice(folder.length + 1), code, message]),
  };
}

describe("what is named like a session file and is none", () => {
  test.each([
    ["a device", "it is a device, not a file", (path: string) => symlinkSync("/dev/null", path)],
    ["a socket", "it is a socket, not a file", socketAt],
    ["a link to itself", "its links lead in a circle", (path: string) => symlinkSync(path, path)],
  ])("%s is reported with what it is, and the rest of the folder is imported", async (_what, reason, make) => {
    const { failed } = await importedWith((folder) => make(join(folder, "x.jsonl")));
    expect(failed).toEqual([["x.jsonl", "SOURCE_UNREADABLE", `x.jsonl cannot be read: ${reason}.`]]);
  });

  test("a link that leads nowhere is reported; by any other name it is one of the other files, and so is a socket", async () => {
    const { failed, otherFiles } = await importedWith(async (folder) => {
      symlinkSync(join(folder, "nowhere"), join(folder, "x.jsonl"));
      symlinkSync(join(folder, "nowhere"), join(folder, "latest"));
      symlinkSync(join(folder, "loop"), join(folder, "loop"));
      await socketAt(join(folder, "agent.sock"));
    });
    expect(failed).toEqual([["x.jsonl", "SOURCE_NOT_FOUND", "There is no file and no folder at x.jsonl."]]);
    expect(otherFiles).toBe(3);
  });

  test("a file that another program removes after the folder was listed is neither read nor reported", () => {
    const folder = tempFolder();
    const gone = write(join(folder, "gone.jsonl"), piHeader("gone"), piEntry());
    const stays = write(join(folder, "stays.jsonl"), piHeader("stays"), piEntry());
    const folders = new SourceFolders();
    folders.list(folder);
    rmSync(gone);
    const { files, unreadable, others } = findSourceFiles(folder, folders);
    expect([files.map(({ path }) => path), unreadable, others]).toEqual([[stays], [], []]);
  });

  test("a link to a session file is read like the file", async () => {
    const folder = tempFolder();
    const real = write(join(folder, "real.jsonl"), piHeader("one"), piEntry());
    symlinkSync(real, join(folder, "link.jsonl"));
    expect((await importPath(await openedStore(), join(folder, "link.jsonl"))).sessions).toMatchObject([
      { sessionId: "one", entriesAdded: 1 },
    ]);
  });

  test.each(["/dev/null", "/dev/zero"])("%s itself is refused", async (path) => {
    await expect(importPath(await openedStore(), path)).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      message: expect.stringContaining("it is a device"),
    });
  });
});

describe("an odd file that a session leads to", () => {
  const lost = "the sessions of its agents were left out";

  test("a file where a pi session's folder of agents would be is no such folder", async () => {
    const { failed, problems, otherFiles } = await importedWith((folder) => {
      write(join(folder, "s.jsonl"), piHeader("s"), piEntry());
      writeFileSync(join(folder, "s"), "a file");
    });
    expect({ failed, problems, otherFiles }).toEqual({ failed: [], problems: [], otherFiles: 1 });
  });

  test("a device where the starter of a pi agent would be costs the link to it", async () => {
    const { problems } = await importedWith((folder) => {
      write(join(folder, "s", "agent.jsonl"), piHeader("agent"), piEntry());
      symlinkSync("/dev/null", join(folder, "s.jsonl"));
    });
    expect(problems).toEqual([
      ["s.jsonl", "unreadable-file", "the link to the session that started this one was left out: it is a device, not a file"],
    ]);
  });

  test("a session of another format where the starter of a pi agent would be starts no agent of pi", async () => {
    const { problems, failed, sessions } = await importedWith((folder) => {
      write(join(folder, "s", "agent.jsonl"), piHeader("agent"), piEntry());
      write(join(folder, "s.jsonl"), claude());
    });
    expect({ problems, failed }).toEqual({ problems: [], failed: [] });
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual([SESSION, "agent", "good"]);
  });

  test("a device or a folder where a picture would be leaves the reference", async () => {
    const image = [{ type: "image", data: `blob:sha256:${HASH}`, mimeType: "image/png" }];
    for (const [make, what] of [
      [(path: string) => symlinkSync("/dev/null", path), "a device"],
      [(path: string) => mkdirSync(path), "a folder"],
    ] as const) {
      const { problems, folder } = await importedWith((at) => {
        write(join(at, "s.jsonl"), piHeader("s"), piEntry(image));
        mkdirSync(join(at, "blobs"));
        make(join(at, "blobs", HASH));
      });
      const why = `cannot be read: it is ${what}, not a file (${join(folder, "blobs", HASH)})`;
      expect(problems).toEqual([["s.jsonl", "missing-blob", `the image ${HASH.slice(0, 12)}… ${why}; the reference was kept`]]);
    }
  });

  test("a Claude agent's file that links to itself is reported once", async () => {
    const { failed, problems } = await importedWith((folder) => {
      write(join(folder, `${SESSION}.jsonl`), claude());
      symlinkSync("agent-loop.jsonl", join(folder, "agent-loop.jsonl"));
    });
    expect([failed.map(([path]) => path), problems]).toEqual([["agent-loop.jsonl"], []]);
  });

  test("a device where the starter of a Claude agent would be costs the link to the call", async () => {
    const { problems } = await importedWith((folder) => {
      write(join(folder, "agent-x.jsonl"), agentLine);
      symlinkSync("/dev/null", join(folder, `${SESSION}.jsonl`));
    });
    const what = "the link to the call that started the agent was left out: it is a device, not a file";
    expect(problems).toEqual([[`${SESSION}.jsonl`, "unreadable-file", what]]);
  });

  test("a folder where the description of a Claude agent would be costs the description", async () => {
    const { problems, sessions } = await importedWith((folder) => {
      write(join(folder, "agent-x.jsonl"), agentLine);
      mkdirSync(join(folder, "agent-x.meta.json"));
    });
    expect(sessions).toHaveLength(2);
    expect(problems).toEqual([
      ["agent-x.meta.json", "unreadable-file", "what it says of the agent was left out: it is a folder, not a file"],
    ]);
  });

  test("a file where a Claude session's folder of agents would be is no such folder", async () => {
    const { problems, failed } = await importedWith((folder) => {
      write(join(folder, `${SESSION}.jsonl`), claude());
      write(join(folder, SESSION, "subagents"), "a file");
    });
    expect({ problems, failed }).toEqual({ problems: [], failed: [] });
  });

  test("a Claude agent's file is imported alone from a folder that can be entered but not listed", async () => {
    const { sessions } = await asNobody(async () => {
      const folder = tempFolder();
      const path = write(join(folder, "agent-x.jsonl"), agentLine);
      write(join(folder, `${SESSION}.jsonl`), claude());
      chmodSync(folder, 0o311);
      onTestFinished(() => chmodSync(folder, 0o700));
      return importPath(await openedStore(), path);
    });
    expect(sessions.map(({ outcome, problems }) => [outcome, problems])).toEqual([["created", []]]);
  });

  test("locked folders and files cost what is in them", async () => {
    const { problems, failed, sessions } = await asNobody(() =>
      importedWith((folder) => {
        chmodSync(folder, 0o755);
        write(join(folder, "s.jsonl"), piHeader("s"), piEntry());
        write(join(folder, `${SESSION}.jsonl`), claude());
        write(join(folder, "locked.jsonl"), piHeader("never"), piEntry());
        for (const name of ["s", join(SESSION, "subagents"), "other"]) mkdirSync(join(folder, name), { recursive: true });
        for (const name of ["s", join(SESSION, "subagents"), "other", "locked.jsonl"]) lock(join(folder, name));
      }),
    );
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual([SESSION, "good", "s"]);
    const denied = `${lost}: permission denied`;
    expect(problems).toEqual([
      [join(SESSION, "subagents"), "unreadable-file", denied],
      ["s", "unreadable-file", denied],
    ]);
    expect(failed.map(([path, code]) => [path, code])).toEqual(
      [join(SESSION, "subagents"), "other", "s", "locked.jsonl"].map((path) => [path, "SOURCE_UNREADABLE"]),
    );
  });
});

/** Takes every permission from a path until the test has ended. */
function lock(path: string): void {
  chmodSync(path, 0);
  onTestFinished(() => chmodSync(path, 0o700));
}

/** Runs as a user whom permissions bind: whoever runs the tests as root may read everything. */
async function asNobody<T>(body: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return body();
  await warmUp();
  process.seteuid?.(65_534);
  try {
    return await body();
  } finally {
    process.seteuid?.(0);
  }
}

/** Loads what an import loads late, which that user may not be allowed to read. */
async function warmUp(): Promise<Store> {
  const store = await openedStore();
  await importPath(store, fileOf([piHeader("first"), piEntry(), ""]));
  await findingsOf(store);
  return store;
}

describe("names and paths that cannot be opened", () => {
  test("a name that is not UTF-8 is reported where it is a folder's or a session file's", async () => {
    const { failed, otherFiles } = await importedWith((folder) => {
      const odd = (name: string) => Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xff]), Buffer.from(name)]);
      writeFileSync(odd("ad.jsonl"), JSON.stringify(piHeader("odd")));
      writeFileSync(odd("ad.txt"), "no session");
      mkdirSync(odd("older"));
    });
    expect(failed.map(([path, code]) => [path, code])).toEqual([
      ["b\ufffdad.jsonl", "SOURCE_UNREADABLE"],
      ["b\ufffdolder", "SOURCE_UNREADABLE"],
    ]);
    expect(otherFiles).toBe(1);
  });
});

describe("a line that is nested deeper than JSON.stringify follows", () => {
  const deep = (uuid: string) => JSON.stringify(claude({ uuid, data: "@" })).replace('"@"', `${"[".repeat(5_000)}${"]".repeat(5_000)}`);

  test("is kept, and is one record where it stands twice", async () => {
    const { store, folder, sessions } = await importedWith((at) => {
      write(join(at, `${SESSION}.jsonl`), claude(), deep("u2"), deep("u2"), claude({ uuid: "u3", parentUuid: "u2" }));
    });
    expect(sessions[0]).toMatchObject({ sessionId: SESSION, entriesAdded: 3 });
    expect((await importPath(store, folder)).sessions).toMatchObject([
      { sessionId: SESSION, entriesAdded: 0 },
      { sessionId: "good", entriesAdded: 0 },
    ]);
  });

  test("is a record of its own where another one has its uuid", async () => {
    const other = deep("u2").replace("do it", "do that");
    const { sessions, problems } = await importedWith((at) => {
      write(join(at, `${SESSION}.jsonl`), claude(), deep("u2"), other);
    });
    expect(sessions[0]).toMatchObject({ sessionId: SESSION, entriesAdded: 3 });
    expect(problems.map(([, code]) => code)).toContain("duplicate-id");
  });
});

describe("a session whose messages all come out empty", () => {
  const record = (type: string, uuid: string, parentUuid: string | null, content: unknown) => ({
    ...{ type, uuid, parentUuid, isSidechain: false, sessionId: "s", timestamp: "2026-01-01T00:00:00Z" },
    message: { role: type, content },
  });

  test("is reported, because the file may be of a program that is not known", async () => {
    const path = fileOf(
      [record("user", "u1", null, []), record("assistant", "a1", "u1", [])].map((line) => JSON.stringify(line)),
      "s.jsonl",
    );
    const { sessions } = await importPath(await openedStore(), path);
    expect(sessions.flatMap(({ problems }) => problems)).toMatchObject([{ code: "invalid-record", message: /every message .* is empty/ }]);
  });

  test("is not, if one of them has content", async () => {
    const path = fileOf(
      [record("user", "u1", null, "go"), record("assistant", "a1", "u1", [])].map((line) => JSON.stringify(line)),
      "s.jsonl",
    );
    const { sessions } = await importPath(await openedStore(), path);
    expect(sessions.flatMap(({ problems }) => problems)).toEqual([]);
  });
});
