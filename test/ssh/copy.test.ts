import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openStore, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { fill, TwoMachines } from "./two-machines.js";

/** Two machines; the other one has a session of three parts and a short one. */
async function machinesWithSessions(): Promise<TwoMachines> {
  const machines = await TwoMachines.start();
  await machines.there.withStore(async (store) => {
    await fill(store, "one", 1200);
    await fill(store, "two", 30);
  });
  return machines;
}

/** Waits until a part of a session, but not all of it, is in a store. */
async function entriesIn(path: string, id: string): Promise<void> {
  while (!existsSync(path)) await setTimeout(5);
  const store = await openStore({ path, mode: "create" });
  for (let entries = 0; entries === 0; await setTimeout(1)) entries = (await store.findSession(id))?.entryCount ?? 0;
  await store.close();
}

/** Appends a message as an agent on that machine does. */
async function append(path: string, id: string, text: string): Promise<void> {
  const store = await openStore({ path });
  await (await store.openSession(id)).append(userMessage(text), { onConflict: "follow" });
  await store.close();
}

describe("a copy from another machine", () => {
  test("has every session there, and a second one adds nothing", async () => {
    const machines = await machinesWithSessions();
    const { here, there } = machines;
    const first = await machines.run("copy", "--from", "ssh://laptop", "--json");
    expect(first).toMatchObject({ exit: 0, err: "copying\n" });
    expect(JSON.parse(first.out)).toMatchObject({
      from: "ssh://laptop",
      sessions: [
        { sessionId: "two", outcome: "copied", entriesAdded: 31, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { sessionId: "one", outcome: "copied", entriesAdded: 1201 },
      ],
    });
    expect(await here.content()).toEqual(await there.content());
    expect(await here.findings()).toEqual([]);
    const second = await machines.run("copy", "--from", "ssh://laptop");
    expect(second).toMatchObject({ exit: 0, out: expect.stringContaining("0 sessions, 0 entries copied") });
    expect(second.out).toContain("2 unchanged");
  });

  test("takes what is new there, with --update, and the session that is named", async () => {
    const machines = await machinesWithSessions();
    const { here, there } = machines;
    expect(await machines.run("copy", "--from", "ssh://laptop", "About two")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("1 session, 31 entries copied"),
    });
    await there.withStore((store) => fill(store, "three", 5));
    await there.withStore(async (store) => {
      const session = await store.openSession("two");
      await session.append({ type: "custom", customType: "more", data: 1 });
    });
    expect(await machines.run("copy", "--from", "ssh://laptop")).toMatchObject({ exit: 3, err: expect.stringContaining("--update") });
    expect(await machines.run("copy", "--from", "ssh://laptop", "--update")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("1 session, 1 entry copied"),
    });
    expect(await here.content()).toEqual(await there.content());
  });

  test("with --dry-run says what it would do, and writes nothing", async () => {
    const machines = await machinesWithSessions();
    const { exit, out } = await machines.run("copy", "--from", "ssh://laptop", "--dry-run");
    expect([exit, out]).toEqual([0, expect.stringContaining("2 sessions, 1,232 entries would be copied")]);
    expect(out).toContain("About one");
    await expect(machines.here.withStore(async () => undefined, machines.here.store)).resolves.toBeUndefined();
    expect(await machines.here.content()).toEqual([]);
  });
});

describe("a copy to another machine", () => {
  test("creates a store at a path there that no shell reads, and compares it", async () => {
    const machines = await TwoMachines.start();
    const { here, there } = machines;
    await here.withStore((store) => fill(store, "mine", 700));
    const name = `it's $(touch pwned) "x"; \\ &.db`;
    const address = `ssh://laptop/~/${name}`;
    expect(await machines.run("copy", "--to", address, "--dry-run")).toMatchObject({ exit: 0, out: expect.stringContaining("would be") });
    expect(await machines.run("copy", "--to", address)).toMatchObject({ exit: 0, out: expect.stringContaining("701 entries copied") });
    const path = join(there.home, name);
    expect(await there.content(path)).toEqual(await here.content());
    expect(await there.findings(path)).toEqual([]);
    expect(await machines.run("copy", "--to", `ssh://laptop${path}`, "--check")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("1 unchanged"),
    });
    expect(readdirSync(there.home)).not.toContain("pwned");
  });
});

