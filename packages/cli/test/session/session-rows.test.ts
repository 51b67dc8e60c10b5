import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchSessions, type SessionRow, sortSessions, toListedSession } from "../../src/session/session-rows.js";
import { unfinishedQuery } from "../../src/session/typed-text.js";
import { record } from "../picker/driven.js";

const shown = (rows: readonly SessionRow[]) =>
  rows.map(
    ({
      depth,
      session: {
        record: { title },
      },
    }) => `${"  ".repeat(depth)}${title}`,
  );
const NO_HITS = new Map();

describe("The order of the list", () => {
  it("puts forks below their parents, the newest thread first", () => {
    const sessions = [
      record("new fork", 1, { forkOf: "old" }),
      record("middle", 2),
      record("older fork", 5, { forkOf: "old" }),
      record("old", 9),
    ];
    expect(shown(sortSessions(sessions.map(toListedSession), "threads"))).toEqual(["old", "  new fork", "  older fork", "middle"]);
  });

  it("orders a thread by the newest activity of any fork in it", () => {
    const sessions = [
      record("deepest", 1, { forkOf: "fork" }),
      record("alone", 2),
      record("fork", 8, { forkOf: "root" }),
      record("root", 9),
    ];
    expect(shown(sortSessions(sessions.map(toListedSession), "threads"))).toEqual(["root", "  fork", "    deepest", "alone"]);
  });

  it("makes a fork whose parent is not listed a top-level row", () => {
    expect(shown(sortSessions([toListedSession(record("fork", 1, { forkOf: "nobody" }))], "threads"))).toEqual(["fork"]);
  });

  it("breaks a cycle of parents, and loses no session", () => {
    const sessions = [
      record("a", 1, { forkOf: "b" }),
      record("b", 2, { forkOf: "c" }),
      record("c", 3, { forkOf: "a" }),
      record("me", 4, { forkOf: "me" }),
    ];
    expect(
      shown(sortSessions(sessions.map(toListedSession), "threads"))
        .map((name) => name.trim())
        .sort(),
    ).toEqual(["a", "b", "c", "me"]);
  });

  it("sorts a chain of 20,000 forks without recursion", () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => toListedSession(record(`${at}`, at, at === 0 ? {} : { forkOf: `${at - 1}` })));
    expect(sortSessions(chain, "threads").at(-1)?.depth).toBe(19_999);
  });

  it("is flat by time and by name", () => {
    const sessions = [record("Zebra", 1), record("ant", 3), record("Éclair", 2, { forkOf: "Zebra" })].map(toListedSession);
    expect(shown(sortSessions(sessions, "newest"))).toEqual(["Zebra", "Éclair", "ant"]);
    expect(shown(sortSessions(sessions, "name"))).toEqual(["ant", "Éclair", "Zebra"]);
  });

  it("lists every session once, after its parent, for any forest", () => {
    const forest = fc.array(fc.record({ parent: fc.nat(30), hours: fc.nat(50) }), { maxLength: 30 });
    fc.assert(
      fc.property(forest, (nodes) => {
        const sessions = nodes.map(({ parent, hours }, at) => toListedSession(record(`${at}`, hours, { forkOf: `${parent}` })));
        const rows = sortSessions(sessions, "threads");
        expect(new Set(rows.map((row) => row.session)).size).toBe(sessions.length);
        for (const [at, row] of rows.entries()) if (row.parent !== null) expect(rows.indexOf(row.parent)).toBeLessThan(at);
      }),
    );
  });
});

describe("A search by name", () => {
  const found = (typed: string, ...titles: string[]) =>
    shown(
      matchSessions(
        titles.map((title, at) => toListedSession(record(title, at))),
        typed,
        NO_HITS,
      ).rows,
    );

  it("finds the whole name before beginnings, beginnings before the middle, and all words in any order last", () => {
    expect(found("parse", "my parse plan", "parser", "parse", "plan of a parse")).toEqual([
      "parse",
      "parser",
      "my parse plan",
      "plan of a parse",
    ]);
    expect(found("parse plan", "plan to parse", "the parse plan")).toEqual(["the parse plan", "plan to parse"]);
  });

  it("does not match scattered letters", () => {
    expect(found("psr", "parser")).toEqual([]);
  });

  it("ignores case and accents, and matches the words of a phrase", () => {
    expect(found('"CAFE au', "Café au lait")).toEqual(["Café au lait"]);
  });

  it("finds a session by the beginning of its id", () => {
    expect(found("id-par", "parser", "lexer")).toEqual(["parser"]);
  });
});

describe("The query while typing", () => {
  it("ends with a prefix where a search finds only whole words, except inside a phrase and in a question", () => {
    expect(unfinishedQuery("fix pars")).toBe("fix pars");
    expect(unfinishedQuery("p")).toBe("p*");
    expect(unfinishedQuery("how to fix the p")).toBe("how to fix the p");
    expect(unfinishedQuery("fix the p")).toBe("fix the p*");
    expect(unfinishedQuery("src/p")).toBe("src/p");
    expect(unfinishedQuery('"fix pars')).toBe('"fix pars');
    expect(unfinishedQuery('"fix parser"')).toBe('"fix parser"');
    expect(unfinishedQuery("fix ")).toBe("fix ");
  });
});
