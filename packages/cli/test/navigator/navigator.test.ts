import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assistantMessage, userMessage } from "@bough/session-core";
import { describe, expect, it } from "vitest";
import { hitsEvent } from "./driven.js";
import { opened, selected } from "./opened.js";

/** Two branches below a2; the leaf is the end of the second. */
const TWO = "u1 a1 u2 a2 u3 a3 <a2 u4 call5 res5 a5";

describe("moving in the list", () => {
  it("opens at the current position", async () => {
    const { driven } = await opened(TWO);
    expect(selected(driven)).toBe("a5");
  });

  it.each<[readonly string[], string]>([
    [["up"], "call5"],
    [["k", "k"], "u4"],
    [["g"], "u1"],
    [["home", "G"], "a5"],
    [["g", "up"], "a5"],
    [["G", "down"], "u1"],
    [["pageup"], "u1"],
    [["g", "pagedown"], "a5"],
    [["g", "."], "a5"],
    [["p"], "a2"],
    [["g", "n"], "a2"],
    [["g", "]"], "a2"],
    [["["], "a2"],
  ])("%j leads to %s", async (keys, id) => {
    const { driven } = await opened(TWO);
    expect(selected(driven.press(...keys))).toBe(id);
  });

  it("shows a notice if there is no further branch point", async () => {
    const { driven } = await opened("u1 a1");
    expect(driven.press("n").text).toContain("No further branch point.");
  });
});

describe("folding", () => {
  it("folds a segment from any row in it, goes to the previous one, and returns", async () => {
    const { driven } = await opened(TWO);
    driven.press("ctrl+left");
    expect(selected(driven)).toBe("u4");
    expect(driven.text).toContain("(+2)");
    expect(selected(driven.press("alt+left"))).toBe("u1");
    driven.press("alt+right", "alt+right");
    expect(selected(driven)).toBe("u4");
    expect(driven.press("ctrl+right").text).not.toContain("(+2)");
  });

  it("selects the folded row instead of a row inside the fold", async () => {
    const { driven } = await opened(TWO);
    driven.press("g", "space");
    expect(selected(driven)).toBe("u1");
    expect(driven.text).toContain("1/1");
    expect(driven.press("space").text).not.toContain("(+");
  });
});

describe("filters", () => {
  it.each<[readonly string[], string, number]>([
    [[], "[default]", 9],
    [["ctrl+t"], "[no-tools]", 8],
    [["ctrl+u"], "[user]", 5],
    [["ctrl+a"], "[all]", 10],
    [["ctrl+l"], "[labeled]", 1],
    [["ctrl+s"], "[summaries]", 1],
    [["ctrl+t", "ctrl+t"], "[default]", 9],
    [["ctrl+o"], "[no-tools]", 8],
    [["O"], "[all]", 10],
  ])("%j shows %s, %d rows", async (keys, filter, rows) => {
    const { driven } = await opened(TWO);
    const text = driven.press(...keys).text;
    expect(text).toContain(filter);
    expect(text).toMatch(new RegExp(`\\d+/${rows}\\b`));
  });

  it("keeps the selection, or goes to its nearest shown ancestor", async () => {
    const { driven } = await opened(TWO);
    driven.press("ctrl+a", "up");
    expect(selected(driven)).toBe("res5");
    expect(selected(driven.press("ctrl+d"))).toBe("call5");
  });
});

describe("a group of calls", () => {
  it("lists its replies in the preview, before the last one in full", async () => {
    const { driven } = await opened("u1 call1 res1 call2 res2 call3 res3 a1");
    expect(driven.press("up").text).toContain("▸ 3 calls: read 3");
    driven.press("v");
    await driven.until(({ preview }) => preview.lines !== null);
    expect(driven.text).toContain("3 replies; the last one follows in full");
    for (const call of ["[read src/call1.ts]", "[read src/call2.ts]", "[read src/call3.ts]"]) expect(driven.text).toContain(call);
  });
});

