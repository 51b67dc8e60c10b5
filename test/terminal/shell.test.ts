import { spawnSync } from "node:child_process";
import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { BOUGH, home, modelServer } from "./test-home.js";

describe("the shell in a real terminal", () => {
  test("is a notebook without a model: what is typed is there at the next start", async () => {
    const here = home();
    const terminal = await here.terminal("");
    await terminal.until(/this is a notebook/);
    terminal.type("remember the milk");
    terminal.press("Enter");
    await terminal.until(/› remember the milk[\s\S]*1 entry/);
    terminal.press("C-c", "C-c");
    await terminal.until(/ended with 0/);
    terminal.type(`clear; '${process.execPath}' '${BOUGH}'`);
    terminal.press("Enter");
    await terminal.until(/› remember the milk/);
  });

  test("takes what is typed before it is up: Enter sends, the rest is in the prompt and nowhere else", async () => {
    const here = home();
    const terminal = await here.terminal("--new");
    terminal.type("remember the milk");
    terminal.press("Enter");
    terminal.type("and the bread");
    const screen = await terminal.until(/› and the bread[\s\S]*1 entry/);
    expect(screen).toMatch(/^› remember the milk$/m);
    expect(screen.match(/and the bread/g)).toHaveLength(1);
    terminal.press("C-c", "C-d");
    await terminal.until(/ended with 0/);
    terminal.type("stty -a");
    terminal.press("Enter");
    await terminal.until(/ icanon[\s\S]* echo /);
  });

  test("leaves the terminal as it was if it cannot start", async () => {
    const terminal = await home().terminal("--session nowhere");
    await terminal.until(/ended with \d/);
    terminal.type("stty -a");
    terminal.press("Enter");
    await terminal.until(/ icanon[\s\S]* echo /);
  });

  test("streams a reply in, and stores it with what it used", async () => {
    const here = home();
    const { env } = await modelServer(async (_said, send) => {
      for (const word of ["The ", "lexer ", "is ", "fine."]) send(word);
      return "done";
    });
    const terminal = await here.terminal("--new", { env });
    await terminal.until(/test-model/);
    terminal.type("How is the lexer?");
    terminal.press("Enter");
    await terminal.until(/The lexer is fine\.[\s\S]*2 entries/);
    terminal.press("C-d");
    await terminal.until(/ended with 0/);
    expect(here.bough("stats")).toMatch(/openai-compatible\/m +1 +20 +5 /);
  });

  test("stops a reply by Esc and keeps what came", async () => {
    const here = home();
    const { env } = await modelServer(async (_said, send) => {
      send("the beginning ");
      await new Promise(() => undefined);
      return "done";
    });
    const terminal = await here.terminal("--new", { env });
    await terminal.until(/test-model/);
    terminal.type("Go on");
    terminal.press("Enter");
    await terminal.until(/the beginning[\s\S]*Esc stops/);
    terminal.press("Escape");
    await terminal.until(/Stopped; the reply so far is kept\./);
    expect(here.bough("tree")).toContain("the beginning");
    expect(here.bough("verify")).toContain("No integrity violations");
  });

  test("keeps a valid session when the connection drops", async () => {
    const here = home();
    const { env } = await modelServer(async (_said, send) => {
      send("half of it ");
      return "drop";
    });
    const terminal = await here.terminal("--new", { env });
    await terminal.until(/test-model/);
    terminal.type("Say it");
    terminal.press("Enter");
    await terminal.until((screen) => screen.includes("half of it") && !screen.includes("Esc stops"));
    expect(here.bough("tree")).toContain("Say it");
    expect(here.bough("verify")).toContain("No integrity violations");
  });

  test("goes to the tree and back with what was being typed; a message that is chosen waits in the history", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--session parser");
    await terminal.until(/replied in a4/);
    terminal.type("half a thought");
    terminal.press("C-t");
    await terminal.until(/← leaf/);
    terminal.press("Up", "Enter");
    await terminal.until(/1 No summary/);
    terminal.type("1");
    await terminal.until(/half a thought[\s\S]*Press Up for the chosen message/);
    terminal.press("Up");
    await terminal.until(/› said in u4/);
  });

  test("a message that is chosen comes to an empty prompt, and sending it begins a branch", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--session parser");
    await terminal.until(/replied in a4/);
    terminal.type("/tree");
    terminal.press("Enter");
    await terminal.until(/← leaf/);
    terminal.press("Up", "Enter");
    await terminal.until(/1 No summary/);
    terminal.type("1");
    await terminal.until(/Edit the message and send it/);
    terminal.type(", again");
    terminal.press("Enter");
    await terminal.until(/5 entries, 3 branches/);
    const path = await here.withSession("parser-1", async (session) => (await session.path()).length);
    expect(path).toBe(5);
  });

  test("is readable after a change of size inside the tree", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--session parser");
    await terminal.until(/replied in a4[\s\S]*branches/);
    terminal.press("C-t");
    await terminal.until(/← leaf/);
    terminal.resize(60, 20);
    await terminal.until((screen) => screen.includes("← leaf") && screen.split("\n").every((line) => line.length <= 60));
    terminal.type("q");
    const screen = await terminal.until(/› said in u4[\s\S]*replied in a4[\s\S]*Parser ·/);
    expect(screen).not.toContain("← leaf");
  });

  test("shows what another process writes to its session, and goes on below it", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--session parser");
    await terminal.until(/replied in a4[\s\S]*6 entries/);
    terminal.type("half a thought");
    await terminal.until(/half a thought/);
    await here.withSession("parser-1", async (session) => {
      await session.append({ ...userMessage("asked elsewhere"), id: "u5" });
      await session.append({ ...assistantMessage("answered elsewhere"), id: "a5" });
    });
    await terminal.until(
      /another process writes here:[\s\S]*› asked elsewhere[\s\S]*answered elsewhere[\s\S]*half a thought[\s\S]*8 entries/,
    );
    terminal.press("Enter");
    await terminal.until(/9 entries/);
    here.bough("go", "parser", "a3");
    await terminal.until(/another process went to another place of the tree:[\s\S]*replied in a3/);
    here.bough("rename", "parser", "Lexer and parser");
    await terminal.until(/^Lexer and parser/m);
    expect(here.bough("tree", "parser")).toMatch(/answered elsewhere[\s\S]*half a thought/);
    expect(here.bough("verify")).toContain("No integrity violations");
  });

  test("says that another process deleted its session", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--session parser");
    await terminal.until(/replied in a4[\s\S]*6 entries/);
    await here.withStore((store) => store.deleteSession("parser-1"));
    await terminal.until(/Another process deleted this session/);
  });

  test("takes a paste of many lines for one message", async () => {
    const here = home();
    const terminal = await here.terminal("--new");
    await terminal.until(/notebook/);
    terminal.paste("first line\nsecond line\nthird");
    await terminal.until(/third/);
    terminal.press("Enter");
    await terminal.until(/1 entry/);
  });

  test("opens the sessions, finds one by name and goes there", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--new");
    await terminal.until(/0 entries/);
    terminal.type("/sessions");
    terminal.press("Enter");
    await terminal.until(/Parser/);
    terminal.type("/pars");
    await terminal.until(/Parser/);
    terminal.press("Enter");
    await terminal.until(/replied in a4/);
  });

  test("shows sessions that another process adds while a session is chosen", async () => {
    const here = home();
    await here.parser();
    const terminal = await here.terminal("--resume");
    await terminal.until(/> .*Parser/);
    await here.withStore(async (store) => {
      const added = await store.createSession({ id: "lexer-1", title: "Lexer", cwd: here.folder });
      await added.append(userMessage("skip tabs"));
    });
    const screen = await terminal.until(/Lexer/);
    expect(screen).toMatch(/^> .*Parser/m);
    terminal.press("Enter");
    await terminal.until(/replied in a4/);
  });

  test("completes commands, and says what an unknown one may have meant", async () => {
    const here = home();
    const terminal = await here.terminal("--new");
    await terminal.until(/notebook/);
    terminal.type("/sta");
    await terminal.until(/\/stats {2}entries, size/);
    terminal.press("Tab", "Enter");
    await terminal.until(/0 entries, 0 messages/);
    terminal.type("/treee");
    terminal.press("Enter");
    await terminal.until(/did you mean \/tree\?/);
  });

  test("reads line by line on a terminal that can only print", async () => {
    const here = home();
    const terminal = await here.terminal("--new", { env: { TERM: "dumb" } });
    await terminal.until(/notebook[\s\S]*^>/m);
    terminal.type("remember the milk");
    terminal.press("Enter");
    await terminal.until(/› remember the milk/);
    terminal.type("/tree");
    terminal.press("Enter");
    await terminal.until(/remember the milk ← leaf/);
    terminal.type("/quit");
    terminal.press("Enter");
    await terminal.until(/ended with 0/);
  });

  test("needs a terminal, and flags that fit together", () => {
    const here = home();
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, [BOUGH, ...args], { env: { ...process.env, ...here.env() }, encoding: "utf8" });
    expect(run().status).toBe(10);
    expect(run().stderr).toMatch(/^bough: The shell needs a terminal.*\n$/);
    expect(run("--new", "--session", "x").status).toBe(2);
  });
});
