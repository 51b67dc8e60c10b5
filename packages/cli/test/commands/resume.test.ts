import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parserSession, type Ran, type World, world } from "../world.js";

/** A session of Claude Code: a prompt, a reply that calls a tool, its result, a reply. */
const CLAUDE = "11111111-2222-4333-8444-555555555555";

function claudeSession(here: World, cwd = here.folder): string {
  const head = { isSidechain: false, userType: "external", cwd, sessionId: CLAUDE, version: "2.1.44", gitBranch: "main" };
  const reply = (id: string, content: unknown) => ({ id, type: "message", role: "assistant", model: "claude-x", content });
  const call = { type: "tool_use", id: "toolu_1", name: "mcp__files__read", input: { file_path: "a.ts" } };
  const records = [
    { type: "user", message: { role: "user", content: "read a.ts" } },
    { type: "assistant", message: reply("msg_1", [call]) },
    { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "export {}" }] } },
    { type: "assistant", message: reply("msg_2", [{ type: "text", text: "It is empty." }]) },
  ];
  const uuid = (at: number) => `00000000-0000-4000-8000-00000000000${at}`;
  const lines = records.map((record, at) => ({
    parentUuid: at === 0 ? null : uuid(at - 1),
    ...head,
    ...record,
    uuid: uuid(at),
    timestamp: `2025-11-21T10:00:0${at}.000Z`,
  }));
  const file = here.path(`${CLAUDE}.jsonl`);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

