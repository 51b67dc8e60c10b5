import { assistantMessage, openStore, type Store, toolResult, userMessage } from "@bough/session-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { type FinderStart, finderScreen } from "../../src/finder/finder.js";
import type { FinderModel } from "../../src/finder/model.js";
import type { FinderWorld } from "../../src/finder/perform.js";
import { selectedHit } from "../../src/finder/update.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import type { MouseEvent } from "../../src/tui/screen.js";
import { DrivenScreen } from "../tui/driven-screen.js";
import { NOON, world } from "../world.js";

const SIZES = [
  { columns: 45, rows: 14 },
  { columns: 80, rows: 23 },
  { columns: 120, rows: 39 },
] as const;

const HOUR = 3_600_000;
const FILE = `${Array.from({ length: 40 }, (_, at) => `line ${at} of theme.ts`).join("\n")}\nexport function startThemeWatcher() {\n  watcher.on("change");\n}\n`;

/** Two sessions that speak of a watcher, and one that does not. */
async function fill(store: Store): Promise<void> {
  const at = (hours: number) => ({ createdAtMs: NOON - hours * HOUR });
  const theme = await store.createSession({ id: "theme-1", title: "Themes reload", cwd: "/home/ann/web/ui", ...at(30) });
  await theme.append({ ...userMessage("Could we have a file watcher for the themes?"), id: "t1", ...at(29) });
  const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "src/theme.ts" } } as const;
  await theme.append({ ...assistantMessage([{ type: "text", text: "Yes, fs.watch() is built in." }, call]), id: "t2", ...at(28) });
  await theme.append({ ...toolResult("c1", FILE), id: "t3", ...at(28) });
  await theme.append({ ...assistantMessage("The watcher reloads the theme now. The watcher stops on exit."), id: "t4", ...at(27) });
  const build = await store.createSession({ id: "build-1", title: "Faster builds", cwd: "/home/ann/web", ...at(4) });
  await build.append({ ...userMessage("The build is slow 日本語"), id: "b1", ...at(3) });
  await build.append({
    ...assistantMessage(`The cause is the watcher of the bundler, ${"which looks at every file ".repeat(12)}.`),
    id: "b2",
    ...at(2),
  });
  const other = await store.createSession({ id: "lexer-1", title: "Tabs in the lexer", ...at(1) });
  await other.append({ ...userMessage("Skip tabs"), id: "l1", ...at(1) });
}

async function finder(
  start: FinderStart = { query: "" },
  size: { columns: number; rows: number } = SIZES[1],
  about: Pick<FinderWorld, "conditions" | "described"> = { conditions: {} },
) {
  await loadExactWidths();
  const store = await openStore({ path: world().store, durability: "normal" });
  await fill(store);
  const io = { env: {}, home: world().path("."), now: () => NOON };
  const open = (how: FinderStart) => new DrivenScreen(finderScreen({ store, io, ...about }, how, true), size);
  const driven = open(start);
  onTestFinished(async () => {
    driven.close();
    await store.close();
  });
  return { store, driven, open };
}

const isDone = ({ found, isSearching }: FinderModel) => found !== null && !isSearching;
const isPreviewed = (model: FinderModel) => isDone(model) && model.preview.goesTo === "keep" && model.preview.hit === selectedHit(model);

describe("the finder's screen", () => {
  it.each(SIZES)("at $columns × $rows", async (size) => {
    const { driven } = await finder({ query: "" }, size);
    expect(driven.text).toMatchSnapshot("without a query");
    driven.type("watcher");
    await driven.until(isPreviewed);
    expect(driven.text).toMatchSnapshot("hits");
    expect(driven.width).toBeLessThanOrEqual(size.columns);
    driven.press("f1");
    expect(driven.text).toMatchSnapshot("help");
  });
});

