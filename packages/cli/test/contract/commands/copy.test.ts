import { urlWithoutPassword } from "@bough/postgres/address";
import { openStore, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { parserSession, type World, world } from "../../world.js";

/** A world with a session in its store, and the path of a store that does not exist yet. */
async function twoStores(): Promise<{ readonly here: World; readonly other: string }> {
  const here = world();
  await parserSession(here);
  return { here, other: here.path("other.db") };
}

async function change(path: string, title: string): Promise<void> {
  const store = await openStore({ path });
  const { items } = await store.listSessions();
  for (const { id } of items) await store.renameSession(id, title);
  await store.close();
}

describe("bough copy", () => {
  test("copies all sessions, says how many, and prints nothing of them the next time", async () => {
    const { here, other } = await twoStores();
    const { out, exit } = await here.run(["copy", "--to", other]);
    expect(exit).toBe(0);
    expect(out).toMatch(/copied +\+\d+ +[0-9a-f]{12}/);
    expect(out).toMatch(/1 session, \d+ entries copied to .*other\.db; 0 unchanged, 0 different, 0 failed\.\n$/);
    const again = await here.run(["copy", "--to", other]);
    expect(again.out).toBe(`0 sessions, 0 entries copied to ${other}; 1 unchanged, 0 different, 0 failed.\n`);
    expect((await here.run(["tree", "@1", "--store", other])).out).toBe((await here.run(["tree", "@1"])).out);
    expect((await here.run(["verify", "--store", other])).exit).toBe(0);
  });

  test("leaves a session with other content, with a code of its own, until --update", async () => {
    const { here, other } = await twoStores();
    await here.run(["copy", "--to", other]);
    await change(other, "Mine");
    const left = await here.run(["copy", "--to", other]);
    expect(left.code).toBe("SESSIONS_LEFT");
    expect(left.out).toMatch(/is there with other content: other title(, titleSource)?\.\n/);
    expect(left.err).toMatch(/^bough: 1 session is in the target with other content and was left\. --update copies/m);
    expect((await here.run(["copy", "--to", other, "--update"])).exit).toBe(0);
    expect((await here.run(["copy", "--to", other, "--check"])).exit).toBe(0);
  });

  test("with --update leaves a session that is longer in the target, and names the other direction", async () => {
    const { here, other } = await twoStores();
    await here.run(["copy", "--to", other]);
    const store = await openStore({ path: other });
    const [session] = (await store.listSessions()).items;
    await (await store.openSession(session?.id ?? "")).append(userMessage("more"));
    await store.close();
    const { code, err } = await here.run(["copy", "--to", other, "--update"]);
    expect(code).toBe("SESSIONS_LEFT");
    expect(err).toMatch(/with other content and was left\. Those that are only longer there can be copied in the other direction\./);
    expect((await here.run(["copy", "--from", other, "--update"])).exit).toBe(0);
  });

  test("--dry-run writes nothing, also no store", async () => {
    const { here, other } = await twoStores();
    const { out, exit } = await here.run(["copy", "--to", other, "--dry-run"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/would be copied to/);
    expect((await here.run(["sessions", "--store", other])).exit).not.toBe(0);
  });

  test("prints JSON with the digest of each session", async () => {
    const { here, other } = await twoStores();
    const printed = await here.json("copy", "--from", here.store, "--to", other);
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(printed).toMatchObject({
      from: urlWithoutPassword(here.store),
      to: other,
      sessions: [{ outcome: "copied", digest, difference: null, error: null }],
    });
  });

  test("takes sessions by name, and needs two stores", async () => {
    const { here, other } = await twoStores();
    expect((await here.run(["copy", "nothing-of-this-name", "--to", other])).code).toBe("SESSION_NOT_FOUND");
    const same = await here.run(["copy", "--to", here.store]);
    expect([same.exit, same.err]).toEqual([2, expect.stringContaining(`are both ${urlWithoutPassword(here.store)}. Name two stores.`)]);
    expect((await here.run(["copy"])).exit).toBe(2);
  });
});
