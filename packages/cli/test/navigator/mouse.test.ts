import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import type { MouseEvent } from "../../src/tui/screen.js";
import { chain, outline } from "../tree/outlines.js";
import { navigator } from "./branches.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

const press = (row: number, column = 20): MouseEvent => ({ kind: "mouse", action: "press", row, column });
const double = (row: number): MouseEvent => ({ ...press(row), isDouble: true });
const wheel = (action: "wheelUp" | "wheelDown", row = 5, column = 20): MouseEvent => ({ kind: "mouse", action, row, column });

// ask, asst ├ 2, ├─ ▾ left, │ left2, right, right2, below the heading.
describe("a click", () => {
  it("selects the row under the pointer, and nothing beside the rows", () => {
    expect(navigator().event(press(1)).at).toBe("ask");
    expect(navigator().event(press(4)).at).toBe("left2");
    expect(navigator().event(press(0)).at).toBe("right2");
    expect(navigator().event(press(15)).at).toBe("right2");
  });

  it("on the fold sign folds and unfolds", () => {
    const folded = navigator().event(press(3, 4));
    expect(folded.text).toContain("▸ user: left (+1)");
    expect(folded.event({ ...press(3, 5), isDouble: true }).text).toContain("▾ user: left");
    expect(navigator().event(press(3, 6)).text).toContain("▾ user: left");
  });

  it("twice opens, as Enter does", () => {
    const opened = navigator().event(press(4)).event(double(4));
    expect(opened.at).toBe("left2");
    expect(opened.dialog).toBe("leaving");
    expect(opened.event(press(1)).at).toBe("left2");
  });
});

describe("the wheel", () => {
  const long = () => new Driven({ size: { columns: 80, rows: 23 } }).loaded(outline(...chain(200)));

  it("scrolls the list by three rows, and the selection stays on its row while that is on the screen", () => {
    const scrolled = long().press("k", "k", "k", "k", "k", "k", "k", "k");
    const { top, selected } = scrolled.model;
    scrolled.event(wheel("wheelUp"));
    expect([scrolled.model.top, scrolled.model.selected]).toEqual([top - 3, selected]);
    for (let at = 0; at < 100; at += 1) scrolled.event(wheel("wheelUp"));
    expect(scrolled.model.top).toBe(0);
    expect(scrolled.selectedLine).toBeDefined();
    for (let at = 0; at < 100; at += 1) scrolled.event(wheel("wheelDown"));
    expect(scrolled.model.top).toBe(200 - 21);
    expect(scrolled.selectedLine).toBeDefined();
  });

  it("scrolls the preview under the pointer", () => {
    const shown = long().press("v");
    const { width, entryId } = shown.model.preview;
    const lines = Array.from({ length: 90 }, (_, at) => [`line ${at}`]);
    shown.event({ kind: "previewed", entryId: entryId ?? "", width, lines, words: null, places: [] });
    shown.event(wheel("wheelDown", 18));
    expect(shown.model.preview.scroll).toBe(3);
    expect(shown.event(wheel("wheelUp", 18)).model.preview.scroll).toBe(0);
    const { selected } = shown.model;
    expect(shown.event(wheel("wheelUp", 3)).model.preview.scroll).toBe(0);
    expect(shown.model.top).toBeLessThan(200 - 11);
    expect(selected).toBeGreaterThanOrEqual(shown.model.selected);
  });

  it("scrolls help, and nothing behind a question", () => {
    const help = navigator().press("?");
    const before = help.text;
    expect(help.event(wheel("wheelDown")).text).not.toBe(before);
    expect(help.event(wheel("wheelUp")).text).toBe(before);
    const label = navigator().press("l");
    expect(label.event(wheel("wheelDown")).text).toBe(navigator().press("l").text);
  });
});
