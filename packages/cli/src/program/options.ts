import { type Command, InvalidArgumentError, Option } from "commander";
import { PRESET_NAMES } from "../config/presets.js";

/** Parses an option's value as an integer above 0. */
export function parsePositive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) throw new InvalidArgumentError("It must be an integer above 0.");
  return value;
}

/** Parses an option's value as an integer of at least 0. */
export function parseWholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError("It must be an integer of at least 0.");
  return value;
}

/** Parses an option's value as a path. An unset variable of a script becomes an empty argument, which is rejected. */
export function parsePath(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty. Name a file, or omit the option.");
  return text;
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Parses a context window in tokens, or `auto`. */
export function parseWindow(text: string): number | "auto" {
  return text === "auto" ? text : parsePositive(text);
}

/** Parses a width in columns; a tree is unreadable below 20. */
export function parseWidth(text: string): number {
  const value = parsePositive(text);
  if (value < 20) throw new InvalidArgumentError("It must be at least 20.");
  return value;
}

/** The help about the summary model, for each command that writes a summary. */
export const MODEL_HELP =
  "If a model is configured, it writes the summary; otherwise the summary is an extract of the entries. " +
  "The model is sent the text of the session. Its API key is read from an environment variable. " +
  "Ctrl+C cancels; nothing is written then.";

/** Adds the options of commands that write a summary. */
export function addSummaryOptions(command: Command): Command {
  return command
    .option("--focus <text>", "what the summary should concentrate on")
    .option("--model <name>", "the model that writes the summary (default: $BOUGH_MODEL, or the config file)")
    .option("--base-url <url>", "URL of its API, with the version (default: $BOUGH_BASE_URL, or the config file)")
    .option("--api-key-env <variable>", "environment variable with its API key (default: BOUGH_API_KEY)")
    .addOption(new Option("--extract", "use no model, even if one is configured").conflicts(["model", "baseUrl", "apiKeyEnv"]))
    .option("--window <tokens>", "context window of the session's model (default: from its name, else 200,000)", parsePositive)
    .addOption(presetOption());
}

/** The option `--preset`. */
export function presetOption(): Option {
  return new Option("--preset <name>", "compaction settings of this preset (default: that of the config file, else balanced)").choices(
    PRESET_NAMES,
  );
}
