import { Command } from "commander";
import { UsageError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { safeLines } from "../terminal/safe.js";
import { VERSION } from "../version.js";
import { defineChanging } from "./changing.js";
import { defineInteractive } from "./interactive.js";
import { path } from "./options.js";
import { defineReading } from "./reading.js";
import { TOPICS } from "./topics.js";
import { defineTransfer } from "./transfer.js";

/** What the parser of the command line had to say to the person. */
export interface Said {
  out: string;
  err: string;
}

/** The command `bough` with everything below it. What it says itself is gathered in `said`. */
export function boughProgram(io: Io, out: Printer, said: Said): Command {
  const program = new Command("bough");
  program
    .description("Sessions of LLM agents as trees: see, search, branch, import and export them. Alone it opens the shell.")
    .version(VERSION, "-V, --version", "print the version")
    .option("--store <path>", "the store (default: $BOUGH_STORE, or bough/sessions.db in the XDG data directory)", path)
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: term })
    .configureOutput({
      writeOut: (text) => {
        said.out += text;
      },
      writeErr: (text) => {
        said.err += clean(text);
      },
      getOutHelpWidth: () => Math.min(out.width, 100),
      getErrHelpWidth: () => Math.min(out.width, 100),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(text.replace(/^error: /, "bough: ")),
    })
    .showSuggestionAfterError(true)
    .exitOverride();
  defineInteractive({ program, io, out });
  defineReading({ program, io, out });
  defineChanging({ program, io, out });
  defineTransfer({ program, io, out });
  defineHelp(program, said);
  program.addHelpText("after", "\nStart with: bough import PATH, then bough sessions and bough tree.");
  return program;
}

function defineHelp(program: Command, said: Said): void {
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
      said.out += text();
    });
}

/** A command in the list of commands: its name and arguments. */
function term(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...args].join(" ");
}

/** What was typed may hold anything too. */
function clean(text: string): string {
  return safeLines(text).join("\n");
}
