import type { z } from "zod";
import { ConfigError } from "../errors.js";
import { type Config, type ConfigInput, configSchema } from "./schema.js";

/** A config file: as it was written, and as it is used. */
export interface ReadConfig {
  readonly written: ConfigInput;
  readonly config: Config;
}

/**
 * Reads the text of a config file; an empty one has no settings.
 *
 * @throws {ConfigError} one line: the file, the field and what to do. Values are not repeated: one could be a key.
 */
export function readConfig(text: string, path: string): ReadConfig {
  const json = parsed(text.replace(/^\uFEFF/, ""), path);
  const judged = configSchema.safeParse(json);
  if (!judged.success) throw new ConfigError(`${path}: ${problemOf(judged.error)}`);
  // The gate let it through, so it is what the gate takes; its output has other keys than what was written.
  return { written: json as ConfigInput, config: judged.data };
}

function parsed(text: string, path: string): unknown {
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

function problemOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "is not valid.";
  const field = issue.path.map(String).join(".");
  const others = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  return `${sentence(field, issue)}${others}.`;
}

function sentence(field: string, issue: z.core.$ZodIssue): string {
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
      return `${where} must be ${NAMES[issue.expected] ?? issue.expected}`;
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

const NAMES: Readonly<Record<string, string>> = {
  string: "a text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};
