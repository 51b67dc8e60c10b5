import type { SearchHit, Store } from "@bough/session-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PICKER_KEYS } from "../../src/picker/keys.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { rebindKeys } from "../../src/tui/key-table.js";
import { type Driven, HERE, memoryStore, pickerOn, record } from "./driven.js";

const SIZE = { columns: 80, rows: 24 };

let store: Store;
let picker: Driven;

beforeAll(loadExactWidths);

beforeEach(async () => {
  store = await memoryStore();
  picker = pickerOn(store, SIZE, { currentSessionId: "id-Parser" });
});

const three = () => picker.listed(record("Parser", 1), record("Lexer", 2), record("Printer", 3));

describe("Moving", () => {
  it("scrolls three rows with the wheel, and moves the selection only with the edge of the screen", () => {
    picker.listed(...Array.from({ length: 50 }, (_, at) => record(`s${at}`, at))).press("down");
    const wheel = (action: "wheelUp" | "wheelDown") => picker.event({ kind: "mouse", action, row: 5, column: 5 }).model;
    expect(wheel("wheelDown")).toMatchObject({ top: 3, selected: 3 });
    expect(wheel("wheelUp")).toMatchObject({ top: 0, selected: 3 });
  });

  it("moves by row and page and to both ends, and stops there", () => {
    picker.listed(...Array.from({ length: 50 }, (_, at) => record(`s${at}`, at)));
    const at = (...keys: string[]) => picker.press(...keys).selectedTitle;
    expect(at("down", "j")).toBe("s2");
    expect(at("up", "k", "up")).toBe("s0");
    expect(at("pagedown")).toBe("s19");
    expect(at("pageup")).toBe("s0");
    expect(at("G", "down")).toBe("s49");
    expect(at("g")).toBe("s0");
    expect(at("end")).toBe("s49");
    expect(at("home")).toBe("s0");
  });

  it("keeps the selected row in sight at every step", () => {
    picker.listed(...Array.from({ length: 50 }, (_, at) => record(`s${at}`, at)));
    for (const key of [...Array(49).fill("down"), ...Array(49).fill("up"), "G", "pageup"]) {
      picker.press(key);
      expect(picker.lines.some((line) => line.startsWith(">") && line.includes(`${picker.selectedTitle} `))).toBe(true);
    }
  });

  it("keeps the session selected, not the row, when more sessions arrive", () => {
    picker.listed(record("Lexer", 2), record("Printer", 3)).press("down");
    picker.listed(record("new one", 0), record("Lexer", 2), record("Printer", 3));
    expect(picker.selectedTitle).toBe("Printer");
  });

  it("keeps a change that arrives between two pages of a read", () => {
    const { round } = picker.listed(record("Lexer", 2)).press("x").model.lists.here;
    picker.event({ kind: "missing", id: "id-Lexer" });
    const page = { kind: "sessions", scope: "here", round: round + 1, held: new Set<string>(), nowMs: 0 } as const;
    picker.event({ ...page, records: [record("Old title", 1)], isLast: false });
    picker.event({ kind: "changed", record: { ...record("Old title", 1), title: "New title" }, what: "renamed" });
    picker.event({ ...page, records: [record("Printer", 3)], isLast: true });
    expect(picker.titles).toEqual(["New title", "Printer"]);
  });

  it("selects the newest session until the user moves", () => {
    picker.listed(record("Lexer", 2)).listed(record("new one", 0), record("Lexer", 2));
    expect(picker.selectedTitle).toBe("new one");
  });
});

