import { type CommandRegistry, defineCommand } from "./define.js";
import { addSummaryOptions, MODEL_HELP, parseWholeNumber } from "./options.js";

const GROUP = "Change";
const MOVED = "{ sessionId, leafId, previousLeafId }";
const SESSION = "{ session: SessionRecord }";

/** The commands that change something; none of them changes an entry. */
export function defineChangeCommands(to: CommandRegistry): void {
  defineGo(to);
  defineUndo(to);
  defineCompact(to);
  defineLabel(to);
  defineFork(to);
  defineRename(to);
  defineArchive(to);
  defineDelete(to);
}

function defineGo(to: CommandRegistry): void {
  const command = defineCommand(
    to,
    "go <session> [entry]",
    {
      group: GROUP,
      summary: "Go to an entry: what is appended next starts a branch there",
      more:
        "Nothing is lost: the branch that is left stays in the tree, and the move can be undone. " +
        "With --summarize a summary of the branch that is left is put at the entry, and the leaf stands at that summary; " +
        "a message of the user that is chosen so is taken to be said again: the leaf goes above it, and its text is printed. " +
        MODEL_HELP,
      examples: [
        ["bough go parser ~3", "three entries up"],
        ["bough go parser before-rewrite", "to a label"],
        ["bough go parser --start", "before the first entry"],
        ["bough go parser ~9 --summarize --focus 'why it failed'", "takes along what was learned"],
      ],
      json: `${MOVED}; with --summarize also { text, summaryEntryId, summary, method, usage, model, modelFailure }`,
    },
    async () => (await import("../commands/go.js")).runGo,
  )
    .option("--start", "before the first entry, to begin anew")
    .option("--summarize", "leave a summary of the branch that is left")
    .option("--label <text>", "a label for that summary");
  addSummaryOptions(command);
}

function defineUndo(to: CommandRegistry): void {
  defineCommand(
    to,
    "undo [session]",
    {
      group: GROUP,
      summary: "Take the last move of the leaf back",
      more: "Without SESSION: the one of this directory that was active last. Entries are never taken back.",
      examples: [
        ["bough undo parser", "back to where the leaf was"],
        ["bough undo parser --redo", "and forth again"],
      ],
      json: MOVED,
    },
    async () => (await import("../commands/go.js")).runUndo,
  ).option("--redo", "take the last undo back");
}

function defineCompact(to: CommandRegistry): void {
  const command = defineCommand(
    to,
    "compact [session]",
    {
      group: GROUP,
      summary: "Put a summary in the place of what is old, so that the context is short again",
      more:
        "Without SESSION: the one of this directory that was active last. No entry is changed or lost: the summary is one more " +
        `entry, and --undo takes it back. ${MODEL_HELP}`,
      examples: [
        ["bough compact parser --dry-run", "what would be summarised, and what kept"],
        ["bough compact parser", "with the configured model, or as an extract"],
        ["bough compact parser --model qwen3:8b --base-url http://127.0.0.1:11434/v1", "with a model of this machine"],
        ["bough compact parser --focus 'the open questions' --keep 8000", "keeps less than usual"],
        ["bough compact parser --undo", "as if it had not been"],
      ],
      json:
        "{ sessionId, entryId, summary, title, shortSummary, method, tokensBefore, tokensAfter, messagesBefore, messagesAfter, fidelity, " +
        "usage, headroom, failures, requestId, firstKeptEntryId, readFiles, modifiedFiles, model, modelFailure, window, trigger, attemptId }; " +
        "with --dry-run { sessionId, dryRun, plan, window }; with --undo { sessionId, compactionId, entryId, previousLeafId, tokens }",
    },
    async () => (await import("../commands/compact.js")).runCompact,
  )
    .option("--keep <tokens>", "keep the newest messages up to this many tokens (default: 20,000); 0: nothing", parseWholeNumber)
    .option("--keep-from <entry>", "keep this entry of the branch and all behind it")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--undo", "take the compaction in force back, on this branch");
  addSummaryOptions(command);
}

function defineLabel(to: CommandRegistry): void {
  defineCommand(
    to,
    "label <session> <entry> [text...]",
    {
      group: GROUP,
      summary: "Label an entry, tell its label, or take it away",
      more: "A label names its entry wherever an entry can be named.",
      examples: [
        ["bough label parser @leaf before rewrite", "labels the entry at the leaf"],
        ["bough label parser 3f2a", "tells its label"],
        ["bough label parser 3f2a --remove", "takes it away"],
      ],
      json: "{ sessionId, entryId, label }",
    },
    async () => (await import("../commands/label.js")).runLabel,
  ).option("--remove", "take the label away");
}

function defineFork(to: CommandRegistry): void {
  defineCommand(
    to,
    "fork <session>",
    {
      group: GROUP,
      summary: "Copy a path into a new session",
      examples: [
        ["bough fork parser", "the path of its leaf"],
        ["bough fork parser --at ~6 --title 'Second try'", "up to an earlier entry"],
      ],
      json: SESSION,
    },
    async () => (await import("../commands/edit-session.js")).runFork,
  )
    .option("--at <entry>", "the last entry to copy (default: the leaf)")
    .option("--title <title>", "title of the new session (default: that of the old one)");
}

function defineRename(to: CommandRegistry): void {
  defineCommand(
    to,
    "rename <session> [title...]",
    {
      group: GROUP,
      summary: "Give a session a title",
      examples: [
        ["bough rename 01J8 Fix the parser", "gives it one"],
        ["bough rename parser --remove", "takes it away"],
      ],
      json: SESSION,
    },
    async () => (await import("../commands/edit-session.js")).runRename,
  ).option("--remove", "take the title away");
}

function defineArchive(to: CommandRegistry): void {
  defineCommand(
    to,
    "archive <session>",
    {
      group: GROUP,
      summary: "Put a session away from lists, or back",
      examples: [
        ["bough archive parser", "lists leave it out; search still finds it"],
        ["bough archive parser --undo", "lists show it again"],
      ],
      json: SESSION,
    },
    async () => (await import("../commands/edit-session.js")).runArchive,
  ).option("--undo", "list it again");
}

function defineDelete(to: CommandRegistry): void {
  defineCommand(
    to,
    "delete <session>",
    {
      group: GROUP,
      summary: "Take a session away for good",
      more: "Asks first; where nobody can answer, --yes is needed. Sessions of its subagents go with it; forks of it stay.",
      examples: [
        ["bough delete parser", "asks first"],
        ["bough delete 01J8 --yes", "does not ask"],
      ],
      json: "{ deleted: SessionRecord, subagents: string[] }",
    },
    async () => (await import("../commands/edit-session.js")).runDelete,
  ).option("--yes", "do not ask");
}
