import { Option } from "commander";
import { type CommandRegistry, defineCommand } from "./define.js";
import { parsePositive, parseWholeNumber, parseWidth, parseWindow, presetOption } from "./options.js";

const GROUP = "Look";
const SESSION = "Without SESSION: the one of this directory that was active last, or else of the store.";

/** The commands that look and change nothing. */
export function defineReadCommands(to: CommandRegistry): void {
  defineSessions(to);
  defineTree(to);
  defineShow(to);
  defineContext(to);
  defineCheckpoints(to);
  defineSearch(to);
  defineStats(to);
}

function defineSessions(to: CommandRegistry): void {
  defineCommand(
    to,
    "sessions",
    {
      group: GROUP,
      summary: "List sessions, the one that was active last first",
      examples: [
        ["bough sessions", "the newest fifty of all directories"],
        ["bough sessions --here", "only those of this directory"],
        ["bough sessions --json --limit 500", "for a script"],
      ],
      json: "{ sessions: SessionRecord[], more: boolean }",
    },
    async () => (await import("../commands/sessions.js")).runSessions,
  )
    .option("--here", "only sessions recorded in this directory")
    .option("--archived", "archived sessions too")
    .option("--subagents", "subagents' sessions too")
    .option("--empty", "sessions without an entry too")
    .option("--limit <n>", "at most this many", parsePositive, 50);
}

function defineTree(to: CommandRegistry): void {
  defineCommand(
    to,
    "tree [session]",
    {
      group: GROUP,
      summary: "Draw a session as a tree",
      more: `${SESSION} A bullet marks the path of the leaf, an arrow the leaf; the branch that the leaf is on comes first. Long runs are folded.`,
      examples: [
        ["bough tree", "the newest session of this directory"],
        ["bough tree parser -i", "the navigator: look around, search, go somewhere"],
        ["bough tree 01J8 --full", "nothing folded"],
        ["bough tree parser --user", "only what the person said"],
      ],
      json: "{ session: { id, title }, leafId, leaves: [{ name, entryId }], entries: [{ id, seq, parentId, type, role, depth, createdAtMs, preview, isError, payloadBytes, label }] }",
    },
    async () => (await import("../commands/tree.js")).runTree,
  )
    .option("-i, --interactive", "open the navigator on the whole terminal")
    .option("--all", "every entry: tool results, settings, custom and foreign ones too")
    .option("--no-tools", "no tool calls")
    .option("--user", "only what the person said")
    .option("--full", "fold nothing")
    .option("--time", "say when each entry was made")
    .option("--width <columns>", "stay within this width (default: the terminal's, or 100)", parseWidth);
}

function defineShow(to: CommandRegistry): void {
  defineCommand(
    to,
    "show [session] [entry]",
    {
      group: GROUP,
      summary: "Show an entry in full, or what is known of a session",
      more: SESSION,
      examples: [
        ["bough show", "the newest session of this directory"],
        ["bough show parser @leaf", "the entry at the leaf"],
        ["bough show parser ~2", "two entries above the leaf"],
      ],
      json: "of an entry { sessionId, label, entry: Entry }; of a session { session: SessionRecord, leaves, branchPoints, tips, labels, children }",
    },
    async () => (await import("../commands/show.js")).runShow,
  );
}