describe("The search field", () => {
  it("types every letter, including those that are actions in the list", () => {
    three().press("/").type("qdrnsv?/ gG");
    expect(picker.model.search.field.text).toBe("qdrnsv?/ gG");
    expect(picker.screen.result(picker.model)).toBeUndefined();
  });

  it("moves the selection by the arrows, and opens by Enter", () => {
    three().press("/").type("er").press("down", "enter");
    expect(picker.selectedTitle).toBe("Lexer");
    expect(picker.wanted()).toContainEqual(expect.objectContaining({ kind: "check", record: expect.objectContaining({ id: "id-Lexer" }) }));
  });

  it("returns to the list with its results on Esc; a second Esc clears it, a third closes the picker", () => {
    three().press("/").type("lex").press("escape");
    expect([picker.model.mode.kind, picker.titles]).toEqual(["list", ["Lexer"]]);
    expect(picker.press("escape").titles).toEqual(["Parser", "Lexer", "Printer"]);
    expect(picker.screen.result(picker.press("escape").model)).toEqual({ kind: "cancelled" });
  });

  it("queries the index when typing pauses, and ignores stale results", () => {
    three().press("/").type("le");
    const searches = picker.wanted().filter((effect) => effect.kind === "search");
    expect(searches).toEqual([
      { kind: "search", query: "l", scope: "here", number: 1, delayMs: 120 },
      { kind: "search", query: "le", scope: "here", number: 2, delayMs: 120 },
    ]);
    const hit = {
      sessionId: "id-Printer",
      sessionTitle: "Printer",
      entryId: "e",
      seq: 1,
      type: "message",
      role: "user",
      createdAtMs: 0,
      isPrivate: false,
      snippet: "let it",
      matches: [[0, 3]],
      copies: [],
      score: null,
      label: null,
    } as const;
    const hits = new Map([["id-Printer", { hit, count: 2 }]]);
    picker.event({ kind: "hits", number: 1, hits, more: false, chosen: null });
    expect(picker.titles).toEqual(["Lexer"]);
    picker.event({ kind: "hits", number: 2, hits, more: false, chosen: null });
    expect(picker.titles).toEqual(["Lexer", "Printer"]);
    expect(picker.text).toContain("1 by name, 1 by text");
    expect(picker.text).toContain("2 hits  let it");
  });

  it("shows why a query is invalid, and still matches names", () => {
    picker.listed(record("-- notes", 1)).press("/").type("--");
    picker.event({ kind: "searchFailed", number: picker.model.search.number, isInvalid: true, reason: "it has no letter or digit" });
    expect(picker.titles).toEqual(["-- notes"]);
    expect(picker.text).toContain("messages were not searched: it has no letter or digit");
  });

  it("narrows the list by typed filters, in the order of the list, and names by both", () => {
    const of = (title: string, format: string, cwd: string) => ({
      ...record(title, 1),
      cwd,
      source: { format, path: "/sessions/1.jsonl", id: "1" },
    });
    picker.listed(of("Lexer", "claude", `${HERE}/api`), of("Lexer tests", "pi", HERE), of("Printer", "pi", `${HERE}/api`));
    picker.press("/").type("agent:pi");
    expect(new Set(picker.titles)).toEqual(new Set(["Lexer tests", "Printer"]));
    picker.type(" dir:API");
    expect(picker.titles).toEqual(["Printer"]);
    picker.press(..."dir:API".split("").map(() => "backspace")).type("lex");
    expect(picker.titles).toEqual(["Lexer tests"]);
  });

  it("shows the sessions of a model when the store has said which", () => {
    three().press("/").type("model:opus");
    expect(picker.titles).toEqual([]);
    const chosen = new Set(["id-Printer"]);
    picker.event({ kind: "hits", number: picker.model.search.number, hits: new Map(), more: false, chosen });
    expect(picker.titles).toEqual(["Printer"]);
  });

  it("receives text that is pasted into the list", () => {
    three().event({ kind: "paste", text: "lex" });
    expect([picker.model.mode.kind, picker.titles]).toEqual(["search", ["Lexer"]]);
  });

  it("searches again when the scope changes", () => {
    three().press("/").type("lex");
    picker.wanted();
    expect(picker.press("tab").wanted()).toMatchObject([
      { kind: "list", scope: "all" },
      { kind: "search", scope: "all", query: "lex" },
    ]);
  });
});

describe("Renaming", () => {
  it("starts with the old title, and saves the new one", () => {
    three().press("r").type("!").press("enter");
    expect(picker.wanted()).toContainEqual({ kind: "rename", id: "id-Parser", title: "Parser!" });
  });

  it("is cancelled by Esc", () => {
    three().press("r").type("!").press("escape");
    expect(picker.model.mode.kind).toBe("list");
    expect(picker.wanted().some(({ kind }) => kind === "rename")).toBe(false);
  });

  it("removes the title if it is empty", () => {
    three().press("r", "ctrl+u", "enter");
    expect(picker.wanted()).toContainEqual({ kind: "rename", id: "id-Parser", title: null });
  });
});

