import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../.ci/test-runs.js";
import { BLOCKS, documentOf, PLACES, type Place, RENDERERS, wrongWith } from "./renderers.js";

describe("a Markdown export in renderers that let HTML through", () => {
  const hostile = fc
    .array(fc.tuple(fc.constantFrom(...BLOCKS), fc.constantFrom("", "", "\n", " ")), { minLength: 1, maxLength: 12 })
    .map((pieces) => pieces.flat().join(""));

  test("is text and structure whatever pieces a session puts together", async () => {
    await fc.assert(
      fc.asyncProperty(hostile, fc.subarray(Object.keys(PLACES), { minLength: 1, maxLength: 3 }), async (text, places) => {
        const chosen = Object.entries(PLACES).flatMap(([name, place]) => (places.includes(name) ? [place] : []));
        expect(wrongWith(await documentOf(text, chosen))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  test("an image of another host is a link, which loads nothing", async () => {
    const html = RENDERERS["marked"]?.(await documentOf("see ![the plan](https://e.example/plan.png)", [PLACES["user"] as Place])) ?? "";
    expect(html).toContain('!<a href="https://e.example/plan.png">the plan</a>');
    expect(html).not.toContain("<img");
  });
});