describe("the finder", () => {
  it("groups the hits of all sessions, and selects the best one", async () => {
    const { driven } = await finder();
    driven.type("watcher");
    await driven.until(isDone);
    const headings = driven.model.rows.flatMap((row) => (row.kind === "session" ? [[row.session.title, row.count]] : []));
    expect(headings).toContainEqual(["Themes reload", 3]);
    expect(headings).toContainEqual(["Faster builds", 1]);
    expect(driven.model.selected).toBe(1);
  });

  it("goes from session to session, round", async () => {
    const { driven } = await finder({ query: "watcher" });
    await driven.until(isDone);
    const selected = () => selectedHit(driven.model)?.sessionId;
    const sessions = driven.model.rows.flatMap((row) => (row.kind === "session" ? [row.session.id] : []));
    expect(sessions.length).toBe(2);
    driven.press("down").press("alt+down");
    expect(selected()).toBe(sessions[1]);
    driven.press("alt+down");
    expect([selected(), driven.model.selected]).toEqual([sessions[0], 1]);
    driven.press("alt+up");
    expect(selected()).toBe(sessions[1]);
  });

  it("has no session to go to where there are no hits", async () => {
    const { driven } = await finder({ query: "qqq" });
    await driven.until(isDone);
    driven.press("alt+down").press("alt+up");
    expect(driven.model.selected).toBe(-1);
  });

  it("shows the conditions of the command line, and names them where nothing is found", async () => {
    const about = { conditions: { agents: ["claude"] }, described: "--agent claude --since 2w" };
    const { driven } = await finder({ query: "watcher" }, SIZES[1], about);
    await driven.until(isDone);
    expect(driven.text.split("\n")[0]).toContain("all sessions --agent claude --since 2w");
    expect(driven.text.replace(/\s+/g, " ")).toContain("No entry of any session has these words. Searched with --agent claude --since 2w.");
  });

  it("takes filters in the query, shows them, and finds with them alone", async () => {
    const { driven } = await finder({ query: "watcher role:assistant dir:UI" }, SIZES[2]);
    await driven.until(isDone);
    expect(driven.model.found?.hits.map(({ entryId }) => entryId).sort()).toEqual(["t4"]);
    expect(driven.text.split("\n")[0]).toContain("all sessions role:assistant dir:UI");
    for (const _ of "watcher role:assistant dir:UI") driven.press("backspace");
    driven.type("since:5h role:user");
    await driven.until((model) => isDone(model) && model.found?.total === 2);
    expect(driven.model.found?.hits.map(({ entryId }) => entryId)).toEqual(["l1", "b1"]);
  });

  it("says of a filter without a valid value why nothing is searched, and keeps the hits", async () => {
    const { driven } = await finder({ query: "watcher" });
    await driven.until(isDone);
    const { rows } = driven.model;
    driven.type(" since:mon");
    await driven.until(({ problem }) => problem?.includes("since:mon is not a time") === true);
    expect(driven.model.rows).toEqual(rows);
  });

  it("says that a filter and an option exclude each other", async () => {
    const { driven } = await finder({ query: "watcher tool:bash" }, SIZES[1], { conditions: { tool: "read" } });
    await driven.until(({ problem }) => problem?.includes("the tool cannot be both read and bash") === true);
  });

  it("says that the hits of other roles are left out", async () => {
    const { driven } = await finder({ query: "bundler" });
    await driven.until(isDone);
    driven.press("ctrl+r");
    await driven.until((model) => isDone(model) && model.rows.length === 0);
    expect(driven.text.replace(/\s+/g, " ")).toContain(
      "No entry of any session has these words. Only messages of the user are searched (Ctrl-R).",
    );
  });

  it("asks only the newest query of keys that come while another one runs", async () => {
    const { driven } = await finder();
    driven.type("wat").type("cher");
    await driven.until(isDone);
    expect(driven.model.queryId).toBe(8);
    expect(driven.model.found?.words.query).toBe("watcher");
  });

  it("keeps the hits until those of the next query arrive, and has none without a query", async () => {
    const { driven } = await finder({ query: "watcher" });
    await driven.until(isDone);
    driven.type("s");
    expect(driven.model.rows.length).toBeGreaterThan(0);
    driven.press("ctrl+u");
    expect([driven.model.rows, driven.model.isSearching]).toEqual([[], false]);
  });

  it("goes from match to match, and from the last one to the next hit, with Tab, and back", async () => {
    const { driven } = await finder({ query: "watcher stops" });
    await driven.until(isPreviewed);
    expect(driven.text).toContain("match 1 of 3 · hit 1 of 1");
    driven.press("tab", "tab");
    expect(driven.text).toContain("match 3 of 3");
    driven.press("tab");
    expect(driven.text).toContain("match 1 of 3 · hit 1 of 1");
    driven.press("ctrl+u").type("watcher");
    await driven.until((model) => model.found?.total === 4 && isPreviewed(model));
    const first = selectedHit(driven.model)?.entryId;
    driven.press("shift+tab");
    await driven.until(isPreviewed);
    expect(driven.text).toContain("hit 4 of 4");
    driven.press("down");
    expect(selectedHit(driven.model)?.entryId).toBe(first);
  });

  it("shows the place of the first match in a long entry", async () => {
    const { driven } = await finder({ query: "startThemeWatcher" });
    await driven.until(isPreviewed);
    expect(driven.text).toContain("export function startThemeWatcher() {");
    expect(driven.text).not.toContain("line 1 of theme.ts");
  });

  it("narrows to the session of a hit, and to a role, and back", async () => {
    const { driven } = await finder({ query: "watcher" });
    await driven.until(isDone);
    while (selectedHit(driven.model)?.sessionId !== "theme-1") driven.press("down");
    driven.press("ctrl+s");
    await driven.until((model) => isDone(model) && model.found?.total === 3);
    expect(driven.text).toMatch(/^Search · Themes reload/);
    driven.press("ctrl+r");
    await driven.until((model) => isDone(model) && model.found?.total === 1);
    expect(selectedHit(driven.model)?.role).toBe("user");
    expect(driven.text).toContain("[user]");
    driven.press("ctrl+r", "ctrl+r");
    await driven.until((model) => isDone(model) && selectedHit(model)?.role === "toolResult");
    driven.press("ctrl+r", "ctrl+r", "ctrl+s");
    await driven.until((model) => isDone(model) && model.found?.total === 4);
  });

  it("opens a hit, and goes on as it was", async () => {
    const { driven, open } = await finder({ query: "watcher" });
    await driven.until(isPreviewed);
    driven.press("down");
    const hit = selectedHit(driven.model);
    await driven.until(isPreviewed);
    const before = driven.text;
    driven.press("enter");
    const end = driven.result as { result: unknown; model: FinderModel };
    expect(end.result).toEqual({ kind: "open", sessionId: hit?.sessionId, entryId: hit?.entryId, query: "watcher" });
    const again = open({ resumed: end.model });
    onTestFinished(() => again.close());
    expect(again.text).toBe(before);
    expect((again.press("escape").result as { result: unknown }).result).toEqual({ kind: "closed" });
  });

  it("reads the preview of a hit that was opened before it was read, when it comes back", async () => {
    const { driven, open } = await finder({ query: "watcher" }, SIZES[2]);
    await driven.until(isPreviewed);
    driven.press("down", "enter");
    const { model } = driven.result as { model: FinderModel };
    const again = open({ resumed: model });
    onTestFinished(() => again.close());
    await again.until(isPreviewed);
    expect(again.model.preview.hit).not.toEqual(driven.model.found?.hits[0]);
  });

  it("says that nothing was found, why a query is invalid, and how words are spelled that are found", async () => {
    const { driven } = await finder({ query: "zebra" });
    await driven.until(isDone);
    expect(driven.text).toContain("No entry of any session has these words.");
    driven.press("enter");
    expect(driven.result).toBeUndefined();
    driven.press("ctrl+u").type("bundlre ");
    await driven.until((model) => isDone(model) && model.rows.length > 0);
    expect(driven.text).toContain("spelled bundler");
    driven.press("ctrl+u").event({ kind: "paste", text: "x ".repeat(1_000) });
    driven.type("yz");
    await driven.until(({ problem }) => problem !== null);
    expect(driven.text).toMatch(/2,?000 characters/);
  });
});

