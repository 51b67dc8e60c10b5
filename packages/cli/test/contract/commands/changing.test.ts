import { userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { grow, parserSession, type World, world } from "../../world.js";

async function leafOf(here: World): Promise<unknown> {
  return ((await here.json("tree", "parser-session-1")) as { readonly leafId: unknown }).leafId;
}

describe("bough go and undo", () => {
  test("move the leaf, back, and forth again", async () => {
    const here = world();
    await parserSession(here);
    const went = await here.run(["go", "parser", "asst2"]);
    expect(went.out).toBe("leaf: asst2 (assistant: replied in asst2)\nBack: bough undo pars\n");
    expect(await leafOf(here)).toBe("asst2");
    await here.run(["undo", "parser"]);
    expect(await leafOf(here)).toBe("asst3");
    await here.run(["undo", "parser", "--redo"]);
    expect(await leafOf(here)).toBe("asst2");
  });

  test("go before the first entry with --start", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.json("go", "parser", "--start")).toEqual({ sessionId: "parser-session-1", leafId: null, previousLeafId: "asst3" });
  });

  test.each([[["go", "parser"]], [["go", "parser", "user1", "--start"]]])("refuse %j", async (args) => {
    const here = world();
    await parserSession(here);
    expect(await here.run(args)).toMatchObject({ exit: 2, out: "" });
  });

  test("say with 6 that nothing is left to undo", async () => {
    const here = world();
    await here.withStore((store) => grow(store, "plain-session", "u1"));
    expect(await here.run(["undo", "plain"])).toMatchObject({
      exit: 5,
      code: "NOTHING_TO_UNDO",
      out: "",
      err: "bough: No move of the leaf is left to undo.\n",
    });
    expect((await here.run(["undo", "plain", "--redo"])).code).toBe("NOTHING_TO_UNDO");
  });

  test("undo no move of an unnamed session of another directory", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["undo"], { cwd: "/elsewhere" })).toMatchObject({ exit: 4, code: "NO_SESSION", out: "" });
    expect(await leafOf(here)).toBe("asst3");
  });
});

describe("bough label", () => {
  test("sets, prints, replaces and removes a label without moving the leaf", async () => {
    const here = world();
    await parserSession(here);
    expect((await here.run(["label", "parser", "user2", "first", "try"])).out).toBe("[first try]  user2 (user: said in user2)\n");
    expect((await here.run(["label", "parser", "first try"])).out).toBe("[first try]  user2 (user: said in user2)\n");
    expect(await here.json("label", "parser", "user2", "again")).toMatchObject({ entryId: "user2", label: "again" });
    expect((await here.run(["label", "parser", "user2", "--remove"])).out).toBe("no label  user2 (user: said in user2)\n");
    expect(await leafOf(here)).toBe("asst3");
  });

  test("refuses a text together with --remove", async () => {
    const here = world();
    await parserSession(here);
    expect((await here.run(["label", "parser", "user2", "x", "--remove"])).exit).toBe(2);
    for (const empty of ["", "  "])
      expect(await here.run(["label", "parser", "user2", empty])).toMatchObject({
        exit: 2,
        err: expect.stringContaining("label is empty"),
      });
  });
});

describe("bough fork", () => {
  test("copies a path into a new session that records its origin", async () => {
    const here = world();
    await parserSession(here);
    const { session } = (await here.json("fork", "parser", "--at", "asst2", "--title", "Again")) as { session: Record<string, unknown> };
    expect(session).toMatchObject({ title: "Again", entryCount: 4, parent: { sessionId: "parser-session-1", entryId: "asst2" } });
  });
});

describe("bough rename and archive", () => {
  test("give a title of several words, and take it away", async () => {
    const here = world();
    await parserSession(here);
    expect((await here.run(["rename", "parser", "Fix", "the", "lexer"])).out).toBe("Fix the lexer (pars)\n");
    expect((await here.run(["rename", "lexer", "--remove"])).out).toBe("said in user1 (pars)\n");
    expect((await here.run(["rename", "parser-session-1"])).exit).toBe(2);
    expect((await here.run(["rename", "parser-session-1", "x", "--remove"])).exit).toBe(2);
  });

  test("put a session away and back", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["archive", "parser"]);
    expect((await here.run(["sessions"])).out).toContain("There are only archived");
    await here.run(["archive", "parser", "--undo"]);
    expect((await here.run(["sessions"])).out).toContain("Parser");
  });
});

describe("bough delete", () => {
  test("also deletes the sessions of its subagents, but not forks", async () => {
    const here = world();
    await parserSession(here);
    await here.withStore(async (store) => {
      const parent = { sessionId: "parser-session-1", entryId: null, toolCallId: null };
      const agent = await store.createSession({ id: "agent", kind: "subagent", parent });
      await agent.append(userMessage("Look it up"));
      await store.forkSession("parser-session-1", { id: "fork" });
    });
    const { out } = await here.run(["delete", "parser-session-1", "--yes"]);
    expect(out).toBe("deleted: Parser (pars), 8 entries, and 1 session of its subagents\n");
    const left = JSON.parse((await here.run(["sessions", "--subagents", "--json"])).out) as {
      readonly sessions: readonly { readonly id: string }[];
    };
    expect(left.sessions.map(({ id }) => id)).toEqual(["fork"]);
  });

  test("deletes the rest if another process has deleted a subagent's session meanwhile", async () => {
    const here = world();
    await parserSession(here);
    const parent = { sessionId: "parser-session-1", entryId: null, toolCallId: null };
    await here.withStore(async (store) => {
      for (const id of ["agent-1", "agent-2"]) await store.createSession({ id, kind: "subagent", parent });
    });
    const answer = async () => {
      await here.withStore((store) => store.deleteSession("agent-1"));
      return "y";
    };
    expect((await here.run(["delete", "parser"], { answer })).exit).toBe(0);
    expect(await here.json("sessions", "--subagents", "--empty")).toMatchObject({ sessions: [] });
  });

  test("asks, and deletes on yes only", async () => {
    const here = world();
    await parserSession(here);
    const no = await here.run(["delete", "parser"], { answer: "" });
    expect(no).toMatchObject({
      exit: 10,
      code: "DECLINED",
      out: "",
      asked: ["Delete Parser (pars), 8 entries? This cannot be undone. [y/N] "],
    });
    expect((await here.run(["delete", "parser"], { answer: "y" })).out).toBe("deleted: Parser (pars), 8 entries\n");
    expect((await here.run(["show", "parser"])).code).toBe("SESSION_NOT_FOUND");
  });

  test("needs --yes without a terminal", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["delete", "parser"])).toMatchObject({ exit: 10, code: "CONFIRMATION_NEEDED", out: "" });
    expect((await here.run(["delete", "parser", "--yes"])).exit).toBe(0);
  });
});
