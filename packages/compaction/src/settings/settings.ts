import { z } from "zod";
import { keepSettings, pruneSettings, requestSettings } from "./content-settings.js";
import { branchSettings, checkpointSettings, summarySettings, userMessageSettings } from "./summary-settings.js";
import { backgroundSettings, breakerSettings, tokens, triggerSettings, windowSettings } from "./trigger-settings.js";

/** What may be said differently for one model; a member that is missing is taken from the settings. */
export const modelOverride = z.strictObject({
  contextWindow: tokens.min(1).optional(),
  reserveTokens: triggerSettings.shape.reserveTokens.unwrap().optional(),
  threshold: triggerSettings.shape.threshold.unwrap().optional(),
  keepRecentTokens: keepSettings.shape.recentTokens.unwrap().optional(),
});

/** Every setting, with its default: the preset `balanced`. */
export const settingsSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Compact automatically. What a host asks for works in any case: by hand, after an overflow, before a smaller model."),
  checkAt: z
    .enum(["request", "turn-end"])
    .default("request")
    .describe(
      "When the automatic path looks: before each request; or where no turn is running and before the first request of the next one, and inside a turn only where the request would not fit.",
    ),
  manual: z.enum(["now", "when-idle"]).default("now").describe("Compaction by hand inside a turn: at once, or refused."),
  autoContinue: z
    .boolean()
    .default(true)
    .describe("After an automatic compaction between turns with work left, the result carries a prompt to go on with."),
  continuePrompt: z.string().min(1).default("Continue if you have next steps.").describe("That prompt."),
  tokenizer: z
    .enum(["auto", "o200k_base", "cl100k_base", "rough"])
    .default("auto")
    .describe("How tokens are counted. auto: by the model's name."),
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
  perModel: z.record(z.string(), modelOverride).default({}).describe('Overrides for single models, by "provider/model" or by model alone.'),
});

/** Settings as the engine uses them: each member there. */
export type CompactionSettings = z.output<typeof settingsSchema>;
/** Settings as a host writes them: what differs from the preset. */
export type SettingsInput = z.input<typeof settingsSchema>;

/** The settings as JSON schema, for editors of a configuration file and for documentation. */
export function settingsJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