describe("a copy of many sessions at once", () => {
  test("prints no warning of Node, in either direction", async () => {
    const machines = await TwoMachines.start();
    const { here, there } = machines;
    await here.withStore(async (store) => {
      for (let at = 0; at < 40; at += 1) await fill(store, `s${at}`, 8, 5000);
    });
    expect(await machines.run("copy", "--to", "ssh://laptop")).toMatchObject({ exit: 0, err: "copying\n" });
    expect(await there.content()).toEqual(await here.content());
    const back = join(here.home, "back.db");
    expect(await machines.run("copy", "--from", "ssh://laptop", "--to", back)).toMatchObject({ exit: 0, err: "copying\n" });
    expect(await here.content(back)).toEqual(await here.content());
  });
});

describe("what is in the way is one clear error", () => {
  test.each<[string, string, RegExp]>([
    [
      "no bough there",
      "no-such-bough",
      /There is no `no-such-bough` on laptop.*npm install --global.*--remote-command.*\(REMOTE_VERSION\)/,
    ],
    [
      "an old bough there",
      "echo \"error: unknown option '--serve'\" >&2; exit 2;",
      /did not answer as Bough does: it is too old.*\(REMOTE_VERSION\)/,
    ],
    ["another program, which prints without end", "yes;", /did not answer as Bough does/],
    [
      "a bough that is too new",
      `echo 'bough-copy-serve {"oldest":7,"newest":9,"version":"9.0.0"}'; cat;`,
      /9\.0\.0.*no version of the protocol in common.*Update it here/,
    ],
    [
      "no JSON after the greeting",
      `echo 'bough-copy-serve {"oldest":1,"newest":1,"version":"1"}'; echo hello; cat;`,
      /a line that is not JSON.*\(REMOTE_PROTOCOL\)/,
    ],
    [
      "an end after the greeting",
      `echo 'bough-copy-serve {"oldest":1,"newest":1,"version":"1"}'; exit 4;`,
      /The connection to laptop ended: ssh ended with exit code 4.*\(REMOTE_ENDED\)/,
    ],
  ])("%s", async (_name, command, said) => {
    const machines = await TwoMachines.start();
    const { exit, err } = await machines.run("copy", "--from", "ssh://laptop", "--remote-command", command);
    expect([exit, err]).toEqual([7, expect.stringMatching(said)]);
    expect(await machines.here.content()).toEqual([]);
  });

  test("a host that does not answer, and a store that is not there; what ssh says is shown", async () => {
    const machines = await TwoMachines.start();
    expect(await machines.run("copy", "--from", "ssh://laptop/none.db")).toMatchObject({
      exit: 4,
      err: expect.stringMatching(/There: There is no store at \/none\.db.*\(STORE_NOT_FOUND\)/),
    });
    await machines.stopServer();
    const { exit, err } = await machines.run("copy", "--from", "ssh://laptop");
    expect([exit, err]).toEqual([
      7,
      expect.stringMatching(/^ssh: connect to host 127\.0\.0\.1 port \d+: Connection refused\nbough: The connection to laptop ended/),
    ]);
  });

  test("no ssh", async () => {
    const machines = await TwoMachines.start();
    machines.searchPath = machines.there.bin;
    const { exit, err } = await machines.run("copy", "--from", "ssh://laptop");
    expect([exit, err]).toEqual([7, expect.stringContaining("There is no `ssh` in PATH")]);
  });

  test("a shell there that greets, on both streams", async () => {
    const machines = await machinesWithSessions();
    const shell = "printf 'Welcome to laptop\\nLast login: \\033[31mnow\\n'; printf 'motd \\033]0;x\\007\\n' >&2; printf 'prompt> '; bough";
    const { exit, err } = await machines.run("copy", "--from", "ssh://laptop", "--remote-command", shell);
    expect([exit, err]).toEqual([0, expect.stringMatching(/^motd [^\u001b\u0007]*\ncopying\n$/)]);
    expect(await machines.here.content()).toEqual(await machines.there.content());
  });
});

