import { Option } from "commander";
import { type CommandRegistry, defineCommand } from "./define.js";

const GROUP = "Bring in, take out, look after";

/** The commands that read and write files. */
export function defineFileCommands(to: CommandRegistry): void {
  defineImport(to);
  defineExport(to);
  defineVerify(to);
  defineBackup(to);
  defineRestore(to);
  defineDemo(to);
}

function defineDemo(to: CommandRegistry): void {
  defineCommand(
    to,
    "demo",
    {
      group: GROUP,
      summary: "Import the sample session that comes with Bough, show it, and say what to type next",
      more: "Without --store: into a throw-away store, so that your own is not touched.",
      examples: [["bough demo", "a session as a tree, and what its model would be sent"]],
    },
    async () => (await import("../commands/demo.js")).runDemo,
  );
}

function defineImport(to: CommandRegistry): void {
  defineCommand(
    to,
    "import <path...>",
    {
      group: GROUP,
      summary: "Bring session files into the store",
      more:
        "Reads pi, oh-my-pi, Claude Code and Bough sessions, a file or every file below a folder; the format is told by content. " +
        "Sources are never changed, and importing again adds only what is new. Makes the store where it is missing. " +
        "Ends with 0 when everything was taken, 4 when files failed, 34 when lines were not JSON, 35 when records fit no schema.",
      examples: [
        ["bough import ~/.claude/projects", "all of Claude Code's"],
        ["bough import ~/.pi/agent/sessions", "all of pi's"],
        ["bough import session.jsonl --verbose", "one file, with every problem"],
      ],
      json: "{ store, sessions: ImportedFileSession[], failed: [{ path, code, message }], otherFiles }",
    },
    async () => (await import("../commands/import.js")).runImport,
  ).option("--verbose", "list every session and every problem");
}

function defineExport(to: CommandRegistry): void {
  defineCommand(
    to,
    "export [session]",
    {
      group: GROUP,
      summary: "Write a session, or a branch of it, to stdout or into a file",
      more: "Without SESSION: the one of this directory that was active last, or else of the store.",
      examples: [
        ["bough export parser -o parser.md", "the leaf's branch as Markdown"],
        ["bough export parser --branch before-rewrite", "another branch, to stdout"],
        ["bough export parser --format bough -o parser.jsonl", "everything, to be imported again"],
        ["bough export parser --format pi > parser.jsonl", "for pi"],
      ],
    },
    async () => (await import("../commands/export.js")).runExport,
  )
    .addOption(
      new Option("--format <format>", "Markdown of a branch, Bough's own JSONL of the whole session, or pi's JSONL")
        .choices(["markdown", "bough", "pi"])
        .default("markdown"),
    )
    .option("-o, --output <file>", "write this file; one that exists is left as it is")
    .option("--force", "replace the file if it exists")
    .option("--branch <entry>", "the branch that ends at this entry (default: Markdown the leaf's, pi the whole tree)")
    .addOption(
      new Option("--tool-output <amount>", "Markdown: how much of tool results (default: short)").choices(["none", "short", "full"]),
    )
    .option("--thinking", "Markdown: what the model thought too")
    .option("--from <entry>", "Markdown: the first entry")
    .option("--to <entry>", "Markdown: the last entry");
}

function defineVerify(to: CommandRegistry): void {
  defineCommand(
    to,
    "verify [session]",
    {
      group: GROUP,
      summary: "Check that everything holds that must hold",
      more: "Reads the whole store, or one session, and changes nothing. Ends with 3 when something does not hold.",
      examples: [
        ["bough verify", "the whole store"],
        ["bough verify parser", "one session"],
      ],
      json: "{ findings: [{ rule, sessionId, entryId, message }] }",
    },
    async () => (await import("../commands/maintain-store.js")).runVerify,
  );
}

function defineBackup(to: CommandRegistry): void {
  defineCommand(
    to,
    "backup <file>",
    {
      group: GROUP,
      summary: "Copy the store into a new file, also while it is in use",
      examples: [["bough backup ~/sessions-backup.db", "a file that exists is left as it is"]],
      json: "{ file, bytes }",
    },
    async () => (await import("../commands/maintain-store.js")).runBackup,
  );
}

function defineRestore(to: CommandRegistry): void {
  defineCommand(
    to,
    "restore <backup>",
    {
      group: GROUP,
      summary: "Put a backup in the place of the store",
      more:
        "Checks the backup first as verify does, and asks before it replaces anything. The store that was there is kept beside the " +
        "new one under a name that is printed. Refused while another program has the store open. Use this rather than copying a " +
        "backup over the store: a store that is in use, or whose journal (-wal) is left, is damaged by that.",
      examples: [
        ["bough restore ~/sessions-backup.db", "asks, then replaces the store"],
        ["bough restore ~/sessions-backup.db --yes --store other.db", "replaces another one without asking"],
      ],
      json: "{ path, keptAt: string | null }",
    },
    async () => (await import("../commands/maintain-store.js")).runRestore,
  ).option("--yes", "do not ask");
}
