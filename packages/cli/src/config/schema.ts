import { isAbsolute } from "node:path";
import { type SettingsInput, settingsJsonSchema, settingsSchema } from "@bough/compaction/settings";
import { passwordsIn } from "@bough/postgres/address";
import { isServerUrl } from "@bough/session-core/engine";
import * as z from "zod";
import { TREE_FILTERS } from "../tree/filter-names.js";
import { PRESETS } from "./presets.js";

/** Thinking levels of a model, in ascending order. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high"] as const;
/** `off`: the tool is not offered to the model; `ask`: the user confirms each call; `allow`: calls run without confirmation. */
const PERMISSIONS = ["off", "ask", "allow"] as const;

/** The recall tools read only the session, so their calls need no confirmation. */
const RECALL_PERMISSIONS = ["off", "allow"] as const;

const permission = z.enum(PERMISSIONS);
const key = z.string().min(1);
const keys = z.record(
  z.string(),
  z.union([key, z.array(key)]).transform((given) => (typeof given === "string" ? [given] : given)),
);

/** A URL without a password: users share their config files. */
const address = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), "must begin with http:// or https://")
  .refine(
    (text) => !URL.canParse(text) || new URL(text).password === "",
    "must not contain a password; set apiKeyEnv to the name of an environment variable with the key",
  );

/** The path of a file, or the URL of a server without a password. */
const store = z
  .string()
  .refine(
    (text) => isServerUrl(text) || isAbsolute(text) || /^~[\\/]/.test(text),
    "must be an absolute path, a path that begins with ~/, or postgres://USER@HOST/DATABASE",
  )
  .refine((text) => passwordsIn(text).length === 0, "must not contain a password; put it into ~/.pgpass or PGPASSWORD");

const directory = z
  .string()
  .refine((text) => isAbsolute(text) || /^~(?:[\\/]|$)/.test(text), "must be an absolute path, or a path that begins with ~/");

/** The settings of the library as they are written: a setting that is missing has the value of the preset, not the default. */
const compaction = z
  .custom<SettingsInput>((given) => typeof given === "object" && given !== null && !Array.isArray(given), "must be an object")
  .check(({ value, issues }) => {
    const { error } = settingsSchema.safeParse(value);
    for (const issue of error?.issues ?? []) issues.push({ ...issue, input: undefined });
  });

/** A program and its arguments. No shell reads them. */
const command = z.array(z.string()).min(1);

const usd = z.number().min(0);

