// Writes the screens of README.md: runs the shell in a real terminal (tmux) on the bundled sample,
// presses keys, and puts in the screens as text.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const START = "<!-- frames: written by node .ci/frames.mjs -->";
const END = "<!-- end of frames -->";
const SOCKET = `bough-frames-${process.pid}`;

/** The caption, the keys (`=text` is typed), and what the screen must show before it is captured. */
const STEPS = [
  { say: "`bough --session lexer` continues the session at its current position.", until: /28 entries|\d+ branches/ },
  { say: "`/tree` shows all branches; `v` opens the preview.", keys: ["=/tree", "Enter", "v", "Up"], until: /astab|edit src\/lexer\.ts/ },
  { say: "`/` searches whole texts; hits are shown with their ancestors.", keys: ["v", "=/", "=slower"], until: /\d hits?/ },
  { say: "Enter moves to an entry, and offers to summarize the branch you leave.", keys: ["Enter", "G", "Enter"], until: /1 No summary/ },
];

const tmux = (...args) => execFileSync("tmux", ["-L", SOCKET, ...args], { encoding: "utf8" });
const screen = () =>
  tmux("capture-pane", "-t", "0", "-p")
    .replace(/[ \t]+$/gm, "")
    .trimEnd();

async function shown(until) {
  for (let look = 0; look < 200; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = screen();
    if (!until.test(before)) continue;
    // Captured only if it no longer changes, so that nothing is half drawn.
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (screen() === before) return before;
  }
  throw new Error(`the screen never showed ${until}:\n${screen()}`);
}

async function frames(folder) {
  const bough = join(root, "packages/cli/dist/bough.js");
  const env = { ...process.env, BOUGH_STORE: join(folder, "sessions.db"), HOME: folder, LANG: "C.UTF-8" };
  execFileSync(process.execPath, [bough, "import", join(root, "packages/cli/demo/sample.jsonl")], { env });
  const setting = ["-e", `BOUGH_STORE=${env.BOUGH_STORE}`, "-e", `HOME=${folder}`];
  const program = ["env", "-u", "CI", "-u", "BOUGH_MODEL", "-u", "BOUGH_BASE_URL", process.execPath, bough, "--session", "lexer"];
  execFileSync("tmux", ["-L", SOCKET, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "26", ...setting, ...program], { env });
  const pictures = [];
  for (const { say, keys = [], until } of STEPS) {
    for (const key of keys) {
      tmux("send-keys", "-t", "0", ...(key.startsWith("=") ? ["-l", key.slice(1)] : [key]));
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    pictures.push(`${say}\n\n\`\`\`\`text\n${await shown(until)}\n\`\`\`\``);
  }
  return pictures.join("\n\n");
}

const folder = mkdtempSync(join(tmpdir(), "bough-frames-"));
try {
  const pictures = await frames(folder);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [before, rest] = readme.split(START);
  const [, after] = (rest ?? "").split(END);
  writeFileSync(join(root, "README.md"), `${before}${START}\n\n${pictures}\n\n${END}${after}`);
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It ended by itself, or never began.
  }
  rmSync(folder, { recursive: true, force: true });
}
