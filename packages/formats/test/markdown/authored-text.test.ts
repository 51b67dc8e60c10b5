import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../.ci/test-runs.js";
import { sanitizeMarkdown } from "../../src/markdown/sanitize-markdown.js";
import { linesOutsideCode } from "./documents.js";
import { nasty } from "./nasty.js";

describe("an author's Markdown inside a document", () => {
  test.each([
    ["plain words", "a < b & c > d, 3 <4, *x*, _y_"],
    ["code in a line", "use `Map<string, A>` and ``a ` <b>``"],
    ["lists", "- a\n  - b\n1. c\n\n   more of c"],
    ["a table", "| a | `b` |\n|---|---|\n| c | `d \\| e` |"],
    ["a quote", "> said\n>\n> twice"],
    ["links to the web, mail and files", "[a](https://x.y/z) <https://x.y> [b](mailto:a@b.c) [c](src/a.ts#L3) [d](#e)"],
    ["a block of code", "```ts\nconst a = <T>(x: T) => x;\n\n  indented\n```"],
    ["code in a list", "1. run\n\n   ```sh\n   npm test\n   ```\n2. done"],
  ])("keeps %s as it was written", (_, given) => {
    expect(sanitizeMarkdown(given)).toBe(given);
  });

  test.each([
    ["tags", "a <b onclick=x>c</b>", "a &lt;b onclick=x>c&lt;/b>"],
    ["comments", "<!-- a", "&lt;!-- a"],
    ["the end of a fold", "</details>", "&lt;/details>"],
    ["a tag behind a lone backtick", "a ` b\n<i> ` c", "a \\` b\n&lt;i> \\` c"],
    ["a tag between the cells of a table", "| a | b |\n|---|---|\n| `a | b` `<i>` |", "| a | b |\n|---|---|\n| \\`a | b` `&lt;i>\\` |"],
    ["a tag behind a backtick in an address", "http://a` `<i>`", "http://a&#96; `<i>`"],
  ])("shows %s instead of obeying", (_, given, expected) => {
    expect(sanitizeMarkdown(given)).toBe(expected);
  });

  test.each([
    "[a](javascript:alert(1))",
    "[a](JAVASCRIPT:x)",
    "[a]( javascript:x)",
    "[a](&#106;avascript:x)",
    "[a](java&Tab;script:x)",
    "[a](j\\avascript:x)",
    "[a](java\u0000script:x)",
    "[a](< javascript:x>)",
    "![a](data:image/svg+xml;base64,AAAA)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "[a](\njavascript:x)",
    "[a]: javascript:x",
    "[a]:\njavascript:x",
  ])("makes no link of %j", (given) => {
    expect(sanitizeMarkdown(given)).toMatch(/\]\\[(:]/);
  });

  test("puts headings below those of the document, their order kept", () => {
    expect(sanitizeMarkdown("# A\n## B\n### C")).toBe("### A\n#### B\n##### C");
    expect(sanitizeMarkdown("### C\n#### D")).toBe("### C\n#### D");
    expect(sanitizeMarkdown("> # A\n\n- ## B")).toBe("> ### A\n\n- #### B");
  });

  test("writes underlined headings as others, so that they can be put lower", () => {
    expect(sanitizeMarkdown("Title\n=====\ntext")).toBe("### Title\ntext");
    expect(sanitizeMarkdown("two\nlines\n---")).toBe("two\nlines\n\n---");
  });

  test("closes a fence that was left open", () => {
    expect(sanitizeMarkdown("```ts\nlet a")).toBe("```ts\nlet a\n```");
    expect(sanitizeMarkdown("- x\n  ~~~\n  let a")).toBe("- x\n\n  ```\n  let a\n  ```");
  });

  test("fences code by more backticks than it holds", () => {
    expect(sanitizeMarkdown("~~~md\n```\n<b>\n```\n~~~")).toBe("````md\n```\n<b>\n```\n````");
  });

  test("keeps the indentation of indented code", () => {
    expect(sanitizeMarkdown("a\n\n    if x:\n        <y>\n\nb")).toBe("a\n\n```\nif x:\n    <y>\n```\n\nb");
  });

  test("makes every line end a line feed and drops control characters", () => {
    expect(sanitizeMarkdown("a\r\nb\rc\u2028d\u001b[31mred\u001b[0m\u0007\u202e")).toBe("a\nb\nc\nd" + "red");
  });

  test("keeps to its place, whatever it is", () => {
    fc.assert(
      fc.property(nasty, (given) => {
        const out = sanitizeMarkdown(given);
        expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
        for (const line of linesOutsideCode(out)) {
          expect(line).not.toBe("<unclosed fence>");
          expect(line).not.toMatch(/^(\s*(>|([-*+]|\d{1,9}[.)])(?=\s)))*\s*#{1,2}(\s|$)/);
          expect(withoutCodeSpans(line)).not.toMatch(/<(?!https?:|mailto:|[\w.+-]+@[\w.-]+>)[a-z/!?]/i);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  test.each(["`` ` ", "[", "](", "<a", "> ", "- ", " \n", "http://a`", "www.a` ", "\\]", "```\n", "a@"])(
    "is read in a time that grows with its length, also %j again and again",
    (unit) => {
      // Ten milliseconds where reading is linear; at this length a quadratic step would take minutes.
      expect(sanitizeMarkdown(`a${unit.repeat(100_000)}b`)).toMatch(/^a[\s\S]*b/);
    },
    5000,
  );
});

/** The line without its code, by the rule of CommonMark: a run of backticks closes at the next run as long. */
function withoutCodeSpans(line: string): string {
  const [next] = /\\[!-/:-@[-`{-~]|`+/.exec(line) ?? [];
  if (next === undefined) return line;
  const before = line.slice(0, line.indexOf(next));
  const after = line.slice(before.length + next.length);
  const close = next.startsWith("`") ? [...after.matchAll(/`+/g)].find(([run]) => run === next) : undefined;
  return `${before}.${withoutCodeSpans(close === undefined ? after : after.slice(close.index + next.length))}`;
}
