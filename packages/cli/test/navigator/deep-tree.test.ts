import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { outline, type Sketch } from "../tree/outlines.js";
import { NOON } from "../world.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

const SIZES = [
  [45, 15],
  [80, 24],
  [120, 40],
] as const;

const REWINDS = 45;
const SIBLINGS = 60;
const LONG = "please do it in another way than the one that was tried before, and say which files changed, and why that is so";

/** A session in which a person went back 45 times, each time from the end, and at last 60 times to the same question. */
function rewinds(): readonly Sketch[] {
  const sketches: Sketch[] = [["ask", null, { preview: "Build the parser." }]];
  for (let at = 1; at <= REWINDS; at += 1) {
    const parent = at === 1 ? "ask" : `reply${at - 1}`;
    sketches.push([`first${at}`, parent, { preview: `First try at depth ${at}, ${LONG}` }]);
    sketches.push([`wrong${at}`, `first${at}`, { role: "assistant", preview: `The wrong answer at depth ${at}.` }]);
    sketches.push([`second${at}`, parent, { preview: `Second try at depth ${at}, ${LONG}` }]);
    sketches.push([`reply${at}`, `second${at}`, { role: "assistant", preview: `The right answer at depth ${at}.` }]);
  }
  for (let at = 1; at <= SIBLINGS; at += 1)
    sketches.push([`sibling${at}`, `reply${REWINDS}`, { role: "assistant", preview: `Sibling answer ${at}.` }]);
  return sketches;
}

const ROWS = outline(...rewinds()).map((row, at) => ({ ...row, createdAtMs: NOON - (400 - at) * 60_000, payloadBytes: 400 + at }));

const shown = (columns: number, rows: number, leafId: string) =>
  new Driven({ size: { columns, rows: rows - 1 }, title: "45 rewinds and 60 siblings" }).loaded(ROWS, { leafId });

describe("a session with 45 nested rewinds and 60 siblings", () => {
  it.each(SIZES)("at %i × %i", (columns, rows) => {
    const navigator = shown(columns, rows, `sibling${SIBLINGS}`);
    expect(navigator.text).toMatchSnapshot("the leaf");
    expect(navigator.press("[").text).toMatchSnapshot("the last branch point");
    expect(navigator.press("[", "}").text).toMatchSnapshot("the sibling branch");
    expect(navigator.widest).toBeLessThanOrEqual(columns);
  });

  it("keeps the whole path of the leaf at the left edge, with 80 columns of text at a terminal of 120", () => {
    const navigator = shown(120, 40, `reply${REWINDS}`).press("g");
    const texts: string[] = [];
    for (let at = 0; at < navigator.model.size.rows * 12; at += 1) {
      if (navigator.selectedLine?.startsWith("›•") === true) texts.push(navigator.selectedLine);
      navigator.press("down");
    }
    const onPath = new Set(texts);
    expect(onPath.size).toBe(1 + 2 * REWINDS);
    for (const line of onPath) expect(line).toMatch(/^›• {2}(?:user|assistant): /);
    const second = [...onPath].filter((line) => line.includes("Second try"));
    expect(second).toHaveLength(REWINDS);
    for (const line of second) expect(line.slice(4).replace(/ +~\d+ .*$/, "").length).toBeGreaterThanOrEqual(80);
  });

  it("keeps 80 columns of text for branches off the path at any depth", () => {
    // The leaf is at the top, so all else hangs off its path.
    const navigator = shown(120, 40, "wrong1").press("g");
    for (let at = 0; at < 150; at += 1) {
      const { selectedLine = "" } = navigator.press("down");
      if (selectedLine.includes("try at depth"))
        expect(selectedLine.replace(/^.*?(?=user:)/, "").replace(/ +~\d+ .*$/, "").length).toBeGreaterThanOrEqual(80);
    }
  });

  it("goes through the branches of a branch point with } and {, around the ends", () => {
    const navigator = shown(80, 24, `reply${REWINDS}`);
    expect(navigator.press("}").at).toBe(`first${REWINDS}`);
    expect(navigator.press("}").at).toBe(`second${REWINDS}`);
    expect(navigator.press("{").at).toBe(`first${REWINDS}`);
    expect(navigator.press("g", "}").text).toContain("There is no branch point above this row.");
    expect(shown(80, 24, `sibling${SIBLINGS}`).press("}").at).toBe("sibling1");
  });
});
