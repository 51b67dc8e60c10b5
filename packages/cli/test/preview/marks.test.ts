import { createQueryFinder } from "@bough/session-core/engine";
import { describe, expect, it } from "vitest";
import { findMarks, findPlaces, markLine } from "../../src/preview/marks.js";
import { type Line, styled, textOfLine } from "../../src/terminal/line.js";

const finder = (query: string) => createQueryFinder(query, { kind: "all" });

/** The marked parts of lines, by place. */
function marked(lines: readonly Line[], query: string, from = 0): readonly (readonly [place: number, text: string])[] {
  return findPlaces(lines, from, finder(query)).map(({ line, place, start, end }) => [
    place,
    textOfLine(lines[line] ?? []).slice(start, end),
  ]);
}

describe("the places of a search in drawn lines", () => {
  it("are in order, in all pieces of all lines", () => {
    const lines = [["the ", styled("bold", "watcher")], [], ["no"], ["Watcher, watcher!"]];
    expect(marked(lines, "watcher")).toEqual([
      [0, "watcher"],
      [1, "Watcher"],
      [2, "watcher"],
    ]);
  });

  it("of a phrase that was wrapped are one place with a mark in each line", () => {
    expect(marked([["start the theme"], ["watcher now"]], '"theme watcher"')).toEqual([
      [0, "theme"],
      [0, "watcher"],
    ]);
  });

  it("are not looked for above a line", () => {
    expect(marked([["model"], ["a model"]], "model", 1)).toEqual([[0, "model"]]);
  });

  it("are those of the text as it is drawn", () => {
    expect(marked([["\u001b[2Jred \u202eblue"]], "blue")).toEqual([[0, "blue"]]);
  });
});

describe("a marked line", () => {
  it("keeps its text and the styles around the marks", () => {
    const line = ["ab ", styled("bold", "cd ef"), " gh"];
    const drawn = markLine(line, [
      { start: 1, end: 4 },
      { start: 9, end: 11, style: "current" },
    ]);
    expect(drawn).toEqual(["a", styled("match", "b "), styled("match", "c"), styled("bold", "d ef"), " ", styled("current", "gh")]);
    expect(textOfLine(drawn)).toBe(textOfLine(line));
  });

  it("does not part a letter from its accent", () => {
    const line = ["cafe\u0301 e"];
    expect(markLine(line, findMarks(line, finder("cafe")))).toEqual([styled("match", "cafe\u0301"), " e"]);
  });
});
