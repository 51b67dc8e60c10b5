import { type Command, Option } from "commander";
import { PRESET_NAMES } from "../compacting/preset-names.js";
import { positive } from "./options.js";

/** What is said in the help of each command that has a summary written. */
export const MODEL_HELP =
  "A model writes the summary where one is named; without one it is an extract of the entries themselves, made at once. " +
  "The model gets the text of the session. Its key is read from a variable, never from the command line. Ctrl+C cancels; then nothing is written.";

/** Adds the options about the model that writes, and the window it writes for. */
export function withWritingOptions(command: Command): Command {
  return command
    .option("--focus <text>", "what the summary should look at")
    .option("--model <name>", "the model that writes the summary (default: $BOUGH_MODEL)")
    .option("--base-url <url>", "its address, with the version: any server that speaks OpenAI's protocol (default: $BOUGH_BASE_URL)")
    .option("--api-key-env <variable>", "the variable that holds its key (default: BOUGH_API_KEY)")
    .addOption(new Option("--extract", "no model, also where one is configured").conflicts(["model", "baseUrl", "apiKeyEnv"]))
    .option("--window <tokens>", "the window of the session's model (default: by its name, else 200,000)", positive)
    .addOption(presetOption());
}

/** Which system's habits to follow. */
export function presetOption(): Option {
  return new Option("--preset <name>", "the settings of this preset (default: balanced)").choices(PRESET_NAMES);
}
