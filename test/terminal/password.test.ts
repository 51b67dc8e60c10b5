import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, userMessage } from "@bough/session-core";
import { expect, test } from "vitest";
import { type Home, home } from "./test-home.js";

async function withSession(here: Home): Promise<void> {
  const store = await openStore({ path: here.store, durability: "normal" });
  const session = await store.createSession({ id: "secret-plan-1", title: "Secret plan", cwd: here.folder });
  await session.append(userMessage("The plan is to write tests."));
  await store.close();
}

test("the password of a page is asked for twice and never shown", async () => {
  const here = home();
  await withSession(here);
  const terminal = await here.terminal("export secret --html page.html --password", {});
  await terminal.until(/Password of the page:/);
  terminal.type("correct horse");
  terminal.press("Enter");
  await terminal.until(/The same again:/);
  terminal.type("correct horse");
  terminal.press("Enter");
  expect(await terminal.until(/ended with \d+/)).toMatch(/ended with 0/);
  expect(await terminal.until(/written to/)).not.toContain("horse");
  expect(readFileSync(join(here.folder, "page.html"), "utf8")).not.toContain("plan");
});

test("two passwords that differ write nothing", async () => {
  const here = home();
  await withSession(here);
  const terminal = await here.terminal("export secret --html page.html --password", {});
  await terminal.until(/Password of the page:/);
  terminal.type("correct horse");
  terminal.press("Enter");
  await terminal.until(/The same again:/);
  terminal.type("correct mouse");
  terminal.press("Enter");
  expect(await terminal.until(/ended with \d+/)).toMatch(/The two passwords differ\..*ended with 2/s);
});