describe("Deleting", () => {
  it("asks first, with the title, the number of messages and the sessions of subagents", () => {
    three().press("down", "d");
    expect(picker.text).toContain('Delete "Lexer" with 4 messages permanently? y/n');
    picker.event({ kind: "subagents", id: "id-Lexer", count: 2 });
    expect(picker.lines.slice(1, 3).join(" ")).toContain("and 2 sessions of its subagents permanently? y/n");
  });

  it.each([
    [20, 24],
    [20, 12],
    [20, 8],
    [12, 8],
  ])("says how to answer on %d columns and %d rows", (columns, rows) => {
    three().press("down", "d").event({ kind: "resize", size: { columns, rows } });
    picker.event({ kind: "subagents", id: "id-Lexer", count: 12 });
    const question = picker.lines.slice(1, rows - 3);
    expect(question.join(" ")).toContain("y/n");
    if (rows >= 12)
      expect(question.join(" ")).toContain('Delete "Lexer" with 4 messages and 12 sessions of its subagents permanently? y/n');
    expect(picker.text).toContain("> ");
  });

  it("happens on y only", () => {
    three().press("down", "d", "x", "enter", "space", "n");
    expect(picker.wanted().some(({ kind }) => kind === "delete")).toBe(false);
    expect(picker.text).toContain("Nothing was deleted.");
  });

  it("selects the nearest session afterwards", () => {
    three().press("down", "delete", "y");
    expect(picker.wanted()).toContainEqual({ kind: "delete", id: "id-Lexer" });
    picker.event({ kind: "deleted", id: "id-Lexer", subagents: 0 });
    expect([picker.titles, picker.selectedTitle]).toEqual([["Parser", "Printer"], "Printer"]);
  });

  it("is refused for the open session, with the reason", () => {
    three().press("d");
    expect(picker.model.mode.kind).toBe("list");
    expect(picker.text).toContain('"Parser" is open here and cannot be deleted.');
  });

  it("shows the reason of a failure", () => {
    three().event({ kind: "failed", what: "Not deleted", reason: "the store can only be read" });
    expect(picker.text).toContain("Not deleted: the store can only be read");
  });
});

describe("Another program", () => {
  it("deletes a session: a notice names it, the list is read again, and the nearest row is selected", () => {
    three().press("down");
    picker.wanted();
    picker.event({ kind: "missing", id: "id-Lexer" });
    expect(picker.text).toContain('"Lexer" was deleted by another program.');
    expect(picker.selectedTitle).toBe("Printer");
    expect(picker.wanted()).toContainEqual({ kind: "list", scope: "here", round: 2 });
  });

  it("deletes a session: an open question about it closes", () => {
    three().press("down", "d").event({ kind: "missing", id: "id-Lexer" });
    expect(picker.model.mode.kind).toBe("list");
  });
});

describe("Another process that writes", () => {
  it("has the list read again: a new session appears, and the selected one stays selected", () => {
    three();
    const before = picker.selectedTitle;
    picker.wanted();
    picker.event({ kind: "storeChanged" });
    expect(picker.wanted()).toEqual([{ kind: "list", scope: "here", round: 2 }]);
    picker.listed(record("Checker", 0), record("Parser", 1), record("Lexer", 2), record("Printer", 3));
    expect(picker.titles[0]).toBe("Checker");
    expect(picker.selectedTitle).toBe(before);
  });

  it("has the other directory read again when it is shown", () => {
    three().press("tab").listed(record("Parser", 1)).press("tab");
    picker.wanted();
    picker.event({ kind: "storeChanged" }).wanted();
    expect(picker.press("tab").wanted()).toContainEqual({ kind: "list", scope: "all", round: 2 });
  });

  it("has model and messages of a session that went on read again, and keeps the messages until then", () => {
    three().press("v");
    const { id = "", number } = picker.model.preview;
    picker.event({ kind: "preview", number, messages: [{ role: "user", text: "the old end" }] });
    picker.event({ kind: "models", models: new Map([[id, "old-model"]]) });
    picker.event({ kind: "storeChanged" }).wanted();
    const records = picker.model.lists.here.sessions.map(({ record: one }) => (one.id === id ? { ...one, entryCount: 9 } : one));
    picker.listed(...records);
    expect(picker.text).toContain("the old end");
    expect(picker.wanted()).toEqual([
      expect.objectContaining({ kind: "preview", id, number: number + 1 }),
      expect.objectContaining({ kind: "models", ids: expect.arrayContaining([id]) }),
    ]);
  });
});