/** Programs in PATH that write down how they were started. */
function programs(here: World, exit: number, ...names: readonly string[]): { readonly PATH: string } {
  const folder = here.path("bin");
  mkdirSync(folder);
  for (const name of names) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n{ pwd; printf '%s\\n' "$@"; } > '${here.path("started")}'\nexit ${exit}\n`);
    chmodSync(file, 0o755);
  }
  return { PATH: `${folder}:/bin:/usr/bin` };
}

const started = (here: World) => readFileSync(here.path("started"), "utf8").trim().split("\n");
const recordsOf = (file: string) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

interface Resumed {
  readonly agent: string;
  readonly sessionId: string;
  readonly file: string;
  readonly isNew: boolean;
  readonly cwd: string;
  readonly command: readonly string[];
  readonly importCommand: readonly string[] | null;
}

async function resumed(here: World, ...args: readonly string[]): Promise<Resumed> {
  return (await here.json("resume", ...args, "--write")) as Resumed;
}

describe("bough resume", () => {
  test("writes the branch as a new session of its agent and starts it there, in the directory of the session", async () => {
    const here = world();
    const source = claudeSession(here);
    const before = readFileSync(source, "utf8");
    await here.run(["import", source]);
    const { exit, err } = await here.run(["resume", CLAUDE], { env: programs(here, 0, "claude"), isTerminal: true });
    const [cwd, option, id] = started(here);
    expect([exit, cwd, option]).toEqual([0, realpathSync(here.folder), "--resume"]);
    expect(id).not.toBe(CLAUDE);
    const file = join(here.folder, ".claude/projects", realpathSync(here.folder).replace(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`);
    expect(err).toContain(`written to ${file}`);
    expect(recordsOf(file).map(({ type, sessionId }) => [type, sessionId])).toEqual([
      ["user", id],
      ["assistant", id],
      ["user", id],
      ["assistant", id],
    ]);
    // A tool of an MCP server: the agent itself knows its tools.
    expect(recordsOf(file)[1].message.content).toMatchObject([{ type: "tool_use", id: "toolu_1", name: "mcp__files__read" }]);
    expect(readFileSync(source, "utf8")).toBe(before);
  });

  test("goes on at an entry, in another agent, with foreign calls and their results as texts", async () => {
    const here = world();
    await here.run(["import", claudeSession(here)]);
    const { agent, file, command } = await resumed(here, CLAUDE, "00000000-0000-4000-8000-000000000002", "--in", "pi");
    expect([agent, command]).toEqual(["pi", ["pi", "--session", file]]);
    expect(dirname(file)).toBe(join(here.folder, ".pi/agent/sessions", `--${realpathSync(here.folder).slice(1).replaceAll("/", "-")}--`));
    const [header, ...lines] = recordsOf(file);
    expect(header).toMatchObject({ type: "session", version: 3, cwd: realpathSync(here.folder) });
    expect(lines.map(({ message }) => [message.role, message.content])).toEqual([
      ["user", "read a.ts"],
      ["assistant", [{ type: "text", text: '[Called the tool mcp__files__read with {"file_path":"a.ts"}]' }]],
      [
        "custom",
        [
          { type: "text", text: "[Result of the tool mcp__files__read]" },
          { type: "text", text: "export {}" },
        ],
      ],
    ]);
  });

  test("goes on in opencode, which takes the file into its database first", async () => {
    const here = world();
    await here.run(["import", claudeSession(here)]);
    const { sessionId, file, importCommand, command } = await resumed(here, CLAUDE, "--in", "opencode");
    expect(sessionId).toMatch(/^ses_[0-9a-f]{12}[0-9a-z]{14}$/);
    expect([dirname(file), importCommand, command]).toEqual([
      join(here.folder, ".local/share/opencode/bough"),
      ["opencode", "import", file],
      ["opencode", "--session", sessionId],
    ]);
    const { info, messages } = JSON.parse(readFileSync(file, "utf8")) as { info: unknown; messages: { info: unknown; parts: unknown[] }[] };
    expect(info).toMatchObject({ id: sessionId, directory: realpathSync(here.folder), metadata: { bough: { sessionId: CLAUDE } } });
    expect(messages.map((message) => message.info)).toMatchObject([
      { role: "user", sessionID: sessionId, model: { modelID: "claude-x" } },
      { role: "assistant", sessionID: sessionId, modelID: "claude-x" },
      { role: "user", sessionID: sessionId },
      { role: "assistant", sessionID: sessionId },
    ]);
    expect((await here.run(["resume", CLAUDE, "--in", "opencode", "--print"])).out).toMatch(
      /^cd .+ && opencode import .+ && opencode --session ses_/,
    );
  });

  test("starts opencode after it has taken the session, and leaves no file behind", async () => {
    const here = world();
    await here.run(["import", claudeSession(here)]);
    const env = programs(here, 0, "opencode");
    // The file is there while opencode takes it.
    writeFileSync(
      here.path("bin/opencode"),
      `#!/bin/sh\n[ "$1" = import ] && cp "$2" '${here.path("taken.json")}'\n{ pwd; printf '%s\\n' "$@"; } >> '${here.path("started")}'\n`,
    );
    const { exit } = await here.run(["resume", CLAUDE, "--in", "opencode"], { env, isTerminal: true });
    const cwd = realpathSync(here.folder);
    const [first, verb, file, second, option, id] = started(here);
    expect([exit, first, verb, second, option]).toEqual([0, cwd, "import", cwd, "--session"]);
    expect(JSON.parse(readFileSync(here.path("taken.json"), "utf8")).info.id).toBe(id);
    expect(existsSync(file ?? "")).toBe(false);
  });

  test("prints the branch as a prompt for any agent, with secrets masked, and writes nothing", async () => {
    const here = world();
    await here.run(["import", claudeSession(here)]);
    const { out, exit } = await here.run(["resume", CLAUDE, "00000000-0000-4000-8000-000000000002", "--prompt"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^Go on with the conversation below/);
    expect([out.includes("read a.ts"), out.includes("It is empty.")]).toEqual([true, false]);
    expect(await here.json("resume", CLAUDE, "--prompt")).toEqual({ prompt: expect.stringContaining("It is empty.") });
    expect((await here.run(["resume", CLAUDE, "--prompt", "--in", "pi"])).exit).toBe(2);
    expect(existsSync(here.path(".claude"))).toBe(false);
  });

  test("keeps the file, and starts nothing, if opencode does not take it", async () => {
    const here = world();
    await here.run(["import", claudeSession(here)]);
    const { exit, err } = await here.run(["resume", CLAUDE, "--in", "opencode"], { env: programs(here, 3, "opencode"), isTerminal: true });
    const [, verb, file] = started(here);
    expect([exit, verb, existsSync(file ?? "")]).toEqual([7, "import", true]);
    expect(err).toContain(`did not take the session, which is in ${file}`);
  });

  test("goes on in Codex, in the folder of the day, with an id that its file has too", async () => {
    const here = world();
    await parserSession(here);
    const { agent, sessionId, file, command } = await resumed(here, "parser", "--in", "codex");
    expect([agent, command]).toEqual(["Codex", ["codex", "resume", sessionId]]);
    expect(sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(file).toBe(join(here.folder, ".codex/sessions/2025/11/21", `rollout-2025-11-21T12-00-00-${sessionId}.jsonl`));
    expect(recordsOf(file)[0]).toMatchObject({ type: "session_meta", payload: { id: sessionId, cwd: realpathSync(here.folder) } });
  });

  test("writes a file that only its owner can read, and a new one each time", async () => {
    const here = world();
    await parserSession(here);
    const [first, second] = [await resumed(here, "parser", "--in", "claude"), await resumed(here, "parser", "--in", "claude")];
    expect(first.file).not.toBe(second.file);
    expect(statSync(first.file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(first.file)).sort()).toEqual([`${first.sessionId}.jsonl`, `${second.sessionId}.jsonl`].sort());
  });

  test("can be imported again: the new session has the context of the branch", async () => {
    const here = world();
    await parserSession(here);
    const { file, sessionId } = await resumed(here, "parser", "asst2", "--in", "claude");
    // An agent may still write the last reply of a file that it wrote a moment ago.
    utimesSync(file, 0, 0);
    await here.run(["import", file]);
    const messages = ({ out }: Ran) => JSON.parse(out).messages;
    const [a, b] = [
      await here.run(["context", "parser", "--at", "asst2", "--format", "anthropic"]),
      await here.run(["context", sessionId, "--format", "anthropic"]),
    ];
    expect(messages(b)).toEqual(messages(a));
  });

  test.each(["pi", "claude", "codex"])(
    "the new session of %s, once it is imported, is linked to the one that it goes on from",
    async (agent) => {
      const here = world();
      await here.run(["import", claudeSession(here)]);
      const { file, sessionId } = await resumed(here, CLAUDE, "--in", agent);
      await here.run(["import", file]);
      const { sessions } = (await here.json("sessions")) as { sessions: { id: string; parent: { sessionId: string } | null }[] };
      expect(sessions.find(({ id }) => id === sessionId)?.parent?.sessionId).toBe(CLAUDE);
    },
  );

  test("writes nothing where the agent is not in PATH, and says how to write the session", async () => {
    const here = world();
    await parserSession(here);
    const env = { PATH: here.path("none") };
    const { exit, out, err } = await here.run(["resume", "parser", "--in", "claude"], { env, isTerminal: true });
    expect([exit, out]).toEqual([5, ""]);
    expect(err).toMatch(/claude is not in PATH, so nothing was written\..*--write/);
    expect(existsSync(here.path(".claude"))).toBe(false);
    const written = await here.run(["resume", "parser", "--in", "claude", "--write"], { env, isTerminal: true });
    expect(written.out).toMatch(new RegExp(`^cd ${realpathSync(here.folder)} && claude --resume [0-9a-f-]{36}\\n$`));
    const [, file = ""] = /written to (.*)/.exec(written.err) ?? [];
    expect(existsSync(file)).toBe(true);
  });

  test.each([["--print"], ["--dry-run"], ["--json"], []])(
    "writes nothing and starts nothing with %s, or without a terminal",
    async (...flags) => {
      const here = world();
      await parserSession(here);
      const around = { env: programs(here, 0, "claude"), isTerminal: flags.length > 0 };
      const { exit, out, err } = await here.run(["resume", "parser", "--in", "claude", ...flags], around);
      expect(exit).toBe(0);
      expect(out).toContain(flags[0] === "--json" ? '"isWritten": false' : "claude --resume");
      if (flags[0] !== "--json") expect(err).toContain(`nothing was written; --write writes ${here.folder}`);
      expect([existsSync(here.path(".claude")), existsSync(here.path("started"))]).toEqual([false, false]);
    },
  );

  test("refuses --write beside --print and --dry-run", async () => {
    const here = world();
    await parserSession(here);
    for (const flag of ["--print", "--dry-run"])
      expect(await here.run(["resume", "parser", "--in", "claude", "--write", flag])).toMatchObject({ exit: 2 });
  });

  test("asks before it goes on with a session of another project that was not named", async () => {
    const here = world();
    await here.run(["import", claudeSession(here)]);
    const elsewhere = { env: programs(here, 0, "claude"), isTerminal: true, cwd: here.path("bin") };
    const refused = await here.run(["resume"], { ...elsewhere, answer: "n" });
    expect(refused.asked).toEqual([expect.stringMatching(/^Go on with read a\.ts .* in Claude Code, in .*\? \[y\/N\] $/)]);
    expect([refused.exit, existsSync(here.path(".claude"))]).toEqual([10, false]);
    const unasked = await here.run(["resume"], elsewhere);
    expect([unasked.err, existsSync(here.path(".claude"))]).toEqual([expect.stringContaining("--yes"), false]);
    expect(await here.run(["resume"], { ...elsewhere, answer: "y" })).toMatchObject({ exit: 0 });
    expect(started(here)[0]).toBe(realpathSync(here.folder));
    // A session that is named is meant, wherever it was recorded.
    expect((await here.run(["resume", CLAUDE], { ...elsewhere, answer: "n" })).asked).toEqual([]);
  });

  test("asks before it starts in the current directory because that of the session is gone", async () => {
    const here = world();
    await here.run(["import", claudeSession(here, "/home/ada/gone")]);
    const around = { env: programs(here, 0, "claude"), isTerminal: true };
    const refused = await here.run(["resume", CLAUDE], { ...around, answer: "n" });
    expect(refused.err).toContain("/home/ada/gone does not exist here");
    expect([refused.asked.length, existsSync(here.path(".claude"))]).toEqual([1, false]);
    expect(await here.run(["resume", CLAUDE, "--yes"], around)).toMatchObject({ exit: 0, asked: [] });
    expect(started(here)[0]).toBe(realpathSync(here.folder));
  });

  test("fails with one line if the agent fails; the session that was written stays", async () => {
    const here = world();
    await parserSession(here);
    const { exit, err } = await here.run(["resume", "parser", "--in", "pi"], { env: programs(here, 3, "pi"), isTerminal: true });
    expect([exit, err]).toEqual([7, expect.stringMatching(/pi ended with 3\./)]);
    expect(existsSync(started(here)[2] ?? "")).toBe(true);
  });

  test("asks for an agent if the session comes from none", async () => {
    const here = world();
    await parserSession(here);
    const { exit, err } = await here.run(["resume", "parser"]);
    expect([exit, err]).toEqual([5, expect.stringContaining("--in pi, --in claude, --in codex, --in opencode")]);
    expect(existsSync(here.path(".claude"))).toBe(false);
  });

  test("goes on with its own session in an agent whose sessions cannot be written, but not at an entry", async () => {
    const here = world();
    const id = "33333333-4444-4555-8666-777777777777";
    const file = here.path(`session-2025-11-21T10-00-${id.slice(0, 8)}.jsonl`);
    const about = { sessionId: id, projectHash: "p", startTime: "2025-11-21T10:00:00.000Z", lastUpdated: "2025-11-21T10:00:00.000Z" };
    const prompt = { id: "m1", timestamp: "2025-11-21T10:00:00.000Z", type: "user", content: "hi" };
    writeFileSync(file, [about, prompt].map((line) => `${JSON.stringify(line)}\n`).join(""));
    await here.run(["import", file]);
    expect(await resumed(here, id)).toMatchObject({ agent: "Gemini CLI", isNew: false, file, command: ["gemini", "--resume", id] });
    const { exit, err } = await here.run(["resume", id, "m1"]);
    expect([exit, err]).toEqual([5, expect.stringMatching(/Gemini CLI goes on at the end of its own session only.*--in claude/)]);
    expect(await resumed(here, id, "m1", "--in", "pi")).toMatchObject({ agent: "pi", isNew: true });
    rmSync(file);
    expect(await here.run(["resume", id])).toMatchObject({ exit: 5, code: "NOT_RESUMABLE", err: expect.stringContaining("is gone") });
  });

  test("obeys the agent's own variable for its folder", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["resume", "parser", "--in", "claude", "--json"], {
      env: { CLAUDE_CONFIG_DIR: here.path("elsewhere") },
    });
    expect(JSON.parse(out).file.startsWith(here.path("elsewhere/projects/"))).toBe(true);
  });

  test("says in one line that the folder of the agent cannot be written", async () => {
    const here = world();
    await parserSession(here);
    writeFileSync(here.path(".claude"), "a file");
    const { exit, err } = await here.run(["resume", "parser", "--in", "claude", "--write"]);
    expect([exit, err.trim().split("\n").length]).toEqual([9, 1]);
  });
});
