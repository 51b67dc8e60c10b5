import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { findNearestSetting } from "@bough/compaction/settings";
import { errorCode } from "@bough/session-core/engine";
import { findNearest } from "@bough/session-core/view";
import type { z } from "zod";
import { ConfigError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { resolveConfigPath } from "./config-path.js";
import { type Config, type ConfigInput, configJsonSchema, configSchema } from "./schema.js";

/** Settings to change. The members of a group are merged; `undefined` removes a setting. */
type ConfigChange = { readonly [K in keyof ConfigInput]?: ConfigInput[K] | undefined };

/** A config file as the user wrote it, and parsed. */
interface ParsedConfig {
  readonly written: ConfigInput;
  readonly config: Config;
}

/**
 * Reads the config file. Without a file there are no settings.
 *
 * @throws {ConfigError} the file cannot be read or is invalid; the message is one line with the file and the setting.
 */
export async function loadConfig(io: Pick<Io, "env" | "home">): Promise<Config> {
  return (await readConfigFile(resolveConfigPath(io))).config;
}

/**
 * Changes settings in the config file and returns the new settings. The file is read again first, which keeps changes by
 * other processes and editors. The new file replaces the old one atomically; only its owner may read it.
 *
 * @throws {ConfigError} the file is invalid (it is not changed), cannot be written, or the change is invalid.
 * @example
 * await saveConfig(io, { tools: { bash: "allow" } });
 */
export async function saveConfig(io: Pick<Io, "env" | "home">, change: ConfigChange): Promise<Config> {
  const path = resolveConfigPath(io);
  if (path === "") throw new ConfigError("There is no home directory for the config file. Set HOME or XDG_CONFIG_HOME.");
  const { written } = await readConfigFile(path);
  const text = `${JSON.stringify(mergeConfig(written, change), null, 2)}\n`;
  const { config } = parseConfig(text, path);
  await replaceFile(path, text);
  return config;
}

async function readConfigFile(path: string): Promise<ParsedConfig> {
  try {
    return parseConfig(await readFile(path, "utf8"), path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { written: {}, config: {} };
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${path} cannot be read (${errorCode(error) ?? String(error)}). Check that it is a file and its permissions.`, {
      cause: error,
    });
  }
}

function mergeConfig(written: ConfigInput, change: ConfigChange): Readonly<Record<string, unknown>> {
  const before: Readonly<Record<string, unknown>> = written;
  const changed = Object.entries(change).map(([name, value]) => {
    const old = before[name];
    return [name, isGroup(old) && isGroup(value) ? { ...old, ...value } : value];
  });
  return { ...before, ...Object.fromEntries(changed) };
}

/** True if a value is an object with members, not null or an array. */
export function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function replaceFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // If the file is a symbolic link, its target is replaced and the link stays.
    const target = await realpath(path).catch(() => path);
    await writeAtomically(target, text);
  } catch (error) {
    throw new ConfigError(`${path} cannot be written (${errorCode(error) ?? String(error)}). The settings did not change.`, {
      cause: error,
    });
  }
}

async function writeAtomically(target: string, text: string): Promise<void> {
  const temporary = `${target}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      // Without it, a power loss could leave an empty file under the new name.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Error messages name settings but do not repeat their values: a value could be an API key. */
function parseConfig(text: string, path: string): ParsedConfig {
  const json = parseJson(text.replace(/^\uFEFF/, ""), path);
  const parsed = configSchema.safeParse(json);
  if (!parsed.success) throw new ConfigError(`${path}: ${describeProblem(parsed.error)}`);
  // Cast: the schema accepted it as input; its output has transformed keys.
  return { written: json as ConfigInput, config: parsed.data };
}

function parseJson(text: string, path: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of JSON.parse quotes the text; only the position is used.
    const [, position] = /position (\d+)/.exec(error instanceof Error ? error.message : "") ?? [];
    const line = position === undefined ? "" : ` (line ${text.slice(0, Number(position)).split("\n").length})`;
    throw new ConfigError(`${path} is not valid JSON${line}. Correct it, or delete the file.`);
  }
}

function describeProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "is invalid.";
  const others = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  const text = `${describeIssue(issue)}${others}`;
  return text.endsWith("?") ? text : `${text}.`;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const field = issue.path.length === 0 ? "the file" : issue.path.map(String).join(".");
  switch (issue.code) {
    case "unrecognized_keys":
      return describeUnknownSetting(issue.path.map(String), issue.keys[0] ?? "");
    case "invalid_value":
      return `${field} must be ${issue.values
        .map((value) => `"${String(value)}"`)
        .join(", ")
        .replace(/, ([^,]*)$/, " or $1")}`;
    case "invalid_type":
      return `${field} must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case "too_small":
      return issue.origin === "string" ? `${field} must not be empty` : `${field} must be at least ${String(issue.minimum)}`;
    case "too_big":
      return `${field} must be at most ${String(issue.maximum)}`;
    case "invalid_union":
      return `${field} must be a key or a list of keys, such as "ctrl+d"`;
    default:
      return `${field} ${issue.message}`;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  int: "an integer",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

function describeUnknownSetting(group: readonly string[], name: string): string {
  const path = [...group, name].join(".");
  const [first, ...below] = group;
  if (first === "compaction") {
    const setting = findNearestSetting([...below, name]);
    return `${path} is not a setting; ${setting === undefined ? "see docs/compaction.md for the settings" : `did you mean compaction.${setting}?`}`;
  }
  const nearest = findNearest(name, settingsIn(group));
  return `${path} is not a setting; ${nearest === undefined ? "see docs/config.md for the settings" : `did you mean ${[...group, nearest].join(".")}?`}`;
}

/** The names of the settings in a group of the schema; [] is the file itself. */
function settingsIn(group: readonly string[]): readonly string[] {
  let schema: unknown = configJsonSchema();
  for (const name of ["properties", ...group.flatMap((one) => [one, "properties"])]) schema = isGroup(schema) ? schema[name] : undefined;
  return isGroup(schema) ? Object.keys(schema) : [];
}