describe("Archived sessions", () => {
  const archived = () => record("Old", 3, { archivedAtMs: 1 });

  it("are hidden until the key that shows them", () => {
    picker.listed(record("Lexer", 2), archived());
    expect(picker.titles).toEqual(["Lexer"]);
    expect(picker.press("A").titles).toEqual(["Lexer", "Old"]);
    expect(picker.text).toContain("[archived] Old");
  });

  it("are unarchived by the key that archives", () => {
    picker.listed(record("Lexer", 2), archived()).press("A", "a", "down", "a");
    const changes = picker.wanted().filter(({ kind }) => kind === "archive");
    expect(changes).toEqual([
      { kind: "archive", id: "id-Lexer", archived: true },
      { kind: "archive", id: "id-Old", archived: false },
    ]);
  });
});

describe("An empty list", () => {
  it("names the key that shows all directories", () => {
    picker.listed();
    expect(picker.text).toContain("No sessions in this directory.");
    expect(picker.text).toContain("Tab shows all directories.");
    expect(picker.press("tab").wanted()).toContainEqual({ kind: "list", scope: "all", round: 1 });
  });

  it("explains an empty store", () => {
    picker.press("tab").listed();
    expect(picker.text).toContain("The store has no sessions yet.");
  });

  it("distinguishes no match from no sessions", () => {
    three().press("/").type("zzz");
    picker.event({ kind: "hits", number: picker.model.search.number, hits: new Map(), more: false, chosen: null });
    expect(picker.text).toContain("None of the 3 sessions in this directory matches.");
  });

  it("explains that all sessions are archived", () => {
    picker.listed(record("Old", 3, { archivedAtMs: 1 }));
    expect(picker.text).toContain("The only session here is archived.");
  });

  it("ignores keys that need a session", () => {
    picker.listed().press("enter", "r", "d", "a", "v", "e", "s", "G", "pagedown", "up");
    expect(picker.screen.result(picker.model)).toBeUndefined();
  });
});

describe("Results", () => {
  it("are a session, after a check that it exists", () => {
    three().press("enter");
    expect(picker.screen.result(picker.model)).toBeUndefined();
    expect(picker.screen.result(picker.event({ kind: "found", id: "id-Parser" }).model)).toEqual({ kind: "open", sessionId: "id-Parser" });
  });

  it("are a session at the best hit, if its text was searched and its name does not match", () => {
    three().press("/").type("zebra");
    const hit: SearchHit = {
      sessionId: "id-Parser",
      sessionTitle: "Parser",
      entryId: "e7",
      seq: 7,
      type: "message",
      role: "user",
      createdAtMs: 0,
      isPrivate: false,
      snippet: "a zebra",
      matches: [[2, 7]],
      copies: [],
      score: null,
      label: null,
    };
    const hits = new Map([["id-Parser", { hit, count: 2 }]]);
    picker.event({ kind: "hits", number: picker.model.search.number, hits, more: false, chosen: null }).press("enter");
    const opened = picker.event({ kind: "found", id: "id-Parser" }).model.result;
    expect(opened).toEqual({ kind: "open", sessionId: "id-Parser", hit: { entryId: "e7", query: "zebra" } });
  });

  it("are a new session, or a cancellation", () => {
    expect(picker.screen.result(three().press("n").model)).toEqual({ kind: "new" });
    expect(pickerOn(store, SIZE).press("q").model.result).toEqual({ kind: "cancelled" });
    expect(pickerOn(store, SIZE).press("/", "ctrl+c").model.result).toEqual({ kind: "cancelled" });
  });
});

describe("Keys", () => {
  it("can be rebound, and the help shows them", () => {
    const other = pickerOn(store, SIZE, { keys: rebindKeys(PICKER_KEYS, { delete: ["X"] }) }).listed(record("Lexer", 1));
    expect(other.press("d").model.mode.kind).toBe("list");
    expect(other.press("X").model.mode.kind).toBe("delete");
    expect(other.press("n", "?", "pagedown").text).toMatch(/X +delete it \(asks first\)/);
  });

  it("are all in the help, on any size of terminal", () => {
    picker.event({ kind: "resize", size: { columns: 40, rows: 10 } }).press("?");
    const seen = new Set(picker.lines);
    for (let at = 0; at < 60; at += 1) for (const line of picker.press("down").lines) seen.add(line);
    for (const { help } of PICKER_KEYS) expect([...seen].join(" ").replace(/\s+/g, " ")).toContain(help.split(" ")[0]);
    expect(picker.press("?").model.mode.kind).toBe("list");
  });

  it("do not read models of sessions that are not visible", () => {
    picker.listed(...Array.from({ length: 500 }, (_, at) => record(`s${at}`, at)));
    const asked = picker.wanted().flatMap((effect) => (effect.kind === "models" ? effect.ids : []));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(SIZE.rows);
  });
});
