import { SUPPORTED_SOURCES } from "@bough/formats/agents";
import { Option } from "commander";
import { EXPORT_FORMATS } from "../session/export-formats.js";
import type { CommandDefinition } from "./define.js";
import { collect, parsePath } from "./options.js";

const KEY_HELP =
  "The key is any text; new ones have 8 characters at least. Writes a copy beside the store, checks it, and puts it in the place of the store: " +
  "whatever interrupts it, the whole store is there, with the old key or the new one. Fails while another process has the store open.";

const KEY_JSON = "{ store, locked, otherNames }; otherNames counts hard links, which keep the old file";

/** The commands that import, export, check, lock and copy files. */
export const FILE_COMMANDS: readonly CommandDefinition[] = [
  {
    usage: "import [path...]",
    summary: "Import session files into the store",
    more:
      `Reads ${SUPPORTED_SOURCES}: a file, or every file below a folder. The content decides the format. ` +
      "Without PATH: offers the sessions of the agents that it finds in the home directory. Sources are not changed; a repeated import adds new entries only, and does not move a leaf that was placed with `bough go`. Creates the store if it does not exist. " +
      "Exit code 0: everything was imported; 3: files failed (FILES_FAILED), lines are not JSON (INVALID_JSON), or records match no schema (INVALID_RECORDS).",
    examples: [
      ["bough import", "lists what it finds, and asks"],
      ["bough import ~/.claude/projects", "all sessions of Claude Code"],
      ["bough import ~/.pi/agent/sessions", "all sessions of pi"],
      ["bough import session.jsonl --verbose", "one file; lists every problem"],
    ],
    json: "{ store, sessions: ImportedFileSession[], failed: [{ path, code, message }], otherFiles, skipped: [{ path, reason }] }",
    load: async () => (await import("../commands/import.js")).runImport,
    options: (command) =>
      command
        .option("--verbose", "list every session, every problem and every skipped file")
        .option("--yes", "without PATH: import all that is found, without asking"),
  },
  {
    usage: "sync",
    summary: "Import what is new in the folders of every agent on this machine",
    more:
      "Looks where agents keep their sessions: in the folders that their environment variables name, or at their usual places. A file that did not " +
      "change since the last sync is not opened, one that grew is read from where reading ended. Sources are not changed. Sessions whose source was removed stay in the " +
      "store (bough sessions --orphaned); a session that was deleted with `bough delete` is not imported again. Creates the store if it does " +
      "not exist. Exit codes as of import; 4: no agent has a folder.",
    examples: [
      ["bough sync", "everything that is new"],
      ["bough sync --dry-run", "which files would be read"],
      ["bough sync --agent claude --agent pi", "only these agents"],
      ["bough sync --watch", "goes on as the agents write, until Ctrl-C"],
      ["bough sync --install", "has a service do that from login on; shows what it writes, and asks"],
    ],
    json:
      "{ store, dryRun, agents: [{ agent, format, folders, files, newFiles, changedFiles, goneFiles, sessions: ImportedFileSession[], " +
      "failed: [{ path, code, message }], links: [{ path, target }] }] }",
    load: async () => (await import("../commands/sync.js")).runSync,
    options: (command) =>
      command
        .option("--agent <name>", "only this agent, such as claude or 'Claude Code'; may be given several times", collect)
        .option("--dry-run", "only count the files that would be read; with --install and --uninstall: only print what would be done")
        .addOption(new Option("--watch", "go on importing what the agents write, until a signal ends it").conflicts("dryRun"))
        .addOption(
          new Option(
            "--install",
            "write and start a service that runs --watch: a systemd user unit, launchd agent or scheduled task",
          ).conflicts(["watch", "agent", "json", "uninstall"]),
        )
        .addOption(new Option("--uninstall", "end that service and remove its file").conflicts(["watch", "agent", "json"]))
        .option("--yes", "with --install and --uninstall: without asking")
        .option("--verbose", "list every problem"),
  },
  {
    usage: "export [session]",
    paged: true,
    summary: "Write a session or one of its branches to stdout or a file",
    more: "Without SESSION: the most recently active session of this directory, else of the store.",
    examples: [
      ["bough export parser -o parser.md", "the branch of the leaf as Markdown"],
      ["bough export parser -o parser.md --assets parser-images", "with its images beside it"],
      ["bough export parser --branch before-rewrite", "another branch, to stdout"],
      ["bough export parser -o parser.html", "one page for a browser, with the tree, all branches and a search"],
      ["bough export parser --html parser.html --password", "the same, encrypted; a browser asks for the password"],
      ["bough export parser --format bough --with-secrets -o parser.jsonl", "the whole session unchanged, for another import"],
      ["bough export parser --format pi > parser.jsonl", "for pi"],
      ["bough export parser --format claude > parser.jsonl", "the branch of the leaf for Claude Code; `bough resume` also starts it"],
      ["bough export parser --format codex > rollout.jsonl", "the same for Codex"],
      ["bough export parser --format opencode > session.json", "the same for opencode, which takes it with opencode import session.json"],
    ],
    load: async () => (await import("../commands/export.js")).runExport,
    options: (command) =>
      command
        .addOption(
          new Option(
            "--format <format>",
            "Markdown of a branch, an HTML page, Bough's JSONL of the whole session, or a session file of pi, Claude Code, Codex or opencode (default: by the " +
              "name of the file: .md, .html, .jsonl for Bough, .pi.jsonl for pi; else markdown)",
          ).choices(EXPORT_FORMATS),
        )
        .option("-o, --output <file>", "write to this file; an existing file is not replaced")
        .addOption(
          new Option("--html <file>", "the same as --format html --output FILE").argParser(parsePath).conflicts(["format", "output"]),
        )
        .option("--force", "replace an existing file")
        .option(
          "--branch <entry>",
          "the branch that ends at this entry (default: Markdown, Claude Code, Codex, opencode: that of the leaf; HTML, pi: the whole tree)",
        )
        .addOption(
          new Option("--tool-output <amount>", "Markdown, HTML: length of tool results (default: Markdown: short; HTML: full)").choices([
            "none",
            "short",
            "full",
          ]),
        )
        .option("--thinking", "Markdown, HTML: include the thinking of the model")
        .option("--private", "HTML: also commands kept out of the conversation")
        .option("--password", "HTML: encrypt the page; asks for the password, or takes it from BOUGH_PAGE_PASSWORD")
        .addOption(new Option("--assets <dir>", "Markdown: write images to this folder and show them").argParser(parsePath))
        .option("--subagents", "Markdown: include the sessions of subagents below the calls that started them, as HTML does")
        .option("--no-subagents", "HTML: leave out the sessions of subagents")
        .option("--from <entry>", "Markdown: the first entry")
        .option("--to <entry>", "Markdown: the last entry")
        .option("--with-secrets", "keep keys, tokens, passwords and values of .env files, which are masked otherwise")
        .option("--dry-run", "with a file: only print its size, and what would be masked"),
  },
  {
    usage: "share [session] [entry]",
    summary: "Publish a branch as a page without secrets, list shared pages, or take one back",
    more:
      "Without SESSION: the most recently active session of this directory. The branch is that of the leaf, or ends at ENTRY. The page is one HTML file " +
      "with this branch only; keys, tokens and passwords are masked. It goes to the target of the config: a folder, a program, or a secret gist. " +
      "What will be readable is said first, and then asked. The store remembers the link.",
    examples: [
      ["bough share parser", "the branch of the leaf"],
      ["bough share parser before-rewrite --password", "another branch, encrypted; a browser asks for the password"],
      ["bough share --list", "what was shared, and where"],
      ["bough share --revoke 7Qw3", "takes back the page whose link has this text"],
    ],
    json: "{ sessionId, link, entryId, sharedAtMs, isEncrypted, remove, revokedAtMs }; with --list { shares: [the same] }",
    load: async () => (await import("../commands/share.js")).runShare,
    options: (command) =>
      command
        .option("--password", "encrypt the page; asks for the password, or takes it from BOUGH_PAGE_PASSWORD")
        .addOption(new Option("--tool-output <amount>", "length of tool results (default: full)").choices(["none", "short", "full"]))
        .option("--thinking", "include the thinking of the model")
        .option("--list", "list the pages that were shared from this store")
        .option("--revoke <link>", "take a page back: its link, or a part of it that no other link has")
        .option("--yes", "do not ask for confirmation"),
  },
  {
    usage: "resume [session] [entry]",
    summary: "Go on with a branch in an agent: write it as a new session there, and start the agent",
    more:
      "Without SESSION: the most recently active session of this directory, else of the store. The branch is that of the leaf, or ends at ENTRY. " +
      "The agent is the one that the session was imported from, or that of --in: then calls of common tools become calls of its own, others become texts. The session " +
      "is a new file in the agent's folder; no file is changed. The agent starts in the directory of the session. Nothing is written if the agent is not in " +
      "PATH, or if the output is no terminal: then the command is only printed, and --write writes the session. A session that was not named and is of " +
      "another project is resumed only after a question, like one whose directory is gone. Agents whose sessions cannot be written go on with their own session; " +
      "for them, and for any other one, --prompt prints the branch as a prompt in Markdown, with secrets masked (the key Y of the tree copies it).",
    examples: [
      ["bough resume parser", "the branch of the leaf, in the agent that it comes from"],
      ["bough resume parser ~4", "from four entries earlier, as a new session"],
      ["bough resume parser --in claude", "in Claude Code, wherever the session comes from"],
      ["bough resume parser --dry-run", "which file would be written, and which command started"],
      ["bough resume parser --in codex --write", "writes the session, and prints the command instead of starting it"],
      ["bough resume parser --prompt | wl-copy", "the branch as a prompt, for an agent whose sessions cannot be written"],
    ],
    json: "{ agent, sessionId, file, isNew, isWritten, cwd, importCommand: string[] | null, command: string[] }, or { prompt } with --prompt",
    load: async () => (await import("../commands/resume.js")).runResume,
    options: (command) =>
      command
        .addOption(new Option("--in <agent>", "go on in this agent").choices(["pi", "claude", "codex", "opencode"]))
        .option("--dry-run", "only print what would be written and started")
        .option("--print", "the same: print the command that starts the agent; write nothing")
        .option("--write", "write the session and print the command; do not start the agent")
        .option("--prompt", "print the branch as a prompt for any agent; write and start nothing")
        .option("--yes", "do not ask about a session of another project or a directory that is gone"),
  },
  {
    usage: "secrets [session]",
    paged: true,
    summary: "List where keys, tokens and passwords are, without showing them",
    more:
      "Without SESSION: in all sessions, also archived ones and those of subagents. Finds keys and tokens of known shapes, private keys, " +
      "passwords in URLs, Authorization headers, cookies, values of .env files, and values that are named as secrets.",
    examples: [
      ["bough secrets", "in all sessions"],
      ["bough secrets parser --check", "for a script: exit code 3 if there are any"],
    ],
    json: "{ sessions: [{ id, title, places: [{ entryId, kind, mask, context, count }] }] }",
    load: async () => (await import("../commands/secrets.js")).runSecrets,
    options: (command) => command.option("--check", "exit with code 3 if there are secrets"),
  },
  {
    usage: "verify [session]",
    summary: "Check the store for integrity violations",
    more: "Reads the whole store, or one session; changes nothing. Exit code 3: there are violations.",
    examples: [
      ["bough verify", "the whole store"],
      ["bough verify parser", "one session"],
    ],
    json: "{ findings: [{ rule, sessionId, entryId, message }] }",
    load: async () => (await import("../commands/maintain-store.js")).runVerify,
  },
  {
    usage: "pack",
    summary: "Compress the store, also while it is in use",
    more:
      "Packs every payload into compressed blocks, and returns the free pages of the file to the file system. Old entries are packed " +
      "in the background anyway; this command packs all of them now. Nothing is lost if it is interrupted.",
    examples: [["bough pack", "prints what was saved"]],
    json: "{ store, entries, bytesBefore, bytesAfter, freeBytes }",
    load: async () => (await import("../commands/maintain-store.js")).runPack,
  },
  {
    usage: "backup <file>",
    summary: "Copy the store to a new file, also while it is in use",
    examples: [["bough backup ~/sessions-backup.db", "an existing file is not replaced"]],
    json: "{ file, bytes: number | null }; bytes is null with --dry-run",
    load: async () => (await import("../commands/maintain-store.js")).runBackup,
    options: (command) => command.option("--dry-run", "only check that the file can be created"),
  },
  {
    usage: "restore <backup>",
    summary: "Replace the store by a backup",
    more:
      "Verifies the backup, then asks for confirmation. The old store is renamed and kept in the same folder; its new name is " +
      "printed. Fails while another process has the store open. Do not copy a backup over the store instead: that damages a " +
      "store that is in use or has a write-ahead log (-wal).",
    examples: [
      ["bough restore ~/sessions-backup.db", "asks, then replaces the store"],
      ["bough restore ~/sessions-backup.db --yes --store other.db", "replaces another store without asking"],
    ],
    json: "{ path, keptAt: string | null }; keptAt is null with --dry-run, and where no store was",
    load: async () => (await import("../commands/maintain-store.js")).runRestore,
    options: (command) => command.option("--yes", "do not ask for confirmation").option("--dry-run", "only print what would be replaced"),
  },
  {
    usage: "lock",
    summary: "Encrypt the store with a key",
    more:
      `The key is that of BOUGH_NEW_KEY, else of BOUGH_KEY, or what the command in BOUGH_NEW_KEY_COMMAND or BOUGH_KEY_COMMAND prints; without them it is asked for. ${KEY_HELP} ` +
      "Every other command finds the key in BOUGH_KEY or BOUGH_KEY_COMMAND, or asks. Needs the package better-sqlite3-multiple-ciphers.",
    examples: [
      ["bough lock", "asks for a key twice"],
      ["BOUGH_KEY_COMMAND='pass show bough' bough lock", "takes it from a password manager"],
    ],
    json: KEY_JSON,
    load: async () => (await import("../commands/change-key.js")).runLock,
  },
  {
    usage: "unlock",
    summary: "Decrypt a locked store",
    more: `The key is that of BOUGH_KEY, or what the command in BOUGH_KEY_COMMAND prints; without them it is asked for. ${KEY_HELP}`,
    examples: [["bough unlock", "asks for the key"]],
    json: KEY_JSON,
    load: async () => (await import("../commands/change-key.js")).runUnlock,
  },
  {
    usage: "rekey",
    summary: "Change the key of a locked store",
    more:
      "The old key is that of BOUGH_KEY, or what the command in BOUGH_KEY_COMMAND prints; the new one that of BOUGH_NEW_KEY or " +
      `BOUGH_NEW_KEY_COMMAND. What is missing is asked for. ${KEY_HELP}`,
    examples: [["bough rekey", "asks for the old key, and twice for the new one"]],
    json: KEY_JSON,
    load: async () => (await import("../commands/change-key.js")).runRekey,
  },
  {
    usage: "copy [session...]",
    summary: "Copy sessions from one store to another: files, servers, and stores of other machines over ssh",
    more:
      "Copies all sessions, or the named ones with those of their subagents: entries with their ids, leaves, labels, values, times and titles. " +
      "Each session is read back and compared with its source. A copy that was interrupted goes on when it is run again; a session that is there is not written again, and one with other content is left. " +
      "What `bough sync` has read of files is not copied: the next sync into the target reads the files again and adds nothing. " +
      "ssh://[user@]host[:port][/path] is a store on another machine: without a path the usual one there, /~/file below the home. It starts your `ssh`, with ~/.ssh/config, " +
      "and `bough` there, which must be in the PATH of a command that ssh starts (or name it with --remote-command). What arrives is judged as a file that is imported. Stores on Windows are not supported. " +
      "Exit code 0: the target has all sessions; 3: some were left or failed.",
    examples: [
      ["bough copy --to postgres://ada@db.example/agents", "the usual store to a server"],
      ["bough copy --from postgres://ada@db.example/agents --to local.db parser", "one session to a file"],
      ["bough copy --from ssh://laptop --update", "what is new in the usual store of another machine, into the usual one here"],
      ["bough copy --to ssh://ada@laptop:2222/~/agents.db --watch", "to a file there, and goes on with what is written here"],
      ["bough copy --from old.db --to new.db --update", "also what is new in sessions that were copied before"],
      ["bough copy --from old.db --to new.db --dry-run --check", "compares all entries, writes nothing"],
    ],
    json: "{ from, to, sessions: [{ sessionId, outcome, entriesAdded, digest, difference, error: { code, message } }] }; with --watch one line each: { at, state } or { at, sessionId, title, outcome, entriesAdded }",
    load: async () => (await import("../commands/copy.js")).runCopy,
    options: (command) =>
      command
        .option("--from <store>", "the store to read: a file, a URL or ssh://HOST (default: the usual store)", parsePath)
        .option("--to <store>", "the store to write (default: the usual store); a file is created if it is missing", parsePath)
        .option("--update", "bring sessions of the target that have the same first entries to the state of the source")
        .option("--check", "compare also the entries of sessions that are there")
        .option("--dry-run", "only print what would be done")
        .option("--watch", "over ssh: copy what is new, with --update, until Ctrl-C; connects again after a cut")
        .option("--remote-command <command>", "the command that starts bough on the other machine (default: bough)", parsePath)
        .option("--verbose", "list every session")
        .addOption(new Option("--serve", "answer a copy on another machine over stdin and stdout").hideHelp()),
  },
  {
    usage: "demo",
    summary: "Import the bundled sample session, print it, and list commands to try",
    more: "Without --store it uses a temporary store.",
    examples: [["bough demo", "prints a session as a tree, and its context"]],
    load: async () => (await import("../commands/demo.js")).runDemo,
  },
];
