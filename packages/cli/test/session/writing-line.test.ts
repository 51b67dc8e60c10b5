import { describe, expect, onTestFinished, test } from "vitest";
import { startProgressLine } from "../../src/session/compactor.js";
import { glyphsFor } from "../../src/terminal/glyphs.js";

/** A terminal of some width, what was written on it, and a clock that stands still until it is put forward. */
function terminal(columns: number) {
  const written: string[] = [];
  const clock = { nowMs: 1_000 };
  const stream = { columns, write: (text: string) => written.push(text) };
  const line = startProgressLine(stream, "m1 writes the summary", glyphsFor({ BOUGH_ASCII: "1" }), () => clock.nowMs);
  onTestFinished(() => line.end());
  return { written, clock, line };
}

const heard = (chars: number, stage = "history") => ({ type: "compactionProgress", attemptId: "a", stage, chars }) as const;

describe("the line of a model that writes", () => {
  test("is drawn at once and says what is written, how much has come and how long it took", () => {
    const { written, clock, line } = terminal(100);
    expect(written).toEqual(["\r| m1 writes the summary, 0 s\u001b[K"]);
    clock.nowMs += 2_400;
    line.onEvent(heard(1234));
    expect(written.at(-1)).toBe("\r/ m1 writes the summary: the conversation, 1,234 characters, 2 s\u001b[K");
  });

  test("is not drawn again for each piece of text", () => {
    const { written, clock, line } = terminal(100);
    for (let chars = 0; chars < 500; chars += 1) line.onEvent(heard(chars));
    expect(written).toHaveLength(1);
    clock.nowMs += 120;
    line.onEvent(heard(500));
    expect(written).toHaveLength(2);
  });

  test("is never wider than the terminal, so that it can be taken away again", () => {
    const { written, clock, line } = terminal(20);
    clock.nowMs += 500;
    line.onEvent(heard(1_000_000));
    for (const text of written) expect(text.slice(1, -"\u001b[K".length).length).toBeLessThan(20);
  });

  test("is written in eighty columns on a terminal that does not say how wide it is", () => {
    expect(terminal(0).written).toEqual(["\r| m1 writes the summary, 0 s\u001b[K"]);
  });

  test("leaves an empty line", () => {
    const { written, line } = terminal(100);
    line.end();
    expect(written.at(-1)).toBe("\r\u001b[K");
  });

  test("shows a stage that it does not know as it is", () => {
    const { written, clock, line } = terminal(100);
    clock.nowMs += 200;
    line.onEvent(heard(1, "a stage\nof tomorrow"));
    expect(written.at(-1)).toContain("a stage␊of tomorrow");
  });
});
