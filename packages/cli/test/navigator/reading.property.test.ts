import { userMessage } from "@bough/session-core";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { NavigatorModel } from "../../src/navigator/model.js";
import { view } from "../../src/navigator/view.js";
import { textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { TreeIndex } from "../../src/tree/tree-index.js";
import { chain, outline } from "../tree/outlines.js";
import { Driven } from "./driven.js";
import { opened, selected } from "./opened.js";

beforeAll(loadExactWidths);

/** Longer than what is read at once. */
const LONG = 4500;

const NAMES = ["begin", ...Array.from({ length: 99 }, (_, at) => `line ${at + 1}`)];
const ROWS = outline(...chain(100).map(([id, parent], at) => [id, parent, { preview: NAMES[at] ?? "" }] as const));
const LEAF = ROWS.at(-1)?.id ?? "";

/** A navigator of 80 × 23 that has only the last 40 rows of `ROWS`. */
function begun(): Driven {
  const tree = {
    index: TreeIndex.of(ROWS.slice(-40)),
    labels: new Map(),
    leaves: [{ name: "main", entryId: LEAF }],
    leafName: "main",
    leafId: LEAF,
    isHeld: false,
  };
  return new Driven().event({ kind: "begun", tree, total: 100 });
}

describe("a navigator that has only the end of the path", () => {
  test("shows it from the leaf upwards, and says that it still reads", () => {
    const at = begun();
    expect(at.at).toBe(LEAF);
    expect(at.text).toContain("line 99");
    expect(at.text).toContain("line 80");
    expect(at.lines[0]).toContain("reading 40 of 100 entries");
    expect(at.event({ kind: "progress", done: 70 }).lines[0]).toContain("reading 70 of 100 entries");
  });

  test("moves within it, and closes", () => {
    const at = begun().press("up", "up", "pageup", "down");
    expect(at.text).toContain("line 76");
    expect(at.lines[0]).toContain("reading 40 of 100 entries");
    expect(at.press("q").model.result).toEqual({ kind: "closed" });
  });

  test("holds other keys, and those after them, until all rows are there", () => {
    const at = begun().press("g", "down", "space", "l", "x");
    expect(at.dialog).toBe("none");
    expect(at.lines[0]).toContain("5 keys waiting");
    expect(at.wanted().map(({ kind }) => kind)).toEqual(["load"]);
    at.loaded(ROWS);
    expect(at.at).toBe(ROWS[1]?.id);
    expect(at.dialog).toBe("label");
    expect(at.model.dialog).toMatchObject({ field: { text: "x" } });
    expect(at.lines[0]).not.toContain("reading");
  });

  test("holds a move past its first row, which other rows follow", () => {
    const at = begun().press(...Array.from({ length: 45 }, () => "up"));
    expect(at.lines[0]).toContain("6 keys waiting");
    expect(at.loaded(ROWS).at).toBe(ROWS[99 - 45]?.id);
  });

  test("keeps every row on its line when the rest arrives", () => {
    const at = begun().press("up", "up", "up");
    const before = at.lines.slice(1);
    expect(at.loaded(ROWS).lines.slice(1)).toEqual(before);
  });

  test("ends where the same keys lead in a tree that is there at once", () => {
    const keys = fc.array(fc.constantFrom("up", "down", "pageup", "pagedown", "g", "G", "space", "/", "a", "v", "ctrl+o", "l", "enter"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(keys, fc.nat(12), (pressed, split) => {
        const waiting = begun()
          .press(...pressed.slice(0, split))
          .loaded(ROWS)
          .press(...pressed.slice(split));
        const atOnce = new Driven().loaded(ROWS);
        atOnce.press(...pressed);
        expect([waiting.at, waiting.dialog, waiting.model.filter]).toEqual([atOnce.at, atOnce.dialog, atOnce.model.filter]);
      }),
    );
  });
});

describe("the navigator of a long session", () => {
  const longSession = () =>
    opened(async (store) => {
      const session = await store.createSession({ title: "Long" });
      for (let at = 0; at < LONG; at += 500) {
        const entries = Array.from({ length: 500 }, (_, one) => userMessage(`question ${at + one}`));
        await session.write(entries.map((entry) => ({ kind: "entry", entry })));
      }
      return session;
    });
  const linesOf = (model: NavigatorModel) => view(model).lines.map(({ line }) => textOfLine(line));

  test("has its first screen before the rest, and then all rows", async () => {
    const { driven } = await longSession();
    expect(driven.model.reading).not.toBeNull();
    expect(linesOf(driven.model).some((line) => line.includes(`question ${LONG - 1}`))).toBe(true);
    await driven.until(({ reading }) => reading === null);
    expect(driven.model.tree?.index.size).toBe(LONG);
    expect(linesOf(driven.model)[0]).toContain("4,500/4,500");
  });

  test("reads the rows of a screen when it gets there", async () => {
    const { driven, session, elsewhere } = await longSession();
    await driven.until(({ reading }) => reading === null);
    driven.press("g");
    await driven.until((model) => linesOf(model).some((line) => line.includes("question 0")));
    expect(selected(driven)).toBe((await session.tree.outline({ limit: 1 }))[0]?.id);
    await (await (await elsewhere()).openSession(session.id)).append(userMessage("the last one"));
    driven.press("G");
    await driven.until((model) => linesOf(model).some((line) => line.includes("the last one")));
  });

  test("closes when the session is deleted while it is read", async () => {
    const { driven, store, session } = await longSession();
    await store.deleteSession(session.id);
    await driven.until(({ result }) => result !== undefined);
    expect(driven.result).toEqual({ kind: "deleted" });
  });
});
