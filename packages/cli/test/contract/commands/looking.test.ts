import { writeFileSync } from "node:fs";
import { systemMessage, userMessage } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { longSession, TURNS } from "../../commands/long-session.js";
import { grow, growMany, parserSession, world } from "../../world.js";

describe("bough tree", () => {
  test("draws the newest session of the directory if none is named, and prints its name", async () => {
    const here = world();
    await parserSession(here);
    const { out, err, exit } = await here.run(["tree"]);
    expect(exit).toBe(0);
    expect(err).toBe("newest session of this directory: Parser (pars)\n");
    expect(out.split("\n").map((line) => line.trimEnd())).toEqual([
      "Parser  pars",
      "user1 • user: said in user1",
      "asst1 • assistant: replied in asst1 ├ 2",
      "user2 ├─ user: said in user2",
      "asst2 │  assistant: replied in asst2",
      "user3 • user: said in user3",
      "call  • assistant: [read src/call3.ts]",
      "asst3 • assistant: replied in asst3 ← leaf",
      "8 entries, 1 of them hidden; --all shows them",
      "",
    ]);
  });

  test("uses the newest of the store in a directory without sessions, with a note", async () => {
    const here = world();
    await parserSession(here);
    const { err, exit } = await here.run(["tree"], { cwd: "/elsewhere" });
    expect(exit).toBe(0);
    expect(err).toContain("no session of this directory; newest session of the store: Parser");
  });

  test("fits the terminal", async () => {
    const here = world();
    await parserSession(here);
    for (const line of (await here.run(["tree", "parser"], { columns: 30 })).out.split("\n").slice(1, -2))
      expect(line.length).toBeLessThanOrEqual(30);
  });

  test("prints every row, whole, where the output has no width", async () => {
    const here = world();
    await longSession(here);
    const rows = (out: string) => out.split("\n").filter((line) => line.includes("•"));
    const piped = await here.run(["tree", "long-session"]);
    expect(rows(piped.out).map((line) => line.trim().split(/\s+/)[0])).toEqual(
      Array.from({ length: TURNS }, (_, at) => [`u${at + 1}`, `c${at + 1}`, `a${at + 1}`]).flat(),
    );
    expect(piped.out).not.toContain("more entries");
    expect(piped.out).toContain("counts columns by the width of the tab");
    const onScreen = await here.run(["tree", "long-session"], { columns: 100 });
    expect(onScreen.out).toContain("more entries");
    expect(rows((await here.run(["tree", "long-session", "--width", "60"])).out)).toHaveLength(3 * TURNS);
  });

  test("keeps its title and its last line within a narrow width too", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["rename", "parser", "A title that is much longer than forty columns can hold on one line"]);
    const { out } = await here.run(["tree", "parser-session-1", "--width", "40"]);
    expect(
      out
        .trimEnd()
        .split("\n")
        .filter((line) => line.trimEnd().length > 40),
    ).toEqual([]);
  });

  test("shows no call under --no-tools, neither alone nor behind a text", async () => {
    const here = world();
    await parserSession(here);
    expect((await here.run(["tree", "parser", "--no-tools"])).out).not.toContain("[read");
  });

  test("distinguishes an empty tree from a filtered one", async () => {
    const here = world();
    await here.withStore((store) => store.createSession({ id: "no-entries", title: "Nothing yet" }));
    expect((await here.run(["tree", "no-entries"])).out).toContain("No entries yet.");
    await here.withStore(async (store) => {
      const session = await store.createSession({ id: "replies", title: "Replies" });
      await session.append(systemMessage("be kind"));
      await session.moveLeaf(null);
    });
    expect((await here.run(["tree", "replies", "--user"])).out).toContain("All 1 entry hidden by the filter; --all shows them");
  });

  test("refuses filters that exclude each other", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["tree", "parser", "--all", "--user"])).toMatchObject({ exit: 2, out: "" });
  });

  test("prints every row with its parent as JSON", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.json("tree", "parser")).toMatchObject({
      session: { id: "parser-session-1", title: "Parser" },
      leafId: "asst3",
      entries: [
        { id: "user1", parentId: null, label: null },
        { id: "asst1", parentId: "user1" },
        {},
        {},
        { id: "user3", parentId: "asst1" },
        {},
        {},
        {},
      ],
    });
  });

  test("exits without an error if the reader of its output exits", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["tree", "parser"], { readerLeavesAfter: 0 })).toMatchObject({ exit: 0, out: "", err: "" });
  });
});

