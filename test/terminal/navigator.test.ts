import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { BOUGH, home } from "./rooms.js";

describe("the navigator in a real terminal", () => {
  test("opens at the leaf, searches, folds, previews, and leaves the terminal as it was", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i");
    expect(await terminal.until(/replied in a4 ← leaf/)).toMatch(/^› ?•.*replied in a4/m);
    expect(await terminal.flag("alternate_on")).toBe("1");
    await terminal.type("/u3");
    await terminal.until(/1 hit\b/);
    await terminal.press("Enter");
    await terminal.until(/^›.*said in u3/m);
    await terminal.press("Escape");
    await terminal.until((screen) => !screen.includes("1 hit"));
    await terminal.press("C-Left");
    await terminal.until(/\(\+1\)/);
    await terminal.type("v");
    await terminal.until(/^user {2}u3/m);
    await terminal.type("q");
    await terminal.until(/ended with 0/);
    expect(await terminal.flag("alternate_on")).toBe("0");
    expect(await terminal.flag("cursor_flag")).toBe("1");
  });

  test("labels an entry", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i");
    await terminal.until(/← leaf/);
    await terminal.type("l");
    await terminal.until(/Label:/);
    await terminal.type("the end");
    await terminal.press("Enter");
    await terminal.until(/\[the end\]/);
    expect(here.bough("label", "parser", "a4")).toContain("[the end]");
  });

  test("branches with a summary; Esc at the question changes nothing", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i");
    await terminal.until(/← leaf/);
    await terminal.type("g");
    await terminal.press("Down", "Enter");
    await terminal.until(/Leaving 4 entries behind/);
    await terminal.press("Escape");
    await terminal.until((screen) => !screen.includes("Leaving") && /^›.*replied in a1/m.test(screen));
    await terminal.press("Enter");
    await terminal.until(/2 A summary/);
    await terminal.type("2");
    await terminal.until(/ended with 0/);
    const tree = here.bough("tree", "parser");
    expect(tree).toMatch(/\[branch summary\].*← leaf/);
    expect(await here.withSession("parser-1", async (session) => (await session.path()).length)).toBe(3);
  });

  test("follows the size of the terminal", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i");
    await terminal.until(/← leaf/);
    await terminal.resize(40, 10);
    await terminal.until((screen) => screen.split("\n").every((line) => line.length <= 40) && /^›.*replied in a4/m.test(screen));
    await terminal.resize(200, 50);
    await terminal.until(/Esc close/);
    expect(await terminal.screen()).toHaveLength(51);
  });

  test("shows what another process appends, and keeps the selected row", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i");
    await terminal.until(/← leaf/);
    await here.withSession("parser-1", async (session) =>
      session.append({ type: "message", message: { role: "user", content: "from elsewhere" } }),
    );
    const screen = await terminal.until(/from elsewhere ← leaf/);
    expect(screen).toMatch(/^›.*replied in a4/m);
  });

  test("restores the terminal when it is killed, and when it is suspended", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i & wait $!");
    await terminal.until(/← leaf|ended/);
    await terminal.end();
    const second = await here.terminal("tree parser -i");
    await second.until(/← leaf/);
    const pid = (await second.flag("pane_pid")).trim();
    spawnSync("pkill", ["-TERM", "-P", pid, "node"]);
    await second.until(/ended with 143/);
    expect([await second.flag("alternate_on"), await second.flag("cursor_flag")]).toEqual(["0", "1"]);
  });

  test("has no colours with NO_COLOR, and only ASCII with BOUGH_ASCII", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("tree parser -i", { env: { BOUGH_ASCII: "1" } });
    const screen = await terminal.until(/<- leaf/);
    expect(screen).toMatch(/^[\x00-\x7e]*$/);
    expect(screen).toContain(">*");
  });

  test("says in one line that it needs a terminal", async () => {
    const here = home();
    await here.parser();
    const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, "tree", "parser", "-i"], {
      env: { ...process.env, ...here.env() },
      encoding: "utf8",
    });
    expect({ status, stdout, lines: stderr.split("\n").length }).toEqual({ status: 62, stdout: "", lines: 2 });
    const dumb = await here.terminal("tree parser -i", { env: { TERM: "dumb" } });
    await dumb.until(/ended with (62|0)|← leaf/);
  });
});
