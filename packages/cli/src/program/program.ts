import { Command, Option } from "commander";
import { INSTALL, SHELLS } from "../completion/scripts.js";
import { UsageError } from "../errors.js";
import { listExitCodes } from "../exit-codes.js";
import { quotePath } from "../format/path.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { safeLines } from "../terminal/safe.js";
import { VERSION } from "../version.js";
import { CHANGE_COMMANDS } from "./change-commands.js";
import { type CommandDefinition, type CommandRegistry, defineCommands } from "./define.js";
import { FILE_COMMANDS } from "./file-commands.js";
import { parsePath, parsePositive } from "./options.js";
import { READ_COMMANDS } from "./read-commands.js";
import { VIEW_COMMANDS } from "./view-commands.js";

/** The option that prints long output without a pager. */
export const NO_PAGER = "--no-pager";
const FULL_IDS = "--full-ids";

/** Text that commander printed: help, the version, and errors in the command line. */
export interface ParserOutput {
  out: string;
  err: string;
}

/** The program `bough` with all its commands. Commander's own text is appended to `output`. */
export function createProgram(io: Io, out: Printer, output: ParserOutput): Command {
  const program = new Command("bough");
  program
    .description(
      "Stores sessions of LLM agents as trees: view, search, branch, import and export them. Without a command it opens the shell.",
    )
    .version(VERSION, "-V, --version", "print the version")
    .option(
      "--store <store>",
      "the store: a file, or postgres://USER@HOST/DATABASE (default: $BOUGH_STORE, the setting store, or bough/sessions.db in the XDG data directory)",
      parsePath,
    )
    .option(NO_PAGER, "do not page long output (default: $BOUGH_PAGER, $PAGER or less, on a terminal)")
    .option(FULL_IDS, "print ids whole instead of their shortest prefixes")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: commandTerm })
    .configureOutput({
      writeOut: (text) => {
        output.out += text;
      },
      writeErr: (text) => {
        output.err += sanitize(text);
      },
      getOutHelpWidth: () => Math.min(out.width, 100),
      getErrHelpWidth: () => Math.min(out.width, 100),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(explainParserError(text)),
    })
    .showSuggestionAfterError(true)
    .exitOverride();
  const registry = { program, io, out };
  defineCommands(registry, "Start", [SHELL]);
  defineCommands(registry, "Read", [...READ_COMMANDS, ...VIEW_COMMANDS]);
  defineCommands(registry, "Change", CHANGE_COMMANDS);
  defineCommands(registry, "Import, export, maintain", FILE_COMMANDS);
  defineCommands(registry, "Help", [COMPLETION]);
  defineAnswer(registry, Object.keys(TOPICS));
  defineHelp(program, output);
  program.addHelpText("after", "\nStart with: bough import, then bough sessions and bough tree.");
  return program;
}

/** Words that people type for commands with another name. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  branch: "tree",
  cat: "show",
  checkout: "go",
  config: "help environment",
  continue: "shell",
  cost: "stats",
  mv: "rename",
  new: "shell --new",
  open: "shell --session NAME",
  switch: "go",
  usage: "stats",
};

/** An error of commander in one line; an unknown command is answered with the nearest one. */
function explainParserError(text: string): string {
  const line = text.replace(/^error: /, "bough: ");
  const [, unknown] = /^bough: unknown command '(.*)'$/m.exec(line) ?? [];
  if (unknown === undefined) return line;
  const [, similar] = /\(Did you mean (?:one of )?(.*)\?\)/.exec(line) ?? [];
  const meant = Object.hasOwn(OTHER_WORDS, unknown) ? OTHER_WORDS[unknown] : similar;
  const question =
    meant === undefined
      ? ""
      : ` Did you mean ${meant
          .split(", ")
          .map((one) => `bough ${one}`)
          .join(", ")}?`;
  const session = meant === undefined ? `, and a session is opened by bough shell ${quotePath(unknown)}` : "";
  return `bough: There is no command '${unknown}'.${question} bough --help lists the commands${session}.\n`;
}

