// Writes the commands of docs/tour.md: runs its commands on the bundled sample in a temporary store and inserts their output.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeOpencodeDatabase } from "../test/bench/agent-databases.mjs";
import { writeCodexFile, writeCopilotFile, writeCursorTranscript, writeGeminiFile, writeVscodeChat } from "../test/bench/agent-files.mjs";
import {
  writeAntigravityFile,
  writeDroidFile,
  writeGrokFile,
  writeHermesDatabase,
  writeKimiFile,
  writeQwenFile,
} from "../test/bench/agent-trees.mjs";
import { writeClaudeFile, writePiFile } from "../test/bench/session-files.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = join(root, "docs/tour.md");
const START = "<!-- tour: written by node .ci/tour.mjs -->";
const END = "<!-- end of tour -->";

/** The text before each command, the command, and the maximum number of output lines. */
const STEPS = [
  { text: "Import sessions: a file or a whole folder. The files are not changed.", run: ["import", "packages/cli/demo/sample.jsonl"] },
  {
    text: "Print a session as a tree. `•` marks the path of the leaf, labels are in brackets. A session is named by its id, a prefix of the id, or its title.",
    run: ["tree", "lexer", "--width", "100"],
  },
  { text: "Search every branch of every session.", run: ["search", "table", "skip", "--limit", "2"] },
  {
    text: "Move the leaf to an earlier entry. The next entry starts a new branch there. The other branch stays, and the move can be undone.",
    run: ["go", "lexer", "two ways"],
  },
  { run: ["undo", "lexer"] },
  { text: "Print the context at the leaf, with estimated token counts.", run: ["context", "lexer"], lines: 17 },
  {
    text: "Compact the context, without a model or with one (`--model`, `--base-url`). The entries stay; `--undo` undoes the compaction.",
    run: ["compact", "lexer", "--keep", "100"],
  },
  { run: ["checkpoints", "lexer"] },
  { text: "Export a branch as Markdown (`-o FILE` writes a file).", run: ["export", "lexer"], lines: 22 },
  {
    text: "Import a session of another agent, here Qwen Code with a rewind. The content of the file decides the format.",
    run: ["import", "packages/formats/test/fixtures/qwen-chat.jsonl"],
  },
  { run: ["tree", "leap days", "--width", "100"] },
  {
    text: 'Go on with it in another agent: `bough resume "leap days" --in opencode` (or `pi`, `claude`, `codex`) writes a session there and starts the agent. For any other agent, print the branch as a prompt.',
    run: ["resume", "leap days", "--prompt"],
    lines: 12,
  },
  {
    text: "Import what all agents of this machine have written, here a generated session of each. A second sync reads what is new.",
    run: ["sync"],
  },
  { run: ["sync"] },
  {
    text: "Go on in Claude Code with the session of opencode: `--print` writes nothing and prints the command.",
    run: ["resume", "ses_", "--in", "claude", "--print"],
  },
  {
    text: "Let an agent be told what earlier sessions of a directory say ([memory](memory.md)). This shows the change; without `--dry-run` it is asked for and made.",
    run: ["hook", "install", "claude", "--dry-run"],
    lines: 14,
  },
];

/** A generated session of each agent, where the agent keeps its own: the home folder of the tour. */
const AGENT_FILES = {
  ".pi/agent/sessions/work/1.jsonl": writePiFile,
  ".claude/projects/-work/0b6f4bd6-5d2f-4f0e-9b36-7e6b1f8a2c11.jsonl": writeClaudeFile,
  ".codex/sessions/2026/01/05/rollout-2026-01-05T00-00-00-019b0000-0000-7000-8000-000000000001.jsonl": writeCodexFile,
  ".copilot/session-state/1.jsonl": writeCopilotFile,
  ".config/Code/User/workspaceStorage/w/chatSessions/1.json": writeVscodeChat,
  ".cursor/projects/work/agent-transcripts/6b1f8a2c/6b1f8a2c.jsonl": writeCursorTranscript,
  ".gemini/tmp/work/chats/session-1.jsonl": writeGeminiFile,
  ".gemini/antigravity-cli/brain/1/.system_generated/logs/transcript_full.jsonl": writeAntigravityFile,
  ".qwen/projects/-work/chats/1.jsonl": writeQwenFile,
  ".kimi-code/sessions/wd_work_0/session_1/agents/main/wire.jsonl": writeKimiFile,
  ".factory/sessions/-work/1.jsonl": writeDroidFile,
  ".grok/sessions/%2Fwork/1/updates.jsonl": writeGrokFile,
  ".hermes/state.db": writeHermesDatabase,
  ".local/share/opencode/opencode.db": writeOpencodeDatabase,
};

const WRITTEN_AT = new Date("2026-01-05T12:00:00Z");

function writeHome(home) {
  for (const [path, write] of Object.entries(AGENT_FILES)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    write(join(home, path), 4_000);
    // A reply at the end of a file that was written just now waits for its end.
    utimesSync(join(home, path), WRITTEN_AT, WRITTEN_AT);
  }
}

function output(command, args, options) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  return (stdout === "" ? stderr : stdout)
    .replaceAll(`${options.cwd}/`, "")
    .replaceAll(options.cwd, "~")
    .replaceAll(`${root}/`, "")
    .replaceAll(process.execPath, "node")
    .trimEnd();
}

function tour(folder) {
  const { PATH } = process.env;
  const env = { PATH, HOME: folder, BOUGH_STORE: join(folder, "sessions.db"), LANG: "C.UTF-8", COLUMNS: "100" };
  const options = { cwd: folder, env };
  writeHome(folder);
  const bough = join(root, "packages/cli/dist/bough.js");
  return STEPS.map(({ text, run, lines }) => {
    const args = run.map((word) => (word.startsWith("packages/") ? join(root, word) : word));
    const typed = run.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
    const printed = output(process.execPath, [bough, ...args], options).split("\n");
    const shown = lines === undefined || printed.length <= lines ? printed : [...printed.slice(0, lines), "…"];
    return `${text === undefined ? "" : `${text}\n\n`}\`\`\`\`console\n${[`$ bough ${typed}`, ...shown].join("\n")}\n\`\`\`\``;
  }).join("\n\n");
}

const folder = mkdtempSync(join(tmpdir(), "bough-tour-"));
try {
  const page = readFileSync(PAGE, "utf8");
  const [before, rest] = page.split(START);
  const [, after] = (rest ?? "").split(END);
  writeFileSync(PAGE, `${before}${START}\n\n${tour(folder)}\n\n${END}${after}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
