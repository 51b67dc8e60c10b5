import { Command } from "commander";
import { UsageError } from "../errors.js";
import { exitCodeList } from "../exit-codes.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { safeLines } from "../terminal/safe.js";
import { defineChangeCommands } from "./change-commands.js";
import { type CommandRegistry, defineCommand } from "./define.js";
import { defineFileCommands } from "./file-commands.js";
import { parsePath, parsePositive } from "./options.js";
import { defineReadCommands } from "./read-commands.js";

/** What the parser of the command line had to say to the person. */
export interface ParserOutput {
  out: string;
  err: string;
}

/** The command `bough` with everything below it. What it says itself is gathered in `said`. */
export function createProgram(io: Io, out: Printer, said: ParserOutput): Command {
  const program = new Command("bough");
  program
    .description("Sessions of LLM agents as trees: see, search, branch, import and export them. Alone it opens the shell.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--store <path>", "the store (default: $BOUGH_STORE, or bough/sessions.db in the XDG data directory)", parsePath)
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: commandTerm })
    .configureOutput({
      writeOut: (text) => {
        said.out += text;
      },
      writeErr: (text) => {
        said.err += sanitize(text);
      },
      getOutHelpWidth: () => Math.min(out.width, 100),
      getErrHelpWidth: () => Math.min(out.width, 100),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(text.replace(/^error: /, "bough: ")),
    })
    .showSuggestionAfterError(true)
    .exitOverride();
  defineShell({ program, io, out });
  defineReadCommands({ program, io, out });
  defineChangeCommands({ program, io, out });
  defineFileCommands({ program, io, out });
  defineHelp(program, said);
  program.addHelpText("after", "\nStart with: bough import PATH, then bough sessions and bough tree.");
  return program;
}

function defineHelp(program: Command, output: ParserOutput): void {
  const topics = Object.keys(TOPICS).join(", ");
  program
    .command("help [topic]")
    .helpGroup("Help:")
    .summary("Help on a command or a topic")
    .description(`Help on a command, or on one of these topics: ${topics}.`)
    .action((topic: string | undefined) => {
      const command = program.commands.find((one) => one.name() === topic);
      if (topic === undefined) return program.outputHelp();
      if (command !== undefined) return command.outputHelp();
      const text = Object.hasOwn(TOPICS, topic) ? TOPICS[topic] : undefined;
      if (text === undefined) throw new UsageError(`No help on '${topic}'. Topics: ${topics}; or name a command.`);
      output.out += text();
    });
}

/** A command in the list of commands: its name and arguments. */
function commandTerm(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...args].join(" ");
}

/** What was typed may hold anything too. */
function sanitize(text: string): string {
  return safeLines(text).join("\n");
}

/** The name of the command that `bough` alone means. */
const DEFAULT_COMMAND = "shell";

/** Options of the whole command that take a value. */
const OPTIONS_WITH_VALUE = ["--store"];
const PROGRAM_OPTIONS = ["-h", "--help", "-V", "--version"];

/** The interactive shell. */
export function defineShell(to: CommandRegistry): void {
  defineCommand(
    to,
    DEFAULT_COMMAND,
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
    async () => (await import("../commands/shell.js")).runShell,
  )
    .option("--new", "begin a session")
    .option("--session <name>", "go on with this session: id, prefix or title")
    .option("--resume", "pick a session")
    .option("--model <name>", "the model that answers (default: $BOUGH_MODEL, or the config file)")
    .option("--base-url <url>", "its address (default: $BOUGH_BASE_URL, or the config file)")
    .option("--api-key-env <variable>", "the variable that holds its key (default: BOUGH_API_KEY)")
    .option("--window <tokens>", "its window (default: by its name)", parsePositive);
}

/**
 * The command line with the command that was left out: `bough`, `bough --new` and `bough --store x` mean the shell.
 *
 * @example
 * withDefault(["--session", "parser"]); // ["shell", "--session", "parser"]
 */
export function insertDefaultCommand(args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length && isProgramOption(args[at] ?? "")) at += OPTIONS_WITH_VALUE.includes(args[at] ?? "") ? 2 : 1;
  const next = args[at];
  const isCommandLine = next !== undefined && (!next.startsWith("-") || PROGRAM_OPTIONS.includes(next));
  return isCommandLine ? args : [...args.slice(0, at), DEFAULT_COMMAND, ...args.slice(at)];
}

function isProgramOption(arg: string): boolean {
  return OPTIONS_WITH_VALUE.some((option) => arg === option || arg.startsWith(`${option}=`));
}

/** Help that belongs to no single command, by the name it is asked for. */
export const TOPICS: Readonly<Record<string, () => string>> = {
  names: namesTopic,
  environment: environmentTopic,
  "exit-codes": exitCodesTopic,
};

function namesTopic(): string {
  return `A session is named by
  its id, or a beginning of it that no other session has
  its title, the beginning of it, or a part of it

An entry is named by
  its id, or a beginning of it that no other entry of the session has
  its label
  @leaf        where the session stands
  @root        the first entry of the leaf's path
  @NAME        the leaf of this name
  ~N           N entries above the leaf; behind any of the others: N above it
`;
}

function environmentTopic(): string {
  return `BOUGH_STORE     the store, where --store is not given; empty: as if it were not set
XDG_DATA_HOME   the default store is bough/sessions.db in it (or in ~/.local/share)
NO_COLOR        no colours
FORCE_COLOR     colours also without a terminal; 0: none
BOUGH_MODEL     the model that writes summaries; none: they are extracts
BOUGH_BASE_URL  its address, such as http://127.0.0.1:11434/v1
BOUGH_API_KEY   its key; another --base-url does not get it
BOUGH_ASCII     draw with plain ASCII; 0: never
BOUGH_DEBUG     say where an unexpected failure came from
`;
}

function exitCodesTopic(): string {
  return exitCodeList()
    .map(({ exit, name, meaning }) => `${String(exit).padStart(3)}  ${name === "" ? "" : `${name}: `}${meaning.replaceAll("`", "")}`)
    .join("\n")
    .concat("\n");
}

/** The version of this package. */
export const VERSION = "0.1.0";
