import { InvalidArgumentError, Option } from "commander";
import type { CommandDefinition } from "./define.js";
import { parsePositive, parseWholeNumber } from "./options.js";

/** The commands that show branches elsewhere: as lines, as a difference, in an editor, in a browser. */
export const VIEW_COMMANDS: readonly CommandDefinition[] = [
  {
    usage: "view [session]",
    summary: "Show a session, or all of them, in a browser",
    more:
      "Serves read-only pages on 127.0.0.1, under an address that nobody can guess, and opens it in the browser ($BROWSER, or that of the " +
      "desktop). Without SESSION: a list of all sessions, with a search. New entries appear by themselves. Secrets are masked, and commands " +
      "kept out of the conversation are left out. Other users of this machine are refused. Ctrl+C stops it.",
    examples: [
      ["bough view", "all sessions"],
      ["bough view parser", "one session"],
      ["bough view parser --no-open --port 8080", "prints the address only"],
    ],
    json: "{ address }",
    load: async () => (await import("../commands/view.js")).runView,
    options: (command) =>
      command
        .option("--no-open", "do not open a browser")
        .addOption(
          new Option("--port <n>", "the port").argParser(parsePort).default(0, "the same for a store each time, else any that is free"),
        )
        .option("--idle <minutes>", "stop after so many minutes without a request; 0: never", parseWholeNumber, 60)
        .option("--thinking", "include the thinking of the model")
        .option("--private", "also commands kept out of the conversation")
        .option("--with-secrets", "do not mask keys, tokens and passwords"),
  },
  {
    usage: "log [session] [entry]",
    aliases: ["history"],
    paged: true,
    summary: "Print the entries of a branch with their dates, the newest first",
    more: `Without SESSION: the most recently active session of this directory, else of the store. The branch is that of the leaf, or of ENTRY. Tool results and settings are left out, as in the tree.`,
    examples: [
      ["bough log", "the newest session of this directory"],
      ["bough log parser --oneline -n 20", "the newest 20 entries, one line each"],
      ["bough log parser --since 2d --reverse", "of the last two days, the oldest first"],
      ["bough log parser --all --full --oneline", "every entry of every branch"],
    ],
    json: "{ session: { id, title }, entries: [{ id, seq, parentSeq, type, role, depth, createdAtMs, preview, isError, payloadBytes, label }] }",
    load: async () => (await import("../commands/log.js")).runLog,
    options: (command) =>
      command
        .option("-n, --number <n>", "print at most this many entries", parsePositive)
        .option("--oneline", "print one line per entry")
        .option("--reverse", "print the oldest first")
        .option("--all", "the entries of all branches")
        .option("--full", "also tool results, settings, custom and foreign entries")
        .option("--since <time>", "created at or after: 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago")
        .option("--until <time>", "created before"),
  },
  {
    usage: "diff <from> <to> [other]",
    paged: true,
    summary: "Compare two branches: what each has that the other has not",
    more:
      "Prints the last common entry, the entries of each branch after it, and the files that tool calls changed on one of them or on both; " +
      "for those on both the difference of the last known texts, or the edits. Two entries of one kind are also compared in full. " +
      "Two names are entries of the newest session of this directory, a session and an entry, or two sessions of which one is a fork of the other; " +
      "three names are a session and two entries. A branch is named by its last entry, a label or a leaf.",
    examples: [
      ["bough diff parser two-ways @leaf", "two branches of a session"],
      ["bough diff parser 3f2a", "the leaf of a session, and another branch"],
      ["bough diff parser 'parser, fork 2'", "a session and its fork"],
    ],
    json: "{ commonAncestorId, sharedEntries, left, right }, each side { sessionId, name, entryId, entries: [{ id, type, role, createdAtMs, preview }], filesRead, filesModified }; filesChanged { onlyLeft, onlyRight, both }",
    load: async () => (await import("../commands/diff.js")).runDiff,
  },
  {
    usage: "edit [session] [entry]",
    summary: "Open an entry, or a branch, as Markdown in $VISUAL or $EDITOR, read-only",
    more:
      "Without SESSION: the most recently active session of this directory, else of the store. Without ENTRY: the branch of the leaf. " +
      "The editor gets a private copy that is removed afterwards; changes are not stored, because entries never change.",
    examples: [
      ["bough edit parser", "the branch of the leaf"],
      ["bough edit parser ~2", "one entry in full"],
      ["bough edit parser --branch two-ways", "another branch"],
    ],
    load: async () => (await import("../commands/edit.js")).runEdit,
    options: (command) => command.option("--branch <entry>", "without ENTRY: the branch that ends at this entry"),
  },
];

function parsePort(text: string): number {
  const port = parseWholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError("It must be at most 65535.");
  return port;
}
