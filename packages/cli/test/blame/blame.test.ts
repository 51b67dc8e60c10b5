import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { assistantMessage, type Session, type Store, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { type World, world } from "../world.js";

let calls = 0;

async function run(session: Session, name: string, args: Record<string, unknown>, createdAtMs: number): Promise<string> {
  calls += 1;
  const id = `call${calls}`;
  const message = assistantMessage([{ type: "toolCall", id, name, arguments: args }], { provider: "anthropic", model: "claude-test" });
  const { id: entryId } = await session.append({ ...message, createdAtMs });
  await session.append({ ...toolResult(id, "ok", { toolName: name }), createdAtMs });
  return entryId;
}

const TEXT = "const one = 1;\nconst two = 2;\n";

/** A file that a session wrote at a time. */
async function written(here: World, path: string, createdAtMs = 1_000): Promise<string> {
  const file = here.path(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, TEXT);
  return here.withStore(async (store: Store) => {
    const session = await store.createSession({ cwd: realpathSync(here.folder), title: "Numbers" });
    await session.append({ ...userMessage("Write the numbers"), createdAtMs });
    return run(session, "write", { path, content: TEXT }, createdAtMs);
  });
}

function git(here: World, ...args: readonly string[]): void {
  const env = { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  execFileSync("git", args, { cwd: here.folder, env, stdio: "pipe" });
}

describe("bough blame", () => {
  test("of a line names its entry, session, model, time and request, and the way there", async () => {
    const here = world();
    await written(here, "src/a.ts");
    const { out, exit } = await here.run(["blame", "src/a.ts:2"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^src\/a\.ts:2 {2}const two = 2;$/m);
    expect(out).toMatch(/^written by: entry \w+ of \w+, bough, claude-test, 1970-01-01 00:00$/m);
    expect(out).toMatch(/^request: Write the numbers$/m);
    const [, names = ""] = /^open: bough tree (\w+ \w+) -i$/m.exec(out) ?? [];
    expect((await here.run(["show", ...names.split(" ")])).exit).toBe(0);
  });

  test("of a file groups its lines, and says which are not by a session", async () => {
    const here = world();
    await written(here, "a.ts");
    writeFileSync(here.path("a.ts"), `${TEXT}// by hand\n`);
    const { out } = await here.run(["blame", "a.ts"]);
    expect(out).toContain("Write the numbers");
    expect(out).toMatch(/^ *3 .*not by a session of this store/m);
    expect(out).toContain("a.ts: 3 lines, 2 written by 1 entry, 0 perhaps, 1 not by a session of this store.");
  });

  test("prints a table that fits 44 columns", async () => {
    const here = world();
    await written(here, "a.ts");
    const [heading = "", row = ""] = (await here.run(["blame", "a.ts"], { columns: 44 })).out.split("\n");
    expect(Math.max(heading.length, row.length)).toBeLessThanOrEqual(44);
  });

  test("prints JSON with an entry for each line", async () => {
    const here = world();
    const entryId = await written(here, "a.ts");
    expect(await here.json("blame", "a.ts:1-1")).toMatchObject({
      commit: null,
      file: "a.ts",
      lines: [{ line: 1, verdict: "written", entry: 0, reason: null, text: "const one = 1;" }],
      entries: [
        {
          entryId,
          agent: "bough",
          model: "claude-test",
          request: { text: "Write the numbers" },
          open: expect.stringMatching(/^bough tree \w+ \w+ -i$/),
        },
      ],
    });
  });

  test("finds a file by an absolute path, by a symbolic link, from another folder, and by the path that it had when it was recorded", async () => {
    const here = world();
    const entryId = await written(here, "src/a.ts");
    symlinkSync(here.path("src"), here.path("link"));
    writeFileSync(here.path("moved.ts"), TEXT);
    mkdirSync(here.path("other"));
    const entryOf = async (...args: readonly string[]) => {
      const { out } = await here.run(["blame", ...args, "--json"], { cwd: here.path("other") });
      const { entries }: { entries: { entryId: string }[] } = JSON.parse(out);
      return entries[0]?.entryId;
    };
    expect(await entryOf(here.path("src/a.ts"))).toBe(entryId);
    expect(await entryOf("../src/a.ts")).toBe(entryId);
    expect(await entryOf("../link/a.ts")).toBe(entryId);
    expect(await entryOf("../moved.ts")).toBeUndefined();
    expect(await entryOf("../moved.ts", "--as", join(realpathSync(here.folder), "src/a.ts"))).toBe(entryId);
  });

  test("of a commit names the sessions that wrote its lines before it, under the earlier name of a file too", async () => {
    const here = world();
    const entryId = await written(here, "old.ts");
    git(here, "init", "-q");
    git(here, "add", "old.ts");
    git(here, "commit", "-qm", "Add numbers");
    git(here, "mv", "old.ts", "new.ts");
    git(here, "commit", "-qm", "Rename");
    writeFileSync(here.path("new.ts"), "const later = 3;\n");
    expect(await here.json("blame", "new.ts", "--commit", "HEAD")).toMatchObject({
      lines: [{ verdict: "written" }, { verdict: "written" }],
      entries: [{ entryId }],
    });
    expect(await here.json("blame", "--commit", "HEAD~1")).toMatchObject({
      files: [{ file: "old.ts", lines: [{ line: 1 }, { line: 2 }], entries: [{ entryId }] }],
    });
    const { out } = await here.run(["blame", "--commit", "HEAD~1"]);
    expect(out).toContain("Add numbers");
    expect(out).toContain("old.ts: 2 lines, 2 written by 1 entry");
  });

  test.each([
    ["missing.ts:3", "There is no file missing.ts. If a commit has it: bough blame missing.ts:3 --commit REV"],
    ["a.ts:9", "a.ts has 2 lines; line 9 cannot be shown."],
    ["a.ts:2-1", "lines 2-1 cannot be shown"],
    [".", ". is a directory."],
    ["binary", "binary is a binary file"],
    ["/dev/zero", "/dev/zero is a pipe, a socket or a device"],
    ["a.ts --commit nothing", "in no git repository"],
  ])("of %s says what is wrong in one line", async (args, message) => {
    const here = world();
    await written(here, "a.ts");
    writeFileSync(here.path("binary"), Buffer.from([1, 0, 2]));
    const { exit, err } = await here.run(["blame", ...args.split(" ")]);
    expect(exit).toBe(4);
    expect(err).toContain(message);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  });

  test("without a file or a commit is an error of usage", async () => {
    const here = world();
    expect((await here.run(["blame"])).exit).toBe(2);
  });
});
