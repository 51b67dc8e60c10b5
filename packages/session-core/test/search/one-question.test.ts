import Database from "better-sqlite3";
import { afterEach, expect, test, vi } from "vitest";
import { userMessage } from "../../src/entry/builders.js";
import type { Store } from "../../src/store/store.js";
import { grow } from "../world/grow.js";

afterEach(() => vi.restoreAllMocks());

/** The statements that a question runs. */
async function statementsOf(store: Store, query: string): Promise<readonly string[]> {
  const ran: string[] = [];
  const statement: Database.Statement = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
  for (const name of ["all", "get"] as const) {
    const original = statement[name];
    vi.spyOn(statement, name).mockImplementation(function (this: Database.Statement, ...parameters: unknown[]) {
      ran.push(this.source.replace(/\s+/g, " ").trim());
      return original.apply(this, parameters);
    });
  }
  await store.search({ query, relax: true });
  vi.restoreAllMocks();
  return ran.filter((sql) => sql.startsWith("SELECT") || sql.startsWith("WITH"));
}

test.each(["indexed", "not indexed"])("a question with a misspelt word is one search of what is %s", async (which) => {
  const { store, session } = await grow("");
  for (const text of ["the lexer fails on tabs", "the parser is fine", "spaces and tabs"]) await session.append(userMessage(text));
  if (which === "indexed") await store.catchUpSearch();
  const plain = await statementsOf(store, "why does the lexer fail on tabs?");
  const misspelt = await statementsOf(store, "why does the lexre fail on tabs?");
  expect((await store.search({ query: "why does the lexre fail on tabs?", relax: true })).matched).toEqual({
    kind: "ranked",
    misspelt: ["lexre"],
  });
  // The words with one mistake; how many entries have them; of indexed ones where they are, and whether one meets the conditions.
  expect(misspelt.length - plain.length).toBeLessThanOrEqual(which === "indexed" ? 4 : 2);
  const reads = (ran: readonly string[], what: string) => ran.filter((sql) => sql.includes(what)).length;
  for (const what of ["payload.json END", "sum(entry_count)", "session.title FROM", "entry_text_docsize"])
    expect([what, reads(misspelt, what)]).toEqual([what, reads(plain, what)]);
});
