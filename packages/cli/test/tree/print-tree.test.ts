import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { type PrintOptions, printTree, type SessionTree } from "../../src/tree/print-tree.js";
import { anyOutline, chain, outline, type Sketch } from "./outlines.js";

beforeAll(loadExactWidths);

const glyphs = glyphsFor({});

function lines(sketches: readonly Sketch[], leaf: string | null, options: Partial<PrintOptions> = {}, more: Partial<SessionTree> = {}) {
  const tree = { rows: outline(...sketches), labels: [], leaves: [{ name: "main", entryId: leaf }], leafName: "main", ...more };
  const { lines: drawn } = printTree(tree, { width: 80, filter: "default", full: false, glyphs, ...options });
  return [...drawn].map((line) => textOfLine(line).trimEnd());
}

const hidden = { type: "custom", role: null } as const;

describe("a printed tree", () => {
  test("keeps a chain and the path of the leaf in one column, and indents the other branches", () => {
    const drawn = lines(
      [
        ["aaaa", null],
        ["bbbb", "aaaa"],
        ["cccc", "bbbb"],
        ["dddd", "cccc"],
        ["eeee", "bbbb"],
        ["ffff", "eeee"],
      ],
      "ffff",
    );
    expect(drawn).toEqual([
      "aaaa • user: aaaa",
      "bbbb • user: bbbb ├ 2",
      "cccc ├─ user: cccc",
      "dddd │  user: dddd",
      "eeee • user: eeee",
      "ffff • user: ffff ← leaf",
    ]);
  });

  test("draws several first entries as branches without a parent", () => {
    expect(
      lines(
        [
          ["aaaa", null],
          ["bbbb", null],
        ],
        "bbbb",
      ),
    ).toEqual(["aaaa ┌─ user: aaaa", "bbbb • user: bbbb ← leaf"]);
  });

  test("hangs the children of a hidden entry on its nearest shown ancestor", () => {
    const drawn = lines(
      [
        ["aaaa", null],
        ["hide", "aaaa", hidden],
        ["bbbb", "hide"],
        ["cccc", "hide"],
        ["dddd", "aaaa", hidden],
      ],
      "bbbb",
    );
    expect(drawn).toEqual(["aaaa • user: aaaa ├ 2", "cccc ├─ user: cccc", "bbbb • user: bbbb ← leaf"]);
  });

  test("draws no line where the last shown sibling is followed by hidden ones only", () => {
    const drawn = lines(
      [
        ["aaaa", null],
        ["bbbb", "aaaa"],
        ["cccc", "bbbb"],
        ["hide", "aaaa", hidden],
      ],
      "cccc",
    );
    expect(drawn).toEqual(["aaaa • user: aaaa", "bbbb • user: bbbb", "cccc • user: cccc ← leaf"]);
  });

  test("shows every entry with a label, and the leaf at the last entry above it that it shows", () => {
    const labels = [{ entryId: "bbbb", label: "here", createdAtMs: 0 }];
    const drawn = lines(
      [
        ["aaaa", null],
        ["bbbb", "aaaa", hidden],
        ["cccc", "bbbb", { ...hidden, preview: "note" }],
      ],
      "cccc",
      {},
      { labels },
    );
    expect(drawn.slice(1)).toEqual(["bbbb • [here] [custom bbbb] ← leaf"]);
  });

  test("names the other leaves", () => {
    const leaves = [
      { name: "main", entryId: "aaaa" },
      { name: "tester", entryId: "bbbb" },
    ];
    expect(
      lines(
        [
          ["aaaa", null],
          ["bbbb", "aaaa"],
        ],
        "aaaa",
        {},
        { leaves },
      ),
    ).toEqual(["aaaa • user: aaaa ← leaf", "bbbb   user: bbbb ← leaf tester"]);
  });

  test("has a text for every type of entry", () => {
    const rows: readonly Sketch[] = [
      ["aaaa", null, { role: "assistant", preview: "" }],
      ["bbbb", "aaaa", { type: "compaction", role: null, preview: "short" }],
      ["cccc", "bbbb", { type: "branch_summary", role: null, preview: "tried" }],
      ["dddd", "cccc", { type: "model_change", role: null, preview: "x/y" }],
      ["eeee", "dddd", { type: "thinking_level_change", role: null, preview: "high" }],
      ["ffff", "eeee", { type: "context_edit", role: null, preview: "omits aaaa" }],
      ["gggg", "ffff", { type: "custom_message", role: null, preview: "hook" }],
      ["hhhh", "gggg", { type: "custom", role: null, preview: "todo" }],
      ["iiii", "hhhh", { type: "foreign", role: null, preview: "usage" }],
      ["jjjj", "iiii", { role: "toolResult", preview: "error: no", isError: true }],
    ];
    expect(lines(rows, null, { filter: "all" }).map((line) => line.slice(7))).toEqual([
      "assistant: (empty)",
      "[compaction] short",
      "[branch summary] tried",
      "[model x/y]",
      "[thinking high]",
      "[context edit] omits aaaa",
      "[custom message] hook",
      "[custom todo]",
      "[foreign usage]",
      "✗ result: error: no",
    ]);
  });

  test("shows the rows of each filter", () => {
    const rows: readonly Sketch[] = [
      ["user", null],
      ["call", "user", { role: "assistant", preview: "[read src/a.ts]" }],
      ["resu", "call", { role: "toolResult", preview: "x" }],
      ["text", "resu", { role: "assistant", preview: "done [read b.ts]" }],
      ["cust", "text", hidden],
    ];
    const shown = (filter: PrintOptions["filter"]) => lines(rows, null, { filter }).map((line) => line.slice(0, 4));
    expect(shown("default")).toEqual(["user", "call", "text"]);
    expect(shown("no-tools")).toEqual(["user", "text"]);
    expect(shown("user")).toEqual(["user"]);
    expect(shown("all")).toEqual(["user", "call", "resu", "text", "cust"]);
  });

  test("replaces the middle of a long run by its number of entries", () => {
    const drawn = lines(chain(42), "p00041");
    expect(drawn.map((line) => line.trim())).toHaveLength(10);
    expect(drawn[4]?.trim()).toBe("• … 33 more entries, 33 from the user");
    expect(lines(chain(42), "p00041", { fullOption: "--full" })[4]?.trim()).toBe("• … 33 more entries, 33 from the user (--full)");
    expect(lines(chain(42), "p00041", { full: true })).toHaveLength(42);
    expect(lines(chain(12), null)).toHaveLength(12);
  });

  test("always prints a label, a summary and a leaf", () => {
    const rows = chain(40).map(([id, parent], at): Sketch => [id, parent, at === 20 ? { type: "compaction", role: null } : {}]);
    const drawn = lines(rows, "p00039", {}, { labels: [{ entryId: "p00010", label: "x", createdAtMs: 0 }] });
    expect(drawn.filter((line) => /\[x\]|\[compaction\]|leaf/.test(line))).toHaveLength(3);
  });

  test("prints times if asked to", () => {
    expect(lines([["aaaa", null]], null, { time: (at) => `at ${at}` })).toEqual(["aaaa   at 0 user: aaaa"]);
  });

  test("draws with plain ASCII", () => {
    const drawn = lines(
      [
        ["aaaa", null],
        ["bbbb", "aaaa"],
        ["cccc", "aaaa"],
      ],
      "bbbb",
      { glyphs: glyphsFor({ BOUGH_ASCII: "1" }) },
    );
    expect(drawn).toEqual(["aaaa * user: aaaa (2 branches)", "cccc |- user: cccc", "bbbb * user: bbbb <- leaf"]);
  });

  test("leaves forty columns for the text, however deep it is", () => {
    const deep: Sketch[] = [["root", null]];
    for (let at = 0; at < 50; at += 1)
      deep.push(
        [`l${at}x`, at === 0 ? "root" : `l${at - 1}x`, { preview: "y".repeat(100) }],
        [`r${at}x`, at === 0 ? "root" : `l${at - 1}x`],
      );
    const drawn = lines(deep, "root", { full: true, width: 80 }).filter((line) => line.includes("yyy"));
    for (const line of drawn) expect(line).toMatch(/user: y{33,}…(?: ├ 2)?$/);
    expect(drawn).toHaveLength(50);
  });
});

