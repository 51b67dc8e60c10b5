import { exportMarkdown } from "@bough/formats";
import { openStore, userMessage } from "@bough/session-core";
import fc from "fast-check";
import { marked, type Token } from "marked";
import { expect, onTestFinished, test } from "vitest";
import { runs } from "../../.ci/test-runs.js";

/** The anchors that GitHub gives to the headings of a document: a repeated one gets a number. */
function anchorsOf(tokens: readonly Token[]): readonly string[] {
  const used = new Map<string, number>();
  return tokens.flatMap((token) => {
    if (token.type !== "heading") return [];
    const anchor = String(token["text"])
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
      .replaceAll(" ", "-");
    const before = used.get(anchor) ?? 0;
    used.set(anchor, before + 1);
    return [before === 0 ? anchor : `${anchor}-${before}`];
  });
}

const words = fc.constantFrom(
  "fix it",
  "## User",
  "[x](y)",
  "`a` <b>",
  "# User · 2026",
  "](#user)",
  "*\n",
  "ünï — 日本",
  "\\",
  "1. a",
  "- [ ] b",
);

test("each link of a contents list leads to a heading of its document, in its order", async () => {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(words, fc.nat(3)), { minLength: 8, maxLength: 20 }), async (turns) => {
      const session = await store.createSession({ title: "Long" });
      for (const [text, minute] of turns)
        await session.append({ ...userMessage(`t${text}`), createdAtMs: Date.UTC(2026, 0, 5, 10, minute) });
      let text = "";
      for await (const piece of exportMarkdown(session)) text += piece;
      const tokens = marked.lexer(text);
      const list = tokens.find(({ type }) => type === "list");
      const links: string[] = [];
      void marked.walkTokens(list === undefined ? [] : [list], (token) => {
        if (token.type === "link") links.push(String(token["href"]));
      });
      expect(links).toHaveLength(turns.length);
      const anchors = anchorsOf(tokens);
      const places = links.map((link) => anchors.indexOf(link.slice(1)));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(new Set(places).size).toBe(turns.length);
      expect(places).not.toContain(-1);
    }),
    { numRuns: runs(40) },
  );
});
