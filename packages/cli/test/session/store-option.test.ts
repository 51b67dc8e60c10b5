import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { grow, type World, world } from "../world.js";

const NAMES = Array.from({ length: 40 }, (_one, at) => `user${at} asst${at}`).join(" ");

/** A store that only `--store` names, with a session that is long enough to compact. */
async function otherStore(): Promise<World> {
  const here = world();
  await here.withStore(async (store) => {
    await grow(store, "parser", NAMES, { title: "Parser" });
  });
  return here;
}

const COMMANDS: readonly (readonly string[])[] = [
  ["go", "parser", "@root"],
  ["fork", "parser"],
  ["compact", "parser", "--extract", "--keep", "0"],
];

describe("a command that the output names is of the store that --store names", () => {
  test.each(COMMANDS)("bough %s %s", async (...args) => {
    const here = await otherStore();
    const env = { BOUGH_STORE: join(here.folder, "default.db") };
    const { out, exit } = await here.run([...args, "--store", "sessions.db"], { env });
    expect(exit).toBe(0);
    const named = [...out.matchAll(/^[A-Z][a-z ]+: bough (.*)$/gm)].map(([, command = ""]) => command.split(" "));
    expect(named).not.toEqual([]);
    for (const command of named) expect(await here.run(command, { env })).toMatchObject({ exit: 0, err: "" });
  });

  test.each([
    ["checkpoints", "bough compact parser"],
    ["search", "bough tree pars user1 -i"],
  ])("bough %s", async (command, named) => {
    const here = await otherStore();
    const { out } = await here.run([command, ...(command === "search" ? ["said in user1"] : ["parser"]), "--store", "sessions.db"]);
    expect(out).toContain(`${named} --store sessions.db\n`);
  });

  test("and of the default store without the option", async () => {
    const here = await otherStore();
    expect((await here.run(["go", "parser", "@root"])).out).toMatch(/^Back: bough undo pars$/m);
  });

  test("without the password of a server", async () => {
    const here = await otherStore();
    const url = "postgres://ada:secret@127.0.0.1:1/agents?connect_timeout=1";
    const { err } = await here.run(["import", "--store", url, here.path("missing.jsonl")]);
    expect(err).not.toContain("secret");
  });
});
