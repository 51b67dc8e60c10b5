// The manual pages, in the man macros of roff. `.ci/build.mjs` writes them to dist/man; package.json names them, so that npm installs them.

import type { Command, Help, Option } from "commander";
import { EXIT_USAGE, type ListedExit, listExitCodes } from "../src/exit-codes.js";
import { type CommandDefinition, definitionOf } from "../src/program/define.js";
import { TOPICS } from "../src/program/program.js";
import { VERSION } from "../src/version.js";
import { createDefinitions } from "./docs-pages.js";

/** A manual page. */
export interface ManPage {
  /** The name of its file, such as `bough-tree.1`. */
  readonly file: string;
  readonly roff: string;
}

/** The pages of section 1, from the definitions that `--help` prints: `bough.1`, and one for each command but `help`. */
export function renderManPages(): readonly ManPage[] {
  const program = createDefinitions();
  const pages = program.commands.flatMap((command) => {
    const definition = definitionOf(command);
    return definition === undefined ? [] : [{ file: `bough-${command.name()}.1`, roff: renderCommandPage(program, command, definition) }];
  });
  return [{ file: "bough.1", roff: renderProgramPage(program) }, ...pages];
}

/** Commands whose first example stands in `bough.1`. */
const INTRODUCED = ["import", "sessions", "tree", "search", "shell"];

function renderProgramPage(program: Command): string {
  const introduced = program.commands.filter((command) => INTRODUCED.includes(command.name()));
  return joined([
    ...pageHead("bough", "store sessions of LLM agents as trees: view, search, branch, import and export them"),
    ".SH SYNOPSIS",
    `${bold("bough")} [${italic("options")}] [${italic("command")}]`,
    ".SH DESCRIPTION",
    ...paragraphs(program.description()),
    ".SH COMMANDS",
    ...commandList(program),
    ".SH OPTIONS",
    ...optionList(program.createHelp(), program.createHelp().visibleOptions(program)),
    ".SH NAMES",
    ...literal(TOPICS["names"]?.() ?? ""),
    ".SH EXAMPLES",
    ...introduced.flatMap((command) => exampleList(definitionOf(command)?.examples.slice(0, 1) ?? [])),
    ".SH ENVIRONMENT",
    ...literal(TOPICS["environment"]?.() ?? ""),
    ".SH EXIT STATUS",
    ...exitStatus(),
    ".SH SEE ALSO",
    ...program.commands
      .filter((command) => definitionOf(command) !== undefined)
      .map((command, at, all) => pageName(command, at === all.length - 1)),
  ]);
}

function renderCommandPage(program: Command, command: Command, definition: CommandDefinition): string {
  const name = command.name();
  const helper = command.createHelp();
  return joined([
    ...pageHead(`bough-${name}`, `${definition.summary.charAt(0).toLowerCase()}${definition.summary.slice(1)}`),
    ".SH SYNOPSIS",
    [`${bold(`bough ${name}`)} [${italic("options")}]`, ...command.registeredArguments.map(argumentTerm)].join(" "),
    ".SH DESCRIPTION",
    ...paragraphs(command.description()),
    ...(command.aliases().length === 0 ? [] : [".PP", `Other names: ${command.aliases().map(bold).join(", ")}.`]),
    ".SH OPTIONS",
    ...optionList(helper, helper.visibleOptions(command)),
    ...optionList(
      helper,
      program.options.filter((option) => option.long !== "--version"),
    ),
    ".SH EXAMPLES",
    ...exampleList(definition.examples),
    ...(definition.json === undefined ? [] : [".SH JSON", `${bold("--json")} prints:`, ".PP", escapeLine(definition.json)]),
    ".SH EXIT STATUS",
    ...errorList(name),
    ".PP",
    `All exit codes: ${bold("bough")}(1); all errors: ${bold("bough help exit-codes")}.`,
    ".SH SEE ALSO",
    `${bold("bough")}(1)`,
  ]);
}

