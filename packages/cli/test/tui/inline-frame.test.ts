import { expect, test } from "vitest";
import { InlineFrame } from "../../src/tui/inline-frame.js";
import type { Frame } from "../../src/tui/screen.js";

const LINES = ["─".repeat(80), `› ${"a".repeat(70)}`, "status"].map((line) => ({ line: [line] }));

/** How many rows above the cursor a frame of 80 columns is erased from, once the terminal has 40. */
function erasedFrom(reflow: ConstructorParameters<typeof InlineFrame>[2], cursor: Frame["cursor"]): number {
  let written = "";
  const output = { columns: 80, write: (text: string) => (written += text) };
  const frame = new InlineFrame(output, false, reflow);
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