/** The schema of the config file. The descriptions are the text of `docs/config.md`. */
export const configSchema = z.strictObject({
  store: store
    .optional()
    .describe(
      "The store: the path of a file, or `postgres://USER@HOST/DATABASE` without a password (see docs/postgres.md). `--store` and `BOUGH_STORE` override it. Default: `bough/sessions.db` in the XDG data directory.",
    ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("The model that replies and writes summaries, by the name that its server uses: `qwen3-coder`, `claude-sonnet-4-5`."),
  summaryModel: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The model that writes the summaries of automatic compactions, at the same URL. Default: `model`, which always writes those of `/compact`, `/tree` and commands.",
    ),
  baseUrl: address.optional().describe("URL of the API: `http://127.0.0.1:11434/v1` for Ollama. Optional for models of Anthropic."),
  provider: z
    .enum(["openai-compatible", "anthropic"])
    .optional()
    .describe("The protocol of the API. Default: `anthropic` for api.anthropic.com, else `openai-compatible`."),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable, not the key itself")
    .optional()
    .describe("Name of the environment variable with the API key for `baseUrl`."),
  window: z
    .int()
    .min(1_000)
    .optional()
    .describe("The context window of the model, in tokens. Default: from the table of known models, else 200,000."),
  thinking: z.enum(THINKING_LEVELS).optional().describe("The thinking level of the model. Default: that of the server."),
  preset: z
    .enum(PRESETS)
    .optional()
    .describe(
      "The compaction preset of the shell and of every command, see docs/compaction.md. `--preset` overrides it. Default: `balanced`.",
    ),
  compaction: compaction
    .optional()
    .describe(
      'Single settings of compaction that differ from the preset, under the names of docs/compaction.md: `{ "enabled": false }` switches automatic compaction off, `{ "keep": { "recentTokens": 30000 } }` keeps more.',
    ),
  tools: z
    .strictObject({
      read: permission.optional().describe("Read files."),
      write: permission.optional().describe("Write whole files."),
      edit: permission.optional().describe("Replace text in files."),
      bash: permission.optional().describe("Run commands."),
      recall: z
        .enum(RECALL_PERMISSIONS)
        .optional()
        .describe(
          "Search and read what a summary of the session stands for; offered once there is one. Default: `allow` if another tool is offered, else `off`.",
        ),
    })
    .optional()
    .describe(
      "Permissions of the tools. `off` (default): the tool is not offered to the model; `ask`: you confirm each call; `allow`: calls run without confirmation. Calls on files outside of the working directory always need confirmation.",
    ),
  prices: z
    .record(
      z.string().min(1),
      z.strictObject({
        input: usd.describe("Input tokens."),
        output: usd.describe("Output tokens, thinking included."),
        cacheRead: usd.optional().describe("Tokens read from the cache. Default: as `input`."),
        cacheWrite: usd.optional().describe("Tokens written to the cache. Default: as `input`."),
      }),
    )
    .optional()
    .describe(
      'Prices in US dollars for a million tokens, by model or `PROVIDER/MODEL`, for the cost of replies that have none: `{ "my-model": { "input": 1, "output": 5 } }`. They override the table that `bough prices` prints.',
    ),
  share: z
    .strictObject({
      folder: z
        .string()
        .refine((path) => isAbsolute(path) || /^~[\\/]/.test(path), "must be an absolute path, or one that begins with ~/")
        .optional()
        .describe("Pages become files in this folder, which a web server or another program publishes."),
      link: z.url().optional().describe("The address of `folder`, for the links."),
      command: command
        .refine((parts) => parts.slice(1).some((part) => part.includes("{file}")), "must have the argument {file}, the path of the page")
        .optional()
        .describe("A program and its arguments; `{file}` is the page. Its last line is the link."),
      revoke: command.optional().describe("A program that takes a page of `command` back; `{link}` is its link."),
      gist: z.boolean().optional().describe("True: secret gists, with the program `gh` of GitHub."),
    })
    .refine(
      ({ folder, command: program, gist }) => [folder, program, gist || undefined].filter((target) => target !== undefined).length === 1,
      "must have one of folder, command and gist",
    )
    .optional()
    .describe("Where `bough share` publishes pages: `folder`, `command` or `gist`."),
  pager: z
    .union([z.boolean(), z.string()])
    .optional()
    .describe(
      "The pager of long output on a terminal; `false` or an empty text: none. `BOUGH_PAGER` overrides it. Default: `$PAGER`, else `less -R`.",
    ),
  keys: z
    .strictObject({
      navigator: keys.optional().describe("Keys of `/tree`."),
      finder: keys.optional().describe("Keys of `bough search -i`."),
      picker: keys.optional().describe("Keys of `/sessions`."),
      shell: keys.optional().describe("Keys of the prompt."),
    })
    .optional()
    .describe('Key bindings: an action with a key or a list of keys, such as `{ "fold": "h" }`.'),
  mouse: z
    .boolean()
    .optional()
    .describe(
      "Whether the tree, the list of sessions and `bough search -i` use the mouse. Default: true; hold Shift to select text as without it.",
    ),
  hook: z
    .strictObject({
      off: z
        .array(directory)
        .optional()
        .describe("Directories in which `bough hook` gives nothing, with everything below them: absolute, or beginning with `~/`."),
    })
    .optional()
    .describe("What agents are given of earlier sessions, see docs/memory.md."),
  navigator: z
    .strictObject({
      filter: z.enum(TREE_FILTERS).optional().describe("The filter when it opens."),
      preview: z.boolean().optional().describe("Whether the preview is open when it opens."),
      leaving: z
        .enum(["ask", "no-summary", "summary"])
        .optional()
        .describe("Whether leaving a branch writes a summary of it. Default: `ask`; the other values skip the question."),
      rememberedLeaving: z
        .enum(["no-summary", "summary", "focus"])
        .optional()
        .describe("The last answer, which is preselected. Written by the navigator."),
    })
    .optional()
    .describe("Settings of `/tree`."),
});

/** The parsed config file: each key binding is a list. */
export type Config = z.output<typeof configSchema>;
/** The config file as the user writes it. */
export type ConfigInput = z.input<typeof configSchema>;
/** The permission of one tool. */
export type Permission = (typeof PERMISSIONS)[number];
/** The permission of the recall tools. */
export type RecallPermission = (typeof RECALL_PERMISSIONS)[number];
/** The protocol of a model's API. */
export type ProviderKind = NonNullable<Config["provider"]>;

/** The schema as JSON Schema, for editors and for docs/config.md. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(configSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === compaction) Object.assign(jsonSchema, omitSchemaAddress(settingsJsonSchema()));
    },
  });
}

/** Only the outermost schema names its version. */
function omitSchemaAddress({ $schema: _address, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return schema;
}
