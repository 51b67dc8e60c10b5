import type { SearchHit } from "@bough/session-core";
import { describe, expect, test } from "vitest";
import { plainHit, withoutMarks } from "../../src/page/plain-text.js";

describe("a line of a list", () => {
  test.each([
    ["## Goal **Mend** the `lexer`", "Goal Mend the lexer"],
    ["…## Goal and ### Done", "…Goal and Done"],
    ["**`a`** and `**b**`", "a and b"],
    ["Run ```sh npm test ``` now", "Run  npm test  now"],
    ["C# and issue #12, 2 ** 3 ** 4", "C# and issue #12, 2 ** 3 ** 4"],
    ["an open `mark and **bold", "an open `mark and **bold"],
  ])("has no marks of Markdown: %s", (text, plain) => {
    expect(withoutMarks(text)).toBe(plain);
  });

  const hit = (snippet: string, words: readonly string[], role: SearchHit["role"]) => {
    const matches = words.map((word) => [snippet.indexOf(word), snippet.indexOf(word) + word.length] as const);
    const plain = plainHit({ snippet, matches, role } as unknown as SearchHit);
    return [plain.snippet, ...plain.matches.map(([start, end]) => plain.snippet.slice(start, end))];
  };

  test("keeps the matches of a search at their words", () => {
    expect(hit("## Goal **Mend the `lexer`**", ["Goal", "the `lex"], "assistant")).toEqual(["Goal Mend the lexer", "Goal", "the lex"]);
    expect(hit("## Goal", ["##"], "user")).toEqual(["Goal"]);
  });

  test("has what a tool printed as it is", () => {
    expect(hit("# comment `date`", ["`date`"], "toolResult")).toEqual(["# comment `date`", "`date`"]);
  });
});
