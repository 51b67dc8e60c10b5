import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Reflow } from "../../src/terminal/io.js";
import { fitLine, styled, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { FrameDrawer } from "../../src/tui/frame-drawer.js";
import type { Frame, FrameLine } from "../../src/tui/screen.js";
import { DrawnTerminal } from "./drawn-terminal.js";

await loadExactWidths();

const LINES = ["─".repeat(80), `› ${"a".repeat(70)}`, "status"].map((line) => ({ line: [line] }));

/** How many rows above the cursor a frame of 80 columns is erased from, once the terminal has 40. */
function erasedFrom(reflow: Reflow, cursor: Frame["cursor"]): number {
  let written = "";
  const output = { columns: 80, write: (text: string) => (written += text) };
  const frame = new FrameDrawer(output, { kind: "inline", color: false, reflow });
  frame.draw({ lines: LINES, cursor });
  written = "";
  output.columns = 40;
  frame.clear();
  const [, up = "0"] = /^(?:\u001b\[(\d+)A)?\r\u001b\[J$/.exec(written) ?? expect.unreachable(JSON.stringify(written));
  return Number(up);
}

// The rule takes two rows of 40 columns. The cursor is in the second line, before or after what fits into its first row.
test.each([
  ["none", 10, 1],
  ["none", 60, 1],
  ["aboveCursor", 10, 2],
  ["aboveCursor", 60, 2],
  ["all", 10, 2],
  ["all", 60, 3],
] as const)("a narrower terminal that breaks anew: %s; the cursor in column %i: %i rows are above it", (reflow, column, rows) => {
  expect(erasedFrom(reflow, { row: 1, column })).toBe(rows);
});

test("without a cursor, it is at the end of the last line", () => {
  // Two rows of the rule, two of the prompt, the status.
  expect(erasedFrom("all", undefined)).toBe(4);
});

const COLUMNS = 20;
const ROWS = 6;

// Lines narrower than the terminal, as wide, and wider; with wide characters and styles.
const text = fc.constantFrom(
  "",
  "a",
  "one two",
  "日本語の行",
  "x".repeat(COLUMNS),
  "日".repeat(COLUMNS / 2),
  "y".repeat(COLUMNS + 5),
  "│ branch",
  "é👩‍👩‍👧!",
);
const line: fc.Arbitrary<FrameLine> = fc
  .record({ text, isSelected: fc.boolean(), isStyled: fc.boolean() })
  .map(({ text, isSelected, isStyled }) => ({ line: [isStyled ? styled("label", text) : text], isSelected }));
const frame: fc.Arbitrary<Frame> = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: ROWS - 1 }),
    row: fc.nat(),
    column: fc.nat(COLUMNS - 1),
    hasCursor: fc.boolean(),
  })
  .map(({ lines, row, column, hasCursor }) => ({ lines, cursor: hasCursor ? { row: row % lines.length, column } : undefined }));

/** The lines of a frame as the terminal shows them. */
function textsOf({ lines }: Frame): readonly string[] {
  const texts = lines.map((one) => textOfLine(fitLine(one.line, COLUMNS)).trimEnd());
  return texts.slice(0, texts.findLastIndex((one) => one !== "") + 1);
}

describe("after any frames, the terminal shows the last one", () => {
  test("on a full screen", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 6 }), fc.nat(5), async (frames, cleared) => {
        const terminal = new DrawnTerminal(COLUMNS, ROWS);
        const drawer = new FrameDrawer(terminal, { kind: "full", color: true, reflow: "all" });
        terminal.write("what was on the screen\nbefore");
        for (const [at, one] of frames.entries()) {
          drawer.draw(one);
          if (at === cleared) drawer.clear();
        }
        const last = frames.at(-1) ?? expect.unreachable();
        expect(await terminal.lines()).toEqual(textsOf(last));
        if (last.cursor !== undefined) expect(await terminal.cursor()).toEqual(last.cursor);
      }),
    );
  });

  test("below the lines that were printed, on an inline one", async () => {
    const step = fc.oneof(frame, fc.constantFrom("printed", "日本語"), fc.constant(null));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), frame, async (steps, last) => {
        const terminal = new DrawnTerminal(COLUMNS, ROWS);
        const drawer = new FrameDrawer(terminal, { kind: "inline", color: true, reflow: "aboveCursor" });
        const printed = ["$ bough"];
        terminal.write("$ bough\n");
        for (const one of [...steps, last]) {
          if (one === null) drawer.clear();
          else if (typeof one !== "string") drawer.draw(one);
          else {
            printed.push(one);
            drawer.print([[one]]);
          }
        }
        const whole = [...printed, ...textsOf(last)];
        expect(await terminal.lines()).toEqual(whole);
        if (last.cursor !== undefined) {
          expect(await terminal.cursor()).toEqual({ row: printed.length + last.cursor.row, column: last.cursor.column });
        }
        drawer.clear();
        expect(await terminal.lines()).toEqual(printed);
      }),
    );
  });
});

test("only the lines that differ are written, and nothing for an equal frame", () => {
  const terminal = new DrawnTerminal(COLUMNS, ROWS);
  const drawer = new FrameDrawer(terminal, { kind: "full", color: false, reflow: "all" });
  const frameOf = (...lines: readonly string[]): Frame => ({ lines: lines.map((one) => ({ line: [one] })) });
  drawer.draw(frameOf("first", "second", "third"));
  drawer.draw(frameOf("first", "second", "third"));
  expect(terminal.writes).toHaveLength(1);
  drawer.draw(frameOf("first", "changed", "third"));
  expect(terminal.writes).toHaveLength(2);
  expect(terminal.writes[1]).toContain("changed");
  expect(terminal.writes[1]).not.toMatch(/first|third/);
});