/** The title without a date: a page is the same whenever it is made. */
function pageHead(name: string, summary: string): readonly string[] {
  return [
    `.TH "${escapeText(name.toUpperCase())}" "1" "" "bough ${escapeText(VERSION)}" "Bough manual"`,
    ".nh",
    ".ad l",
    ".SH NAME",
    `${escapeText(name)} \\- ${escapeText(summary)}`,
  ];
}

function commandList(program: Command): readonly string[] {
  const commands = program.commands.filter((command) => !command.name().startsWith("__"));
  const groups = [...new Set(commands.map((command) => command.helpGroup()))];
  return groups.flatMap((group) => [
    `.SS "${escapeText(group.replace(/:$/, ""))}"`,
    ...commands
      .filter((command) => command.helpGroup() === group)
      .flatMap((command) =>
        item([bold(command.name()), ...command.registeredArguments.map(argumentTerm)].join(" "), `${command.summary()}.`),
      ),
  ]);
}

function argumentTerm(argument: Command["registeredArguments"][number]): string {
  const name = `${italic(argument.name())}${argument.variadic ? "..." : ""}`;
  return argument.required ? name : `[${name}]`;
}

/** The flags in bold, the names of their values in italics. */
function optionList(helper: Help, options: readonly Option[]): readonly string[] {
  return options.flatMap((option) => {
    const term = option.flags
      .split(/(<[^>]*>|\[[^\]]*\]|, )/)
      .map((part) =>
        /^-/.test(part)
          ? bold(part.trimEnd()) + (/ $/.test(part) ? " " : "")
          : /^[<[]/.test(part)
            ? italic(part.replace(/[<>]/g, ""))
            : part,
      );
    return item(term.join(""), helper.optionDescription(option));
  });
}

function exampleList(examples: CommandDefinition["examples"]): readonly string[] {
  return examples.flatMap(([line, effect]) => item(bold(line), effect));
}

function exitStatus(): readonly string[] {
  return listExitCodes().flatMap(({ exit, meaning }) => item(bold(String(exit)), `${meaning}.`));
}

/** Success, wrong usage, and the errors that only this command has. */
function errorList(name: string): readonly string[] {
  const own = new RegExp(`\`${name}[ \`]`);
  return listExitCodes().flatMap(({ exit, meaning, errors }) => [
    ...(exit <= EXIT_USAGE ? item(bold(String(exit)), `${meaning}.`) : []),
    ...errors.filter((error) => own.test(error.meaning)).flatMap((error) => item(`${bold(String(exit))} ${error.code}`, withHint(error))),
  ]);
}

function withHint({ meaning, hint }: ListedExit["errors"][number]): string {
  return `${meaning}.${hint === undefined ? "" : ` ${hint}`}`;
}

function pageName(command: Command, isLast: boolean): string {
  return `${bold(`bough-${command.name()}`)}(1)${isLast ? "" : ","}`;
}

/** A term with a text that is set in from it. */
function item(term: string, text: string): readonly string[] {
  return [".TP", term, escapeLine(text.trim() === "" ? "." : text)];
}

/** Paragraphs are set; a block that is indented stays as it is. */
function paragraphs(text: string): readonly string[] {
  const blocks = text.trimEnd().split(/\n{2,}/);
  return blocks.flatMap((block, at) => [...(at === 0 ? [] : [".PP"]), ...(block.startsWith(" ") ? literal(block) : [escapeLine(block)])]);
}

function literal(text: string): readonly string[] {
  return [".nf", ...text.trimEnd().split("\n").map(escapeLine), ".fi"];
}

function bold(text: string): string {
  return `\\fB${escapeText(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${escapeText(text)}\\fR`;
}

/** A line of text, with words in backticks in bold. A period at its beginning would make it a request. */
function escapeLine(text: string): string {
  const escaped = text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? escapeText(part) : bold(part)));
  return escaped.join("").replace(/^\./, "\\&.");
}

const ROFF_NAMES: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  '"': "\\(dq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Characters that roff would read as an escape, or print as a typographic one: a `-` as a hyphen, a `'` as an apostrophe. */
function escapeText(text: string): string {
  return text
    .replace(/[\\\-'"`^~]/g, (character) => ROFF_NAMES[character] ?? character)
    .replace(/[^\x00-\x7f]/gu, (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

function joined(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
