import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { grow, growMany, parserSession, type World, world } from "../world.js";

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

/** Writes the config file of the command. */
function config(here: World, settings: unknown): Record<string, string> {
  mkdirSync(here.path("config/bough"), { recursive: true });
  writeFileSync(here.path("config/bough/config.json"), JSON.stringify(settings));
  return { XDG_CONFIG_HOME: here.path("config"), PATH: `${here.path("bin")}:${process.env["PATH"] ?? ""}` };
}

/** A program of PATH that runs a script of Node. */
function program(here: World, name: string, script: string): void {
  mkdirSync(here.path("bin"), { recursive: true });
  writeFileSync(here.path(`bin/${name}`), `#!${process.execPath}\n${script}\n`, { mode: 0o755 });
}

async function withSecret(here: World): Promise<void> {
  await here.withStore(async (store) => {
    const session = await grow(store, "secret-session-1", "user1 asst1 <user1 asst2", { title: "Deploy", cwd: here.folder });
    await session.append({ type: "message", message: { role: "user", content: `the token is ${SECRET}` } });
  });
}

describe("bough share", () => {
  test("writes a branch without secrets to a folder, says first what will be readable, and remembers the link", async () => {
    const here = world();
    await withSecret(here);
    const env = config(here, { share: { folder: here.path("pages"), link: "https://pages.example/s/" } });
    const { exit, out, err, asked } = await here.run(["share", "deploy"], { env, answer: "y" });
    expect({ exit, asked }).toEqual({ exit: 0, asked: [`Share it in ${here.path("pages")}? [y/N] `] });
    expect(err).toMatch(
      /^Readable by whoever has the link: 3 entries of .* from Deploy \(.*\), tool output full, without thinking, .*; 1 secret masked: .*\n/,
    );
    const [file = ""] = readdirSync(here.path("pages"));
    expect(out).toBe(`https://pages.example/s/${file}\n`);
    const page = readFileSync(here.path(`pages/${file}`), "utf8");
    expect(page).toContain("replied in asst2");
    expect(page).not.toContain(SECRET);
    expect(page).not.toContain("replied in asst1");
    expect(await here.json("share", "--list")).toMatchObject({
      shares: [{ sessionId: "secret-session-1", link: out.trim(), isEncrypted: false }],
    });
  });

  test.skipIf(process.platform === "win32")("makes a folder that a web server can read by name, and leaves one that is there", async () => {
    const here = world();
    await parserSession(here);
    const env = config(here, { share: { folder: here.path("new/pages") } });
    await here.run(["share", "parser", "--yes"], { env });
    const [page = ""] = readdirSync(here.path("new/pages"));
    const modes = ["new", "new/pages", `new/pages/${page}`].map((path) => statSync(here.path(path)).mode & 0o777);
    expect(modes).toEqual([0o711, 0o711, 0o644]);
    chmodSync(here.path("new/pages"), 0o750);
    await here.run(["share", "parser", "--yes"], { env });
    expect(statSync(here.path("new/pages")).mode & 0o777).toBe(0o750);
  });

  test("shares nothing without a yes, and nothing without a target", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["share", "parser"])).toMatchObject({ exit: 2, code: "USAGE", err: expect.stringContaining("no target") });
    // Whoever has no config file yet learns where it belongs.
    const { err } = await here.run(["share", "parser"], { env: { XDG_CONFIG_HOME: here.path("config") } });
    expect(err).toContain(`in the config file ${here.path("config/bough/config.json")}: "share"`);
    const env = config(here, { share: { folder: here.path("pages") } });
    expect(await here.run(["share", "parser"], { env, answer: "n" })).toMatchObject({ code: "DECLINED" });
    expect(await here.run(["share", "parser"], { env })).toMatchObject({ code: "CONFIRMATION_NEEDED" });
    expect(existsSync(here.path("pages"))).toBe(false);
  });

  test("takes a page back from a folder, once", async () => {
    const here = world();
    await parserSession(here);
    const env = config(here, { share: { folder: here.path("pages") } });
    const { out } = await here.run(["share", "parser", "user2", "--yes"], { env });
    expect((await here.run(["share", "--revoke", out.trim().slice(-20)], { env })).out).toBe(`taken back: ${out}`);
    expect(readdirSync(here.path("pages"))).toEqual([]);
    expect(await here.run(["share", "--revoke", out.trim()], { env })).toMatchObject({ code: "SHARE_NOT_FOUND" });
    expect((await here.run(["share", "--list"], { env })).out).toContain("taken back 2025-11-21");
  });

  test("gives the page to a program, takes its last line for the link, and takes it back with another program", async () => {
    const here = world();
    await parserSession(here);
    program(here, "upload", `console.log("uploading"); console.log("https://up.example/" + require("fs").statSync(process.argv[2]).size);`);
    program(here, "unload", `require("fs").writeFileSync(${JSON.stringify(here.path("gone"))}, process.argv[2]);`);
    const env = config(here, { share: { command: ["upload", "{file}"], revoke: ["unload", "{link}"] } });
    const { out } = await here.run(["share", "parser", "--yes"], { env });
    expect(out).toMatch(/^https:\/\/up\.example\/\d{5}\d*\n$/);
    expect((await here.run(["share", "--revoke", "up.example"], { env })).exit).toBe(0);
    expect(readFileSync(here.path("gone"), "utf8")).toBe(out.trim());
  });

  test("says why a program failed, and remembers nothing of it", async () => {
    const here = world();
    await parserSession(here);
    program(here, "upload", `console.error("quota exceeded"); process.exit(4);`);
    const env = config(here, { share: { command: ["upload", "{file}"] } });
    expect(await here.run(["share", "parser", "--yes"], { env })).toMatchObject({
      exit: 7,
      code: "SHARE_FAILED",
      err: expect.stringContaining("upload ended with 4: quota exceeded."),
    });
    const missing = config(here, { share: { command: ["no-such-program", "{file}"] } });
    expect(await here.run(["share", "parser", "--yes"], { env: missing })).toMatchObject({ code: "SHARE_FAILED" });
    expect(await here.json("share", "--list")).toEqual({ shares: [] });
  });

  test("makes a secret gist with gh, and deletes it", async () => {
    const here = world();
    await parserSession(here);
    program(
      here,
      "gh",
      `require("fs").appendFileSync(${JSON.stringify(here.path("calls"))}, process.argv.slice(2, 4).join(" ") + "\\n"); if (process.argv[3] === "create") console.log("https://gist.example/ada/1f");`,
    );
    const env = config(here, { share: { gist: true } });
    expect(await here.run(["share", "parser", "--yes"], { env })).toMatchObject({ out: "https://gist.example/ada/1f\n" });
    expect((await here.run(["share", "--revoke", "1f"], { env })).exit).toBe(0);
    expect(readFileSync(here.path("calls"), "utf8")).toBe("gist create\ngist delete\n");
  });

  /**
   * `gh` as far as sharing uses it. `knowsYes`: it is new enough to have the flag, and then needs it without a terminal. Its words and exit
   * codes are those of github.com/cli/cli, pkg/cmd/gist/create/create.go, delete/delete.go, shared/shared.go and internal/ghcmd/cmd.go;
   * test/page/gist.test.ts runs the real one of Debian. A new one asks for the gist before it deletes it, and finds none of that name.
   */
  const gh = (here: World, knowsYes: boolean) =>
    program(
      here,
      "gh",
      `const { existsSync, writeFileSync, rmSync } = require("fs");
      const fail = (text) => { console.error(text); process.exit(1); };
      const [, verb, ...args] = process.argv.slice(2);
      const gist = ${JSON.stringify(here.path("gist"))};
      if (verb === "create") {
        console.error("- Creating gist page.html\\n✓ Created secret gist page.html");
        writeFileSync(gist, "");
        console.log("https://gist.example/ada/1f");
      } else if (verb === "view") existsSync(gist) || fail("not found");
      else if (args.includes("--yes") && !${knowsYes}) fail("unknown flag: --yes\\n\\nUsage:  gh gist delete {<id> | <url>} [flags]\\n");
      else if (!args.includes("--yes") && ${knowsYes}) fail("--yes required when not running interactively\\n\\nUsage:  gh gist delete {<id> | <url>} [flags]\\n\\nFlags:\\n  --yes   confirm deletion without prompting\\n");
      else if (existsSync(gist)) rmSync(gist);
      else fail(${knowsYes} ? "not found" : "unable to delete gist 1f: either the gist is not found or it is not owned by you");`,
    );

  test.each([
    ["new", true],
    ["old", false],
  ])("deletes a gist with a %s gh, also one that is gone", async (_age, knowsYes) => {
    const here = world();
    await parserSession(here);
    gh(here, knowsYes);
    const env = config(here, { share: { gist: true } });
    for (const [expected, isGone] of [
      ["taken back: https://gist.example/ada/1f\n", false],
      ["was gone already: https://gist.example/ada/1f\n", true],
    ] as const) {
      await here.run(["share", "parser", "--yes"], { env });
      if (isGone) rmSync(here.path("gist"));
      expect(await here.run(["share", "--revoke", "1f"], { env })).toMatchObject({ exit: 0, out: expected });
      expect(existsSync(here.path("gist"))).toBe(false);
    }
    const { shares } = (await here.json("share", "--list")) as { shares: { revokedAtMs?: number }[] };
    expect(shares.map(({ revokedAtMs }) => revokedAtMs !== undefined)).toEqual([true, true]);
  });

  test("does not take a gist for gone that another user can still read", async () => {
    const here = world();
    await parserSession(here);
    const of = `either the gist is not found or it is not owned by you`;
    program(
      here,
      "gh",
      `if (process.argv[3] === "create") console.log("https://gist.example/ada/1f"); else if (process.argv[3] === "delete") { console.error("${of}"); process.exit(1); }`,
    );
    const env = config(here, { share: { gist: true } });
    await here.run(["share", "parser", "--yes"], { env });
    expect(await here.run(["share", "--revoke", "1f"], { env })).toMatchObject({ code: "SHARE_FAILED", err: expect.stringContaining(of) });
  });

  test("says all of a short reason, and the beginning and end of a long one", async () => {
    const here = world();
    await parserSession(here);
    const env = config(here, { share: { gist: true } });
    // github.com/cli/cli, pkg/cmd/root/root.go: what every command says without an account.
    const noAccount = `To get started with GitHub CLI, please run:  gh auth login\\nAlternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.`;
    program(here, "gh", `console.error("${noAccount}"); process.exit(4);`);
    expect((await here.run(["share", "parser", "--yes"], { env })).err).toContain(
      "gh ended with 4: To get started with GitHub CLI, please run:  gh auth login Alternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.\n",
    );
    program(here, "gh", `console.error("First\\na\\nb\\nc\\n\\x1b[31mLast\\x1b[0m"); process.exit(1);`);
    expect((await here.run(["share", "parser", "--yes"], { env })).err).toContain("gh ended with 1: First … Last.\n");
  });

  test("runs a program by its path, takes a colored link, and asks nobody if it is missing", async () => {
    const here = world();
    await parserSession(here);
    program(here, "upload", `console.log("\\x1b[32mhttps://up.example/1\\x1b[0m");`);
    for (const path of [here.path("bin/upload"), "~/bin/upload"]) {
      const env = config(here, { share: { command: [path, "{file}"] } });
      expect(await here.run(["share", "parser", "--yes"], { env: { ...env, HOME: here.folder } })).toMatchObject({
        out: "https://up.example/1\n",
      });
    }
    for (const path of [here.path("bin/none"), "none", "~/bin"]) {
      const env = config(here, { share: { command: [path, "{file}"] } });
      expect(await here.run(["share", "parser"], { env, answer: "y" })).toMatchObject({ code: "SHARE_FAILED", asked: [] });
    }
  });

  test("runs no program and deletes no file that only the values of a session name", async () => {
    const here = world();
    await parserSession(here);
    program(here, "unload", `require("fs").writeFileSync(${JSON.stringify(here.path("gone"))}, "");`);
    writeFileSync(here.path("notes.html"), "mine");
    const planted = [{ file: here.path("notes.html") }, { command: ["unload", "https://up.example/1"] }];
    await here.withStore(async (store) => {
      const session = await store.openSession("parser-session-1");
      const page = { entryId: null, sharedAtMs: 1, isEncrypted: false };
      await session.values.update("bough/shares", () =>
        planted.map((remove, at) => ({ ...page, link: `https://up.example/${at}`, remove })),
      );
    });
    const env = config(here, { share: { gist: true } });
    for (const at of planted.keys())
      expect(await here.run(["share", "--revoke", `up.example/${at}`], { env })).toMatchObject({ code: "SHARE_FAILED" });
    expect(existsSync(here.path("gone"))).toBe(false);
    expect(readFileSync(here.path("notes.html"), "utf8")).toBe("mine");
  });

  test("lists the pages of sessions that are not among the 1,000 newest, and takes them back", async () => {
    const here = world();
    await parserSession(here);
    const env = config(here, { share: { folder: here.path("pages") } });
    const { out } = await here.run(["share", "parser", "--yes"], { env });
    await here.withStore((store) => growMany(store, 1001, () => ({})));
    expect(await here.json("share", "--list")).toMatchObject({ shares: [{ sessionId: "parser-session-1", link: out.trim() }] });
    expect((await here.run(["share", "--revoke", out.trim()], { env })).out).toBe(`taken back: ${out}`);
  });

  test("takes no page back for an empty text, as of an unset variable of a script", async () => {
    const here = world();
    await parserSession(here);
    const env = config(here, { share: { folder: here.path("pages") } });
    await here.run(["share", "parser", "--yes"], { env });
    expect(await here.run(["share", "--revoke", ""], { env })).toMatchObject({ exit: 2, code: "USAGE" });
    expect(readdirSync(here.path("pages"))).toHaveLength(1);
  });

  test("encrypts a page: nothing of it is readable in the file", async () => {
    const here = world();
    await parserSession(here);
    const env = { ...config(here, { share: { folder: here.path("pages") } }), BOUGH_PAGE_PASSWORD: "correct horse" };
    const { err } = await here.run(["share", "parser", "--password", "--yes"], { env });
    expect(err).toContain("Readable by whoever has the link and the password");
    const page = readFileSync(here.path(`pages/${readdirSync(here.path("pages"))[0]}`), "utf8");
    for (const word of ["Parser", "said in", "parser-session", here.folder]) expect(page).not.toContain(word);
    const short = { ...env, BOUGH_PAGE_PASSWORD: "short" };
    expect(await here.run(["share", "parser", "--password", "--yes"], { env: short })).toMatchObject({ code: "USAGE" });
    expect(readdirSync(here.path("pages"))).toHaveLength(1);
  });

  test.each([[{}], [{ folder: "pages" }], [{ folder: "/pages", gist: true }], [{ gist: false }], [{ command: [] }], [{ command: ["up"] }]])(
    "refuses the target %j",
    async (share) => {
      const here = world();
      expect(await here.run(["share", "x"], { env: config(here, { share }) })).toMatchObject({ code: "CONFIG_INVALID" });
    },
  );
});