/** A command in the list of commands: its name and arguments. */
function commandTerm(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...args].join(" ");
}

/** Commander's errors quote the command line, which may contain control characters. */
function sanitize(text: string): string {
  return safeLines(text).join("\n");
}

/** The command that runs when none is named. */
const DEFAULT_COMMAND = "shell";

/** Global options with a value. */
const OPTIONS_WITH_VALUE = ["--store"];
/** Global options without a value. */
const FLAGS = [NO_PAGER, FULL_IDS];
const PROGRAM_OPTIONS = ["-h", "--help", "-V", "--version"];

/**
 * Inserts `shell` into a command line that names no command: `bough`, `bough --new`, `bough --store x`.
 *
 * @example
 * insertDefaultCommand(["--session", "parser"]); // ["shell", "--session", "parser"]
 */
export function insertDefaultCommand(args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length && isProgramOption(args[at] ?? "")) at += OPTIONS_WITH_VALUE.includes(args[at] ?? "") ? 2 : 1;
  const next = args[at];
  const namesCommand = next !== undefined && (!next.startsWith("-") || PROGRAM_OPTIONS.includes(next));
  return namesCommand ? args : [...args.slice(0, at), DEFAULT_COMMAND, ...args.slice(at)];
}

function isProgramOption(arg: string): boolean {
  return FLAGS.includes(arg) || OPTIONS_WITH_VALUE.some((option) => arg === option || arg.startsWith(`${option}=`));
}

const SHELL: CommandDefinition = {
  usage: `${DEFAULT_COMMAND} [session]`,
  summary: "Open the interactive shell; the default command",
  more:
    "Opens the newest session of this directory, or creates one. Each message is stored before anything else is done with it. " +
    "With a model the reply is streamed; without one the shell only stores messages. /help lists the commands, /tree opens the navigator.",
  examples: [
    ["bough shell", "the newest session of this directory"],
    ["bough shell --new", "a new session"],
    ["bough shell parser", "this session"],
    ["bough shell --resume", "choose a session from a list"],
    ["bough shell --model qwen3-coder --base-url http://127.0.0.1:11434/v1", "replies from a local model"],
  ],
  load: async () => (await import("../commands/shell.js")).runShell,
  options: (command) =>
    command
      .option("--new", "create a session")
      .option("--session <name>", "the same as the argument")
      .option("--resume", "choose a session from a list")
      .option("--model <name>", "the model that replies (default: $BOUGH_MODEL, or the config file)")
      .option("--base-url <url>", "URL of its API (default: $BOUGH_BASE_URL, or the config file)")
      .option("--api-key-env <variable>", "environment variable with its API key (default: BOUGH_API_KEY)")
      .option("--window <tokens>", "its context window (default: from the name of the model)", parsePositive),
};

function defineHelp(program: Command, output: ParserOutput): void {
  const topics = Object.keys(TOPICS).join(", ");
  program
    .command("help [topic]")
    .helpGroup("Help:")
    .summary("Print help for a command or a topic")
    .description(`Print help for a command, or for one of these topics: ${topics}.`)
    .action((topic: string | undefined) => {
      const command = program.commands.find((candidate) => candidate.name() === topic || candidate.aliases().includes(topic ?? ""));
      if (topic === undefined) return program.outputHelp();
      if (command !== undefined) return command.outputHelp();
      const text = Object.hasOwn(TOPICS, topic) ? TOPICS[topic] : undefined;
      if (text === undefined) throw new UsageError(`There is no help for '${topic}'. Name a command, or one of these topics: ${topics}.`);
      output.out += text();
    });
}

/** Help topics that belong to no single command, by name. */
export const TOPICS: Readonly<Record<string, () => string>> = {
  names: () => NAMES_TOPIC,
  environment: () => ENVIRONMENT_TOPIC,
  "exit-codes": renderExitCodesTopic,
};

