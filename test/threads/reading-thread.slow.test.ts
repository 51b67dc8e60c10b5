import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { type ImportProgress, type ImportReport, importPath, syncSessions } from "@bough/formats";
import { openStore } from "@bough/session-core";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeCodexFile, writeCopilotFile, writeCursorTranscript, writeGeminiFile, writeVscodeChat } from "../bench/agent-files.mjs";
import { writeAntigravityFile, writeDroidFile, writeGrokFile, writeKimiFile, writeQwenFile } from "../bench/agent-trees.mjs";
import { writeClaudeFile, writePiFile } from "../bench/session-files.mjs";

// An import reads files in a second thread while it writes. The store, and the report, are those of an import in one thread.

const FIXTURES = join(import.meta.dirname, "../../packages/formats/test/fixtures");
const BYTES = 600_000;

const WRITERS: Readonly<Record<string, (path: string, bytes: number) => unknown>> = {
  pi: writePiFile,
  "Claude Code": writeClaudeFile,
  Codex: writeCodexFile,
  "Copilot CLI": writeCopilotFile,
  "VS Code": writeVscodeChat,
  "Gemini CLI": writeGeminiFile,
  Cursor: writeCursorTranscript,
  "Qwen Code": writeQwenFile,
  "Kimi Code": writeKimiFile,
  Droid: writeDroidFile,
  Antigravity: writeAntigravityFile,
  "Grok Build": writeGrokFile,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bough-threads-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Threads = false | "always";

/** Imports a file or folder into a new store; returns the report and every row. */
async function imported(path: string, threads: Threads): Promise<unknown> {
  return inNewStore(async (store) => withoutTimes(await importPath(store, path, { threads })));
}

async function inNewStore(work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>): Promise<unknown> {
  const file = join(folder, "store.db");
  const store = await openStore({ path: file });
  try {
    const result = await work(store);
    return { result, rows: rowsOf(file) };
  } finally {
    await store.close();
    rmSync(file);
  }
}

/** Writes a session of Codex with one prompt, and its name into the index of names. */
function writeNamedCodexSession(home: string, name: string): void {
  const id = `019a0000-0000-7000-8000-${Buffer.from(name.padEnd(6)).toString("hex")}`;
  const timestamp = "2026-01-05T00:00:00Z";
  const message = { type: "message", role: "user", content: [{ type: "input_text", text: name }] };
  const lines = [
    { timestamp, type: "session_meta", payload: { id, timestamp, cwd: "/a" } },
    { timestamp, type: "response_item", payload: message },
  ];
  const file = join(home, `sessions/2026/01/05/rollout-2026-01-05T00-00-00-${id}.jsonl`);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  appendFileSync(join(home, "session_index.jsonl"), `${JSON.stringify({ id, thread_name: name })}\n`);
}

function withoutTimes({ sessions, failed, otherFiles }: ImportReport): unknown {
  return { sessions, failed: failed.map(({ path, error }) => ({ path, code: error.code, message: error.message })), otherFiles };
}

/** Every table that an import writes, row by row in the order of writing. */
function rowsOf(file: string): unknown {
  const database = new Database(file, { readonly: true });
  try {
    const tables = ["session", "entry", "payload", "private_entry", "file_operation", "usage_total", "kind_count", "tip", "branch_point"];
    const more = ["entry_waypoint", "label", "leaf", "value", "session_metadata", "source_session"];
    return Object.fromEntries([...tables, ...more].map((table) => [table, database.prepare(`SELECT * FROM ${table}`).all()]));
  } finally {
    database.close();
  }
}

/** Keeps the threads that this process starts from now on. */
function counter(): { readonly workers: Worker[] } {
  const counted = { workers: [] as Worker[] };
  process.on("worker", (worker) => counted.workers.push(worker));
  return counted;
}

const all = counter();
afterAll(() => expect(all.workers).not.toEqual([]));

describe("an import with a second thread writes the same store, row by row, as one in a single thread", () => {
  test.each(Object.entries(WRITERS))("of a file of %s", async (name, write) => {
    const path = join(folder, `${name}.jsonl`);
    write(path, BYTES);
    expect(statSync(path).size).toBeGreaterThan(BYTES / 2);
    expect(await imported(path, "always")).toEqual(await imported(path, false));
  });

  test("of a folder with files of several agents", async () => {
    const started = counter();
    expect(await imported(FIXTURES, "always")).toEqual(await imported(FIXTURES, false));
    expect(started.workers.length).toBeLessThanOrEqual(1);
  });

  test("when it imports a file again that has grown, and one that was changed", async () => {
    const path = join(folder, "grown.jsonl");
    const again = (threads: Threads) =>
      inNewStore(async (store) => {
        const reports = [];
        for (const bytes of [BYTES / 4, BYTES / 2]) {
          writePiFile(path, bytes);
          reports.push(withoutTimes(await importPath(store, path, { threads })));
        }
        writeFileSync(
          path,
          `${JSON.stringify({ type: "session", version: 3, id: "s", timestamp: "2026-01-05T00:00:00Z", cwd: "/a" })}\n{"torn`,
        );
        reports.push(withoutTimes(await importPath(store, path, { threads })));
        return reports;
      });
    expect(await again("always")).toEqual(await again(false));
  });

  test("when a session and its name came between two syncs", async () => {
    const home = join(folder, "named");
    mkdirSync(join(home, ".codex/sessions/2026/01/05"), { recursive: true });
    const titles = (threads: Threads) =>
      inNewStore(async (store) => {
        writeFileSync(join(home, ".codex/session_index.jsonl"), "");
        for (const name of ["first", "second"]) {
          writeNamedCodexSession(join(home, ".codex"), name);
          await syncSessions(store, { environment: { env: {}, home, platform: "linux" }, threads });
        }
        return (await store.listSessions()).items.map(({ title }) => title).sort();
      });
    expect(await titles("always")).toMatchObject({ result: ["first", "second"] });
    rmSync(join(home, ".codex/sessions/2026/01/05"), { recursive: true });
    mkdirSync(join(home, ".codex/sessions/2026/01/05"));
    expect(await titles(false)).toMatchObject({ result: ["first", "second"] });
  });

  test("in a sync of the folders of agents", async () => {
    const home = join(folder, "home");
    mkdirSync(join(home, ".pi/agent/sessions/a"), { recursive: true });
    mkdirSync(join(home, ".codex/sessions/2026"), { recursive: true });
    writePiFile(join(home, ".pi/agent/sessions/a/one.jsonl"), BYTES);
    writeCodexFile(join(home, ".codex/sessions/2026/rollout-one.jsonl"), BYTES);
    const synced = (threads: Threads) =>
      inNewStore(async (store) => {
        const { agents } = await syncSessions(store, { environment: { env: {}, home, platform: "linux" }, threads });
        return agents.map(({ agent, sessions, failed }) => ({ agent, sessions, failed }));
      });
    expect(await synced("always")).toEqual(await synced(false));
  });
});

test("what the reading thread cannot read, the import reports as in one thread, and goes on", async () => {
  const files = join(folder, "hostile");
  cpSync(FIXTURES, files, { recursive: true });
  writeFileSync(
    join(files, "newer.jsonl"),
    `${JSON.stringify({ type: "session", version: 99, id: "n", timestamp: "2026-01-05T00:00:00Z" })}\n`,
  );
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const head = JSON.stringify({ type: "session", version: 3, id: "deep", timestamp: "2026-01-05T00:00:00Z", cwd: "/a" });
  writeFileSync(join(files, "deep.jsonl"), `${head}\n{"type":"custom","id":"00000001","parentId":null,"customType":"x","data":${deep}}\n`);
  const report = await imported(files, "always");
  expect(report).toEqual(await imported(files, false));
  expect(report).toMatchObject({
    result: { failed: expect.arrayContaining([expect.objectContaining({ code: "UNKNOWN_FORMAT_VERSION" })]) },
  });
});

test("a file whose reading thread is killed once is read by another thread, which also reads the files behind it", async () => {
  const files = join(folder, "killed once");
  mkdirSync(files);
  writePiFile(join(files, "one.jsonl"), 10 * BYTES);
  writePiFile(join(files, "two.jsonl"), BYTES, 7);
  const expected = await imported(files, false);
  const before = new Set(all.workers);
  let killed: Worker | undefined;
  const kill = ({ path, records }: ImportProgress) => {
    if (killed !== undefined || !path.endsWith("one.jsonl") || records === 0) return;
    killed = all.workers.findLast((worker) => worker.threadId > 0);
    void killed?.terminate();
  };
  expect(await inNewStore(async (store) => withoutTimes(await importPath(store, files, { threads: "always", onProgress: kill })))).toEqual(
    expected,
  );
  expect(killed).toBeDefined();
  expect(all.workers.filter((worker) => !before.has(worker) && worker !== killed)).toHaveLength(1);
});

test("a reading thread that is killed while the import writes is one error of its file, of which nothing is stored", async () => {
  const files = join(folder, "killed");
  mkdirSync(files);
  writePiFile(join(files, "one.jsonl"), 10 * BYTES);
  writePiFile(join(files, "two.jsonl"), BYTES / 10, 7);
  const kill = ({ path, records }: ImportProgress) => {
    if (path.endsWith("one.jsonl") && records > 0) for (const worker of all.workers) void worker.terminate();
  };
  const killed = await inNewStore(async (store) => withoutTimes(await importPath(store, files, { threads: "always", onProgress: kill })));
  const message = `${join(files, "one.jsonl")} cannot be read: the thread that read it ended (exit code 1).`;
  expect(killed).toMatchObject({
    result: { sessions: [{ path: join(files, "two.jsonl") }], failed: [{ code: "SOURCE_UNREADABLE", message }] },
    rows: { session: [{}] },
  });
});

test("an import that could not lock the store leaves its thread ready for the next one", async () => {
  const [source, file] = [join(folder, "large.jsonl"), join(folder, "busy.db")];
  writePiFile(source, 4 * BYTES);
  const store = await openStore({ path: file, busyTimeoutMs: 50 });
  const other = new Database(file);
  other.exec("BEGIN IMMEDIATE");
  await expect(importPath(store, source, { threads: "always" })).rejects.toMatchObject({ code: "STORE_BUSY" });
  other.exec("ROLLBACK");
  other.close();
  const { sessions } = await importPath(store, source, { threads: "always" });
  expect(sessions).toMatchObject([{ outcome: "created", problemCount: 0 }]);
  await store.close();
});
