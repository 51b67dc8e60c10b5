import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { outline } from "../tree/outlines.js";
import { navigator, ROWS } from "./branches.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

describe("A notice", () => {
  it("is removed by the next key, in the list, in the search and in a dialog", () => {
    const notice = { kind: "notice", text: "Copied.", isError: false } as const;
    for (const before of [[], ["/"], ["l"]]) {
      const noticed = navigator()
        .press(...before)
        .event(notice);
      expect(noticed.lines.at(-1)).toBe("Copied.");
      expect(noticed.press("a").lines.at(-1)).not.toBe("Copied.");
    }
  });
});

describe("News", () => {
  it("opens at the leaf; before the first entry, at the last row", () => {
    expect(navigator({ leafId: "left" }).at).toBe("left");
    expect(navigator({ leafId: null }).at).toBe("right2");
  });

  it("opens an empty session, and selects its first entry once there is one", () => {
    const empty = new Driven().loaded([]);
    expect(empty.at).toBeUndefined();
    expect(empty.press("j", "enter", "l", "space", "n", "c", "m").dialog).toBe("none");
    expect(empty.changed(outline(["new", null])).at).toBe("new");
  });

  it("keeps the selection while rows arrive before and after it", () => {
    const arrived = outline(...ROWS.map(({ id }) => [id, null] as const), ["new", "left2"]).slice(-1);
    const at = navigator().press("k", "k").changed(arrived, { leafId: "new" });
    expect(at.at).toBe("left2");
    expect(at.press(".").at).toBe("new");
  });

  it("drops the preview of a row that is no longer selected", () => {
    const shown = navigator().press("v");
    const { width } = shown.model.preview;
    shown.press("k").event({ kind: "previewed", entryId: "right2", width, lines: [["late"]], words: null, places: [] });
    expect(shown.text).not.toContain("late");
    shown.event({ kind: "previewed", entryId: "right", width, lines: [["in time"]], words: null, places: [] });
    expect(shown.text).toContain("in time");
  });

  it("requests the preview again after a change, and keeps its scroll offset", () => {
    const shown = navigator().press("v");
    const { width } = shown.model.preview;
    const lines = Array.from({ length: 50 }, (_, at) => [`line ${at}`]);
    shown.event({ kind: "previewed", entryId: "right2", width, lines, words: null, places: [] }).press("J");
    const { scroll } = shown.model.preview;
    expect(scroll).toBeGreaterThan(0);
    shown.wanted();
    expect(shown.changed([], { labels: { right2: "new" } }).wanted()).toMatchObject([{ kind: "preview", entryId: "right2", label: "new" }]);
    expect(shown.model.preview.scroll).toBe(scroll);
  });

  it("scrolls the preview no further than its last line, after a resize and a shorter text too", () => {
    const shown = navigator().press("v");
    const tell = (count: number) =>
      shown.event({
        kind: "previewed",
        entryId: "right2",
        width: shown.model.preview.width,
        lines: Array.from({ length: count }, (_, at) => [`line ${at}`]),
        words: null,
        places: [],
      });
    tell(30);
    for (let times = 0; times < 20; times += 1) shown.press("J");
    expect(shown.text).toContain("line 29");
    shown.resize(80, 60);
    expect(shown.text).toContain("line 29");
    expect(shown.text).toContain("line 8");
    shown.resize(80, 23);
    shown.press("J", "J", "J", "J");
    tell(3);
    expect(shown.text).toContain("line 0");
  });

  it("ends when the session was deleted", () => {
    expect(navigator().event({ kind: "deleted" }).model.result).toEqual({ kind: "deleted" });
  });
});