describe("bough sessions", () => {
  test("lists conversations, newest first, and leaves out empty, archived and subagents' ones", async () => {
    const here = world();
    await here.withStore(async (store) => {
      await grow(store, "first-session-id", "u1", { title: "First", cwd: "/a" });
      await grow(store, "other-session-id", "u1 a1 u2", { cwd: "/b" });
      await store.createSession({ id: "empty-session-id" });
      const agent = await store.createSession({ id: "agent-session-id", kind: "subagent", title: "Agent" });
      await agent.append(userMessage("go"));
      const old = await grow(store, "stale-session-id", "u1", { title: "Old" });
      await store.archiveSession(old.id);
    });
    const { out } = await here.run(["sessions"]);
    expect(out.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["id", "title", "agent", "messages", "active", "directory"],
      ["othe", "said in u1", "bough", "3", "59m", "/b"],
      ["firs", "First", "bough", "1", "1h", "/a"],
      [""],
    ]);
    const all = (await here.run(["sessions", "--archived", "--subagents", "--empty"])).out;
    for (const title of ["[archived] Old", "[subagent] Agent", "(untitled)"]) expect(all).toContain(title);
    expect((await here.run(["sessions", "--here"], { cwd: "/a" })).out).not.toContain("said in u1");
  });

  test.each([80, 120])("gives titles two fifths of %i columns, and shows the end of a directory", async (columns) => {
    const here = world();
    const title = "A refactoring of the lexer that keeps the columns of tabs as they were before";
    await here.withStore(async (store) => {
      const first = await grow(store, "copilot_stage0_linux", "u1 a1", { title, cwd: "/workspaces/customers/north/pi-mono" });
      await store.forkSession(first.id, { title });
    });
    const { out } = await here.run(["sessions"], { columns });
    const [heading = "", ...rows] = out.trimEnd().split("\n");
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(columns);
    for (const row of rows) {
      expect(row).toContain(title.slice(0, Math.floor(columns * 0.4) - 1));
      if (heading.includes("directory")) expect(row).toContain("pi-mono");
    }
    expect(heading).toContain("fork of");
  });

  test("names of several sessions are listed with ids and forks, and the message says to use the id", async () => {
    const here = world();
    await here.withStore(async (store) => {
      for (const id of ["one-session", "two-session"]) await grow(store, id, "u1", { title: "List the files" });
    });
    const { exit, err } = await here.run(["tree", "List the files"]);
    expect([exit, err]).toEqual([4, expect.stringContaining("or the id that the list shows")]);
    for (const id of ["one-", "two-"]) expect(err).toContain(id);
  });

  test("explains why a list is empty and what to do", async () => {
    const here = world();
    await here.withStore(async () => undefined);
    expect((await here.run(["sessions"])).out).toBe("The store is empty. Import sessions: bough import.\n");
    await parserSession(here);
    expect((await here.run(["sessions", "--here"], { cwd: "/nowhere" })).out).toContain("Omit --here to list those of all directories");
  });

  test("reports that there are more than the limit", async () => {
    const here = world();
    await here.withStore(async (store) => {
      for (const name of ["one", "two", "three"]) await grow(store, `${name}-session`, "u1");
    });
    expect((await here.run(["sessions", "--limit", "2"])).out).toContain("The newest 2 sessions; --limit N lists more");
    expect((await here.run(["sessions", "--limit", "1"])).out).toContain("The newest session; --limit N lists more");
    expect(await here.json("sessions", "--limit", "2")).toMatchObject({ sessions: [{}, {}], more: true });
  });

  test("never lets a title act on the terminal", async () => {
    const here = world();
    await here.withStore(async (store) => grow(store, "evil-session", "u1", { title: "a\u001b]0;owned\u0007b", cwd: "/\u202ecwd" }));
    const { out } = await here.run(["sessions"]);
    expect(out).toContain("/\\u{202e}cwd");
    expect(out).not.toMatch(/[\u001b\u0007\u202e]/);
    const missing = await here.run(["tree", "x\u001b[2J"]);
    expect(missing.code).toBe("SESSION_NOT_FOUND");
    expect(missing.err).toContain("x␛[2J");
  });
});

