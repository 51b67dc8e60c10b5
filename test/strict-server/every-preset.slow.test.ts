// Twenty-seven turns with every preset, in four windows, summarized by the extract and by a model. After each of them something happens to
// the session: each kind of event three times.
import { PRESETS } from "@bough/compaction/settings";
import { describe, expect, test } from "vitest";
import { Conversation, wordy } from "./conversation.js";

const WINDOWS = [16_384, 32_768, 100_000, 200_000] as const;
const TURNS = 27;

describe.each(Object.keys(PRESETS) as (keyof typeof PRESETS)[])("preset %s", (preset) => {
  test.each(WINDOWS.flatMap((window) => [{ window, by: "extract" } as const, { window, by: "model" } as const]))(
    "sends no request that a strict server refuses: window $window, summaries by the $by",
    async ({ window, by }) => {
      const summarizer = by === "model" ? wordy : undefined;
      const conversation = await Conversation.start({ window, settings: { preset }, summarizer, seed: window + by.length });
      for (let n = 0; n < TURNS; n += 1) {
        await conversation.turn(n);
        await conversation.happens(n);
      }
      await conversation.close();
      expect(conversation.server.refused().map(({ body }) => body)).toEqual([]);
      expect(conversation.thinkingSent).toBeGreaterThan(0);
    },
    600_000,
  );
});
