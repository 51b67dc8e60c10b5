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

const CALLS = ["[read packages/core/src/parser.ts]", "[edit packages/core/src/parser.ts]", "[bash npm test -- parser]"];

/** A request with twelve replies that only call tools, one of which failed, an answer, another try, and a second request. */
const SKETCHES: readonly Sketch[] = [
  ["ask", null, { preview: "Make the parser say where an error is." }],
  ...Array.from({ length: 12 }, (_, at): readonly Sketch[] => [
    [`call${at}`, at === 0 ? "ask" : `result${at - 1}`, { role: "assistant", preview: CALLS[at % 3] ?? "" }],
    [`result${at}`, `call${at}`, { role: "toolResult", preview: "done", isError: at === 5 }],
  ]).flat(),
  ["answer", "result11", { role: "assistant", preview: "Errors have a line and a column now." }],
  ["other", "answer", { preview: "Rather put the offset in." }],
  ["other2", "other", { role: "assistant", preview: "The offset is in." }],
  ["thanks", "answer", { preview: "Good. Now the lexer." }],
  ["one", "thanks", { role: "assistant", preview: "[read packages/core/src/lexer.ts]" }],
  ["end", "one", { role: "assistant", preview: "The lexer has nothing to say." }],
];
const ROWS = outline(...SKETCHES).map((row, at) => ({ ...row, createdAtMs: NOON - (60 - at) * 60_000, payloadBytes: 400 + at * 90 }));

const shown = (columns: number, rows: number) =>
  new Driven({ size: { columns, rows: rows - 1 }, title: "Where an error is" }).loaded(ROWS, { labels: { call8: "the idea" } });

describe("replies that only call tools", () => {
  it.each(SIZES)("at %i × %i", (columns, rows) => {
    expect(shown(columns, rows).press("g").text).toMatchSnapshot("folded");
    const open = shown(columns, rows).press("g", "down", "space");
    expect(open.text).toMatchSnapshot("unfolded");
    expect(open.widest).toBeLessThanOrEqual(columns);
    expect(shown(columns, rows).press("}").text).toMatchSnapshot("the sibling branch");
  });

  it("unfold and fold with Space, on the same line of the screen", () => {
    const navigator = shown(80, 24).press("g", "down");
    expect([navigator.at, navigator.selectedLine]).toEqual([
      "call7",
      expect.stringContaining("▸ 8 calls: read 3, edit 3, bash 2, 1 failed"),
    ]);
    navigator.press("space");
    expect(navigator.at).toBe("call0");
    expect(navigator.lines[2]).toMatch(/^›•▾ assistant: \[read packages\/core\/src\/parser\.ts\]/);
    navigator.press("down", "down", "space");
    expect(navigator.lines[2]).toContain("▸ 8 calls:");
  });

  it("are single rows under the filter of all entries", () => {
    expect(shown(120, 40).press("ctrl+a").text).not.toContain("calls:");
  });

  it("unfold where a search ends on one of them", () => {
    const found = shown(80, 24).press("/").type("npm").hits("call2").press("enter");
    expect(found.at).toBe("call2");
    expect(found.press("escape").at).toBe("call2");
    expect(found.selectedLine).toContain("[bash npm test -- parser]");
  });
});
