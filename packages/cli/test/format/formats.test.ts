import { bytes, count, counted, dollars } from "@bough/session-core/view";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { roughMessageTokens, roughTokens } from "../../src/format/rough-tokens.js";
import { tableLines } from "../../src/format/table.js";
import { age, dateTime, parseTime } from "../../src/format/time.js";
import { wrapLine } from "../../src/format/wrap.js";
import { graphemesOf } from "../../src/terminal/graphemes.js";
import { lineWidth, styled, textOfLine } from "../../src/terminal/line.js";
import { displayWidth, loadExactWidths } from "../../src/terminal/width.js";

beforeAll(loadExactWidths);

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe("times", () => {
  test("are ages in one unit", () => {
    expect(
      [0, 59_000, 5 * MINUTE, 3 * 60 * MINUTE, 2 * DAY, 15 * DAY, 70 * DAY, 800 * DAY, -DAY].map((ago) => age(1e12 - ago, 1e12)),
    ).toEqual(["now", "now", "5m", "3h", "2d", "2w", "2mo", "2y", "now"]);
  });

  test("are parsed as users write them", () => {
    const now = Date.UTC(2025, 10, 21, 12);
    expect(parseTime("3d", now)).toBe(now - 3 * DAY);
    expect(parseTime("90m", now)).toBe(now - 90 * MINUTE);
    expect(parseTime("2025-11-20", now)).toBe(new Date(2025, 10, 20).getTime());
    expect(parseTime("2025-11-20T10:30Z", now)).toBe(Date.UTC(2025, 10, 20, 10, 30));
    expect(parseTime("2024-02-29", now)).toBe(new Date(2024, 1, 29).getTime());
    for (const day of ["2025-02-29", "2025-06-31", "2025-06-31T10:30", "2025-00-10", "2025-13-01"])
      expect(parseTime(day, now)).toBeUndefined();
    expect(["yesterday", "2025-13-45", "3", "", "-3d"].map((text) => parseTime(text, now))).toEqual(Array(5).fill(undefined));
  });

  test("are printed as date and time, and empty if invalid", () => {
    expect(dateTime(new Date(2025, 0, 2, 3, 4).getTime())).toBe("2025-01-02 03:04");
    expect(dateTime(Number.MAX_SAFE_INTEGER)).toBe("");
  });
});

describe("numbers", () => {
  test("are formatted for reading", () => {
    expect([
      count(1234567),
      counted(1, "entry", "entries"),
      counted(2, "entry", "entries"),
      bytes(830),
      bytes(12_345),
      bytes(4.1e6),
    ]).toEqual(["1,234,567", "1 entry", "2 entries", "830 B", "12.3 kB", "4.1 MB"]);
    expect([dollars(0.0034), dollars(30.331)]).toEqual(["$0.0034", "$30.33"]);
  });
});

describe("rough tokens", () => {
  test("are four characters each, one in CJK, two in base64 and other scripts", () => {
    expect(roughTokens("a plain sentence")).toBe(4);
    expect(roughTokens("日本語")).toBe(3);
    expect(roughTokens("привет")).toBe(3);
    expect(roughTokens("Ab9+".repeat(50))).toBe(100);
  });

  test("count text, thinking, calls and results of a message, and 1,500 per image", () => {
    expect(roughMessageTokens({ role: "user", content: "abcd" })).toBe(5);
    expect(roughMessageTokens({ role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] })).toBe(1504);
    expect(
      roughMessageTokens({
        role: "assistant",
        content: [
          { type: "thinking", thinking: "abcd" },
          { type: "toolCall", id: "x", name: "read", arguments: { p: 1 } },
        ],
      }),
    ).toBe(4 + 1 + 1 + 2);
    expect(roughMessageTokens({ role: "branchSummary", summary: "abcdefgh", fromId: null })).toBe(6);
  });
});

describe("a table", () => {
  const columns = [{ heading: "id" }, { heading: "title", shrinksTo: 6 }, { heading: "n", align: "right" as const, optional: true }];

  test("aligns its columns for all characters", async () => {
    const rows = await tableLines(
      columns,
      [
        [["a"], ["日本"], ["1"]],
        [["bb"], ["plain"], ["22"]],
      ],
      80,
    );
    expect(rows.map(textOfLine)).toEqual(["id  title   n", "a   日本    1", "bb  plain  22"]);
  });

  test("shrinks its shrinkable columns, then drops the optional ones", async () => {
    const row = [["identity"], ["a long title indeed"], ["12345"]];
    expect((await tableLines(columns, [row], 26)).map(textOfLine)).toEqual(["id        title          n", "identity  a long t…  12345"]);
    expect((await tableLines(columns, [row], 17)).map(textOfLine)).toEqual(["id        title", "identity  a long…"]);
    // Without an optional column left the title shrinks below its minimum, to 4; then the table is wider than the terminal.
    expect((await tableLines(columns, [row], 15)).map(textOfLine)).toEqual(["id        title", "identity  a lo…"]);
    expect((await tableLines(columns, [row], 5)).map(textOfLine)).toEqual(["id        tit…", "identity  a l…"]);
  });
});

describe("wrapping", () => {
  test("breaks between words, and inside words that are too long", () => {
    const wrapped = wrapLine(["one ", styled("match", "two"), " three fourfivesix"], 9);
    expect(wrapped.map((line) => textOfLine(line).trimEnd())).toEqual(["one two", "three", "fourfives", "ix"]);
  });

  test("keeps every word and never gets wider", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const wrapped = wrapLine([text], width);
        for (const line of wrapped) expect(lineWidth(line)).toBeLessThanOrEqual(width);
        // A character that is wider than the line is replaced by "?".
        if (Array.from(graphemesOf(textOfLine([text]))).some(({ segment }) => displayWidth(segment) > width)) return;
        expect(wrapped.map(textOfLine).join("").replace(/\s/g, "")).toBe(textOfLine([text]).replace(/\s/g, ""));
      }),
    );
  });
});
