import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { z } from "zod";
import { ConfigError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import { type Config, type ConfigInput, configSchema } from "./schema.js";

/** Settings to change; a group is changed member by member, and `undefined` takes a setting away. */
export type ConfigChange = { readonly [K in keyof ConfigInput]?: ConfigInput[K] | undefined };

/**
 * The person's settings; none where the file is not there.
 *
 * @throws {ConfigError} the file cannot be read, or is not valid; the message is one line with file and field.
 */
export async function loadConfig(io: Pick<Io, "env" | "home">): Promise<Config> {
  return (await readConfigFile(resolveConfigPath(io))).config;
}

/**
 * Changes settings in the file, which is read again first, so that what another process or an editor changed meanwhile
 * stays. The new file takes the old one's place at once, and only its owner may read it. Gives back what is in force now.
 *
 * @throws {ConfigError} the file is not valid (it is left as it is), cannot be written, or the change does not fit.
 * @example
 * await saveConfig(io, { tools: { bash: "allow" } });
 */
export async function saveConfig(io: Pick<Io, "env" | "home">, change: ConfigChange): Promise<Config> {
  const path = resolveConfigPath(io);
  if (path === "") throw new ConfigError("There is no home directory to keep settings in. Set HOME or XDG_CONFIG_HOME.");
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
    if (errorCodeOf(error) === "ENOENT") return { written: {}, config: {} };
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${path} cannot be read (${errorCodeOf(error) ?? String(error)}). Check that it is a file that you may read.`, {
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

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function replaceFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // Where the file is a link into a folder of settings, the file it leads to is replaced and the link stays.
    const target = await realpath(path).catch(() => path);
    await writeAtomically(target, text);
  } catch (error) {
    // The person goes on with the old settings; which failure it was is in the message.
    throw new ConfigError(`${path} cannot be written (${errorCodeOf(error) ?? String(error)}). The settings are as they were.`, {
      cause: error,
    });
  }
}

async function writeAtomically(target: string, text: string): Promise<void> {
  const beside = `${target}.${randomUUID()}`;
  try {
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      // Without it a power cut could leave an empty file under the new name.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Where the config file is, whether it is there or not: `bough/config.json` in `XDG_CONFIG_HOME`, or `~/.config`. Empty: there is no home directory, and so no file. */
export function resolveConfigPath({ env, home }: Pick<Io, "env" | "home">): string {
  // The XDG standard: a relative path there is to be ignored.
  const named = env["XDG_CONFIG_HOME"];
  const isNamed = named !== undefined && isAbsolute(named);
  if (!isNamed && home === "") return "";
  const folder = isNamed ? named : join(home, ".config");
  return join(folder, "bough", "config.json");
}

/** A config file: as it was written, and as it is used. */
export interface ParsedConfig {
  readonly written: ConfigInput;
  readonly config: Config;
}

/**
 * Reads the text of a config file; an empty one has no settings.
 *
 * @throws {ConfigError} one line: the file, the field and what to do. Values are not repeated: one could be a key.
 */
export function parseConfig(text: string, path: string): ParsedConfig {
  const json = parseJson(text.replace(/^\uFEFF/, ""), path);
  const judged = configSchema.safeParse(json);
  if (!judged.success) throw new ConfigError(`${path}: ${describeProblem(judged.error)}`);
  // The gate let it through, so it is what the gate takes; its output has other keys than what was written.
  return { written: json as ConfigInput, config: judged.data };
}

function parseJson(text: string, path: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser quotes what it stumbled over; only its place is told.
    const [, position] = /position (\d+)/.exec(error instanceof Error ? error.message : "") ?? [];
    const line = position === undefined ? "" : ` (line ${text.slice(0, Number(position)).split("\n").length})`;
    throw new ConfigError(`${path} is not JSON${line}. Correct it, or delete it to start again.`);
  }
}

function describeProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "is not valid.";
  const field = issue.path.map(String).join(".");
  const others = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  return `${describeIssue(field, issue)}${others}.`;
}

function describeIssue(field: string, issue: z.core.$ZodIssue): string {
  const where = field === "" ? "the file" : field;
  switch (issue.code) {
    case "unrecognized_keys":
      return `${field === "" ? "" : `${field}.`}${issue.keys[0] ?? ""} is no setting; see docs/config.md for those there are`;
    case "invalid_value":
      return `${where} must be ${issue.values
        .map((value) => `"${String(value)}"`)
        .join(", ")
        .replace(/, ([^,]*)$/, " or $1")}`;
    case "invalid_type":
      return `${where} must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case "too_small":
      return issue.origin === "string" ? `${where} must not be empty` : `${where} must be at least ${String(issue.minimum)}`;
    case "invalid_union":
      return `${where} must be a key or a list of keys, such as "ctrl+d"`;
    case "custom":
      return `${where} ${issue.message}`;
    default:
      return `${where} ${issue.message}`;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};
