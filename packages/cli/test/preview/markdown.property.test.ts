import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { markdownLines } from "../../src/preview/markdown.js";
import { glyphsFor } from "../../src/terminal/glyphs.js";
import { lineWidth, textOfLine } from "../../src/terminal/line.js";
import { loadExactWidths } from "../../src/terminal/width.js";
import { drawn, inStyle } from "./drawn.js";

beforeAll(loadExactWidths);

const DOCUMENT = `# Fix the *parser*

The lexer **drops tabs**, see \`src/lexer.ts\`, [the issue](https://example.org/1) and https://example.org. A&amp;B <b>x</b>
second line

1. first \`code\`, and more text that must wrap at words because it is long
   - nested **bold** item
     \`\`\`ts
     if (a) {
       b();
     }
     \`\`\`
   - [x] done
   - [ ] open
10. ten

> quoted
> > twice

| name | what it does | n |
|:-----|:-------------|--:|
| lexer | turns a text into tokens, one line at a time | 1 |
| parser | **trees** | 22 |

\`\`\`diff
@@ -1 +1 @@
-old
+new
\`\`\`

これは**「強調」**です、そして*とても*長い文章なので、どこかで折り返さなければなりません。
`;

describe("Markdown", () => {
  test.each([40, 80, 120])("is drawn at %i columns", (width) => {
    expect(drawn(markdownLines(DOCUMENT, width), width)).toMatchSnapshot();
  });

  test("is drawn in ASCII on a terminal without Unicode", () => {
    const text = drawn(markdownLines("- a\n\n> b\n\n| c | d |\n|-|-|\n| 1 | 2 |\n\n---", 40, glyphsFor({ BOUGH_ASCII: "1" })), 40);
    expect(text).toMatch(/^[\x20-\x7e\n]*$/);
    expect(text).toContain("- a\n\n| b\n\nc | d\n");
  });

  test("keeps the indentation of code, and breaks long lines without loss", () => {
    const code = `if (x) {\n\tdeeper(${"y".repeat(50)});\n}`;
    const lines = markdownLines(`\`\`\`\n${code}\n\`\`\``, 20).map(textOfLine);
    expect(lines[1]).toMatch(/^ {6}deeper/);
    expect(lines.map((line) => line.slice(2)).join("")).toBe(code.replace("\t", "    ").replaceAll("\n", ""));
  });

  test("renders emphasis and code in lists and next to Chinese and Japanese", () => {
    const lines = markdownLines("- **「強調」**です\n- 見て`code`下さい\n- これは**「強調」**です", 40);
    expect(inStyle(lines, "bold")).toEqual(["「強調」", "「強調」"]);
    expect(inStyle(lines, "code")).toEqual(["code"]);
  });

  test("does not read single asterisks as emphasis", () => {
    expect(markdownLines("2 ** 3 and 日本 ** 語", 40).map(textOfLine)).toEqual(["2 ** 3 and 日本 ** 語"]);
  });

  test("keeps a comma behind code on its line", () => {
    expect(markdownLines("one two `three`, four", 14).map(textOfLine)).toEqual(["one two three,", "four"]);
  });

  test("keeps written numbers and line breaks", () => {
    expect(markdownLines("3. c\n7. g\n\na\nb", 20).map(textOfLine)).toEqual(["3. c", "7. g", "", "a", "b"]);
  });

  test("colors a diff, fenced or not, also if a removed line starts with dashes", () => {
    const diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n same\n--- title\n+++ heading\n *not emphasis*";
    const lines = markdownLines(`Before\n${diff}\nAfter *it*`, 40);
    expect(inStyle(lines, "heading")).toEqual(["--- a/x", "+++ b/x", "@@ -1,3 +1,3 @@"]);
    expect(lines.map(textOfLine)).toContain(" *not emphasis*");
    expect(inStyle(lines, "bold")).toEqual(["it"]);
    expect(inStyle(markdownLines("```diff\n-a\n+b\n```", 40), "removed")).toEqual(["-a"]);
  });

  test("keeps the definitions of links, and shows the address where one is used", () => {
    const lines = markdownLines("See [the docs][1].\n\n[1]: https://example.org/docs\n[unused]: https://example.org/x\n\nEnd", 60);
    expect(lines.map(textOfLine)).toEqual([
      "See the docs (https://example.org/docs).",
      "",
      "[1]: https://example.org/docs",
      "[unused]: https://example.org/x",
      "",
      "End",
    ]);
  });

  test("shows the address of a link once", () => {
    const text = "<https://a.example> https://b.example [https://c.example](https://c.example) [d](https://d.example)";
    const shown = "https://a.example https://b.example https://c.example d (https://d.example)";
    expect(markdownLines(text, 99).map(textOfLine)).toEqual([shown]);
  });

  test("keeps the indentation of lines that are pasted without a fence", () => {
    const text = "def f(x):\n    if x:\n\treturn 1\n\n  1 a\n 10 b";
    expect(markdownLines(text, 40).map(textOfLine)).toEqual(["def f(x):", "    if x:", "    return 1", "", "  1 a", " 10 b"]);
  });

  test("breaks a line at <br>, also in a cell", () => {
    expect(markdownLines("a<br>b", 40).map(textOfLine)).toEqual(["a", "b"]);
    expect(markdownLines("| h |\n|-|\n| c<br/>d |", 40).map(textOfLine).slice(2)).toEqual(["c", "d"]);
  });

  test("draws a table as lists if it has too many columns", () => {
    const table = "| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n| 1 | 2 | 3 | 4 | 5 | 6 |";
    expect(drawn(markdownLines(table, 30), 30)).toBe("\n• a: 1\n  b: 2\n  c: 3\n  d: 4\n  e: 5\n  f: 6\n");
  });

  test("shows control characters as pictures", () => {
    expect(markdownLines("\u001b[31mred\u202e `\u0007`", 40).map(textOfLine)).toEqual(["␛[31mred\\u{202e} ␇"]);
  });

  test("keeps every word of text without markup", () => {
    const word = fc.stringMatching(/^[a-zé文字]{1,30}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 40 }), fc.integer({ min: 4, max: 60 }), (words, width) => {
        const text = markdownLines(words.join(" "), width).map(textOfLine).join("");
        expect(text.replaceAll(" ", "")).toBe(words.join(""));
      }),
    );
  });
});

describe("hostile text", () => {
  const piece = fc.constantFrom(
    ..."*_`~[]()<>|#-+!\\&:\n\t 1.a",
    "\r\n",
    "    ",
    "```",
    "| a | b |\n|-|-|\n",
    "文",
    "「",
    "👨‍👩‍👧",
    "e\u0301",
    "\u0301",
    "\ufe0f",
    "☺",
    "\u200d",
    "\u202e",
    "\u001b[2J",
    "\ud800",
    "🇩",
    "각",
    "ᄀ",
    "क्",
    "﷽",
    "𒐫",
    "> ",
    "- ",
    "- [ ] ",
    "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
  );

  test("fits at every width and never fails", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 60 }),
        fc.integer({ min: 2, max: 50 }),
        (pieces, width) => {
          for (const line of markdownLines(pieces.join(""), width)) expect(lineWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test("nested lists are drawn to a maximum depth, and as text below it", () => {
    const deep = Array.from({ length: 200 }, (_, level) => `${"  ".repeat(level)}- level ${level}`).join("\n");
    const text = drawn(markdownLines(deep, 60), 60);
    expect(text).toContain("  • level 1\n");
    expect(text).toContain("- level 199");
  });
});