describe("any tree with any text", () => {
  const question = fc.record({
    rows: anyOutline,
    width: fc.integer({ min: 20, max: 120 }),
    filter: fc.constantFrom("default", "no-tools", "user", "all") as fc.Arbitrary<PrintOptions["filter"]>,
    leaf: fc.nat({ max: 60 }),
    label: fc.string({ unit: "binary", maxLength: 30 }),
  });

  test("stays within the width, on one line each", () => {
    fc.assert(
      fc.property(question, ({ rows, width, filter, leaf, label }) => {
        const entryId = rows[leaf]?.id ?? null;
        const labels = entryId === null ? [] : [{ entryId, label, createdAtMs: 0 }];
        const tree = { rows, labels, leaves: [{ name: "main", entryId }], leafName: "main" };
        for (const line of printTree(tree, { width, filter, full: false, glyphs }).lines) {
          expect(lineWidth(line)).toBeLessThanOrEqual(width);
          expect(textOfLine(line)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
      }),
    );
  });

  test("shows every entry once with --full --all, in an order in which parents come first", () => {
    fc.assert(
      fc.property(anyOutline, (rows) => {
        const tree = { rows, labels: [], leaves: [], leafName: "main" };
        const drawn = [...printTree(tree, { width: 200, filter: "all", full: true, glyphs }).lines].map(textOfLine);
        const place = new Map(rows.map(({ id, seq }) => [seq, drawn.findIndex((line) => id.startsWith(line.split(" ")[0] ?? "?"))]));
        expect(drawn).toHaveLength(rows.length);
        expect(new Set(place.values()).size).toBe(rows.length);
        for (const { seq, parentSeq } of rows) if (parentSeq !== null) expect(place.get(parentSeq)).toBeLessThan(place.get(seq) ?? -1);
      }),
    );
  });
});

describe("a very large tree", () => {
  test("may be 100,000 entries deep", () => {
    expect(lines(chain(100_000), "p99999")).toHaveLength(10);
  });

  test("may branch at each of 20,000 entries", () => {
    const comb = chain(20_000).flatMap(([id, parent]): Sketch[] => [
      [id, parent],
      [`${id}-side`, parent],
    ]);
    expect(lines(comb, "p19999", { full: true })).toHaveLength(40_000);
  });
});
