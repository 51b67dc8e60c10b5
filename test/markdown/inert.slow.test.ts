import { describe, expect, test } from "vitest";
import { BLOCKS, documentOf, PLACES, wrongWith } from "./renderers.js";

describe("a Markdown export in renderers that let HTML through", () => {
  test.each(BLOCKS)("is text and structure with %j in every place", async (block) => {
    expect(wrongWith(await documentOf(block, Object.values(PLACES)))).toEqual([]);
    expect(wrongWith(await documentOf(`a ${block} b ${block}\n\n${block}`, Object.values(PLACES)))).toEqual([]);
  });
});
