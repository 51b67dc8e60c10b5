import type { Command } from "commander";
import { exitCodeList } from "../exit-codes.js";
import type { Io } from "../terminal/io.js";
import { Printer } from "../terminal/printer.js";
import { boughProgram } from "./program.js";
import { TOPICS } from "./topics.js";

// The pages of `docs/` that say what the program says of itself, so that they cannot drift from it.

const MADE = "Made by `node .ci/docs.mjs` from the definitions of the commands; do not edit.";

const HELP_WIDTH = 100;

/** `docs/commands.md`: the help of every command. */
export function commandsPage(): string {
  const program = boughProgram(NOWHERE, new Printer(NOWHERE), { out: "", err: "" });
  const sections = program.commands.filter((command) => command.name() !== "help").map(commandSection);
  const topics = ["names", "environment"].map((name) => `## Topic: ${name}\n\n${fenced(TOPICS[name]?.() ?? "")}`);
  return `# Commands\n\n${MADE}\n\n${fenced(program.helpInformation())}\n${[...sections, ...topics].join("\n")}`;
}

function commandSection(command: Command): string {
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
export function exitCodesPage(): string {
  const rows = exitCodeList().map(({ exit, name, meaning }) => `| ${exit} | ${name === "" ? "" : `\`${name}\``} | ${meaning} |`);
  const intro =
    "What `bough` ends with. The numbers are stable; the names are the `code` of the library's errors. Data goes to stdout, and";
  return `# Exit codes\n\n${MADE}\n\n${intro}\nwhat went wrong to stderr, in one line.\n\n| code | error | meaning |\n|---:|---|---|\n${rows.join("\n")}\n`;
}

/** The world of whoever only reads definitions. */
const NOWHERE: Io = {
  stdout: { isTerminal: false, colour: false, columns: HELP_WIDTH, write: async () => undefined },
  stderr: { isTerminal: false, colour: false, columns: HELP_WIDTH, write: async () => undefined },
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
