import { describe, expect, test } from "vitest";
import { createCompactor } from "../../src/run/compactor.js";
import { PRESETS, type PresetName } from "../../src/settings/presets.js";
import type { SettingsSource } from "../../src/settings/read-settings.js";
import { grown, model, prose, turns } from "../world/session.js";

const LONG = `<analysis>x</analysis><summary>\n## Goal\nMend the parser.\n\n${prose("done", 3_000)}\n\n## Next Steps\n1. Go on\n</summary>`;

/** Compacts a talk of about 9,000 tokens in a window of 8,192 with a model that writes 3,000 and more. */
async function compacted(settings: SettingsSource, contextWindow: number) {
  const { session } = await grown(turns(1, 30), { user: 80, reply: 80, result: 120 });
  const { summarizer, asked } = model(LONG);
  const compactor = createCompactor({ session, contextWindow, settings, summarizer, random: () => 0.5 });
  const result = await compactor.compact();
  if (result.kind !== "compacted") throw new Error(`it was ${result.kind}`);
  await compactor.close();
  return { result, asked };
}

describe.each(Object.keys(PRESETS) as PresetName[])("a summary in a small window, with the preset %s", (preset) => {
  test("takes no more than its share; a longer one is cut in the middle", async () => {
    const { result, asked } = await compacted(preset, 8_192);
    expect(asked[0]?.prompt).toMatch(/Write at most \d+ words\.$/m);
    expect(result.summary).toContain("## Goal\nMend the parser.");
    expect(result.summary).toContain("## Next Steps\n1. Go on");
    // A fifth of what a window of 8,192 tokens leaves at most, and the newest message.
    expect(result.summary.length).toBeLessThan(0.2 * 8_192 * 5);
    expect(result.summary).toContain("done");
  });
});

describe("a summary in a large window", () => {
  test("is the model's text, without a remark on its length", async () => {
    const { result, asked } = await compacted({ keep: { recentTokens: 500 } }, 200_000);
    expect(asked[0]?.prompt).not.toContain("Write at most");
    expect(result.summary).toContain(prose("done", 3_000));
  });
});

describe("file lists and user quotes in a summary", () => {
  test("leave space for the body in a small window; the full lists are in the entry's details", async () => {
    const { session } = await grown(`${turns(1, 120)} u121`, { user: 20, reply: 10, result: 10 });
    const compactor = createCompactor({ session, contextWindow: 8_192, settings: "copilot-cli", summarizer: model().summarizer });
    const result = await compactor.compact();
    expect(result).toMatchObject({ kind: "compacted", summary: expect.stringContaining("What was asked, in short.") });
    const { summary } = result as Extract<typeof result, { kind: "compacted" }>;
    expect(summary).toMatch(/<read-files>[\s\S]*\(\d+ more\)\n<\/read-files>/);
    expect(summary).toContain("<user-messages>");
    const entry = (await session.path()).find(({ type }) => type === "compaction");
    expect(entry).toMatchObject({ details: { readFiles: expect.objectContaining({ length: 120 }) } });
  });
});
