import { Argument, Option } from "commander";
import { MCP_CLIENTS } from "../mcp/clients.js";
import { HOOK_AGENTS } from "../memory/hook-agents.js";
import { TYPED_FILTER_LINE } from "../session/typed-text.js";
import type { CommandDefinition } from "./define.js";
import { collect, parsePositive, parseWholeNumber, parseWidth, parseWindow, presetOption } from "./options.js";

const STATS_GROUPS = ["day", "directory", "model", "session", "agent"];
const DEFAULT_SESSION = "Without SESSION: the most recently active session of this directory, else of the store.";

/** The commands that only read the store. */
export const READ_COMMANDS: readonly CommandDefinition[] = [
  {
    usage: "sessions",
    aliases: ["ls", "list"],
    paged: true,
    summary: "List sessions, the most recently active first",
    examples: [
      ["bough sessions", "the newest 50 of all directories"],
      ["bough sessions --here", "only those of this repository or directory"],
      ["bough sessions --since 2w --agent claude", "of the last two weeks, of Claude Code"],
      ["bough sessions --grep 'out of memory'", "with these words in an entry or the title"],
      ["bough sessions --orphaned", "whose files the agent has removed: only this store has them"],
      ["bough sessions --json --limit 500", "for a script"],
    ],
    json: "{ sessions: (SessionRecord & { agent, branches, costUsd, estimatedCostUsd, gitBranch })[], more: boolean }; with --grep also hits",
    load: async () => (await import("../commands/sessions.js")).runSessions,
    options: (command) =>
      command
        .option("--here", "only sessions recorded in this repository; outside of one, in this directory")
        .option("--since <time>", "last active at or after: 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago")
        .option("--until <time>", "last active before")
        .option("--grep <words>", "only sessions with an entry or title that has all the words")
        .option("--agent <name>", "only sessions that this agent recorded: claude, pi, bough")
        .option("--archived", "include archived sessions")
        .option("--subagents", "include sessions of subagents")
        .option("--empty", "include sessions without entries")
        .option("--orphaned", "only imported sessions whose source was removed since")
        .option("--limit <n>", "print at most this many", parsePositive, 50),
  },
  {
    usage: "tree [session] [entry]",
    paged: true,
    summary: "Print a session as a tree",
    more: `${DEFAULT_SESSION} A bullet marks the path of the leaf, which stays in the first column; an arrow marks the leaf. Other branches hang off to the right, directly below their branch point, whose row says how many branches leave it. Replies that only call tools are one row that counts the calls. Long runs without branch points are folded. In a pipe or a file every row is printed with its whole preview, up to 240 characters, so that grep finds it.`,
    examples: [
      ["bough tree", "the newest session of this directory"],
      ["bough tree parser -i", "opens the navigator: browse, search, move the leaf"],
      ["bough tree parser @leaf~2 -i", "the navigator, with this entry selected"],
      ["bough tree 01J8 --full", "without folding"],
      ["bough tree parser | grep -i lexer", "every row, uncut"],
      ["bough tree parser --user", "only messages of the user"],
      ["bough tree parser --numbers", "with ~N before each row: bough go parser ~3"],
    ],
    json: "{ session: { id, title }, leafId, leaves: [{ name, entryId }], entries: [{ id, seq, parentId, type, role, depth, createdAtMs, preview, isError, payloadBytes, label }] }",
    load: async () => (await import("../commands/tree.js")).runTree,
    options: (command) =>
      command
        .option("-i, --interactive", "open the navigator (full screen)")
        .option("--all", "every entry, including tool results, settings, custom and foreign entries")
        .option("--no-tools", "omit tool calls")
        .option("--user", "only messages of the user")
        .option("--full", "do not fold: every reply and every row of a long run singly")
        .option("--numbers", "print ~N before the entries above the leaf, as other commands take it (default filter only)")
        .option("--time", "print the time of each entry")
        .option("--width <columns>", "maximum width (default: that of the terminal; in a pipe or a file none)", parseWidth),
  },
  {
    usage: "show [session] [entry...]",
    paged: true,
    summary: "Print entries in full, or the data of a session",
    more: `${DEFAULT_SESSION} --lines and --grep print parts of an entry with line numbers. --file prints a file as the tool calls up to the leaf, or to ENTRY, left it, and says what they do not show; --lines and --grep print parts of it.`,
    examples: [
      ["bough show", "the newest session of this directory"],
      ["bough show parser @leaf", "the entry at the leaf"],
      ["bough show parser ~2", "two entries above the leaf"],
      ["bough show parser 0c4f --grep error", "the lines with a word, numbered"],
      ["bough show parser --file src/lexer.ts", "the last known text of a file"],
    ],
    json: "of an entry { sessionId, label, entry: Entry }; of a session { session: SessionRecord, leaves, branchPoints, tips, labels, children }; of several, or with --lines, --grep or --around { entries: [{ entryId, type, role, createdAtMs, isPrivate, lines }], text, next }; with --file { path, state, content, entryIds, next }",
    load: async () => (await import("../commands/show.js")).runShow,
    options: (command) =>
      command
        .option("--lines <range>", "only these lines of each entry: A-B, A- or A")
        .option("--grep <pattern>", "only lines that match this regular expression, whatever their case")
        .option("--around <n>", "also n entries before and after, at most 50", parsePositive)
        .option("--file <path>", "the state of a file: its path, or the end of its path"),
  },
  {
    usage: "context [session]",
    paged: true,
    summary: "Print the context at the leaf or another entry: the messages that a request sends",
    more: `${DEFAULT_SESSION} Token counts are estimates: about four characters per token, one in Chinese, Japanese and Korean, two in base64; 1,500 per image. With --exact or --window the model's tokenizer counts. --window prints how a request would fit that context window: its size, and what would be removed and why. Nothing is compacted.`,
    examples: [
      ["bough context", "the messages in full"],
      ["bough context parser --brief", "one line each"],
      ["bough context parser --at ~4 --format anthropic", "as a request for Anthropic, four entries earlier"],
      ["bough context parser --brief --window 32000", "the request for a context window of 32,000 tokens"],
    ],
    json:
      "SessionContext ({ messages, entries, model, thinkingLevel, system, compaction }) with session and roughTokens: { system, messages: number[], total }; " +
      "with --exact or --window tokens: { counter, system, messages: number[], total } instead; with --window also request: { window, use, fits, changes, entries }",
    load: async () => (await import("../commands/context.js")).runContext,
    options: (command) =>
      command
        .option("--at <entry>", "at this entry instead of the leaf")
        .addOption(
          new Option("--format <format>", "text, or the JSON of a provider's API")
            .choices(["text", "json", "openai", "responses", "anthropic", "ai-sdk"])
            .conflicts("json"),
        )
        .option("--brief", "print one line per message")
        .option("--exact", "count with the model's tokenizer, which takes half a second to load")
        .addOption(
          new Option("--window <tokens>", "fit the request to this context window; auto: that of the model")
            .argParser(parseWindow)
            .conflicts("at"),
        )
        .option("--tool-tokens <n>", "with --window: tokens of the tool definitions", parseWholeNumber)
        .addOption(presetOption()),
  },
  {
    usage: "checkpoints [session] [number]",
    paged: true,
    summary: "List the summaries of a session, print one, or write them to files",
    more:
      `${DEFAULT_SESSION} Active compactions on the path of the leaf are numbered, oldest first; the list also has ` +
      "the branch summaries. A summary is named by its number or its entry.",
    examples: [
      ["bough checkpoints parser", "what was summarized, and when"],
      ["bough checkpoints parser 2", "the second one in full"],
      ["bough checkpoints parser --write notes/checkpoints", "numbered Markdown files and an index"],
    ],
    json:
      "{ sessionId, checkpoints: [{ number, kind, entryId, onPath, createdAtMs, title, trigger, tokensBefore, tokensAfter, messages, " +
      "readFiles, modifiedFiles }] }; of one { sessionId, checkpoint: { ..., covers, entry: Entry } }; " +
      "with --write { sessionId, directory, files: [{ number, entryId, path: string | null }] }; path is null with --dry-run",
    load: async () => (await import("../commands/checkpoints.js")).runCheckpoints,
    options: (command) =>
      command
        .option("--all", "include the summaries of every branch")
        .option("--write <directory>", "write each to NNN-title.md, and an index.md; existing files are kept")
        .option("--dry-run", "with --write: only print what would be written"),
  },
  {
    usage: "search [query...]",
    aliases: ["find", "grep"],
    paged: true,
    summary: "Find entries, labels and titles that contain all the words or parts of words",
    more:
      "Whole words come first, then the starts of words, then other parts; of more than three words only whole ones. Case and accents " +
      'are ignored. Titles and labels come before texts. "several words" are found whole and in this order, C++ and --flag as they are typed, /expression/ and /expression/i ' +
      "as in JavaScript. If no entry has all of it: the same words, most of them, one spelling mistake, some; the output says which. " +
      "Without words, but with another condition: the newest first. prose is what people and models wrote, without fenced code; code: " +
      "fenced code, commands, what calls write and files that they read; tool: calls and their results. " +
      `Filters may stand in the query, as in "agent:pi since:2w theme": ${TYPED_FILTER_LINE}. ` +
      'Quotation marks make text of such a word: "type:module". ' +
      "Commands that were kept out of the conversation are found only with --private, because agents run this command too. " +
      "With -i, and on a terminal without arguments, a screen finds entries while you type, and opens the tree at a hit. " +
      "--passages, --around and --summaries print what the recall tools of a model print, at most 50 hits.",
    examples: [
      ["bough search lexer tabs", "both words in one entry"],
      ["bough search -i lexer", "finds while you type; Enter opens the tree at the hit"],
      ["bough search '\"out of memory\"'", "a phrase"],
      ["bough search 'lexer model:opus dir:parser since:2w'", "filters in the query"],
      ["bough search '/parse\\w+\\(/' --in code", "a regular expression, in code only"],
      ["bough search C++ --agent claude", "as it is typed, in sessions of Claude Code"],
      ["bough search parser --role user --since 2w", "messages of the user of the last two weeks"],
      ["bough search error --path src/lexer.ts", "entries with tool calls on that file"],
      ["bough search timeout --passages --around 1", "lines with numbers, and the entries around them"],
      ["bough search --tool bash --session parser", "the newest calls of a tool"],
    ],
    json: "{ hits: [{ sessionId, sessionTitle, entryId, seq, type, role, createdAtMs, score, label, isPrivate, copies: { sessionId, entryId }[], snippet, matches: [start, end][] }], total, matched, unclosedQuote, next }; with --passages and the like { hits: [{ sessionId, sessionTitle, entryId, type, role, createdAtMs, isPrivate, copies: { sessionId, entryId }[], matched, label, lines, passages: [{ line, text }], around }], titles, total, matched, next }",
    load: async () => (await import("../commands/search.js")).runSearch,
    options: (command) =>
      command
        .option("-i, --interactive", "find while you type (full screen)")
        .option("--session <session>", "search this session only")
        .option("--role <role...>", "system, user, assistant, toolResult, bashExecution or custom")
        .option("--in <place>", "prose, code or tool: only there; can be repeated", collect)
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
        .option("--all", "print every hit"),
  },
  {
    usage: "blame [file]",
    paged: true,
    summary: "Find the entry whose call wrote a line of a file",
    more:
      "Replays what the calls of all sessions did to FILE, or to FILE:LINE or FILE:FIRST-LAST of it: writes, edits, patches and moves, under its earlier names too. " +
      "A line is written by an entry if its call wrote exactly this line, white space apart, and nothing that a session shows has changed it since. " +
      "Else it is perhaps by one, with the reason, or not by a session of this store. With --commit the file is taken from that commit; without FILE, " +
      "the lines that the commit added.",
    examples: [
      ["bough blame src/lexer.ts", "every line"],
      ["bough blame src/lexer.ts:120", "one line: entry, session, model, and the request above it"],
      ["bough blame src/lexer.ts:120-140 --json", "for a script"],
      ["bough blame --commit HEAD", "the sessions that wrote the lines of the last commit"],
      ["bough blame src/lexer.ts --as /Users/ann/app/src/lexer.ts", "sessions were recorded where the file had this path"],
    ],
    json:
      "{ commit, file, lines: [{ line, verdict, entry, reason, text }], entries: [{ sessionId, entryId, agent, title, cwd, model, createdAtMs, request, open }], notes }, " +
      "entry being an index of entries; of a commit { commit, files: [{ file, lines, entries, notes }] }",
    load: async () => (await import("../commands/blame.js")).runBlame,
    options: (command) =>
      command
        .option("--commit <revision>", "the file as this commit has it, or the lines that the commit added")
        .option("--as <path>", "the path under which sessions know the file, if it is another one"),
  },
  {
    usage: "stats [session]",
    paged: true,
    summary: "Count entries by type, and tokens and cost by model",
    more: "Without SESSION: for the whole store, where a request counts once, however many sessions have it. With SESSION, what it inherited from another session is apart. – means that the agent recorded nothing, which is not 0. A cost with ~ is estimated, at least in part: the agent recorded none, so the tokens are multiplied with list prices (bough prices).",
    examples: [
      ["bough stats", "the whole store"],
      ["bough stats parser", "one session"],
      ["bough stats --by day --since 2w", "tokens and cost of each day, in local time"],
      ["bough stats --by directory --here", "of this repository, by directory"],
    ],
    json: "with --by and the like { by, rows: [{ key, sessions, replies, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cachedInputShare, costUsd, estimatedCostUsd, repliesWithoutCost, recordedReplies }], total }; else { sessions, entries, inheritedEntries, messages, payloadBytes, byType, usage: (ModelUsage & { estimatedCostUsd })[], inheritedUsage: (ModelUsage & { estimatedCostUsd })[] }",
    load: async () => (await import("../commands/stats.js")).runStats,
    options: (command) =>
      command
        .addOption(new Option("--by <group>", "group usage by this (default, with one of the next options: model)").choices(STATS_GROUPS))
        .option("--since <time>", "only replies at or after: 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago")
        .option("--until <time>", "only replies before")
        .option("--here", "only sessions recorded in this repository; outside of one, in this directory")
        .option("--agent <name>", "only sessions that this agent recorded: claude, pi, bough"),
  },
  {
    usage: "prices [model]",
    paged: true,
    summary: "Print the prices by which costs are estimated",
    more:
      "Of replies whose agent recorded no cost, bough sessions, stats, show, the navigator, pages and exports show an estimate, with ~ before it: " +
      "tokens multiplied with these prices, when it is read. The setting prices of the config file adds models and overrides the table. " +
      "Models of a provider on this machine, such as ollama, cost nothing. The estimate knows no discounts, no subscriptions, and no higher " +
      "prices of very long prompts.",
    examples: [
      ["bough prices", "all of them, those of the config file first"],
      ["bough prices opus", "those with this word in the name"],
      ["bough prices us.anthropic.claude-sonnet-4-5-20250929-v1:0", "the price that this name gets"],
    ],
    json: "{ date, source, prices: [{ maker, models, input, output, cacheRead, cacheWrite }] }, in US dollars for a million tokens",
    load: async () => (await import("../commands/prices.js")).runPrices,
  },
  {
    usage: "mcp",
    summary: "Serve the store to an agent over MCP, read-only; or add this server to a client",
    more:
      "Speaks the Model Context Protocol over stdin and stdout, for a client that starts it: search, read, tree, path, sessions and " +
      "files touched. Entries that the user kept private are never sent; keys, tokens and passwords are masked, because a client may use " +
      "another provider than the agent that saw them. With --install it prints the entry for the config of a " +
      `client and, after asking, writes it. Clients: ${MCP_CLIENTS.map(({ name }) => name).join(", ")}.`,
    examples: [
      ["bough mcp --install claude", "asks, then adds the server to Claude Code"],
      ["bough mcp --install codex --yes", "adds it to Codex without asking"],
      ["bough mcp --store work.db", "serves another store"],
    ],
    load: async () => (await import("../commands/mcp.js")).runMcp,
    options: (command) =>
      command
        .option("--install <client>", "add this server to the config of a client")
        .option("--with-secrets", "do not mask keys, tokens and passwords; with --install: write this into the config")
        .option("--yes", "with --install: do not ask for confirmation")
        .option("--dry-run", "with --install: only print the entry and the file"),
  },
  {
    usage: "hook",
    summary: "Give an agent what earlier sessions say, by itself",
    more:
      "install AGENT adds a hook to the settings of an agent, after asking; uninstall AGENT removes it, and status says where there is one. From then on the agent " +
      "gets, at the start of a session and at a prompt, what earlier sessions of the same repository or directory say about it: at most 2 kB, quoted, with date and ids, and " +
      "nothing if nothing fits well. Never the session itself, what the user kept private, or secrets. log prints what was given. run AGENT is what " +
      `the agent calls: it reads a call on stdin and answers within two seconds. Agents: ${HOOK_AGENTS.map(({ name }) => name).join(", ")}.`,
    examples: [
      ["bough hook install claude", "shows the change, asks, then writes it"],
      ["bough hook status", "which agents have the hook"],
      ["bough hook log", "what was given when"],
      ["bough hook uninstall claude --yes", "removes it without asking"],
      ["bough hook run claude --debug < call.json", "says on stderr why nothing is given"],
    ],
    json: "with status { agents: [{ name, title, file, installed, problem: string | null }], off }; with log { given: [{ atMs, agent, event, cwd, sessionId, prompt, entries, text }] }",
    load: async () => (await import("../commands/hook.js")).runHook,
    options: (command) =>
      command
        .addArgument(new Argument("<action>").choices(["install", "uninstall", "status", "run", "log"]))
        .addArgument(new Argument("[agent]").choices(HOOK_AGENTS.map(({ name }) => name)))
        .option("--yes", "with install and uninstall: do not ask for confirmation")
        .option("--dry-run", "with install and uninstall: only print the change")
        .option("--limit <n>", "with log: at most this many, the newest first (default: 20)", parsePositive)
        .option("--debug", "with run: say on stderr why nothing is given"),
  },
];
