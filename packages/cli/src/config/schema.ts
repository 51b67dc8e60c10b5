import { z } from "zod";
import type { PresetName } from "../session/presets.js";

/** How hard a model may think, from not at all upwards. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high"] as const;
/** What a tool may do: it is not offered to the model, the person is asked for each call, or it runs at once. */
export const PERMISSIONS = ["off", "ask", "allow"] as const;
/** What the navigator shows. */
export const TREE_FILTERS = ["default", "no-tools", "user", "labeled", "summaries", "all"] as const;

const PRESETS = ["balanced", "pi", "copilot-cli", "vscode", "co-cli", "python-agent"] as const satisfies readonly PresetName[];

const permission = z.enum(PERMISSIONS);
const key = z.string().min(1);
const keys = z.record(
  z.string(),
  z.union([key, z.array(key)]).transform((given) => (typeof given === "string" ? [given] : given)),
);

/** An address without a secret: the file is one that people show to others. */
const address = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), "must begin with http:// or https://")
  .refine(
    (text) => !URL.canParse(text) || new URL(text).password === "",
    "must not hold a password; name a variable that holds the key in apiKeyEnv",
  );

/** The config file, judged here and nowhere else. Descriptions become `docs/config.md`. */
export const configSchema = z.strictObject({
  model: z.string().min(1).optional().describe("The model that answers, as its server names it: `qwen3-coder`, `claude-sonnet-4-5`."),
  summaryModel: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The model that writes the summaries the shell starts by itself, at the same address. Default: the one that answers, which always writes those of `/compact` and `/tree`.",
    ),
  baseUrl: address.optional().describe("Where it is: `http://127.0.0.1:11434/v1` for Ollama. Not needed for Anthropic's own models."),
  provider: z
    .enum(["openai-compatible", "anthropic"])
    .optional()
    .describe("What the server speaks. Default: `anthropic` for api.anthropic.com, else `openai-compatible`."),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable that holds the key, never the key itself")
    .optional()
    .describe("The name of the environment variable that holds the key for `baseUrl`. Keys are never in this file."),
  window: z
    .int()
    .min(1_000)
    .optional()
    .describe("The model's context window, in tokens. Default: as the table of known models has it, else 200,000."),
  thinking: z.enum(THINKING_LEVELS).optional().describe("How hard the model thinks. Default: as its server does by itself."),
  preset: z.enum(PRESETS).optional().describe("How sessions are compacted: one of the presets of docs/compaction.md. Default `balanced`."),
  tools: z
    .strictObject({
      read: permission.optional().describe("Reading files."),
      write: permission.optional().describe("Writing whole files."),
      edit: permission.optional().describe("Replacing text in files."),
      bash: permission.optional().describe("Running commands."),
    })
    .optional()
    .describe(
      "What the model may do. `off`, the default: it is not offered; `ask`: for each call; `allow`: at once. For files outside of the working folder you are asked each time.",
    ),
  keys: z
    .strictObject({
      navigator: keys.optional().describe("Of `/tree`."),
      picker: keys.optional().describe("Of `/sessions`."),
      shell: keys.optional().describe("Of the prompt."),
    })
    .optional()
    .describe('Your own keys: an action with a key or a list of them, such as `{ "fold": "h" }`.'),
  navigator: z
    .strictObject({
      filter: z.enum(TREE_FILTERS).optional().describe("What it shows when it opens."),
      preview: z.boolean().optional().describe("Whether the preview is open."),
      leaving: z
        .enum(["ask", "no-summary", "summary"])
        .optional()
        .describe("What becomes of a branch that is left. Default `ask`; the others skip the question."),
      rememberedLeaving: z
        .enum(["no-summary", "summary", "focus"])
        .optional()
        .describe("What was answered last; the question starts there. Written by the navigator."),
    })
    .optional()
    .describe("How `/tree` opens and what it asks."),
});

/** The config file as it is used: a key that stands alone is a list of one. */
export type Config = z.output<typeof configSchema>;
/** The config file as it is written. */
export type ConfigInput = z.input<typeof configSchema>;
/** What one tool may do. */
export type Permission = (typeof PERMISSIONS)[number];
/** How hard a model may think. */
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];
/** What a server speaks. */
export type ProviderKind = NonNullable<Config["provider"]>;

/** The schema as JSON Schema, for editors and for the page in `docs/`. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(configSchema, { io: "input" });
}
