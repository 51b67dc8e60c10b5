import { expect, test } from "vitest";
import { InvalidQueryError } from "../../../src/errors/session-errors.js";
import { parseQuery } from "../../../src/rules/search/search-terms.js";
import { openedStore } from "../../world/stores.js";

test("a search longer than a person types is refused at once, and the message does not repeat it", async () => {
  const store = await openedStore();
  const asked = store.search({ query: "x".repeat(1_000_000) });
  await expect(asked).rejects.toThrow(InvalidQueryError);
  await expect(asked).rejects.toThrow(/^.{1,150}$/);
});

test("a word that is asked for twice is looked for once", () => {
  expect(parseQuery("a b a a* b")).toEqual(parseQuery("a b a*"));
});