describe("bough show", () => {
  test("shows an entry in full, by id, prefix, label or mark", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["label", "parser", "user2", "old", "way"]);
    const { out } = await here.run(["show", "parser", "old way"]);
    expect(out).toMatch(/^user {2}user2 {2}2025-11-21 \d\d:\d\d\nparent: asst1\nlabel: old way\nsaid in user2\n$/);
    expect((await here.run(["show", "parser", "~1"])).out).toContain("src/call3.ts");
    expect(await here.json("show", "parser", "@root")).toMatchObject({
      sessionId: "parser-session-1",
      label: null,
      entry: { id: "user1" },
    });
  });

  test("counts all subagents, however many they are", async () => {
    const here = world();
    await parserSession(here);
    const parent = { sessionId: "parser-session-1", entryId: null, toolCallId: null };
    await here.withStore((store) => growMany(store, 1001, () => ({ kind: "subagent", parent })));
    expect((await here.run(["show", "parser"])).out).toMatch(/forks and subagents: 1001\n(?: {2}.*\n){20} {2}and 981 more\n/);
  });

  test("tells what is known of a session", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["fork", "parser", "--title", "Second try"]);
    const { out } = await here.run(["show", "parser-session-1"]);
    expect(out).toContain("8 entries, 7 messages");
    expect(out).toContain("leaf: asst3");
    expect(out).toMatch(/branch points: 1\n {2}asst1 {2}assistant: replied in asst1/);
    expect(out).toMatch(/ends of branches: 2\n/);
    expect(out).toMatch(/forks and subagents: 1\n {2}\S{4} {2}Second try/);
  });
});

describe("bough context", () => {
  test("prints every message with its entry and rough tokens, and the total", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["context", "parser"]);
    expect(out).toContain("user  user3  ~8 tokens\nsaid in user3\n");
    expect(out).toContain("6 messages, ~51 tokens in total (estimated)");
    expect(out).not.toContain("user2");
  });

  test("shows on one line what a summary says, not its first heading", async () => {
    const here = world();
    await parserSession(here);
    await here.withStore(async (store) => {
      const session = await store.openSession("parser-session-1");
      const summary = "## Goal\n\nMake the lexer read tabs.\n\n## Done\n\n- Nothing yet";
      await session.append({ type: "compaction", summary, firstKeptEntryId: "asst3", tokensBefore: 100 });
    });
    const { out } = await here.run(["context", "parser", "--brief"]);
    expect(out).toMatch(/^compaction summary {2}\S+ {2}~\d+ tokens {2}Make the lexer read tabs\. Nothing yet$/m);
  });

  test("prints it for another entry, on one line each", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["context", "parser", "--at", "asst2", "--brief"]);
    expect(
      out
        .split("\n")
        .slice(1, 5)
        .map((line) => line.split("  ")[1]),
    ).toEqual(["user1", "asst1", "user2", "asst2"]);
  });

  test.each([
    ["openai", [{ role: "user" }, { role: "assistant" }, { role: "user" }, { role: "assistant", tool_calls: [{}] }, { role: "tool" }, {}]],
    ["anthropic", { messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }, { role: "assistant" }, { role: "user" }, {}] }],
    ["responses", {}],
    ["ai-sdk", {}],
    ["json", { entries: ["user1", "asst1", "user3", "call3", "res3", "asst3"], roughTokens: { total: 51 } }],
  ])("prints it as %s", async (format, shape) => {
    const here = world();
    await parserSession(here);
    expect(JSON.parse((await here.run(["context", "parser", "--format", format])).out)).toMatchObject(shape);
  });

  test("refuses --json with another format", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["context", "parser", "--json", "--format", "openai"])).toMatchObject({ exit: 2, out: "" });
  });
});

