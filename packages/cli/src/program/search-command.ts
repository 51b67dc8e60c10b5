import { type CommandRegistry, defineCommand } from "./define.js";
import { parsePositive } from "./options.js";

const GROUP = "Read";

/** Defines `bough search`. */
export function defineSearch(registry: CommandRegistry): void {
  defineCommand(
    registry,
    "search [query...]",
    {
      group: GROUP,
      aliases: ["find", "grep"],
      paged: true,
      summary: "Find entries and titles that contain all the words or parts of words",
      more:
        "Whole words come first, then the starts of words, then other parts; of more than three words only whole ones. Case and accents " +
        'are ignored. "several words" are found whole and in this order, C++ and --flag as they are typed, /expression/ and /expression/i ' +
        "as in JavaScript. If no entry has all of it: the same words, most of them, one spelling mistake, some; the output says which. " +
        "Without words, but with another condition: the newest first. prose is what people and models wrote, without fenced code; code: " +
        "fenced code, commands, what calls write and files that they read; tool: calls and their results. " +
        "Commands that were kept out of the conversation are found only with --private, because agents run this command too. " +
        "With -i, and on a terminal without arguments, a screen finds entries while you type, and opens the tree at a hit. " +
        "--passages, --around and --summaries print what the recall tools of a model print, at most 50 hits.",
      examples: [
        ["bough search lexer tabs", "both words in one entry"],
        ["bough search -i lexer", "finds while you type; Enter opens the tree at the hit"],
        ["bough search '\"out of memory\"'", "a phrase"],
        ["bough search '/parse\\w+\\(/' --in code", "a regular expression, in code only"],
        ["bough search C++ --agent claude", "as it is typed, in sessions of Claude Code"],
        ["bough search parser --role user --since 2w", "messages of the user of the last two weeks"],
        ["bough search error --path src/lexer.ts", "entries with tool calls on that file"],
        ["bough search timeout --passages --around 1", "lines with numbers, and the entries around them"],
        ["bough search --tool bash --session parser", "the newest calls of a tool"],
      ],
      json: "{ hits: [{ sessionId, sessionTitle, entryId, seq, type, role, createdAtMs, isPrivate, copies: { sessionId, entryId }[], snippet, matches: [start, end][] }], total, matched, unclosedQuote, next }; with --passages and the like { hits: [{ sessionId, sessionTitle, entryId, type, role, createdAtMs, isPrivate, copies: { sessionId, entryId }[], matched, lines, passages: [{ line, text }], around }], titles, total, matched, next }",
    },
    async () => (await import("../commands/search.js")).runSearch,
  )
    .option("-i, --interactive", "find while you type (full screen)")
    .option("--session <session>", "search this session only")
    .option("--role <role...>", "system, user, assistant, toolResult, bashExecution or custom")
    .option("--in <place>", "prose, code or tool: only there; can be repeated", (place, others: readonly string[] = []) => [
      ...others,
      place,
    ])
    .option("--agent <name>", "sessions that this agent recorded: claude, pi, bough")
    .option("--type <type...>", "message, compaction, branch_summary, custom_message, context_edit")
    .option("--path <file>", "entries with tool calls on this file: its path, or the end of its path")
    .option("--directory <path>", "sessions recorded in this directory")
    .option("--since <time>", "created at or after: 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago")
    .option("--until <time>", "created before")
    .option("--exact", "only entries with all the words")
    .option("--passages", "print the lines where the words stand close together, with their numbers")
    .option("--tool <name>", "calls of this tool and their results")
    .option("--around <n>", "also the beginnings of n entries before and after each hit, at most 5", parsePositive)
    .option("--summaries", "with --passages and the like: include summaries")
    .option("--private", "also commands kept out of the conversation, marked (default: left out)")
    .option("--limit <n>", "print at most this many hits", parsePositive, 20)
    .option("--all", "print every hit");
}
