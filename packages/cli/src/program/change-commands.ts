import type { CommandDefinition } from "./define.js";
import { addSummaryOptions, MODEL_HELP, parseWholeNumber } from "./options.js";

const MOVED = "{ sessionId, leafId, previousLeafId }";
const SESSION = "{ session: SessionRecord }";

/** The commands that change a session. Entries never change. */
export const CHANGE_COMMANDS: readonly CommandDefinition[] = [
  {
    usage: "go <session> [entry]",
    summary: "Move the leaf to an entry: the next entry starts a branch there",
    more:
      "The abandoned branch stays in the tree, and `bough undo` moves the leaf back. " +
      "With --summarize a summary of the abandoned branch is appended to the entry, and the leaf moves to the summary. " +
      "If the entry is a message of the user, the leaf moves to its parent instead, and the text is printed so that it can be sent again. " +
      MODEL_HELP,
    examples: [
      ["bough go parser ~3", "three entries up"],
      ["bough go parser before-rewrite", "to a label"],
      ["bough go parser --start", "before the first entry"],
      ["bough go parser ~9 --summarize --focus 'why it failed'", "with a summary of the abandoned branch"],
    ],
    json: `${MOVED}; with --summarize also { text, summaryEntryId, summary, method, usage, model, modelFailure }`,
    load: async () => (await import("../commands/go.js")).runGo,
    options: (command) =>
      addSummaryOptions(
        command
          .option("--start", "before the first entry")
          .option("--summarize", "append a summary of the abandoned branch")
          .option("--label <text>", "a label for that summary"),
      ),
  },
  {
    usage: "undo [session]",
    summary: "Undo the last move of the leaf",
    more: "Without SESSION: the most recently active session of this directory. Entries are not removed.",
    examples: [
      ["bough undo parser", "moves the leaf back"],
      ["bough undo parser --redo", "undoes the undo"],
    ],
    json: MOVED,
    load: async () => (await import("../commands/go.js")).runUndo,
    options: (command) => command.option("--redo", "redo the last undone move"),
  },
  {
    usage: "compact [session]",
    summary: "Replace old messages in the context by a summary",
    more:
      "Without SESSION: the most recently active session of this directory. No entry is changed or removed: the summary is a new " +
      `entry, and --undo deactivates it. ${MODEL_HELP}`,
    examples: [
      ["bough compact parser --dry-run", "prints what would be summarized and kept"],
      ["bough compact parser", "with the configured model, or as an extract"],
      ["bough compact parser --model qwen3:8b --base-url http://127.0.0.1:11434/v1", "with a local model"],
      ["bough compact parser --focus 'the open questions' --keep 8000", "keeps fewer messages"],
      ["bough compact parser --undo", "restores the context before the last compaction"],
    ],
    json:
      "{ sessionId, entryId, summary, title, shortSummary, method, tokensBefore, tokensAfter, messagesBefore, messagesAfter, fidelity, " +
      "usage, headroom, failures, requestId, firstKeptEntryId, readFiles, modifiedFiles, model, modelFailure, window, trigger, attemptId }; " +
      "with --dry-run { sessionId, dryRun, plan, window }; with --undo { sessionId, compactionId, entryId, previousLeafId, tokens }",
    load: async () => (await import("../commands/compact.js")).runCompact,
    options: (command) =>
      addSummaryOptions(
        command
          .option("--keep <tokens>", "keep the newest messages up to this many tokens (default: 20,000)", parseWholeNumber)
          .option("--keep-from <entry>", "keep this entry of the branch and everything after it")
          .option("--dry-run", "print what would be done; write nothing")
          .option("--undo", "undo the active compaction of this branch; `bough undo` reverts it")
          .option("--yes", "with --undo: also a compaction that came with an import, without asking"),
      ),
  },
  {
    usage: "label <session> <entry> [text...]",
    summary: "Set, print or remove the label of an entry",
    more: "A label can be used wherever a command takes an entry.",
    examples: [
      ["bough label parser @leaf before rewrite", "labels the entry at the leaf"],
      ["bough label parser 3f2a", "prints its label"],
      ["bough label parser 3f2a --remove", "removes it"],
    ],
    json: "{ sessionId, entryId, label }",
    load: async () => (await import("../commands/label.js")).runLabel,
    options: (command) => command.option("--remove", "remove the label"),
  },
  {
    usage: "fork <session>",
    summary: "Copy a path into a new session",
    examples: [
      ["bough fork parser", "the path of its leaf"],
      ["bough fork parser --at ~6 --title 'Second try'", "up to an earlier entry"],
    ],
    json: SESSION,
    load: async () => (await import("../commands/edit-session.js")).runFork,
    options: (command) =>
      command
        .option("--at <entry>", "the last entry to copy (default: the leaf)")
        .option("--title <title>", "title of the new session (default: that of the original)"),
  },
  {
    usage: "rename <session> [title...]",
    summary: "Set or remove the title of a session",
    examples: [
      ["bough rename 01J8 Fix the parser", "sets the title"],
      ["bough rename parser --remove", "removes it"],
    ],
    json: SESSION,
    load: async () => (await import("../commands/edit-session.js")).runRename,
    options: (command) => command.option("--remove", "remove the title"),
  },
  {
    usage: "archive <session>",
    summary: "Archive or unarchive a session: lists omit archived sessions",
    examples: [
      ["bough archive parser", "lists omit it; search still finds it"],
      ["bough archive parser --undo", "lists include it again"],
    ],
    json: SESSION,
    load: async () => (await import("../commands/edit-session.js")).runArchive,
    options: (command) => command.option("--undo", "unarchive the session"),
  },
  {
    usage: "delete <session>",
    aliases: ["rm"],
    summary: "Delete a session permanently",
    more: "Asks for confirmation; without a terminal, --yes is required. Sessions of its subagents are deleted too; its forks are kept.",
    examples: [
      ["bough delete parser", "asks for confirmation"],
      ["bough delete 01J8 --yes", "does not ask"],
    ],
    json: "{ deleted: SessionRecord, subagents: string[] }",
    load: async () => (await import("../commands/edit-session.js")).runDelete,
    options: (command) => command.option("--yes", "do not ask for confirmation"),
  },
];
