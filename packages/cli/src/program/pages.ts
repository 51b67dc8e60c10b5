// The pages of `docs/` that say what the program says of itself, so that they cannot drift from it.
import type { Command } from "commander";
import { configJsonSchema } from "../config/schema.js";
import { exitCodeList } from "../exit-codes.js";
import type { Io } from "../terminal/io.js";
import { Printer } from "../terminal/printer.js";
import { createProgram, TOPICS } from "./program.js";

const GENERATED = "Made by `node .ci/docs.mjs` from the definitions of the commands; do not edit.";

const HELP_WIDTH = 100;

/** `docs/commands.md`: the help of every command. */
export function renderCommandsPage(): string {
  const program = createProgram(NO_IO, new Printer(NO_IO), { out: "", err: "" });
  const sections = program.commands.filter((command) => command.name() !== "help").map(renderCommand);
  const topics = ["names", "environment"].map((name) => `## Topic: ${name}\n\n${fenced(TOPICS[name]?.() ?? "")}`);
  return `# Commands\n\n${GENERATED}\n\n${fenced(program.helpInformation())}\n${[...sections, ...topics].join("\n")}`;
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

/** `docs/exit-codes.md`: what each exit code means. */
export function renderExitCodesPage(): string {
  const rows = exitCodeList().map(({ exit, name, meaning }) => `| ${exit} | ${name === "" ? "" : `\`${name}\``} | ${meaning} |`);
  const intro =
    "What `bough` ends with. The numbers are stable; the names are the `code` of the library's errors. Data goes to stdout, and";
  return `# Exit codes\n\n${GENERATED}\n\n${intro}\nwhat went wrong to stderr, in one line.\n\n| code | error | meaning |\n|---:|---|---|\n${rows.join("\n")}\n`;
}

/** The world of whoever only reads definitions. */
const NO_IO: Io = {
  stdout: { isTerminal: false, color: false, columns: HELP_WIDTH, write: async () => undefined },
  stderr: { isTerminal: false, color: false, columns: HELP_WIDTH, write: async () => undefined },
  env: {},
  cwd: "/",
  home: "/",
  now: () => 0,
  ask: undefined,
  progressStream: undefined,
  terminal: undefined,
  bough: async () => 0,
  onInterrupt: () => () => undefined,
  cancelOnInterrupt: () => ({ signal: new AbortController().signal, end: () => undefined }),
};

const INTRO = `# The config file

Made by \`node .ci/docs.mjs\` from the schema; do not edit.

\`bough/config.json\` in \`XDG_CONFIG_HOME\`, or \`~/.config\`. Every setting may be left out, and so may the file. A setting that
is not in the table, or a value that does not fit, is an error that names the file and the field (exit code 61); nothing is
guessed. \`/settings\` writes it. Options of a command come first, then the environment, then this file.

\`\`\`json
{
  "model": "qwen3-coder",
  "baseUrl": "http://127.0.0.1:11434/v1",
  "window": 262144,
  "tools": { "read": "allow", "edit": "ask", "bash": "ask" },
  "navigator": { "filter": "no-tools", "leaving": "ask" },
  "keys": { "navigator": { "fold": ["h", "left"] } }
}
\`\`\`

Keys of APIs are never in the file: \`apiKeyEnv\` names the environment variable that holds one. A key belongs to an address:
one that is configured for \`baseUrl\` is not sent to another address that is typed with \`--base-url\`.

| setting | values | what it does |
|---|---|---|
`;

/** `docs/config.md`: every setting, as the schema has it. */
export function renderConfigPage(): string {
  return `${INTRO}${settingRows(configJsonSchema(), []).join("\n")}\n`;
}

/** The example of the page, so that a test can read it as a file. */
export function configExample(): string {
  return /```json\n([\s\S]*?)```/.exec(INTRO)?.[1] ?? "";
}

/** One row for each setting, groups before their members. */
function settingRows(schema: unknown, above: readonly string[]): readonly string[] {
  return Object.entries(member(schema, "properties") ?? {}).flatMap(([name, about]) => {
    const path = [...above, name];
    const said = member(about, "description");
    return [`| \`${path.join(".")}\` | ${describeValues(about)} | ${typeof said === "string" ? said : ""} |`, ...settingRows(about, path)];
  });
}

function describeValues(about: unknown): string {
  const choices = member(about, "enum");
  if (Array.isArray(choices)) return choices.map((choice) => `\`${String(choice)}\``).join(", ");
  if (member(about, "properties") !== undefined) return "a group";
  if (member(about, "additionalProperties") !== undefined) return "actions with their keys";
  const type = member(about, "type");
  return type === "integer" ? `a whole number from ${String(member(about, "minimum"))}` : type === "boolean" ? "true, false" : "a text";
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
