import { describe, expect, test } from "vitest";
import { NOON, parserSession, world } from "../../world.js";

const idsIn = (out: string) => out.split("\n").flatMap((line) => /^(\w{4,}) {2}\d{4}/.exec(line)?.[1] ?? []);

describe("bough log", () => {
  test("prints the branch of the leaf with dates, the newest first, without tool results", async () => {
    const here = world();
    await parserSession(here);
    const { out, exit } = await here.run(["log", "parser"]);
    expect(exit).toBe(0);
    expect(out).toMatch(/^Parser {2}pars\n\nasst3 {2}2025-11-21 \d\d:00 {2}assistant ← leaf\n {4}replied in asst3\n\ncall /);
    expect(out).toContain("    [read src/call3.ts]");
    expect(idsIn(out)).toEqual(["asst3", "call", "user3", "asst1", "user1"]);
  });

  test("prints one line each, the oldest first, of another branch, or of all", async () => {
    const here = world();
    await parserSession(here);
    const ids = async (...args: readonly string[]) => idsIn((await here.run(["log", "parser", ...args, "--oneline"])).out);
    expect(await ids("--reverse")).toEqual(["user1", "asst1", "user3", "call", "asst3"]);
    expect(await ids("asst2")).toEqual(["asst2", "user2", "asst1", "user1"]);
    expect(await ids("--all")).toEqual(["asst3", "call", "user3", "asst2", "user2", "asst1", "user1"]);
    expect(await ids("--full")).toEqual(["asst3", "res3", "call", "user3", "asst1", "user1"]);
    expect(await ids("-n", "2")).toEqual(["asst3", "call"]);
    // The newest two, the older one first, as git prints them.
    expect(await ids("-n", "2", "--reverse")).toEqual(["call", "asst3"]);
  });

  test("prints the entries since a time and before one", async () => {
    const here = world();
    await parserSession(here);
    const at = new Date(NOON - 3_600_000 + 6000).toISOString();
    const ids = async (...args: readonly string[]) => idsIn((await here.run(["log", "parser", ...args, "--oneline"])).out);
    expect(await ids("--since", at)).toEqual(["asst3", "call"]);
    expect(await ids("--until", at)).toEqual(["user3", "asst1", "user1"]);
    expect((await here.run(["log", "parser", "--since", "never"])).err).toContain("--since never is not a time");
    expect((await here.run(["log", "parser", "--since", "1m"])).out).toContain("No entry matches");
  });

  test("fits every line into the width, with labels, and is JSON on request", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["label", "parser", "user3", "another", "way"]);
    for (const columns of [30, 45, 80]) {
      const { out } = await here.run(["log", "parser", "--oneline"], { columns });
      for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    }
    expect((await here.run(["log", "parser"])).out).toContain("user [another way]");
    expect(await here.json("log", "parser", "-n", "1")).toMatchObject({
      session: { title: "Parser" },
      entries: [{ id: "asst3", label: null }],
    });
  });

  test("refuses --all with an entry", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["log", "parser", "asst1", "--all"])).toMatchObject({ exit: 2, err: expect.stringContaining("--all") });
  });
});
