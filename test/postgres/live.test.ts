import { assistantMessage, userMessage } from "@bough/session-core";
import { expect, test } from "vitest";
import { home } from "../terminal/test-home.js";

test("the shell shows what another process writes to its session on a server, and goes on below it", async () => {
  const here = home();
  await here.parser();
  const terminal = await here.terminal("--session parser");
  await terminal.until(/replied in a4[\s\S]*6 entries/);
  await here.withSession("parser-1", async (session) => {
    await session.append({ ...userMessage("asked elsewhere"), id: "u5" });
    await session.append({ ...assistantMessage("answered elsewhere"), id: "a5" });
  });
  await terminal.until(/another process writes here:[\s\S]*› asked elsewhere[\s\S]*answered elsewhere[\s\S]*8 entries/);
  terminal.type("and here");
  terminal.press("Enter");
  await terminal.until(/9 entries/);
  here.bough("rename", "parser", "Lexer and parser");
  await terminal.until(/^Lexer and parser/m);
  expect(here.bough("tree", "parser")).toMatch(/answered elsewhere[\s\S]*and here/);
  await here.withStore((store) => store.deleteSession("parser-1"));
  await terminal.until(/Another process deleted this session/);
});

test("the navigator shows entries, labels and moves of another process", async () => {
  const here = home();
  await here.parser();
  const terminal = await here.terminal("tree parser --interactive");
  await terminal.until(/replied in a4.*leaf/);
  here.bough("label", "parser", "u2", "from elsewhere");
  await terminal.until(/\[from elsewhere\]/);
  await here.withSession("parser-1", async (session) => {
    await session.append({ ...userMessage("asked elsewhere"), id: "u5" });
  });
  await terminal.until(/asked elsewhere.*leaf/);
  here.bough("go", "parser", "a3");
  await terminal.until(/replied in a3.*leaf/);
});

test("the list of sessions shows those that another process adds", async () => {
  const here = home();
  await here.parser();
  const terminal = await here.terminal("--resume");
  await terminal.until(/Parser/);
  await here.withStore((store) =>
    store.createSession({ title: "Made elsewhere", cwd: here.folder }, { writes: [{ kind: "entry", entry: userMessage("one") }] }),
  );
  await terminal.until(/Made elsewhere/);
});
