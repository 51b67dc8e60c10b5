import { beforeAll, describe, expect, it } from "vitest";
import { loadExactWidths } from "../../src/terminal/width.js";
import { chain, outline, type Sketch } from "../tree/outlines.js";
import { NOON } from "../world.js";
import { Driven } from "./driven.js";

beforeAll(loadExactWidths);

const SIZES = [
  [40, 10],
  [80, 24],
  [160, 40],
] as const;

const REPLY = { role: "assistant" } as const;

const rowsOf = (...sketches: readonly Sketch[]) =>
  outline(...sketches).map((row, at) => ({ ...row, createdAtMs: NOON - (60 - at) * 60_000, payloadBytes: 400 + at * 900 }));

const ROWS = rowsOf(
  ["ask", null, { preview: "Write a parser for the language of the specification, with errors that say where." }],
  ["plan", "ask", { ...REPLY, preview: "First the lexer, then the parser." }],
  ["left", "plan", { preview: "Use recursive descent" }],
  ["call", "left", { ...REPLY, preview: "[read src/parser.ts]" }],
  ["tool", "call", { role: "toolResult", preview: "no such file", isError: true }],
  ["left2", "tool", { ...REPLY, preview: "Done: recursive descent works." }],
  ["right", "plan", { preview: "Use a table instead" }],
  ["sum", "right", { type: "branch_summary", role: null, preview: "The branch tried recursive descent." }],
  ["right2", "sum", { ...REPLY, preview: "The table is generated." }],
  ["deep", "right2", { preview: "Another idea" }],
  ["deep2", "right2", { preview: "Yet another idea" }],
);
const MARKED = {
  leafId: "deep2",
  labels: { plan: "plan", left2: "good state" },
  leaves: [
    { name: "main", entryId: "deep2" },
    { name: "worker", entryId: "left2" },
  ],
};

const shown = (columns: number, rows: number, env: Readonly<Record<string, string>> = {}) =>
  new Driven({ size: { columns, rows: rows - 1 }, env, title: "A parser for the language" }).loaded(ROWS, MARKED);

/** Words of a message, as a row shows them. */
const wordsIn = (line: string | undefined) => /(?:user|assistant): (.*?)(?: {2,}~.*)?$/.exec(line ?? "")?.[1] ?? "";

describe.each(SIZES)("A screen of %i × %i", (columns, rows) => {
  const within = (navigator: Driven) => {
    expect(navigator.widest).toBeLessThanOrEqual(columns);
    expect(navigator.lines.length).toBe(rows - 1);
    return navigator.text;
  };

  it("shows branches with connectors, labels as badges, and the leaves", () => {
    expect(within(shown(columns, rows))).toMatchSnapshot();
  });

  it("shows folds and the number of rows in them", () => {
    expect(within(shown(columns, rows).press("g", "j", "j", "space"))).toMatchSnapshot();
  });

  it("shows everything, with dates", () => {
    expect(within(shown(columns, rows).press("ctrl+a", "T"))).toMatchSnapshot();
  });

  it("shows a search and its hits", () => {
    const found = shown(columns, rows).press("/").type("recursive").hits("left", "left2", "sum");
    expect(within(found)).toMatchSnapshot();
  });

  it("shows the preview beside, below or in place of the tree", () => {
    const navigator = shown(columns, rows).press("v");
    const { width } = navigator.model.preview;
    const lines = Array.from({ length: 50 }, (_, at) => [`line ${at + 1} of the entry`]);
    expect(within(navigator.event({ kind: "previewed", entryId: "deep2", width, lines, words: null, places: [] }))).toMatchSnapshot();
  });

  it("shows the choices about the branch that is left", () => {
    expect(within(shown(columns, rows).press("g", "j", "j", "enter"))).toMatchSnapshot();
  });

  it("shows the field for a label", () => {
    expect(within(shown(columns, rows).press("l").type("日本 label"))).toMatchSnapshot();
  });

  it("shows the confirmation of a compaction, and its keys", () => {
    const text = within(shown(columns, rows).press("c"));
    expect(text).toContain("y/n");
    expect(text).toMatchSnapshot();
  });

  it("shows work, and the key that cancels it", () => {
    const text = within(shown(columns, rows).press("g", "j", "j", "enter", "2"));
    expect(text.replaceAll("\n", " ")).toContain("Esc cancels");
    expect(text).toMatchSnapshot();
  });

  it("shows help", () => {
    expect(within(shown(columns, rows).press("?"))).toMatchSnapshot();
  });

  it("draws only ASCII if asked to", () => {
    const ascii = shown(columns, rows, { BOUGH_ASCII: "1" }).press("g", "j", "j", "enter");
    expect(within(ascii)).toMatch(/^[\x20-\x7e\n]*$/);
    expect(within(ascii.press("escape", "?"))).toMatch(/^[\x20-\x7e\n]*$/);
    expect(within(ascii.press("escape", "g", "space", "/").type("x").hits())).toMatch(/^[\x20-\x7e\n]*$/);
    expect(within(shown(columns, rows, { BOUGH_ASCII: "1" }))).toMatchSnapshot();
  });
});

