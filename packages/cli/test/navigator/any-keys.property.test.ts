import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { NAVIGATOR_KEYS } from "../../src/navigator/keys.js";
import { panesOf } from "../../src/navigator/panes.js";
import { selectedPosition, visibleCount } from "../../src/navigator/selection.js";
import { view } from "../../src/navigator/view.js";
import { viewDialog } from "../../src/navigator/view-dialog.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { anyOutline } from "../tree/outlines.js";
import { Driven } from "./driven.js";

const SIZES = { columns: fc.integer({ min: 12, max: 180 }), rows: fc.integer({ min: 1, max: 45 }) };

const typed = fc.constantFrom("1", "2", "y", "n", "a", "é", "日", " ", "\u0301", "👩‍👩‍👧", "/", "\u202e");
const keys = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAVIGATOR_KEYS.flatMap((binding) => binding.keys)) },
  { weight: 1, arbitrary: typed },
  { weight: 1, arbitrary: fc.constantFrom("backspace", "delete", "enter", "escape", "enter", "escape") },
);

type Happening =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "resize"; readonly size: { readonly columns: number; readonly rows: number } }
  | { readonly kind: "hits"; readonly places: readonly number[] }
  | { readonly kind: "previewed"; readonly lines: readonly string[] }
  | { readonly kind: "labelled"; readonly place: number; readonly label: string }
  | { readonly kind: "worked" };

const text = fc.string({ unit: "grapheme-composite", maxLength: 90 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("key" as const), key: keys }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("paste" as const), text: fc.string({ unit: "binary", maxLength: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("resize" as const), size: fc.record(SIZES) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("hits" as const), places: fc.array(fc.nat(70), { maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("previewed" as const), lines: fc.array(text, { maxLength: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("labelled" as const), place: fc.nat(70), label: text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("worked" as const) }) },
);

beforeAll(loadExactWidths);

describe("Any input on any tree", () => {
  it("never throws, keeps the selected row on screen, and every line within the terminal", () => {
    fc.assert(
      fc.property(anyOutline, fc.record(SIZES), fc.array(happening, { maxLength: 60 }), (rows, size, happenings) => {
        const ids = rows.map(({ id }) => id);
        const navigator = new Driven({ size }).loaded(rows);
        for (const one of happenings) {
          happen(navigator, one, ids);
          fits(navigator);
        }
      }),
      { numRuns: runs(400) },
    );
  });
});

function happen(navigator: Driven, one: Happening, ids: readonly string[]): void {
  const { preview } = navigator.model;
  switch (one.kind) {
    case "key":
      navigator.press(one.key);
      return;
    case "paste":
    case "resize":
      navigator.event(one);
      return;
    case "hits":
      navigator.hits(...one.places.flatMap((place) => ids[place] ?? []));
      return;
    case "previewed":
      if (preview.entryId !== null)
        navigator.event({
          kind: "previewed",
          entryId: preview.entryId,
          width: preview.width,
          lines: one.lines.map((line) => [line]),
          words: preview.words,
          places: [],
        });
      return;
    case "labelled":
      navigator.changed([], { labels: { [ids[one.place] ?? "no such entry"]: one.label } });
      return;
    case "worked":
      navigator.event({ kind: "workEnded", text: "What was said \u001b[2J about it", isError: true });
  }
}

function fits(navigator: Driven): void {
  const { model } = navigator;
  const { columns, rows } = model.size;
  const frame = view(model);
  expect(frame.lines.length).toBeLessThanOrEqual(rows);
  for (const { line } of frame.lines) {
    if (lineWidth(line) > columns) expect.fail(`${lineWidth(line)} > ${columns}: ${JSON.stringify(textOfLine(line))}`);
    expect(textOfLine(line)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  }
  if (frame.cursor !== undefined) {
    expect(frame.cursor.row).toBeLessThan(rows);
    expect(frame.cursor.column).toBeLessThan(columns);
  }
  const panes = panesOf(model);
  if (visibleCount(model) === 0 || panes.preview?.place === "over") return;
  const line = selectedPosition(model) - model.top;
  expect(line).toBeGreaterThanOrEqual(0);
  expect(line).toBeLessThan(panes.list.rows);
  // A dialog leaves the row that it is about, where there is room for both.
  if (viewDialog(model, panes.body).lines.length < panes.body)
    expect(navigator.lines.filter((text) => text.startsWith(model.glyphs.cursor)).length).toBeGreaterThan(0);
}
