import { findNearestSetting } from "@bough/compaction/settings";
import { findNearest } from "@bough/session-core/view";
import { isObject } from "@bough/session-core/wire";
import type { z } from "zod";
import { ConfigError } from "../errors.js";
import { type Config, type ConfigInput, configJsonSchema, configSchema } from "./schema.js";

/** A config file as the user wrote it, and parsed. */
export interface ParsedConfig {
  readonly written: ConfigInput;
  readonly config: Config;
}

/**
 * Checks the text of the config file at `path`. Error messages name settings and do not repeat their values: a value could be an
 * API key.
 *
 * @throws {ConfigError} the text is not JSON or a setting is unknown or invalid.
 */
export function parseConfig(text: string, path: string): ParsedConfig {
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
  for (const name of ["properties", ...group.flatMap((one) => [one, "properties"])]) schema = isObject(schema) ? schema[name] : undefined;
  return isObject(schema) ? Object.keys(schema) : [];
}