describe("A row", () => {
  it("keeps columns for its text beside a long label and a long name of a leaf", () => {
    const long = new Driven().loaded(ROWS, {
      leafId: "right2",
      labels: { right2: "a label that goes on and on ".repeat(6) },
      leaves: [{ name: "a-worker-with-a-name-that-never-ends-".repeat(4), entryId: "right2" }],
    });
    expect(wordsIn(long.selectedLine)).toContain("The table");
    expect(long.selectedLine).toMatch(/\[a label that go\S*…\]/);
  });

  it.each<[name: string, preview: string]>([
    ["wide", "日本語のテキスト".repeat(30)],
    ["combining", "e\u0301".repeat(300)],
    ["emoji", "👩‍👩‍👧 1️⃣ 🇯🇵".repeat(30)],
    ["from right to left", "שלום עולם ".repeat(30)],
  ])("keeps the columns with text that is %s", (_, preview) => {
    for (const [columns, rows] of SIZES) {
      const rowsOfText = rowsOf(["one", null, { preview }], ["two", "one", { preview }], ["three", "one", { preview }]);
      const screen = new Driven({ size: { columns, rows }, title: preview }).loaded(rowsOfText, {
        labels: { two: preview },
        leaves: [{ name: preview, entryId: "three" }],
      });
      expect(screen.widest).toBeLessThanOrEqual(columns);
      screen.press("/").type("1").hits("one", "two");
      expect(screen.widest).toBeLessThanOrEqual(columns);
      screen.press("enter", "v", "m", "l").event({ kind: "paste", text: preview });
      expect(screen.widest).toBeLessThanOrEqual(columns);
    }
  });

  it("makes control characters, escape sequences and changes of direction visible", () => {
    const nasty = "a\u001b]0;owned\u0007b\u001b[2Jc\u202edcba\u2066x\u009b31m\r\nz";
    const screen = new Driven({ title: nasty }).loaded(rowsOf(["one", null, { preview: nasty }]), {
      labels: { one: nasty },
      leaves: [{ name: nasty, entryId: "one" }],
    });
    screen.event({ kind: "notice", text: nasty, isError: true });
    expect(screen.lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(screen.text).toContain("owned");
    screen
      .press("v")
      .event({ kind: "previewed", entryId: "one", width: screen.model.preview.width, lines: [[nasty]], words: null, places: [] });
    screen.press("l");
    expect(screen.lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });
});

describe("A tree without rows", () => {
  it("shows whether it is being read, empty, hidden by the filter or without hits", () => {
    const shownTexts = [
      new Driven(),
      new Driven().loaded([]),
      new Driven().loaded(rowsOf(...chain(3)), { leafId: null }).press("ctrl+s"),
      new Driven()
        .loaded(rowsOf(...chain(3)))
        .press("/")
        .type("zzz")
        .hits(),
    ].map(({ lines }) => lines[1]);
    expect(shownTexts).toEqual([
      "Reading the session …",
      "No entries yet.",
      "No entry matches the filter. Ctrl-D shows the conversation, Ctrl-A everything.",
      "No hits. Esc ends the search.",
    ]);
  });
});
