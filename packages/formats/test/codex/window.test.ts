import { describe, expect, test } from "vitest";
import { KNOWN_ITEMS, Window } from "../../src/codex/window.js";

const said = (at: number) => ({ type: "message", role: "user", content: [{ type: "input_text", text: `text ${at}` }] });

/** A window with items of this many turns, each of one item, and the ids of their entries. */
function windowOf(turns: number): Window {
  const window = new Window();
  for (let at = 0; at < turns; at += 1) {
    window.startTurn();
    window.add(said(at), `entry${at}`);
  }
  return window;
}

/** The entries that a compaction with these items finds. */
function found(window: Window, items: readonly number[]): readonly unknown[] {
  return window.find(items.map(said), "summary").map(({ entryId }) => entryId);
}

describe("the window of a session that is never compacted", () => {
  const long = 2 * KNOWN_ITEMS + 17;

  test("remembers a bounded number of items", () => {
    const { items } = windowOf(long).state();
    expect(items).toHaveLength(KNOWN_ITEMS + 17);
  });

  test("finds every item that a model can still have", () => {
    const window = windowOf(long);
    const items = [long - KNOWN_ITEMS, long - 100, long - 1];
    expect(found(window, items)).toEqual(items.map((at) => `entry${at}`));
    expect(found(window, [0])).toEqual([undefined]);
  });

  test("rolls back to the items before a turn", () => {
    const window = windowOf(long);
    window.rollBack(long - 10);
    expect(found(window, [long - 11, long - 10])).toEqual([`entry${long - 11}`, undefined]);
    window.rollBack(3);
    expect(window.state()).toMatchObject({ items: [], turns: [0, 0, 0] });
  });

  test("continues as it was after another reading of the file", () => {
    const window = windowOf(long);
    const again = new Window(window.state());
    for (const one of [window, again]) one.rollBack(long - 10);
    expect(again.state()).toEqual(window.state());
    expect(again.state(again.length - 5)).toEqual(window.state(window.length - 5));
  });
});
