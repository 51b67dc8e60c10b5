import { expect, test } from "vitest";
import { removeInvisible } from "../../src/text/one-line.js";

/** The joiners that scripts and emoji need, and the sixteen variation selectors of characters and emoji. */
const KEPT = new Set(["\u200c", "\u200d", ...Array.from({ length: 16 }, (_, at) => String.fromCodePoint(0xfe00 + at))]);

test("of what Unicode calls ignorable, nothing stays but joiners and the usual variation selectors", () => {
  const kept: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (/\p{Default_Ignorable_Code_Point}/u.test(character) && removeInvisible(character) !== "") kept.push(character);
  }
  expect(kept.filter((character) => !KEPT.has(character)).map((character) => character.codePointAt(0)?.toString(16))).toEqual([]);
});