describe("the mouse in the finder", () => {
  const at = (action: MouseEvent["action"], row: number, column = 4): MouseEvent => ({ kind: "mouse", action, row, column });
  const found = async (size: { columns: number; rows: number } = SIZES[2]) => {
    const { driven } = await finder({ query: "watcher" }, size);
    await driven.until(isPreviewed);
    return driven;
  };

  it("selects the hit under a click, and nothing on a heading, on the query or below the hits", async () => {
    const driven = await found();
    expect(driven.event(at("press", 4)).model.selected).toBe(2);
    for (const row of [0, 1, 2, 30, 38]) expect(driven.event(at("press", row)).model.selected).toBe(2);
    expect(driven.event(at("press", 3, 100)).model.selected).toBe(2);
  });

  it("opens the hit of a double click", async () => {
    const driven = await found();
    const hit = driven.model.rows[3];
    driven.event({ ...at("press", 5), isDouble: true });
    expect(driven.model.result).toMatchObject({ kind: "open", entryId: hit?.kind === "hit" ? hit.hit.entryId : "" });
  });

  it("scrolls the list with the wheel, selects what is left on the screen, and stops at the ends", async () => {
    const driven = (await found(SIZES[0])).event({ kind: "resize", size: { columns: 80, rows: 6 } });
    for (let step = 0; step < 20; step += 1) driven.event(at("wheelDown", 4));
    expect(driven.model.top).toBe(driven.model.rows.length - 3);
    expect(driven.model.selected).toBeGreaterThanOrEqual(driven.model.top);
    for (let step = 0; step < 20; step += 1) driven.event(at("wheelUp", 4));
    expect(driven.model.top).toBe(0);
    expect(driven.model.rows[driven.model.selected]?.kind).toBe("hit");
  });

  it("scrolls the preview under the pointer, and neither list nor selection if all hits are on the screen", async () => {
    const driven = await found(SIZES[0]);
    const { selected, top, preview } = driven.model;
    driven.event(at("wheelDown", 4));
    expect(driven.model).toMatchObject({ selected, top });
    driven.event(at("wheelUp", 11));
    expect(driven.model).toMatchObject({ selected, top });
    expect(driven.model.preview.scroll).toBeLessThanOrEqual(preview.scroll);
  });
});
