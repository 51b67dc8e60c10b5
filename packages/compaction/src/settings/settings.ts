import { z } from "zod";
import { keepSettings, pruneSettings, requestSettings } from "./content-settings.js";
import { branchSettings, checkpointSettings, summarySettings, userMessageSettings } from "./summary-settings.js";
import { backgroundSettings, breakerSettings, tokens, triggerSettings, windowSettings } from "./trigger-settings.js";

/** Overrides for one model. A field that is missing is taken from the settings. */
const modelOverride = z.strictObject({
  contextWindow: tokens.min(1).optional(),
  reserveTokens: triggerSettings.shape.reserveTokens.unwrap().optional(),
  threshold: triggerSettings.shape.threshold.unwrap().optional(),
  keepRecentTokens: keepSettings.shape.recentTokens.unwrap().optional(),
});

/** Every setting with its default, which is the preset `balanced`. */
export const settingsSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Compact automatically. What the host asks for always works: by hand, after an overflow, before a smaller model."),
  checkAt: z
    .enum(["request", "turn-end"])
    .default("request")
    .describe(
      "When automatic compaction checks. request: before each request. turn-end: between turns and before the first request of a turn; inside a turn only if the request would not fit.",
    ),
  manual: z
    .enum(["now", "when-idle"])
    .default("now")
    .describe("Compaction by hand inside a turn: at once, or refused with TurnRunningError."),
  autoContinue: z
    .boolean()
    .default(true)
    .describe("After an automatic compaction between turns with work left, return a prompt to continue with."),
  continuePrompt: z.string().min(1).default("Continue if you have next steps.").describe("That prompt."),
  tokenizer: z
    .enum(["auto", "o200k_base", "cl100k_base", "rough"])
    .default("auto")
    .describe("The vocabulary that tokens are counted with. auto: by the model's name. rough: estimated without a vocabulary."),
  window: windowSettings.prefault({}),
  trigger: triggerSettings.prefault({}),
  background: backgroundSettings.prefault({}),
  breaker: breakerSettings.prefault({}),
  keep: keepSettings.prefault({}),
  prune: pruneSettings.prefault({}),
  request: requestSettings.prefault({}),
  summary: summarySettings.prefault({}),
  userMessages: userMessageSettings.prefault({}),
  branch: branchSettings.prefault({}),
  checkpoints: checkpointSettings.prefault({}),
  perModel: z
    .record(z.string(), modelOverride)
    .default({})
    .describe(
      'Overrides of `contextWindow`, `reserveTokens`, `threshold` and `keepRecentTokens` for single models, by "provider/model" or "model".',
    ),
});

/** Validated settings: every field has a value. */
export type CompactionSettings = z.output<typeof settingsSchema>;
/** Settings as a host gives them: the fields that differ from the preset. */
export type SettingsInput = z.input<typeof settingsSchema>;

/** The JSON schema of the settings, for editors of a configuration file and for documentation. */
export function settingsJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