describe("bough search", () => {
  test("shows the best hits with their sessions, and how many there are", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["search", "replied"], { color: true });
    expect(out).toContain("Parser");
    expect(out).toContain("\u001b[1;33mreplied\u001b[22;39m in asst1");
    expect(out).toContain("3 matches");
    const few = await here.run(["search", "replied", "--limit", "1"]);
    expect(few.out).toContain("3 matches, the best 1 printed; --all prints all");
    expect((await here.run(["search", "replied", "--limit", "1", "--all"])).out.match(/replied in/g)).toHaveLength(3);
  });

  test("has one heading for each session, dates, short ids, and the command that opens the first hit", async () => {
    const here = world();
    await parserSession(here);
    await here.withStore((store) => grow(store, "second-session", "u1", { title: "Second" }));
    const { out } = await here.run(["search", "said"]);
    expect(out.match(/^Parser/gm)).toHaveLength(1);
    expect(out.match(/^Second/gm)).toHaveLength(1);
    expect(out).toMatch(/^ {2}user\d {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}user$/m);
    expect(out).toMatch(/^Open the first in the tree: bough tree (seco|pars) u\w*\d -i$/m);
  });

  test("finds parts of words, what is typed literally, and tells what it made of an open quotation mark", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.json("search", "eplie")).toMatchObject({ total: 3, matched: { kind: "all" } });
    expect(await here.json("search", "C++")).toMatchObject({ total: 0 });
    expect(await here.json("search", "/repl[i]ed/", "--in", "prose", "--agent", "bough")).toMatchObject({ total: 3 });
    expect((await here.run(["search", '"replied i'])).out).toContain(
      'The quotation mark is not closed: "replied i" is searched as a phrase.',
    );
  });

  test("narrows by session, role, path and time", async () => {
    const here = world();
    await parserSession(here);
    await here.withStore((store) => grow(store, "second-session", "u1", { title: "Second" }));
    const total = async (...args: readonly string[]) => (await here.json("search", ...args)) as { readonly total: number };
    expect(await total("said")).toMatchObject({ total: 4 });
    expect(await total("said", "--session", "second")).toMatchObject({ total: 1 });
    expect(await total("in", "--role", "assistant", "--session", "parser")).toMatchObject({ total: 3 });
    expect(await total("call3", "--path", "src/call3.ts")).toMatchObject({ total: 1 });
    expect(await total("said", "--since", "30m")).toMatchObject({ total: 0 });
    expect(await total("said", "--until", "30m")).toMatchObject({ total: 4 });
  });

  test("says of a search that found nothing how many matches there are without each filter", async () => {
    const here = world();
    await parserSession(here);
    const { out } = await here.run(["search", "replied role:user", "--path", "nowhere.ts"]);
    expect(out.trimEnd().split("\n").slice(1)).toEqual(["Without the filter path, role: 3 matches."]);
    const one = await here.run(["search", "replied", "--role", "user", "--type", "message"]);
    expect(one.out.trimEnd().split("\n").slice(1)).toEqual([
      "Without the filter role: 3 matches.",
      "Without the filter role, type: 3 matches.",
    ]);
    expect((await here.run(["search", "wombat", "--role", "user"])).out).not.toContain("Without");
  });

  test("prints an entry that its label finds", async () => {
    const here = world();
    await parserSession(here);
    await here.run(["label", "pars", "asst2", "golden moment"]);
    expect((await here.run(["search", "golden moment"])).out).toContain("[golden moment] replied in asst2");
    expect(await here.json("search", "golden")).toMatchObject({ total: 1, hits: [{ entryId: "asst2", label: "golden moment" }] });
    await here.run(["label", "pars", "asst2", "--remove"]);
    expect((await here.run(["search", "golden moment"])).out).toContain("No matches.");
  });

  test("searches a name of a filter without a value as a word", async () => {
    const here = world();
    await here.withStore(async (store) => {
      const session = await store.createSession({ id: "trace" });
      await session.append({ ...userMessage("Traceback in parser: no model"), id: "e1" });
      await session.append({ ...userMessage("Traceback of the parser"), id: "e2" });
    });
    const found = async (query: string) =>
      ((await here.json("search", query, "--exact")) as { readonly hits: readonly { readonly entryId: string }[] }).hits.map(
        ({ entryId }) => entryId,
      );
    expect(await found("Traceback in: parser")).toEqual(["e1"]);
    expect(await found("model:")).toEqual(["e1"]);
  });

  test("takes an agent that a session of the store is of, as --agent does", async () => {
    const here = world();
    await parserSession(here);
    await here.withStore(async (store) => {
      const payload = { type: "message", message: { role: "user", content: "said in mine" } } as const;
      const entry = { kind: "entry", line: 1, id: "m1", parentId: null, createdAtMs: 1, payload } as const;
      const header = { sessionId: "of-mine", kind: "conversation" } as const;
      await store.importSession({ header, records: () => [entry] }, { format: "mine", path: "/mine/1.txt" });
    });
    expect(await here.json("search", "said agent:mine")).toMatchObject({ total: 1 });
    expect(await here.json("search", "said agent:mine,bough")).toMatchObject({ total: 4 });
    const { exit, err } = await here.run(["search", "said agent:pi,nobody"]);
    expect(exit).toBe(2);
    expect(err).toMatch(/the agent nobody is unknown: choose from claude, .*, bough, mine;/);
  });

  test.each([
    [["search", "x", "--role", "robot"], 2, "Choose from system, user"],
    [["search", "x", "--since", "yesterday"], 2, "is not a time"],
    [["search", "x", "--limit", "0"], 2, "above 0"],
    [["search", '""'], 2, "Cannot search"],
    [["search", "--path", "src/a.ts", "path:b.ts x"], 2, "the path cannot be both src/a.ts and b.ts: leave one out"],
    [["search", "--tool", "bash", "tool:read x"], 2, "the tool cannot be both bash and read"],
    [["search", "dir:api dir:web x"], 2, "dir:api and dir:web cannot both hold"],
    [["search", "/a(b/"], 2, "unterminated group at character 2"],
  ])("refuses %j with %i", async (args, code, message) => {
    const here = world();
    await parserSession(here);
    const { exit, err, out } = await here.run(args);
    expect({ exit, out }).toEqual({ exit: code, out: "" });
    expect(err).toContain(message);
  });

  test("explains how to search if nothing is found", async () => {
    const here = world();
    await parserSession(here);
    expect(await here.run(["search", "wombat"])).toMatchObject({ exit: 0, out: expect.stringContaining("No matches.") });
  });
});

describe("bough stats", () => {
  test("counts entries by type and tokens by model", async () => {
    const here = world();
    await parserSession(here);
    await here.withStore(async (store) => {
      const session = await store.openSession("parser-session-1");
      const usage = { input: 1200, output: 30, cost: { total: 0.5 } };
      await session.append({
        type: "message",
        message: { role: "assistant", content: "x", provider: "anthropic", model: "claude", usage },
      });
    });
    const { out } = await here.run(["stats", "parser"]);
    expect(out).toContain("1 session, 9 entries, 8 messages");
    expect(out).toMatch(/message +9/);
    expect(out).toMatch(/anthropic\/claude +1 +1,200 +30 +0 +0 +\$0\.5000/);
    expect(await here.json("stats")).toMatchObject({ sessions: 1, entries: 9 });
  });
});

test("bough demo ends with the error of a store that cannot be opened, before it prints anything", async () => {
  const here = world();
  writeFileSync(here.path("file"), "");
  const { exit, code, out } = await here.run(["demo", "--store", here.path("file/sessions.db")]);
  expect({ exit, code, out }).toEqual({ exit: 7, code: "STORE_UNAVAILABLE", out: "" });
});
