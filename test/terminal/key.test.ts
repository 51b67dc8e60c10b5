import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { openStore, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import type { TerminalProgram } from "./terminal-program.js";
import { type Home, home } from "./test-home.js";

const KEY = "correct horse battery";
const OTHER = "another long key";

async function withSession(here: Home, key?: string): Promise<void> {
  const store = await openStore({ path: here.store, durability: "normal", key });
  const session = await store.createSession({ id: "secret-plan-1", title: "Secret plan", cwd: here.folder });
  await session.append(userMessage("The plan is to write tests."));
  await store.close();
}

/** Answers a question that shows no keys. */
async function answer(terminal: TerminalProgram, question: RegExp, text: string): Promise<void> {
  await terminal.until(question);
  terminal.type(text);
  terminal.press("Enter");
}

const ended = (terminal: TerminalProgram) => terminal.until(/ended with \d+/);

describe("the key of a locked store is asked for on the terminal", () => {
  test("and never shown; one that does not fit is asked for again", async () => {
    const here = home();
    await withSession(here, KEY);
    const terminal = await here.terminal("sessions", { columns: 200 });
    await answer(terminal, /^Key of \S+sessions\.db:$/m, "not this one");
    await answer(terminal, /^This key does not fit\. Key of \S+sessions\.db:$/m, KEY);
    const screen = await ended(terminal);
    expect(screen).toMatch(/Secret plan.*ended with 0/s);
    expect(screen).not.toMatch(/horse|not this one/);
  });

  test("three times; then it is one line, and no byte of the store has changed", async () => {
    const here = home();
    await withSession(here, KEY);
    const before = readFileSync(here.store);
    const terminal = await here.terminal("sessions", { columns: 200 });
    for (const [question, key] of [
      [/^Key of/m, "one wrong key"],
      [/^This key does not fit\. Key of/m, "two wrong keys"],
      [/(This key does not fit\. Key of.*){2}/s, "three wrong keys"],
    ] as const)
      await answer(terminal, question, key);
    expect(await ended(terminal)).toMatch(/^bough: The key does not fit .*\(WRONG_KEY\)\nended with 9$/ms);
    expect(readFileSync(here.store).equals(before)).toBe(true);
  });

  test("and nothing typed, or Ctrl+C, ends the command; the terminal shows what is typed again", async () => {
    const here = home();
    await withSession(here, KEY);
    const terminal = await here.terminal("sessions", { columns: 200 });
    await answer(terminal, /^Key of/m, "");
    expect(await ended(terminal)).toMatch(/\(STORE_LOCKED\)\nended with 9$/m);
    const interrupted = await here.terminal("sessions", { columns: 200 });
    await interrupted.until(/^Key of/m);
    interrupted.type("half a k");
    interrupted.press("C-c");
    expect(await ended(interrupted)).toMatch(/ended with 130/);
    interrupted.type("# seen again");
    expect(await interrupted.until(/seen again/)).not.toContain("half a k");
  });

  test("of a backup that is restored", async () => {
    const here = home();
    await withSession(here, KEY);
    renameSync(here.store, join(here.folder, "backup.db"));
    const terminal = await here.terminal("restore backup.db --yes", { columns: 200 });
    await answer(terminal, /^Key of \S+backup\.db:$/m, KEY);
    expect(await ended(terminal)).toMatch(/replaced: .*1 session with 1 entry.*ended with 0/s);
    await expect(openStore({ path: here.store })).rejects.toMatchObject({ code: "STORE_LOCKED" });
  });

  test("by the shell, which does not take it for a message", async () => {
    const here = home();
    await withSession(here, KEY);
    const terminal = await here.terminal("--session secret-plan-1", { columns: 200 });
    await answer(terminal, /^Key of \S+sessions\.db:$/m, KEY);
    await terminal.until(/The plan is to write tests/);
    terminal.type("What now?");
    expect(await terminal.until(/What now\?/)).not.toContain("horse");
  });

  test("by the command that prints it, if it wants to ask", async () => {
    const here = home();
    await withSession(here, KEY);
    const command = `printf 'PIN of the manager? ' >&2; read -r pin; test "$pin" = 1234 && echo '${KEY}'`;
    const terminal = await here.terminal("sessions", { env: { BOUGH_KEY_COMMAND: command } });
    await answer(terminal, /PIN of the manager\?$/m, "1234");
    expect(await ended(terminal)).toMatch(/Secret plan.*ended with 0/s);
    const shell = await here.terminal("--session secret-plan-1", { env: { BOUGH_KEY_COMMAND: command } });
    await answer(shell, /PIN of the manager\?$/m, "1234");
    await shell.until(/The plan is to write tests/);
  });
});

describe("a store is locked, gets another key and is unlocked", () => {
  test("with keys that are typed, new ones twice", async () => {
    const here = home();
    await withSession(here);
    const lock = await here.terminal("lock");
    await answer(lock, /^New key:$/m, KEY);
    await answer(lock, /^The same again:$/m, KEY);
    expect(await ended(lock)).toMatch(/is locked\..*ended with 0/s);
    const rekey = await here.terminal("rekey");
    await answer(rekey, /^Key of \S+:$/m, "mistyped");
    await answer(rekey, /^This key does not fit\. Key of \S+:$/m, KEY);
    await answer(rekey, /^New key:$/m, OTHER);
    await answer(rekey, /^The same again:$/m, OTHER);
    const screen = await ended(rekey);
    expect(screen).toMatch(/is locked with the new key\..*ended with 0/s);
    expect(screen).not.toMatch(/horse|another long/);
    const unlock = await here.terminal("unlock");
    await answer(unlock, /^Key of \S+:$/m, OTHER);
    expect(await ended(unlock)).toMatch(/is unlocked\..*ended with 0/s);
    await here.withSession("secret-plan-1", async (session) => expect(session.leafId).not.toBeNull());
  });

  test("but not with two new keys that differ, one that is short, or where there is no lock", async () => {
    const here = home();
    await withSession(here);
    const before = readFileSync(here.store);
    const differing = await here.terminal("lock");
    await answer(differing, /^New key:$/m, KEY);
    await answer(differing, /^The same again:$/m, OTHER);
    expect(await ended(differing)).toMatch(/The two keys differ\. Nothing was changed\..*ended with 2/s);
    const short = await here.terminal("lock");
    await answer(short, /^New key:$/m, "short");
    expect(await ended(short)).toMatch(/shorter than 8 characters.*ended with 2/s);
    expect(await ended(await here.terminal("unlock"))).toMatch(/is not locked\. Nothing was changed\..*ended with 2/s);
    expect(readFileSync(here.store).equals(before)).toBe(true);
  });
});