describe("a copy that is cut", () => {
  // Each kill comes after a part arrived: the progress of the store says so, and no clock.
  test.each(["ssh", "sshd", "there", "here"] as const)(
    "by a kill of %s is whole on both sides, and the next one completes it",
    async (which) => {
      const machines = await TwoMachines.start();
      const { here, there } = machines;
      await there.withStore((store) => fill(store, "long", 6000, 600));
      const before = await there.content();
      const running = machines.start("copy", "--from", "ssh://laptop");
      await entriesIn(here.store, "long");
      if (which === "here") running.kill("SIGKILL");
      else expect(machines.kill(which)).toBeGreaterThan(0);
      const { exit, err } = await running.ended;
      if (which !== "here") expect([exit, err]).toEqual([7, expect.stringMatching(/The connection to laptop ended.*\(REMOTE_ENDED\)/)]);
      expect(await here.findings()).toEqual([]);
      expect(await there.findings()).toEqual([]);
      expect(await here.withStore(async (store) => (await store.findSession("long"))?.entryCount)).toBeLessThan(6001);
      expect(await machines.run("copy", "--from", "ssh://laptop")).toMatchObject({ exit: 0 });
      expect(await here.content()).toEqual(before);
      expect(await there.content()).toEqual(before);
      expect(await here.findings()).toEqual([]);
    },
  );

  test("on the way to the other machine is whole there", async () => {
    const machines = await TwoMachines.start();
    const { here, there } = machines;
    await here.withStore((store) => fill(store, "long", 6000, 600));
    const running = machines.start("copy", "--to", "ssh://laptop");
    await entriesIn(there.store, "long");
    expect(machines.kill("there")).toBeGreaterThan(0);
    expect(await running.ended).toMatchObject({ exit: 7 });
    expect(await there.findings()).toEqual([]);
    expect(await machines.run("copy", "--to", "ssh://laptop")).toMatchObject({ exit: 0 });
    expect(await there.content()).toEqual(await here.content());
    expect(await there.findings()).toEqual([]);
  });

  test("by Ctrl-C ends with 130 and no process stays", async () => {
    const machines = await TwoMachines.start();
    const { here } = machines;
    await machines.there.withStore((store) => fill(store, "long", 6000, 600));
    const running = machines.start("copy", "--from", "ssh://laptop");
    await entriesIn(here.store, "long");
    running.kill("SIGINT");
    expect(await running.ended).toMatchObject({ exit: 130, err: expect.stringContaining("Run the copy again") });
    await machines.gone("ssh");
    await machines.gone("there");
  });
});

describe("--watch", () => {
  test("copies what is written there, goes on after a cut, and ends by a signal", async () => {
    const machines = await machinesWithSessions();
    const { here, there } = machines;
    const watching = machines.start("copy", "--from", "ssh://laptop", "--watch");
    await watching.until((said) => said.includes("Watching ssh://laptop"));
    await append(there.store, "two", "written there");
    await watching.until((said) => /\+1 entry {2}About two/.test(said));
    machines.kill("sshd");
    await watching.until((said) => said.includes("The connection to laptop ended"));
    await append(there.store, "two", "written meanwhile");
    await watching.until((said) => said.split("+1 entry  About two").length === 3);
    await append(there.store, "two", "written after that");
    await watching.until((said) => said.split("+1 entry  About two").length === 4);
    watching.kill("SIGTERM");
    expect(await watching.ended).toMatchObject({ exit: 0, err: expect.stringContaining("Ended; every session is whole.") });
    expect(await here.content()).toEqual(await there.content());
    await machines.gone("there");
  });

  test("waits for a machine that is off, and says so once", async () => {
    const machines = await machinesWithSessions();
    await machines.stopServer();
    const watching = machines.start("copy", "--from", "ssh://laptop", "--watch", "--json");
    await watching.until((said) => said.includes('"waiting"'));
    await machines.startServer();
    await watching.until((said) => said.includes('"watching"'));
    watching.kill("SIGINT");
    const { exit, out, err } = await watching.ended;
    expect(exit).toBe(0);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { state?: string; sessionId?: string });
    expect(lines.map(({ state, sessionId }) => state ?? sessionId).sort()).toEqual(["one", "two", "waiting", "watching"]);
    expect(err.split("Connection refused").length).toBe(2);
    expect(await machines.here.content()).toEqual(await machines.there.content());
  });

  test("copies what is written here to the other machine", async () => {
    const machines = await TwoMachines.start();
    const { here, there } = machines;
    await here.withStore((store) => fill(store, "mine", 10));
    const watching = machines.start("copy", "--to", "ssh://laptop", "--watch");
    await watching.until((said) => said.includes("Watching"));
    await append(here.store, "mine", "written here");
    await watching.until((said) => /\+1 entry {2}About mine/.test(said));
    watching.kill("SIGTERM");
    expect(await watching.ended).toMatchObject({ exit: 0 });
    expect(await there.content()).toEqual(await here.content());
  });
});
