// The parts of the pages in `docs/` that are written from definitions in the code. `.ci/docs.mjs` writes them; tests compare them.

import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { configJsonSchema } from "../src/config/schema.js";
import { type ListedExit, listExitCodes } from "../src/exit-codes.js";
import { FINDER_KEYS } from "../src/finder/keys.js";
import { NAVIGATOR_KEYS } from "../src/navigator/keys.js";
import { PICKER_KEYS } from "../src/picker/keys.js";
import { createProgram, TOPICS } from "../src/program/program.js";
import { SHELL_KEYS } from "../src/shell/keys.js";
import { SLASH_COMMANDS } from "../src/shell/slash-commands.js";
import type { Io } from "../src/terminal/io.js";
import { Printer } from "../src/terminal/printer.js";
import { type KeyTable, keyName } from "../src/tui/key-table.js";

/** The parts of each page by name. All else in a page is written by hand. */
const PAGES = {
  "commands.md": { commands: renderCommands },
  "config.md": { settings: () => table(["setting", "values", "effect"], settingRows(configJsonSchema(), [])) },
  "exit-codes.md": { "exit codes": renderExitCodes },
  "navigator.md": {
    "slash commands": renderSlashCommands,
    "keys of the shell": () => renderKeys(SHELL_KEYS, "shell"),
    "keys of the tree": () => renderKeys(NAVIGATOR_KEYS, "navigator"),
    "keys of the search": () => renderKeys(FINDER_KEYS, "finder"),
    "keys of the sessions": () => renderKeys(PICKER_KEYS, "picker"),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, () => string>>>>;

type PageName = keyof typeof PAGES;

/** The names of the pages in `docs/`. */
export const PAGE_NAMES: readonly string[] = Object.keys(PAGES);

/** The text of a page with its parts as the code has them now. Each part stands between two comments. */
export function renderPage(name: string, text: string): string {
  const parts: Readonly<Record<string, () => string>> = isPage(name) ? PAGES[name] : {};
  return Object.entries(parts).reduce((page, [part, render]) => {
    const [start, end] = [`<!-- ${part}: written by node .ci/docs.mjs -->\n`, `<!-- end of ${part} -->`];
    const [before, written] = page.split(start);
    const after = written?.split(end)[1];
    if (after === undefined) throw new Error(`docs/${name} has no place for its part ${part}.`);
    return `${before}${start}\n${render().trimEnd()}\n\n${end}${after}`;
  }, text);
}

function isPage(name: string): name is PageName {
  return Object.hasOwn(PAGES, name);
}

function table(headings: readonly string[], rows: readonly string[]): string {
  return [`| ${headings.join(" | ")} |`, `|${headings.map(() => "---|").join("")}`, ...rows].join("\n");
}

function renderSlashCommands(): string {
  const rows = SLASH_COMMANDS.map(({ name, args, help }) => `| \`/${name}${args === "" ? "" : ` ${args}`}\` | ${help} |`);
  return table(["command", "does"], rows);
}

function renderKeys(keys: KeyTable<string>, screen: string): string {
  const named = (names: readonly string[]) => names.map((key) => `\`${keyName(key).replaceAll("|", "\\|")}\``).join(" ");
  const rows = keys.map((binding) => `| ${named(binding.keys)} | ${binding.help} | \`${binding.action}\` |`);
  return table(["keys", "", `action in \`keys.${screen}\``], rows);
}

const HELP_WIDTH = 100;

/** The help of every command. */
function renderCommands(): string {
  const program = createDefinitions();
  const sections = program.commands.filter((command) => command.name() !== "help" && !command.name().startsWith("__")).map(renderCommand);
  const topics = ["names", "environment"].map((name) => `## Topic: ${name}\n\n${fenced(TOPICS[name]?.() ?? "")}`);
  return `${fenced(program.helpInformation())}\n${[...sections, ...topics].join("\n")}`;
}

/** Creates the program with its commands for reading their definitions. The program must not be run. */
export function createDefinitions(): Command {
  return createProgram(NO_IO, new Printer(NO_IO), { out: "", err: "" });
}

function renderCommand(command: Command): string {
  let help = "";
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  return `## bough ${command.name()}\n\n${fenced(help)}`;
}

function fenced(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}

/** The meaning of each exit code, and the errors that have it. */
function renderExitCodes(): string {
  const codes = listExitCodes();
  const rows = codes.map(({ exit, meaning }) => `| ${exit} | ${meaning} |`);
  const errors = codes.filter((listed) => listed.errors.length > 0).map(renderErrors);
  return `| exit code | meaning |\n|---:|---|\n${rows.join("\n")}\n\n${errors.join("\n")}`;
}

function renderErrors({ exit, errors }: ListedExit): string {
  const rows = errors.map(({ code, meaning, hint = "" }) => `| \`${code}\` | ${meaning} | ${hint} |`);
  return `## Exit code ${exit}\n\n${table(["error", "meaning", "hint"], rows)}\n`;
}

/** An `Io` that does nothing; commands are defined with it and never run. */
const NO_IO: Io = {
  stdout: { isTerminal: false, color: false, columns: HELP_WIDTH, write: async () => undefined },
  stderr: { isTerminal: false, color: false, columns: HELP_WIDTH, write: async () => undefined },
  env: {},
  cwd: "/",
  home: "/",
  now: () => 0,
  ask: undefined,
  progressStream: undefined,
  pipes: { input: new PassThrough(), output: new PassThrough() },
  program: [],
  terminal: undefined,
  bough: async () => 0,
  endProcess: () => undefined,
  onEnd: () => () => undefined,
  cancelOnInterrupt: () => ({ signal: new AbortController().signal, end: () => undefined }),
};

/** One table row per setting, groups before their members. */
function settingRows(schema: unknown, above: readonly string[]): readonly string[] {
  return Object.entries(member(schema, "properties") ?? {}).flatMap(([name, about]) => {
    const path = [...above, name];
    return [`| \`${path.join(".")}\` | ${describeValues(about)} | ${describeEffect(about)} |`, ...settingRows(about, path)];
  });
}

/** The settings of compaction have defaults, which presets change. */
function describeEffect(about: unknown): string {
  const [description, value] = [member(about, "description"), member(about, "default")];
  const text = typeof description === "string" ? description : "";
  return value === undefined || member(about, "properties") !== undefined ? text : `${text} In \`balanced\`: \`${JSON.stringify(value)}\`.`;
}

function describeValues(about: unknown): string {
  const choices = member(about, "enum");
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(", ");
  const either = member(about, "anyOf");
  if (Array.isArray(either) && either.some((one) => member(one, "type") === "null")) return `${describeValues(either[0])}, \`null\``;
  if (member(about, "properties") !== undefined) return "a group";
  const members = member(about, "additionalProperties");
  if (members !== undefined) return member(members, "properties") === undefined ? "actions and their keys" : "an object for each model";
  const type = member(about, "type");
  if (Array.isArray(type)) return type.map((one) => (one === "null" ? "`null`" : `a ${String(one)}`)).join(", ");
  switch (type) {
    case "integer":
      return `an integer of at least ${String(member(about, "minimum"))}`;
    case "number":
      return member(about, "maximum") === undefined
        ? "a number"
        : `a number from ${String(member(about, "minimum"))} to ${String(member(about, "maximum"))}`;
    case "boolean":
      return "`true`, `false`";
    case "array":
      return "a list of strings";
    default:
      return "a string";
  }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
