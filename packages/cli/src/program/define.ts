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

/** The help text of a command. */
export interface CommandHelp {
  /** The heading of its group in the list of commands. */
  readonly group: string;
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
}

/** Imports the module of a command. It is called when the command runs, so that a start loads one command only. */
type Loader<O extends CommonOptions> = () => Promise<Command<O>>;

const HELPS = new WeakMap<Commander, CommandHelp>();

/** The help text that a command was defined with; undefined for `bough` itself, `help` and hidden commands. */
export function helpOf(command: Commander): CommandHelp | undefined {
  return HELPS.get(command);
}

/** Adds a command to the program. The caller adds options to the result. */
export function defineCommand<O extends CommonOptions>(
  { program, io, out }: CommandRegistry,
  usage: string,
  help: CommandHelp,
  load: Loader<O>,
): Commander {
  const command = program
    .command(usage)
    .aliases(help.aliases ?? [])
    .helpGroup(`${help.group}:`)
    .summary(help.summary);
  HELPS.set(command, help);
  command.description(help.more === undefined ? `${help.summary}.` : `${help.summary}. ${help.more}`);
  if (help.json !== undefined) command.option("--json", "print JSON instead of text");
  command.addHelpText("after", renderHelpEnd(help));
  return command.action(async () => {
    const run = await load();
    const options = command.optsWithGlobals<O>();
    out.fullIds = options.fullIds === true;
    if (help.paged === true && options.pager !== false) out.page(() => readPagerSetting(io));
    await run({ io, out, args: flattenArguments(command.processedArgs), options });
  });
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
function renderHelpEnd({ examples, json }: CommandHelp): string {
  const widest = Math.max(...examples.map(([line]) => line.length));
  // On one line if it fits 80 columns, else the effect on a second line.
  const lines = examples.map(([line, effect]) =>
    widest + effect.length < 74 ? `  ${line.padEnd(widest)}  ${effect}` : `  ${line}\n      ${effect}`,
  );
  return `\nExamples:\n${lines.join("\n")}${json === undefined ? "" : `\n\nJSON: ${json}`}`;
}
