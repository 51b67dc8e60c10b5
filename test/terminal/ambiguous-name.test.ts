import { expect, test } from "vitest";
import { home } from "./test-home.js";

test("a name of several sessions is asked about, and the number chooses one", async () => {
  const here = home();
  await here.parser();
  here.bough("fork", "parser-1", "--title", "Parser with tabs");
  const terminal = await here.terminal("log Pars");
  const asked = await terminal.until(/Which one\? \[1-2, Enter: none\]/);
  const row = asked.split("\n").find((line) => line.includes("Parser with tabs"));
  terminal.type(/^\s*(\d)/.exec(row ?? "")?.[1] ?? "");
  terminal.press("Enter");
  expect(await terminal.until(/ended with 0/)).toContain("replied in a4");
});

test("Enter chooses none of them", async () => {
  const here = home();
  await here.parser();
  here.bough("fork", "parser-1", "--title", "Parser with tabs");
  const terminal = await here.terminal("log Pars");
  await terminal.until(/Which one\?/);
  terminal.press("Enter");
  await terminal.until(/ended with (?!0)\d+/);
});
