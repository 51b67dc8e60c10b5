import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Circumstances, type World, world } from "../world.js";

/** The program that starts services here, and the file of the service below the home. */
const [STARTER, FILE] =
  platform() === "darwin"
    ? ["launchctl", "Library/LaunchAgents/dev.bough.sync.plist"]
    : ["systemctl", ".config/systemd/user/bough-sync.service"];

/** A world in which that program only writes down how it was called, and ends with `exit`. */
function withStarter(exit = 0) {
  const at = world();
  const bin = at.path("bin");
  mkdirSync(bin);
  writeFileSync(join(bin, STARTER), `#!/bin/sh\necho "$@" >> '${at.path("called")}'\nexit ${exit}\n`);
  chmodSync(join(bin, STARTER), 0o755);
  const run = (args: readonly string[], around: Circumstances = {}) =>
    at.run(["sync", ...args], { ...around, env: { PATH: `${bin}:/usr/bin:/bin`, ...around.env } });
  return { at, run, called: () => (existsSync(at.path("called")) ? readFileSync(at.path("called"), "utf8").trim().split("\n") : []) };
}

const fileIn = (at: World) => at.path(FILE);

describe("bough sync --install", () => {
  it("shows the file and the commands, asks, writes and starts", async () => {
    const { at, run, called } = withStarter();
    const { exit, out, asked } = await run(["--install"], { answer: "y", env: { CLAUDE_CONFIG_DIR: "/home/ada/100% claude" } });
    expect([exit, asked]).toEqual([0, ["Write this file and start it? [y/N] "]]);
    const text = readFileSync(fileIn(at), "utf8");
    expect(out).toContain(fileIn(at));
    for (const line of text.trim().split("\n")) expect(out).toContain(line);
    expect(text).toContain(at.store);
    expect(text).toMatch(/CLAUDE_CONFIG_DIR.*\n?.*100%% claude|100% claude/);
    expect(text).not.toContain("PATH=");
    expect(called().length).toBeGreaterThan(0);
    expect((await run(["--install", "--yes"])).exit).toBe(0);
  });

  it("shows the file and does nothing with --dry-run", async () => {
    const { at, run, called } = withStarter();
    const { exit, out } = await run(["--install", "--dry-run", "--yes"]);
    expect([exit, out]).toEqual([0, expect.stringContaining("Nothing was written or started.")]);
    expect(out).toContain(fileIn(at));
    expect([existsSync(fileIn(at)), called()]).toEqual([false, []]);
    await run(["--install", "--yes"]);
    const before = called().length;
    expect((await run(["--uninstall", "--dry-run", "--yes"])).out).toContain("Nothing was ended or removed.");
    expect([existsSync(fileIn(at)), called().length]).toEqual([true, before]);
  });

  it("writes nothing if the answer is no, or nobody can be asked", async () => {
    const { at, run, called } = withStarter();
    expect((await run(["--install"], { answer: "n" })).code).toBe("DECLINED");
    expect((await run(["--install"])).code).toBe("CONFIRMATION_NEEDED");
    expect([existsSync(fileIn(at)), called()]).toEqual([false, []]);
  });

  it("leaves a file of another program alone", async () => {
    const { at, run, called } = withStarter();
    mkdirSync(dirname(fileIn(at)), { recursive: true });
    writeFileSync(fileIn(at), "mine\n");
    for (const flag of ["--install", "--uninstall"]) {
      const { exit, err } = await run([flag, "--yes"]);
      expect([exit, err]).toEqual([7, expect.stringContaining("not written by bough")]);
    }
    expect([readFileSync(fileIn(at), "utf8"), called()]).toEqual(["mine\n", []]);
  });

  it("says what was written and what is left to do if the service does not start", async () => {
    const { at, run } = withStarter(1);
    const { exit, err } = await run(["--install", "--yes"]);
    expect(exit).toBe(7);
    expect(err).toContain(`${fileIn(at)} was written, but it could not be started`);
    expect(err).toMatch(new RegExp(`Run it yourself: ${STARTER} `));
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});

describe("bough sync --uninstall", () => {
  it("ends the service and removes its file, and nothing that was imported", async () => {
    const { at, run, called } = withStarter();
    await run(["--install", "--yes"]);
    const before = called().length;
    expect((await run(["--uninstall"], { answer: "y" })).out).toContain("Removed.");
    expect([existsSync(fileIn(at)), called().length]).toEqual([false, before + 1]);
    expect(await run(["--uninstall"])).toMatchObject({ exit: 0, out: expect.stringContaining("does not exist") });
  });

  it.each([["--watch"], ["--uninstall"], ["--json"]])("is no option together with %s", async (other) => {
    expect((await withStarter().run(["--install", other])).exit).toBe(2);
  });
});
