// Writes the commands of docs/tour.md: runs its commands on the bundled sample in a temporary store and inserts their output.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
];

function output(command, args, options) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  return (stdout === "" ? stderr : stdout).replaceAll(`${options.cwd}/`, "").trimEnd();
}

function tour(folder) {
  const options = { cwd: folder, env: { ...process.env, BOUGH_STORE: join(folder, "sessions.db"), LANG: "C.UTF-8", COLUMNS: "100" } };
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
