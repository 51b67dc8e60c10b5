import { type Command, InvalidArgumentError, Option } from "commander";
import { PRESET_NAMES } from "../session/presets.js";

/** A whole number above zero, as an option's value. */
export function parsePositive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value))
    throw new InvalidArgumentError("It must be a whole number above zero.");
  return value;
}

/** A whole number, as an option's value. */
export function parseWholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError("It must be a whole number from zero up.");
  return value;
}

/** A path as an option's value: an unset variable of a script becomes an empty word, which is no path. */
export function parsePath(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty; name a file, or leave the option out.");
  return text;
}

/** The size of a window in tokens, or the word for that of the model. */
export function parseWindow(text: string): number | "auto" {
  return text === "auto" ? text : parsePositive(text);
}

/** The width of a drawing: below 20 columns nothing can be read. */
export function parseWidth(text: string): number {
  const value = parsePositive(text);
  if (value < 20) throw new InvalidArgumentError("It must be at least 20.");
  return value;
}

/** What is said in the help of each command that has a summary written. */
export const MODEL_HELP =
  "A model writes the summary where one is named; without one it is an extract of the entries themselves, made at once. " +
  "The model gets the text of the session. Its key is read from a variable, never from the command line. Ctrl+C cancels; then nothing is written.";

/** Adds the options about the model that writes, and the window it writes for. */
export function addSummaryOptions(command: Command): Command {
  return command
    .option("--focus <text>", "what the summary should look at")
    .option("--model <name>", "the model that writes the summary (default: $BOUGH_MODEL)")
    .option("--base-url <url>", "its address, with the version: any server that speaks OpenAI's protocol (default: $BOUGH_BASE_URL)")
    .option("--api-key-env <variable>", "the variable that holds its key (default: BOUGH_API_KEY)")
    .addOption(new Option("--extract", "no model, also where one is configured").conflicts(["model", "baseUrl", "apiKeyEnv"]))
    .option("--window <tokens>", "the window of the session's model (default: by its name, else 200,000)", parsePositive)
    .addOption(presetOption());
}

/** Which system's habits to follow. */
export function presetOption(): Option {
  return new Option("--preset <name>", "the settings of this preset (default: balanced)").choices(PRESET_NAMES);
}
