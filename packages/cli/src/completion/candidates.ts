import { AGENT_FILTERS } from "@bough/formats/agents";
import type { Argument, Command, Option } from "commander";
import { FILES } from "./scripts.js";

/** A completion of the word at the cursor. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** The names in a store that complete a word. They throw what opening the store throws. */
export interface StoreNames {
  sessions(beginning: string): Promise<readonly Candidate[]>;
  /** Entries of the session with this name; undefined: the default session. */
  entries(session: string | undefined, beginning: string): Promise<readonly Candidate[]>;
}

/** The names that complete a word besides those of commands and options. */
export interface KnownNames extends StoreNames {
  /** The topics of `bough help`. */
  readonly topics: readonly string[];
}

/** The answer to the question what completes a word: candidates, or the names of files. */
export type Completion = readonly Candidate[] | typeof FILES;

/** The store that a command line names. */
export function namedStore(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf("--store");
  return at >= 0 ? words[at + 1] : words.find((word) => word.startsWith("--store="))?.slice("--store=".length);
}

/** Completes the word `current` behind the words of a command line (without `bough`). */
export async function complete(program: Command, before: readonly string[], current: string, names: KnownNames): Promise<Completion> {
  const line = readLine(program, before);
  const [, assigned, part] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  const open = assigned === undefined ? line.open : findOption(line.options, assigned);
  if (open !== undefined) {
    const values = await completeValue(open, part ?? current, line, names);
    return typeof values === "string" || assigned === undefined
      ? values
      : values.map(({ value, description }) => ({ value: `${assigned}=${value}`, description }));
  }
  if (current.startsWith("-") && !line.isLiteral) return startingWith(line.options.flatMap(optionCandidates), current);
  if (line.command === program) return startingWith(commandCandidates(program), current);
  return completeArgument(program, line, current, names);
}

interface ReadLine {
  readonly command: Command;
  readonly options: readonly Option[];
  /** The option whose value is at the cursor. */
  readonly open: Option | undefined;
  readonly arguments: readonly string[];
  /** Behind `--`, where nothing is an option. */
  readonly isLiteral: boolean;
}

function readLine(program: Command, words: readonly string[]): ReadLine {
  let [command, open, isLiteral]: [Command, Option | undefined, boolean] = [program, undefined, false];
  let values: string[] = [];
  for (const word of words) {
    const options = optionsOf(program, command);
    if (open !== undefined) open = undefined;
    else if (word === "--") isLiteral = true;
    else if (word.startsWith("-") && !isLiteral) open = takesNext(findOption(options, word));
    else if (command === program) command = findCommand(program, word) ?? program;
    else values = [...values, word];
  }
  return { command, options: optionsOf(program, command), open, arguments: values, isLiteral };
}

function optionsOf(program: Command, command: Command): readonly Option[] {
  return command === program ? program.options : [...command.options, ...program.options];
}

function takesNext(option: Option | undefined): Option | undefined {
  return option?.required === true || option?.optional === true ? option : undefined;
}

function findOption(options: readonly Option[], word: string): Option | undefined {
  return options.find(({ long, short }) => word === long || word === short);
}

/** The command with this name or alias. */
function findCommand(program: Command, name: string): Command | undefined {
  return program.commands.find((command) => command.name() === name || command.aliases().includes(name));
}

function optionCandidates({ long, description, hidden }: Option): readonly Candidate[] {
  return hidden || long === undefined || long === null ? [] : [{ value: long, description }];
}

function commandCandidates(program: Command): readonly Candidate[] {
  return program.commands
    .filter((command) => !command.name().startsWith("__"))
    .map((command) => ({ value: command.name(), description: command.summary() }));
}

const TIMES = ["1d", "1w", "1mo", "1y"].map((value) => ({ value, description: "ago" }));
const ENTRY_OPTIONS = ["--branch", "--from", "--to", "--at", "--keep-from"];
const FILE_OPTIONS = ["--store", "--output", "--directory", "--write", "--assets", "--html"];

async function completeValue(option: Option, current: string, line: ReadLine, names: KnownNames): Promise<Completion> {
  const long = option.long ?? "";
  if (option.argChoices !== undefined) return startingWith(option.argChoices.map(plain), current);
  if (long === "--session") return names.sessions(current);
  if (ENTRY_OPTIONS.includes(long)) return names.entries(line.arguments[0], current);
  if (long === "--since" || long === "--until") return startingWith(TIMES, current);
  if (long === "--agent") return startingWith(AGENT_FILTERS.map(plain), current);
  return FILE_OPTIONS.includes(long) ? FILES : [];
}

async function completeArgument(
  program: Command,
  { command, arguments: values }: ReadLine,
  current: string,
  names: KnownNames,
): Promise<Completion> {
  const argument = argumentAt(command, values.length);
  if (argument === undefined) return [];
  if (argument.argChoices !== undefined) return startingWith(argument.argChoices.map(plain), current);
  switch (argument.name()) {
    case "session":
    case "from":
      return names.sessions(current);
    case "entry":
    case "to":
    case "other":
      return names.entries(values[0], current);
    case "path":
    case "file":
      return FILES;
    case "topic":
      return startingWith([...commandCandidates(program), ...names.topics.map(plain)], current);
    default:
      return [];
  }
}

function argumentAt(command: Command, at: number): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return command.registeredArguments[at] ?? (last?.variadic === true ? last : undefined);
}

function plain(value: string): Candidate {
  return { value, description: "" };
}

function startingWith(candidates: readonly Candidate[], beginning: string): readonly Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(beginning));
}
