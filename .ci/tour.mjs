// Writes the tour of README.md: runs its commands on the bundled sample in a throw-away store and puts in what they print.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const START = "<!-- tour: written by node .ci/tour.mjs -->";
const END = "<!-- end of tour -->";

/** Words between the commands, and the commands with how many lines of their output are shown. */
const STEPS = [
  { say: "Bring in what you have: a file or a whole folder. The files are only read.", run: ["import", "packages/cli/demo/sample.jsonl"] },
  {
    say: "See a session as a tree. `•` marks the active path, labels stand in brackets; a session is named by its id, the start of it, or its title.",
    run: ["tree", "lexer", "--width", "100"],
  },
  { say: "Find something said in any session, on any branch.", run: ["search", "table", "skip", "--limit", "2"] },
  {
    say: "Go back to where the ways parted. What comes next starts a new branch there; nothing is lost, and the move can be undone.",
    run: ["go", "lexer", "two ways"],
  },
  { run: ["undo", "lexer"] },
  { say: "See what the model would be sent at the leaf, with a rough count of tokens.", run: ["context", "lexer"], lines: 17 },
  {
    say: "Shorten what the model reads, without a model or with one (`--model`, `--base-url`). The entries stay; `--undo` takes it back.",
    run: ["compact", "lexer", "--keep", "100"],
  },
  { run: ["checkpoints", "lexer"] },
  { say: "Hand a branch to a colleague, as Markdown (`-o FILE` writes a file).", run: ["export", "lexer"], lines: 22 },
];

function output(command, args, options) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  return (stdout === "" ? stderr : stdout).replaceAll(`${options.cwd}/`, "").trimEnd();
}

function tour(folder) {
  const options = { cwd: folder, env: { ...process.env, BOUGH_STORE: join(folder, "sessions.db"), LANG: "C.UTF-8", COLUMNS: "100" } };
  const bough = join(root, "packages/cli/dist/bough.js");
  return STEPS.map(({ say, run, lines }) => {
    const args = run.map((word) => (word.startsWith("packages/") ? join(root, word) : word));
    const typed = run.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
    const printed = output(process.execPath, [bough, ...args], options).split("\n");
    const shown = lines === undefined || printed.length <= lines ? printed : [...printed.slice(0, lines), "…"];
    return `${say === undefined ? "" : `${say}\n\n`}\`\`\`\`console\n${[`$ bough ${typed}`, ...shown].join("\n")}\n\`\`\`\``;
  }).join("\n\n");
}

const folder = mkdtempSync(join(tmpdir(), "bough-tour-"));
try {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [before, rest] = readme.split(START);
  const [, after] = (rest ?? "").split(END);
  writeFileSync(join(root, "README.md"), `${before}${START}\n\n${tour(folder)}\n\n${END}${after}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
