import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { NOON, type World, world } from "../../world.js";

const DAY = 24 * 3_600_000;

async function spoken(
  at: World,
  id: string,
  cwd: string,
  { ageDays = 0, text = `said in ${id}`, title }: { ageDays?: number; text?: string; title?: string } = {},
): Promise<void> {
  await at.withStore(async (store) => {
    const session = await store.createSession({ id, cwd, createdAtMs: 1, title });
    await session.append({ ...userMessage(text), createdAtMs: NOON - ageDays * DAY });
  });
}

function git(cwd: string, ...args: readonly string[]): void {
  const env = { PATH: process.env["PATH"], HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@localhost", ...args], { cwd, env, stdio: "ignore" });
}

async function ids(at: World, args: readonly string[], cwd = at.folder): Promise<string> {
  const { out } = await at.run(["sessions", "--json", ...args], { cwd });
  return (JSON.parse(out) as { sessions: { id: string }[] }).sessions.map(({ id }) => id).join(" ");
}

describe("bough sessions", () => {
  test("--here is the whole repository from any folder in it, with its worktrees, and not its neighbours", async () => {
    const here = world();
    const [repository, worktree] = [here.path("app"), here.path("app-fix")];
    mkdirSync(join(repository, "src/deep"), { recursive: true });
    git(repository, "init", "-q");
    git(repository, "commit", "-q", "--allow-empty", "-m", "first");
    git(repository, "worktree", "add", "-q", worktree);
    await spoken(here, "at-root", repository, { ageDays: 4 });
    await spoken(here, "below", join(repository, "src"), { ageDays: 3 });
    await spoken(here, "in-worktree", worktree, { ageDays: 2 });
    await spoken(here, "beside", here.path("app2"), { ageDays: 1 });
    for (const cwd of [repository, join(repository, "src/deep"), worktree])
      expect(await ids(here, ["--here"], cwd)).toBe("in-worktree below at-root");
    expect(await ids(here, ["--here"], here.folder)).toBe("");
    const { err } = await here.run(["tree"], { cwd: join(repository, "src/deep") });
    expect(err).toContain("newest session of this repository: said in in-worktree");
  });

  test("--here outside of a repository is the directory alone, also by the name that the shell knows", async () => {
    const here = world();
    await spoken(here, "above", here.folder, { ageDays: 1 });
    await spoken(here, "below", here.path("sub"));
    expect(await ids(here, ["--here"])).toBe("above");
    const { out } = await here.run(["sessions", "--here", "--json"], { cwd: "/nowhere", env: { PWD: here.path("sub") } });
    expect(out).toContain("below");
    expect((await here.run(["sessions", "--here"], { cwd: "/nowhere" })).out).toContain("No session was recorded in this directory.");
  });

  test("--since, --until, --agent and --grep choose sessions", async () => {
    const here = world();
    await spoken(here, "old", "/a", { ageDays: 20, text: "The lexer skips tabs" });
    await spoken(here, "new", "/a", { ageDays: 2, text: "The parser is slow" });
    await spoken(here, "titled", "/a", { ageDays: 1, title: "Tabs again" });
    expect(await ids(here, ["--since", "3d"])).toBe("titled new");
    expect(await ids(here, ["--until", "3d"])).toBe("old");
    expect(await ids(here, ["--agent", "bough"])).toBe("titled new old");
    expect(await ids(here, ["--agent", "pi"])).toBe("");
    expect(await ids(here, ["--grep", "tabs"])).toBe("titled old");
    expect(await ids(here, ["--grep", "tabs", "--limit", "1"])).toBe("titled");
    const { out } = await here.run(["sessions", "--grep", "nothing-like-it", "--since", "2w"]);
    expect(out).toBe("No session matches --grep nothing-like-it and --since 2w.\n");
    expect((await here.run(["sessions", "--since", "soon"])).exit).toBe(2);
    expect((await here.run(["sessions", "--grep", ""])).exit).toBe(2);
  });

  test("has columns for agent, branches, cost and git branch where they say something, fewer on a narrow terminal", async () => {
    const here = world();
    await here.withStore(async (store) => {
      const session = await store.createSession({ id: "s", title: "Two ways", cwd: "/w/app", metadata: { gitBranch: "try-it" } });
      const { id } = await session.append(userMessage("Hello"));
      await session.append(assistantMessage("One", { model: "m", usage: { input: 1, output: 1, cost: { total: 0.25 } } }));
      await session.moveLeaf(id);
      await session.append(assistantMessage("Two", { model: "m", usage: { input: 1, output: 1, cost: { total: 0.5 } } }));
    });
    const heading = async (columns: number) => (await here.run(["sessions"], { columns })).out.split("\n")[0]?.trim().split(/ {2,}/);
    expect(await heading(120)).toEqual(["id", "title", "agent", "messages", "active", "directory", "branches", "cost", "git branch"]);
    expect(await heading(80)).toEqual(["id", "title", "agent", "messages", "active", "directory"]);
    expect(await heading(36)).toEqual(["id", "title", "messages", "active"]);
    expect((await here.run(["sessions"], { columns: 120 })).out).toMatch(/s +Two ways +bough +3 +now +\/w\/app +2 +\$0\.7500 +try-it/);
    expect(await here.json("sessions")).toMatchObject({ sessions: [{ agent: "bough", branches: 2, costUsd: 0.75, gitBranch: "try-it" }] });
  });

  test("says that a cost was not recorded, and leaves out the column where none was", async () => {
    const here = world();
    await here.withStore(async (store) => {
      const session = await store.createSession({ id: "s" });
      await session.append(assistantMessage("One", { model: "m", usage: { input: 1, output: 1 } }));
    });
    expect((await here.run(["sessions"], { columns: 120 })).out).not.toContain("cost");
    expect(await here.json("sessions")).toMatchObject({ sessions: [{ costUsd: null }] });
  });
});
