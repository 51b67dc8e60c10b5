import { type Definitions, define } from "./define.js";
import { positive } from "./options.js";

/** The name of the command that `bough` alone means. */
const DEFAULT = "shell";

/** Options of the whole command that take a value. */
const WITH_VALUE = ["--store"];
const OF_PROGRAM = ["-h", "--help", "-V", "--version"];

/** The interactive shell. */
export function defineInteractive(to: Definitions): void {
  define(
    to,
    DEFAULT,
    {
      group: "Start",
      summary: "The interactive shell; bough alone is the same",
      more:
        "Goes on with the newest session of this directory, or begins one. What is typed is stored before anything is done with it. " +
        "With a model the reply streams in; without one it is a notebook. /help lists the commands, /tree opens the navigator.",
      examples: [
        ["bough shell", "goes on here"],
        ["bough shell --new", "begins a session"],
        ["bough shell --session parser", "goes on with this one"],
        ["bough shell --resume", "picks one"],
        ["bough shell --model qwen3-coder --base-url http://127.0.0.1:11434/v1", "a model of this machine answers"],
      ],
    },
    () => import("../commands/shell.js"),
  )
    .option("--new", "begin a session")
    .option("--session <name>", "go on with this session: id, prefix or title")
    .option("--resume", "pick a session")
    .option("--model <name>", "the model that answers (default: $BOUGH_MODEL, or the config file)")
    .option("--base-url <url>", "its address (default: $BOUGH_BASE_URL, or the config file)")
    .option("--api-key-env <variable>", "the variable that holds its key (default: BOUGH_API_KEY)")
    .option("--window <tokens>", "its window (default: by its name)", positive);
}

/**
 * The command line with the command that was left out: `bough`, `bough --new` and `bough --store x` mean the shell.
 *
 * @example
 * withDefault(["--session", "parser"]); // ["shell", "--session", "parser"]
 */
export function withDefault(args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length && isOfProgram(args[at] ?? "")) at += WITH_VALUE.includes(args[at] ?? "") ? 2 : 1;
  const next = args[at];
  const isCommandLine = next !== undefined && (!next.startsWith("-") || OF_PROGRAM.includes(next));
  return isCommandLine ? args : [...args.slice(0, at), DEFAULT, ...args.slice(at)];
}

function isOfProgram(arg: string): boolean {
  return WITH_VALUE.some((option) => arg === option || arg.startsWith(`${option}=`));
}
