import { describe, expect, test } from "vitest";
import { renderMarkdown } from "../../src/page/markdown.js";

const rendered = (text: string) => renderMarkdown(text, 4).text.trim();

describe("Markdown in a page", () => {
  test.each([
    ["# Title", '<h4 class="h1">Title</h4>'],
    ["a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>"],
    ["`<x>`", "<p><code>&lt;x&gt;</code></p>"],
    ["[a](https://e.example/?a=1&b=2)", '<p><a href="https://e.example/?a=1&amp;b=2" rel="noopener noreferrer" target="_blank">a</a></p>'],
    ["[a](src/a.ts)", "<p><a>a</a></p>"],
    ["[a](javascript:x)", "<p><a>a</a></p>"],
    ["[a](JaVa&#115;cript:x)", "<p><a>a</a></p>"],
    ["![a](https://e.example/a.png)", '<p><a href="https://e.example/a.png" rel="noopener noreferrer" target="_blank">[image: a]</a></p>'],
    ["```ts\nlet a;\n```", '<pre class="code" data-language="ts">let a;</pre>'],
    ['```\n\n"a" < 1\n```', '<pre class="code">\n\n"a" &lt; 1</pre>'],
    ['```"x onclick=y\na\n```', '<pre class="code">a</pre>'],
    ["```diff\n-a\n+b\n c\n```", '<pre class="diff"><del>-a</del><ins>+b</ins><span> c</span></pre>'],
    ["これは**「強調」**です", "<p>これは<strong>「強調」</strong>です</p>"],
    ["", ""],
  ])("%j", (text, expected) => {
    expect(rendered(text)).toBe(expected);
  });

  test("keeps the text of what is nested too deeply", () => {
    const deep = Array.from({ length: 200 }, (_, level) => `${"  ".repeat(level)}- level ${level}`).join("\n");
    expect(rendered(deep)).toContain("level 199");
    expect(rendered(`${">".repeat(200)} quoted`)).toContain("quoted");
  });

  test("is linear in nested quotes, brackets and emphasis", () => {
    for (const unit of [">", "[", "*a_", "![", "`", "<", "\\", "- "]) expect(rendered(unit.repeat(20_000)).length).toBeGreaterThan(0);
  });
});
