import type { Command as Commander } from "commander";
import type { Command, CommonOptions } from "../commands/command.js";
import { ConfigError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";
import { safe } from "../terminal/safe.js";

/** The program that commands are added to, and what they run with. */
export interface CommandRegistry {
  readonly program: Commander;
  readonly io: Io;
  readonly out: Printer;
}

/** A command: what it does, its help, and its options. */
export interface CommandDefinition {
  /** Its name and its arguments, as commander reads them. */
  readonly usage: string;
  /** One line, without a period at its end. */
  readonly summary: string;
  /** Further sentences of the description. */
  readonly more?: string;
  /** Command lines with their effect. */
  readonly examples: readonly (readonly [line: string, effect: string])[];
  /** The shape that `--json` prints; undefined: the command has no such option. */
  readonly json?: string;
  /** True if output that is longer than the screen goes through a pager. */
  readonly paged?: boolean;
  /** Other names of the command. */
  readonly aliases?: readonly string[];
  /** Imports the module of the command. It is called when the command runs, so that a start loads one command only. */
  readonly load: () => Promise<Command<never>>;
  /** Adds the options beside `--json`. */
  readonly options?: (command: Commander) => Commander;
}

const DEFINITIONS = new WeakMap<Commander, CommandDefinition>();

/** The definition of a command; undefined for `bough` itself, `help` and hidden commands. */
export function definitionOf(command: Commander): CommandDefinition | undefined {
  return DEFINITIONS.get(command);
}

/** Adds commands to the program. `group`: the heading above them in the list of commands. */
export function defineCommands(registry: CommandRegistry, group: string, definitions: readonly CommandDefinition[]): void {
  for (const definition of definitions) defineCommand(registry, group, definition);
}

/** An unknown option that is like no other one, and arguments that are missing or too many, are answered with the help that lists them. */
function withHelpHint(text: string, name: string): string {
  return text
    .replace(/^error: unknown option '[^']*'(?=\n?$)/, `$&. bough ${name} --help lists the options.`)
    .replace(/^(error: (?:missing required argument|too many arguments) .*?)\.?(?=\n?$)/, `$1. bough ${name} --help shows what it takes.`);
}

function defineCommand({ program, io, out }: CommandRegistry, group: string, definition: CommandDefinition): void {
  const { usage, aliases = [], summary, more, json, paged, load, options } = definition;
  const command = program.command(usage).aliases(aliases).helpGroup(`${group}:`).summary(summary);
  DEFINITIONS.set(command, definition);
  const { outputError } = command.configureOutput();
  command.configureOutput({ outputError: (text, write) => outputError?.(withHelpHint(text, command.name()), write) });
  command.description(more === undefined ? `${summary}.` : `${summary}. ${more}`);
  if (json !== undefined) command.option("--json", "print JSON instead of text");
  command.addHelpText("after", renderHelpEnd(definition));
  command.action(async () => {
    const run = await load();
    const { fullIds, pager, store } = command.optsWithGlobals<CommonOptions>();
    out.fullIds = fullIds === true;
    if (store !== undefined) out.storeOption = await (await import("../session/store-location.js")).toStoreOption(io, store);
    if (paged === true && pager !== false) out.page(() => readPagerSetting(io));
    // The type of its options is that of the command.
    await run({ io, out, args: flattenArguments(command.processedArgs), options: command.optsWithGlobals<never>() });
  });
  options?.(command);
}

/**
 * Reads the setting `pager`. If the config file cannot be read, prints the error and returns undefined: the command itself does not need
 * it.
 */
export async function readPagerSetting(io: Io): Promise<string | boolean | undefined> {
  const { loadConfig } = await import("../config/config-file.js");
  try {
    return (await loadConfig(io)).pager;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    await io.stderr.write(`bough: ${safe(error.message)}\n`);
    return undefined;
  }
}

/** Commander passes a variadic argument as a list. */
function flattenArguments(args: readonly unknown[]): readonly (string | undefined)[] {
  return args.flat().map((arg) => (typeof arg === "string" ? arg : undefined));
}

/** The part of the help below the options: examples and the shape of the JSON. */
function renderHelpEnd({ examples, json }: CommandDefinition): string {
  const widest = Math.max(...examples.map(([line]) => line.length));
  // On one line if it fits 80 columns, else the effect on a second line.
  const lines = examples.map(([line, effect]) =>
    widest + effect.length < 74 ? `  ${line.padEnd(widest)}  ${effect}` : `  ${line}\n      ${effect}`,
  );
  return `\nExamples:\n${lines.join("\n")}${json === undefined ? "" : `\n\nJSON: ${json}`}`;
}