function defineContext(to: CommandRegistry): void {
  defineCommand(
    to,
    "context [session]",
    {
      group: GROUP,
      summary: "Print what the model is sent at the leaf, or at another entry",
      more: `${SESSION} Token counts are rough: about four characters each, one in Chinese, Japanese and Korean, two in base64; 1,500 for an image. With --exact or --window they are those of the model's vocabulary. --window says what a request to a model of that window would be at the leaf: how full, what would be left out of it, and why; nothing is compacted.`,
      examples: [
        ["bough context", "the messages in full"],
        ["bough context parser --brief", "one line each"],
        ["bough context parser --at ~4 --format anthropic", "as a request for Anthropic, four entries earlier"],
        ["bough context parser --brief --window 32000", "what a model of 32,000 tokens would be sent"],
      ],
      json:
        "SessionContext ({ messages, entries, model, thinkingLevel, system, compaction }) with session and roughTokens: { system, messages: number[], total }; " +
        "with --exact or --window tokens: { counter, system, messages: number[], total } instead; with --window also request: { window, use, fits, changes, entries }",
    },
    async () => (await import("../commands/context.js")).runContext,
  )
    .option("--at <entry>", "at this entry instead of the leaf")
    .addOption(
      new Option("--format <format>", "text, or the JSON that a provider takes")
        .choices(["text", "json", "openai", "responses", "anthropic", "ai-sdk"])
        .conflicts("json"),
    )
    .option("--brief", "one line for each message")
    .option("--exact", "count tokens exactly; the tables take half a second to load")
    .addOption(
      new Option("--window <tokens>", "the request at a window of this size, or auto: that of the model")
        .argParser(parseWindow)
        .conflicts("at"),
    )
    .option("--tool-tokens <n>", "with --window: what the definitions of tools take", parseWholeNumber)
    .addOption(presetOption());
}

function defineCheckpoints(to: CommandRegistry): void {
  defineCommand(
    to,
    "checkpoints [session] [number]",
    {
      group: GROUP,
      summary: "List the summaries of a session, print one, or write them as files",
      more:
        `${SESSION} Numbered are the compactions that count on the leaf's path, the oldest first; summaries of branches that were ` +
        "left stand among them. One is named by its number or its entry.",
      examples: [
        ["bough checkpoints parser", "what was summarised, and when"],
        ["bough checkpoints parser 2", "the second one in full"],
        ["bough checkpoints parser --write notes/checkpoints", "numbered Markdown files and an index"],
      ],
      json:
        "{ sessionId, checkpoints: [{ number, kind, entryId, onPath, createdAtMs, title, trigger, tokensBefore, tokensAfter, messages, " +
        "readFiles, modifiedFiles }] }; of one { sessionId, checkpoint: { ..., covers, entry: Entry } }; " +
        "with --write { sessionId, directory, files: [{ number, entryId, path }] }",
    },
    async () => (await import("../commands/checkpoints.js")).runCheckpoints,
  )
    .option("--all", "those of every branch")
    .option("--write <directory>", "write each as NNN-title.md, with an index.md; files that are there stay");
}

function defineSearch(to: CommandRegistry): void {
  defineCommand(
    to,
    "search <query...>",
    {
      group: GROUP,
      summary: "Find entries and titles that hold all the words",
      more: 'Case and accents do not count. "several words" in quotes must stand in a row; word* finds beginnings.',
      examples: [
        ["bough search lexer tabs", "both words in one entry"],
        ["bough search '\"out of memory\"'", "a phrase"],
        ["bough search parser --role user --since 2w", "what the person said in the last two weeks"],
        ["bough search error --path src/lexer.ts", "entries whose tool calls touch that file"],
      ],
      json: "{ hits: [{ sessionId, sessionTitle, entryId, seq, type, role, createdAtMs, snippet, matches: [start, end][] }], total, next }",
    },
    async () => (await import("../commands/search.js")).runSearch,
  )
    .option("--session <session>", "in this session only")
    .option("--role <role...>", "system, user, assistant, toolResult, bashExecution or custom")
    .option("--type <type...>", "message, compaction, branch_summary, custom_message, context_edit")
    .option("--path <file>", "entries whose tool calls touch this file: its whole path or its end")
    .option("--directory <path>", "sessions recorded in this directory")
    .option("--since <time>", "made at or after: 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago")
    .option("--until <time>", "made before")
    .option("--limit <n>", "at most this many hits", parsePositive, 20)
    .option("--all", "every hit");
}

function defineStats(to: CommandRegistry): void {
  defineCommand(
    to,
    "stats [session]",
    {
      group: GROUP,
      summary: "Count entries by type, and tokens and cost by model",
      more: "Without SESSION: of the whole store.",
      examples: [
        ["bough stats", "the whole store"],
        ["bough stats parser", "one session"],
      ],
      json: "{ sessions, entries, messages, payloadBytes, byType, usage: ModelUsage[], inheritedUsage: ModelUsage[] }",
    },
    async () => (await import("../commands/stats.js")).runStats,
  );
}