describe("search", () => {
  it("types letters into the field, also those that are keys of the list", async () => {
    const { driven } = await opened(TWO);
    driven.press("/").type("qgn? x");
    expect(driven.model.search?.field.text).toBe("qgn? x");
    expect(driven.result).toBeUndefined();
  });

  it("searches whole texts, shows the hits only, and jumps between them", async () => {
    const { driven } = await opened(TWO);
    driven.press("/").type("replied");
    await driven.until(({ search }) => search?.hits?.length === 4);
    expect(driven.text).toContain("4/4 of 10 entries");
    expect(driven.text).toContain("hit 4 of 4");
    driven.press("enter", "g", "n");
    expect(selected(driven)).toBe("a2");
    expect(selected(driven.press("n"))).toBe("a3");
    expect(selected(driven.press("n"))).toBe("a5");
    expect(selected(driven.press("p", "p"))).toBe("a2");
  });

  it("shows the hits only in a session without branches too, and their ancestors on a key", async () => {
    const { driven } = await opened("u1 a1 u2 a2 u3 call4 res4 a4");
    driven.press("/").type("replied");
    await driven.until(({ search }) => search?.hits?.length === 3);
    const rows = () => driven.text.split("\n").filter((line) => / (?:user|assistant): /.test(line));
    expect(rows().every((line) => line.includes("replied"))).toBe(true);
    expect(rows()).toHaveLength(3);
    expect(driven.text).toContain("3/3 of 8 entries");
    driven.press("enter", "a");
    expect(rows()).toHaveLength(7);
    driven.press("a");
    expect(rows()).toHaveLength(3);
  });

  it("begins a row where the words stand, and opens the preview there with all of them marked", async () => {
    const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at} of the file`).join("\n");
    const text = `${lines(0, 60)}\n  startThemeWatcher(); return;\n${lines(60, 90)}\nthe watcher() stops\n`;
    const { driven } = await opened(async (store) => {
      const session = await store.createSession({ title: "Theme" });
      await session.append({ ...userMessage("Fix the theme watcher"), id: "u1" });
      await session.append({ ...assistantMessage(text.replace("startThemeWatcher()", "start(watcher)")), id: "a1" });
      await session.append({ ...userMessage("Thanks"), id: "u2" });
      return session;
    });
    driven.press("v", "/").type("watcher");
    await driven.until(({ preview }) => preview.places.length > 0 && preview.entryId === "a1");
    expect(driven.text).toContain("assistant: …file start(watcher); return; line 60 of");
    expect(driven.text).toContain("match 1 of 2 · hit 2 of 2");
    expect(driven.text).toContain("  start(watcher); return;");
    driven.press("enter", "n");
    expect(driven.text).toContain("the watcher() stops");
    expect(driven.text).toContain("match 2 of 2 · hit 2 of 2");
    driven.press("n");
    await driven.until(({ preview }) => preview.goesTo === "keep" && preview.entryId === "u1");
    expect(driven.text).toContain("match 1 of 1 · hit 1 of 2");
    driven.press("p");
    await driven.until(({ preview }) => preview.goesTo === "keep" && preview.entryId === "a1");
    expect(driven.text).toContain("match 2 of 2 · hit 2 of 2");
    driven.press("escape");
    await driven.until(({ preview }) => preview.places.length === 0);
  });

  it("finds labels, and output that a filter hides", async () => {
    const { driven, session } = await opened(TWO);
    await session.labels.set("u2", "before rewrite");
    driven.press("/").type("output");
    await driven.until(({ search }) => search?.hits?.length === 1);
    expect(selected(driven)).toBe("res5");
  });

  it("distinguishes no hits from an empty session and from a filter", async () => {
    const { driven } = await opened(TWO);
    driven.press("/").type("zebra");
    await driven.until(({ search }) => search?.hits !== null);
    expect(driven.text).toContain("No hits.");
    expect(selected(driven.press("escape"))).toBe("a5");
    const { driven: empty } = await opened(async (store) => store.createSession({ title: "Empty" }));
    expect(empty.text).toContain("No entries yet.");
  });

  it("shows why a query is invalid, and keeps the hits", async () => {
    const { driven } = await opened(TWO);
    driven.press("/").type("*");
    await driven.until(({ search }) => search?.problem !== null);
    expect(driven.text).toMatch(/^\/ \* +\S/m);
  });

  it("shows the hits of the newest query only", async () => {
    const { driven } = await opened(TWO);
    driven.press("/").type("a");
    driven.event(hitsEvent(0, ["u1"]));
    expect(driven.model.search?.hits).toBeNull();
  });

  it("ends by Esc, from the field and from the list, before Esc closes", async () => {
    const { driven } = await opened(TWO);
    driven.press("/").type("said");
    await driven.until(({ search }) => search?.hits !== null);
    driven.press("enter", "escape");
    expect(driven.model.search).toBeNull();
    expect(driven.result).toBeUndefined();
    expect(driven.press("escape").result).toEqual({ kind: "closed" });
  });
});

describe("going to an entry", () => {
  it("asks about the branch that is left, and returns to the same row with Esc", async () => {
    const { driven, session } = await opened(TWO);
    driven.press("g", "down", "enter");
    expect(driven.text).toContain("Leaving 6 entries behind.");
    driven.press("escape");
    expect([driven.model.dialog.kind, selected(driven), session.leafId]).toEqual(["none", "a1", "a5"]);
  });

  it("moves without a summary", async () => {
    const { driven, session, remembered } = await opened(TWO);
    driven.press("g", "down", "enter", "1");
    await driven.until(({ result }) => result !== undefined);
    expect(driven.result).toEqual({ kind: "moved", leafId: "a1", text: null, summaryEntryId: null });
    expect([session.leafId, remembered]).toEqual(["a1", [0]]);
  });

  it("moves and writes a summary, with a focus or without", async () => {
    const { driven, session } = await opened(TWO);
    driven.press("g", "down", "enter", "3").type("the files").press("enter");
    expect(driven.text).toContain("Summarizing the branch you leave");
    await driven.until(({ result }) => result !== undefined);
    const { result } = driven;
    expect(result).toMatchObject({ kind: "moved", text: null });
    const entry = await session.entry(session.leafId ?? "");
    expect(entry).toMatchObject({ type: "branch_summary", parentId: "a1", fromId: "a5" });
  });

  it("returns a user message, and moves to its parent", async () => {
    const { driven, session } = await opened(TWO, { leaving: "no-summary" });
    driven.press("p", "up", "enter");
    await driven.until(({ result }) => result !== undefined);
    expect(driven.result).toMatchObject({ kind: "moved", leafId: "a1", text: "said in u2" });
    expect(session.leafId).toBe("a1");
  });

  it("goes further down without a dialog, and shows a notice at the current position", async () => {
    const { driven } = await opened("u1 a1 u2 a2 <a1");
    expect(driven.press("enter").text).toContain("This is the current position already.");
    driven.press("G", "enter");
    await driven.until(({ result }) => result !== undefined);
    expect(driven.result).toMatchObject({ kind: "moved", leafId: "a2" });
  });

  it("undoes and redoes moves", async () => {
    const { driven, session } = await opened("u1 a1 u2 a2 <a1");
    driven.press("u");
    await driven.until(({ tree }) => tree?.leafId === "a2");
    driven.press("r");
    await driven.until(({ tree }) => tree?.leafId === "a1");
    expect(session.leafId).toBe("a1");
    driven.press("r");
    await driven.until(({ notice }) => notice?.text === "There is no move to redo.");
  });
});

describe("work on an entry", () => {
  it("labels it, shows the label, and removes it", async () => {
    const { driven, session } = await opened(TWO);
    driven.press("l").type("end").press("enter");
    await driven.until(({ tree }) => tree?.labels.get("a5") === "end");
    expect(driven.text).toContain("[end] assistant:");
    driven.press("l", "ctrl+u", "enter");
    await driven.until(({ tree }) => tree?.labels.size === 0);
    expect(await session.labels.list()).toEqual([]);
  });

  it("copies its text", async () => {
    const { driven } = await opened(TWO);
    driven.press("y");
    await driven.until(({ notice }) => notice !== null);
    expect(driven.copied).toEqual(["replied in a5"]);
  });

  it("exports the path to it, and never overwrites a file", async () => {
    const { driven, folder } = await opened(TWO);
    driven.press("x", "enter");
    await driven.until(({ notice }) => notice !== null);
    const [file = ""] = readdirSync(folder).filter((name) => name.endsWith(".md"));
    expect(readFileSync(join(folder, file), "utf8")).toContain("replied in a5");
    driven.press("x", "enter");
    await driven.until(({ notice }) => notice?.isError === true);
    expect(driven.model.notice?.text).toContain("exists and was not changed");
  });

  it("forks the session at it", async () => {
    const { driven, store } = await opened(TWO);
    driven.press("p", "f", "enter");
    await driven.until(({ result }) => result !== undefined);
    const { result } = driven;
    const fork = await store.openSession(result?.kind === "forked" ? result.sessionId : "");
    expect((await fork.path()).map((entry) => (entry.type === "message" ? entry.message.role : entry.type))).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
  });

  it("compares the branches of two marked entries", async () => {
    const { driven } = await opened(TWO);
    expect(driven.press("d").text).toContain("Mark an entry first");
    driven.press("m", "}", "m");
    expect(driven.text).toContain("(2)");
    driven.press("d");
    await driven.until(({ dialog }) => dialog.kind === "comparison");
    expect(driven.text).toContain("said in u3");
    expect(driven.press("q").model.dialog.kind).toBe("none");
  });

  it("summarizes the entries before it after a confirmation", async () => {
    const { driven, session } = await opened(longTalk);
    driven.press("up", "c");
    expect(driven.text).toMatch(/Summarize the \d+ entries before this one\?/);
    driven.press("n", "c", "y");
    await driven.until(({ dialog }) => dialog.kind === "none");
    expect(driven.model.notice?.text).toContain("Compacted");
    expect((await session.context()).compaction?.payload.firstKeptEntryId).toBe("u19");
  });

  it("summarizes only the current branch", async () => {
    const { driven } = await opened(TWO);
    expect(driven.press("}", "c").text).toContain("Only the current branch can be compacted.");
  });
});

describe("other writers", () => {
  it("add rows that appear, and the selection stays", async () => {
    const { driven, elsewhere } = await opened(TWO);
    driven.press("g");
    const other = await (await elsewhere()).openSession("session-1");
    await other.append({ ...userMessage("from elsewhere"), id: "u6" });
    await driven.until(({ tree }) => tree?.index.size === 11);
    expect(selected(driven)).toBe("u1");
    expect(driven.press("G").text).toContain("said in u3");
    expect(driven.text).toContain("from elsewhere ← leaf");
  });

  it("that delete the session end the screen", async () => {
    const { driven, elsewhere } = await opened(TWO);
    await (await elsewhere()).deleteSession("session-1");
    await driven.until(({ result }) => result !== undefined);
    expect(driven.result).toEqual({ kind: "deleted" });
  });
});

describe("the preview", () => {
  it("shows the entry in full, follows the selection, and scrolls", async () => {
    const { driven } = await opened(TWO, { size: { columns: 130, rows: 20 } });
    driven.press("v");
    await driven.until(({ preview }) => preview.lines !== null);
    expect(driven.text).toContain("replied in a5");
    driven.press("up");
    await driven.until(
      ({ preview }) =>
        preview.entryId === "call5" &&
        (preview.lines ?? []).flat().some((piece) => String(typeof piece === "string" ? piece : piece.text).includes("src/call5.ts")),
    );
    expect(driven.press("v").model.preview.isShown).toBe(false);
  });

  it("drops lines for a row that is no longer selected", async () => {
    const { driven } = await opened(TWO, { size: { columns: 130, rows: 20 }, preview: true });
    driven.press("g");
    driven.event({ kind: "previewed", entryId: "a5", width: driven.model.preview.width, lines: [["late"]], words: null, places: [] });
    expect(driven.text).not.toContain("late");
  });

  it("shows the branches of a branch point", async () => {
    const { driven } = await opened(TWO, { size: { columns: 130, rows: 30 }, preview: true });
    driven.press("p");
    await driven.until(({ preview }) => preview.entryId === "a2" && preview.lines !== null && preview.lines.length > 0);
    expect(driven.text).toContain("said in u3");
    expect(driven.text).toContain("said in u4");
  });
});

/** Long enough that a summary is worth it. */
async function longTalk(store: Parameters<Exclude<Parameters<typeof opened>[0], string>>[0]) {
  const session = await store.createSession({ id: "session-1", title: "Parser" });
  const prose = "The lexer reads the file from its beginning and counts columns by the width of the tab. ".repeat(12);
  for (let at = 0; at < 20; at += 1) {
    await session.append({ ...userMessage(`Part ${at}. ${prose}`), id: `u${at}` });
    await session.append({ ...assistantMessage(`Done with ${at}. ${prose}`), id: `a${at}` });
  }
  return session;
}
