import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { itemAtLine, type ListShape, pageFrom, scrollText, stepFrom, topOf, turnWheel, visibleItems } from "../../src/tui/list.js";
import type { MouseEvent } from "../../src/tui/screen.js";

/** A list of equal items. */
const plain = (count: number, rows: number, margin = 0): ListShape => ({ count, rows, margin });

/** A list with headings (`h`) and items of one line (`1`) or two (`2`). */
function listOf(kinds: string, rows: number, margin = 0): ListShape {
  return {
    count: kinds.length,
    rows,
    margin,
    heightOf: (index) => (kinds[index] === "2" ? 2 : 1),
    isSelectable: (index) => kinds[index] !== "h",
  };
}

const wheel = (action: MouseEvent["action"]): MouseEvent => ({ kind: "mouse", action, column: 0, row: 0 });

describe("scrolling to the selected item", () => {
  test("moves the list as little as needed, and leaves no empty lines at its end", () => {
    expect(topOf(plain(100, 10), { selected: 50, top: 45 })).toBe(45);
    expect(topOf(plain(100, 10), { selected: 60, top: 45 })).toBe(51);
    expect(topOf(plain(100, 10), { selected: 40, top: 45 })).toBe(40);
    expect(topOf(plain(100, 10), { selected: 99, top: 99 })).toBe(90);
    expect(topOf(plain(0, 10), { selected: -1, top: 7 })).toBe(0);
  });

  test("keeps the margin, except at the ends", () => {
    expect(topOf(plain(100, 10, 2), { selected: 54, top: 45 })).toBe(47);
    expect(topOf(plain(100, 10, 2), { selected: 0, top: 45 })).toBe(0);
    expect(topOf(plain(100, 3, 2), { selected: 50, top: 0 })).toBe(49);
  });

  test("shows the heading above the selected item", () => {
    expect(topOf(listOf("h11h11", 3), { selected: 4, top: 4 })).toBe(3);
  });

  test("counts the lines of items of two lines", () => {
    expect(topOf(listOf("222222", 5), { selected: 5, top: 0 })).toBe(4);
    expect(visibleItems(listOf("222222", 5), 1)).toEqual({ from: 1, to: 4 });
    expect([0, 1, 2, 3, 4, 5].map((line) => itemAtLine(listOf("1221", 5), 0, line))).toEqual([0, 1, 1, 2, 2, undefined]);
  });
});

describe("moving the selection", () => {
  test("leaves headings out, and goes on at the other end or stops", () => {
    const list = listOf("h1h1", 10);
    expect(stepFrom(list, 1, 1, "wrap")).toBe(3);
    expect(stepFrom(list, 3, 1, "wrap")).toBe(1);
    expect(stepFrom(list, 1, -1, "wrap")).toBe(3);
    expect(stepFrom(list, 1, -1, "stop")).toBe(1);
    expect(stepFrom(listOf("hh", 10), -1, 1, "wrap")).toBe(-1);
  });

  test("by a page shows no item that was not on one of two screens", () => {
    expect(pageFrom(plain(100, 10), 50, 1)).toBe(59);
    expect(pageFrom(plain(100, 10), 4, -1)).toBe(0);
    expect(pageFrom(listOf("2".repeat(20), 10), 0, 1)).toBe(5);
    expect(pageFrom(listOf("h1111", 3), 2, -1)).toBe(1);
  });
});

describe("the wheel", () => {
  test("scrolls three rows, and moves the selection only with the edge of the screen", () => {
    expect(turnWheel(plain(100, 10), { selected: 5, top: 0 }, 1)).toEqual({ selected: 5, top: 3 });
    expect(turnWheel(plain(100, 10), { selected: 5, top: 3 }, 1)).toEqual({ selected: 6, top: 6 });
    expect(turnWheel(plain(100, 10), { selected: 9, top: 3 }, -1)).toEqual({ selected: 9, top: 0 });
    expect(turnWheel(plain(5, 10), { selected: 1, top: 0 }, 1)).toEqual({ selected: 1, top: 0 });
  });

  test("reaches both ends of any list, and the selection is visible without scrolling back", () => {
    const mixed = fc.array(fc.constantFrom("1", "2", "h"), { maxLength: 40 }).map((all) => `h1${all.join("")}1`.replaceAll("hh", "h1"));
    const lists = fc.oneof(
      fc.record({ text: mixed, margin: fc.constant(0) }),
      fc.record({ text: fc.integer({ min: 2, max: 40 }).map((count) => "1".repeat(count)), margin: fc.integer({ min: 0, max: 2 }) }),
    );
    const turns = fc.array(fc.constantFrom(1 as const, -1 as const), { maxLength: 30 });
    fc.assert(
      fc.property(lists, fc.integer({ min: 4, max: 15 }), turns, ({ text, margin }, rows, directions) => {
        const list = listOf(text, rows, margin);
        let now = { selected: 1, top: 0 };
        for (const direction of [...directions, ...Array.from({ length: 40 }, () => 1 as const)]) {
          now = turnWheel(list, now, direction);
          const { from, to } = visibleItems(list, now.top);
          expect(now.selected >= from && now.selected < to && text[now.selected] !== "h").toBe(true);
          expect(topOf(list, now)).toBe(now.top);
        }
        expect(visibleItems(list, now.top).to).toBe(list.count);
        for (let step = 0; step < 40; step += 1) now = turnWheel(list, now, -1);
        expect(now.top).toBe(0);
      }),
    );
  });
});

test("a text is scrolled by keys and the wheel, never beyond its ends, and other events are not taken", () => {
  const key = (name: string) => ({ kind: "key", key: name }) as const;
  const scrolled = [key("down"), key("pagedown"), key("G"), key("k"), key("g"), wheel("wheelDown"), wheel("wheelUp")];
  const tops: number[] = [];
  scrolled.reduce((top, event) => {
    tops.push(scrollText(event, top, 50, 10) ?? -1);
    return tops.at(-1) ?? -1;
  }, 0);
  expect(tops).toEqual([1, 11, 40, 39, 0, 3, 0]);
  expect([key("x"), wheel("press")].map((event) => scrollText(event, 0, 50, 10))).toEqual([undefined, undefined]);
  expect(scrollText(key("down"), 40, 50, 30)).toBe(20);
});
