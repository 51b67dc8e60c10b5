import type { Command as Commander } from "commander";
import type { Command, CommonOptions } from "../commands/command.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";

/** Where the definitions of commands are put. */
export interface CommandRegistry {
  readonly program: Commander;
  readonly io: Io;
  readonly out: Printer;
}

/** What a command is called and how it is explained. */
export interface CommandHelp {
  /** The heading that it is listed under. */
  readonly group: string;
  readonly summary: string;
  /** What the summary leaves open. */
  readonly more?: string;
  /** Lines to type, each with what it does. */
  readonly examples: readonly (readonly [line: string, does: string])[];
  /** What `--json` prints; undefined: the command has no such option. */
  readonly json?: string;
}

/** Imports the module of a command. It is called when the command runs, so a start loads one command only. */
type Loader<O extends CommonOptions> = () => Promise<Command<O>>;

/** Defines a command; its options are added to what comes back. */
export function defineCommand<O extends CommonOptions>(
  { program, io, out }: CommandRegistry,
  usage: string,
  about: CommandHelp,
  load: Loader<O>,
): Commander {
  const command = program.command(usage).helpGroup(`${about.group}:`).summary(about.summary);
  command.description(about.more === undefined ? `${about.summary}.` : `${about.summary}. ${about.more}`);
  if (about.json !== undefined) command.option("--json", "print JSON instead of text");
  command.addHelpText("after", renderHelpEnd(about));
  return command.action(async () => {
    const run = await load();
    await run({ io, out, args: flattenArguments(command.processedArgs), options: command.optsWithGlobals<O>() });
  });
}

/** A variadic argument comes as a list of its own. */
function flattenArguments(args: readonly unknown[]): readonly (string | undefined)[] {
  return args.flat().map((arg) => (typeof arg === "string" ? arg : undefined));
}

/** Examples and the shape of the JSON, as they stand below the options. */
export function renderHelpEnd({ examples, json }: CommandHelp): string {
  const widest = Math.max(...examples.map(([line]) => line.length));
  // Side by side where both fit eighty columns, else one below the other (regression R185).
  const lines = examples.map(([line, does]) =>
    widest + does.length < 74 ? `  ${line.padEnd(widest)}  ${does}` : `  ${line}\n      ${does}`,
  );
  return `\nExamples:\n${lines.join("\n")}${json === undefined ? "" : `\n\nJSON: ${json}`}`;
}
