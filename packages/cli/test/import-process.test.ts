import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type World, world } from "./world.js";

// In a process of its own: what waits for a pipe cannot be stopped from inside, only ended with its process.
const BOUGH = fileURLToPath(new URL("../dist/bough.js", import.meta.url));

const SESSION = "22222222-2222-4222-8222-222222222222";
const HASH = "a".repeat(64);

function pi(at: World, path: string, id: string, content: unknown = "hi"): void {
  const entry = { type: "message", id: "a", parentId: null, message: { role: "user", content } };
  write(at, path, { type: "session", version: 3, id, timestamp: "2025-01-01T00:00:00Z" }, entry);
}

function claudeAgent(at: World, path: string): void {
  const place = { uuid: "u1", parentUuid: null, sessionId: SESSION, isSidechain: true, agentId: "x", timestamp: "2025-01-01T00:00:00Z" };
  write(at, path, { type: "user", ...place, message: { role: "user", content: "do it" } });
}

function write(at: World, path: string, ...lines: readonly object[]): void {
  mkdirSync(dirname(at.path(path)), { recursive: true });
  writeFileSync(at.path(path), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** A pipe that nobody writes to; where no command makes one, a device without an end. */
function pipe(at: World, path: string): void {
  mkdirSync(dirname(at.path(path)), { recursive: true });
  try {
    execFileSync("mkfifo", [at.path(path)]);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    symlinkSync("/dev/zero", at.path(path));
  }
}

function importing(at: World, args: readonly string[], options: object = {}) {
  return spawnSync(process.execPath, [BOUGH, "import", ...args], {
    env: { ...process.env, BOUGH_STORE: at.store, HOME: at.folder },
    encoding: "utf8",
    timeout: 45_000,
    killSignal: "SIGKILL",
    ...options,
  });
}

function imported(at: World, path: string) {
  const { status, stdout } = importing(at, ["--json", at.path(path)]);
  return { status, ...(JSON.parse(stdout) as Report) };
}

interface Report {
  readonly sessions: readonly { readonly sessionId: string; readonly problems: readonly Named[] }[];
  readonly failed: readonly Named[];
}

interface Named {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

test("a folder of pipes wherever a session leads to a file ends, with every session, and names each of them", () => {
  const here = world();
  const image = [{ type: "image", data: `blob:sha256:${HASH}`, mimeType: "image/png" }];
  pi(here, "in/pi/agent.jsonl", "agent");
  pipe(here, "in/pi.jsonl");
  pi(here, "in/omp/s.jsonl", "with-image", image);
  pipe(here, `in/omp/blobs/${HASH}`);
  claudeAgent(here, "in/claude/agent-x.jsonl");
  pipe(here, `in/claude/${SESSION}.jsonl`);
  pipe(here, "in/claude/agent-x.meta.json");
  pipe(here, "in/pipe.jsonl");
  const { status, sessions, failed } = imported(here, "in");
  expect(status).toBe(3);
  expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual([`${SESSION}.x`, "agent", "with-image"]);
  const named = (list: readonly Named[]) => list.map(({ path, code }) => [path.slice(here.path("in/").length), code]);
  expect(named(failed)).toEqual([
    [`claude/${SESSION}.jsonl`, "SOURCE_UNREADABLE"],
    ["pi.jsonl", "SOURCE_UNREADABLE"],
    ["pipe.jsonl", "SOURCE_UNREADABLE"],
  ]);
  expect(named(sessions.flatMap(({ problems }) => problems)).sort()).toEqual([
    [`claude/${SESSION}.jsonl`, "unreadable-file"],
    ["claude/agent-x.meta.json", "unreadable-file"],
    ["omp/s.jsonl", "missing-blob"],
    ["pi.jsonl", "unreadable-file"],
  ]);
});

test("a pipe or a device that is named by itself is not read, and ends with 9", () => {
  const here = world();
  pipe(here, "pipe.jsonl");
  for (const path of [here.path("pipe.jsonl"), "/dev/null", "/dev/zero"])
    expect(importing(here, [path]), path).toMatchObject({
      status: 9,
      stderr: expect.stringMatching(/cannot be read: it is a (pipe|device)/),
    });
});

// `/proc` is a folder in which the system answers "no such file" to whatever is to be made.
test.runIf(process.platform === "linux")("a store in a folder where none can be made is refused, and says why", () => {
  const here = world();
  pi(here, "s.jsonl", "s");
  expect(importing(here, [here.path("s.jsonl"), "--store", "/proc/x/y.db"])).toMatchObject({
    status: 7,
    stderr: expect.stringContaining("its folder is missing and cannot be made"),
  });
});

test("a store in a folder that cannot be written is refused, with the reason and what to do", () => {
  const here = world();
  pi(here, "s.jsonl", "s");
  chmodSync(here.folder, 0o555);
  onTestFinished(() => chmodSync(here.folder, 0o755));
  // Whoever runs the tests as root would be allowed everything.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { status, stderr } = importing(here, [here.path("s.jsonl")], nobody);
  expect({ status, stderr }).toEqual({
    status: 9,
    stderr: `bough: Cannot open ${here.store}: the folder ${here.folder} is not writable; change its permissions or name another path. (STORE_DENIED)\n`,
  });
});

test("a store that this user may not read is refused, as one without rights", () => {
  const here = world();
  pi(here, "s.jsonl", "s");
  expect(importing(here, [here.path("s.jsonl")]).status).toBe(0);
  chmodSync(here.store, 0);
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  expect(importing(here, [here.path("s.jsonl")], nobody)).toMatchObject({
    status: 9,
    stderr: expect.stringMatching(/\(EACCES\).*\(STORE_DENIED\)\n$/),
  });
});

test("a picture that is a link to an endless device leaves its reference, and the writer's lock is free again", () => {
  const here = world();
  pi(here, "in/s.jsonl", "with-image", [{ type: "image", data: `blob:sha256:${HASH}`, mimeType: "image/png" }]);
  mkdirSync(here.path("in/blobs"));
  symlinkSync("/dev/zero", here.path(`in/blobs/${HASH}`));
  const { status, sessions } = imported(here, "in");
  expect([status, sessions.flatMap(({ problems }) => problems.map(({ code }) => code))]).toEqual([0, ["missing-blob"]]);
});

test("a path that is longer than the system takes is reported, and the sessions above it are imported", () => {
  const here = world();
  pi(here, "in/s.jsonl", "above");
  // Only from inside can folders be made so deep, and only a program that goes inside can take them away.
  const script = `for (let at = 0; at < 600; at++) { fs.mkdirSync("b".repeat(20)); process.chdir("b".repeat(20)); }`;
  execFileSync(process.execPath, ["-e", script], { cwd: here.path("in") });
  onTestFinished(() => void execFileSync("rm", ["-rf", join(here.path("in"), "b".repeat(20))]));
  chmodSync(here.path("in"), 0o755);
  const { status, sessions, failed } = imported(here, "in");
  expect([status, sessions.map(({ sessionId }) => sessionId)]).toEqual([3, ["above"]]);
  expect(failed).toMatchObject([{ code: "SOURCE_UNREADABLE", message: expect.stringContaining("longer than the system allows") }]);
});
