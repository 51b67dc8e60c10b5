import { type CommandRegistry, defineCommand } from "./define.js";

const GROUP = "Read";

/** Adds the commands that compare branches and open them in an editor. */
export function defineCompareCommands(registry: CommandRegistry): void {
  defineDiff(registry);
  defineEdit(registry);
}

function defineDiff(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "diff <from> <to> [other]",
    {
      group: GROUP,
      paged: true,
      summary: "Compare two branches: what each has that the other has not",
      more:
        "Prints the last common entry, and for each branch its own entries and the files that its tool calls modified. " +
        "Two names are entries of the newest session of this directory, a session and an entry, or two sessions of which one is a fork of the other; " +
        "three names are a session and two entries. A branch is named by its last entry, a label or a leaf.",
      examples: [
        ["bough diff parser two-ways @leaf", "two branches of a session"],
        ["bough diff parser 3f2a", "the leaf of a session, and another branch"],
        ["bough diff parser 'parser, fork 2'", "a session and its fork"],
      ],
      json: "{ commonAncestorId, sharedEntries, left, right }, each side { sessionId, name, entryId, entries: [{ id, type, role, createdAtMs, preview }], filesRead, filesModified }",
    },
    async () => (await import("../commands/diff.js")).runDiff,
  );
}

function defineEdit(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "edit [session] [entry]",
    {
      group: GROUP,
      summary: "Open an entry, or a branch, as Markdown in $VISUAL or $EDITOR, read-only",
      more:
        "Without SESSION: the most recently active session of this directory, else of the store. Without ENTRY: the branch of the leaf. " +
        "The editor gets a private copy that is removed afterwards; changes are not stored, because entries never change.",
      examples: [
        ["bough edit parser", "the branch of the leaf"],
        ["bough edit parser ~2", "one entry in full"],
        ["bough edit parser --branch two-ways", "another branch"],
      ],
    },
    async () => (await import("../commands/edit.js")).runEdit,
  ).option("--branch <entry>", "without ENTRY: the branch that ends at this entry");
}