const NAMES_TOPIC = `A session is named by
  its id, or a unique prefix of the id
  its title, or a prefix or part of the title

An entry is named by
  its id, or a prefix of the id that is unique in the session
  its label
  @leaf        the leaf: the current position of the session
  @root        the first entry of the leaf's path
  @NAME        the leaf with this name
  ~N           N entries above the leaf, after any other name N entries above it. What bough tree
               prints as a row is counted: no tool results or settings, and replies that only call
               tools once, by the last of them. bough tree --numbers prints the numbers.
`;

const ENVIRONMENT_TOPIC = `BOUGH_STORE     the store, if --store is not given: a file, or postgres://USER@HOST/DATABASE;
                an empty value counts as unset
BOUGH_KEY       the key of a locked store; set to nothing: none. BOUGH_TO_KEY: of the target of copy,
                if it has another one; BOUGH_NEW_KEY: the new key of lock and rekey
BOUGH_KEY_COMMAND  a command of a password manager that prints the key; also BOUGH_TO_KEY_COMMAND
                and BOUGH_NEW_KEY_COMMAND
PGPASSWORD      password of a store on a server; PGHOST, PGPORT, PGUSER, PGDATABASE, PGSSLMODE,
                PGPASSFILE (default: ~/.pgpass) and others as for psql
XDG_CONFIG_HOME  directory of the config file, bough/config.json (default: ~/.config)
XDG_DATA_HOME   directory of the default store, bough/sessions.db (default: ~/.local/share)
XDG_CACHE_HOME  directory of compiled code, bough/compiled, on Node 22 and later (default: ~/.cache)
NO_COLOR        no colors
FORCE_COLOR     colors even if the output is not a terminal; 0: no colors
BOUGH_PAGER     the pager of long output on a terminal; empty or cat: none
                (default: the setting "pager", else $PAGER, else less -R)
LESS            options of less (default: FRX)
BOUGH_MODEL     the model that replies and that writes summaries (default: the setting "model");
                without one, summaries are extracts
BOUGH_BASE_URL  URL of its API, such as http://127.0.0.1:11434/v1 (default: the setting "baseUrl")
BOUGH_API_KEY   its API key; it is not sent to another --base-url
BOUGH_PAGE_PASSWORD  password of an encrypted page (bough export --password, bough share --password)
BOUGH_ASCII     draw with ASCII characters only; 0: never
BOUGH_DEBUG     print the stack of an unexpected error
`;

function renderExitCodesTopic(): string {
  return listExitCodes()
    .flatMap(({ exit, meaning, errors }) => [
      `${String(exit).padStart(3)}  ${meaning}`,
      ...errors.map((error) => `       ${error.code}: ${error.meaning}`),
    ])
    .map((line) => `${line.replaceAll("`", "")}\n`)
    .join("");
}

const COMPLETION: CommandDefinition = {
  usage: "completion <shell>",
  summary: "Print the script that completes commands, options, sessions and entries in a shell",
  more: `SHELL is ${SHELLS.join(", ")}. To install it:\n${SHELLS.map((shell) => `\n  ${shell}: ${INSTALL[shell]}`).join("")}\n`,
  examples: [
    ["bough completion bash > bough.bash", "for bash"],
    ["bough completion zsh > _bough", "for zsh, in a folder of $fpath"],
    ["bough completion fish | source", "for fish, until it ends"],
  ],
  load: async () => (await import("../completion/answer.js")).runCompletion,
};

interface AnswerOptions {
  readonly shell: (typeof SHELLS)[number];
  readonly line?: string;
}

/** Adds the hidden command that answers the script of a completion. */
function defineAnswer({ program, io, out }: CommandRegistry, topics: readonly string[]): void {
  program
    .command("__complete [words...]", { hidden: true })
    .addOption(new Option("--shell <shell>").choices(SHELLS).default("bash"))
    .option("--line <line>")
    .action(async (words: readonly string[], { shell, line }: AnswerOptions) => {
      const { answerShell } = await import("../completion/answer.js");
      out.document(await answerShell(program, io, { shell, line, words, topics }));
    });
}
