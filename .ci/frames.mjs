// Writes the screens of docs/tour.md and the picture of README.md (docs/tree-light.svg, docs/tree-dark.svg): runs the shell in a real
// terminal (tmux) on the bundled sample, presses keys, and takes what the terminal shows.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawScreen } from "./terminal-picture.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const bough = join(root, "packages/cli/dist/bough.js");
const PAGE = join(root, "docs/tour.md");
const START = "<!-- frames: written by node .ci/frames.mjs -->";
const END = "<!-- end of frames -->";
const COLUMNS = 100;

/** The caption, the keys (`=text` is typed), and what the screen must show before it is captured. */
const STEPS = [
  { say: "`bough --session lexer` continues the session at its current position.", until: /28 entries|\d+ branches/ },
  { say: "`/tree` shows all branches; `v` opens the preview.", keys: ["=/tree", "Enter", "v", "Up"], until: /astab|edit src\/lexer\.ts/ },
  { say: "`/` searches whole texts and shows the hits.", keys: ["v", "=/", "=slower"], until: /hit \d of/ },
  { say: "Enter moves to an entry, and offers to summarize the branch you leave.", keys: ["Enter", "G", "Enter"], until: /1 No summary/ },
];

/** The screen of the picture. */
const PICTURE = {
  keys: ["v", "Up"],
  until: /astab|edit src\/lexer\.ts/,
  title: "bough tree: a session with two branches, and the preview of an entry",
};

/** A server of its own for each start: one that was told to end takes a while. */
let server = 0;
const tmux = (...args) => execFileSync("tmux", ["-L", `bough-frames-${process.pid}-${server}`, ...args], { encoding: "utf8" });
const screen = (...options) =>
  tmux("capture-pane", "-t", "0", "-p", ...options)
    .replace(/[ \t]+$/gm, "")
    .trimEnd();

async function press(keys) {
  for (const key of keys) {
    tmux("send-keys", "-t", "0", ...(key.startsWith("=") ? ["-l", key.slice(1)] : [key]));
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

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

function start(folder, rows, ...args) {
  server += 1;
  const setting = ["-e", `BOUGH_STORE=${join(folder, "sessions.db")}`, "-e", `HOME=${folder}`, "-e", "COLORTERM="];
  const program = ["env", "-u", "CI", "-u", "NO_COLOR", "-u", "BOUGH_MODEL", "-u", "BOUGH_BASE_URL", process.execPath, bough, ...args];
  tmux("-f", "/dev/null", "new-session", "-d", "-x", `${COLUMNS}`, "-y", `${rows}`, ...setting, ...program);
}

async function takeScreens(folder) {
  start(folder, 26, "--session", "lexer");
  const screens = [];
  for (const { say, keys = [], until } of STEPS) {
    await press(keys);
    screens.push(`${say}\n\n\`\`\`\`text\n${await shown(until)}\n\`\`\`\``);
  }
  tmux("kill-server");
  return screens.join("\n\n");
}

async function takePicture(folder) {
  start(folder, 32, "tree", "lexer", "-i");
  await shown(/28 entries/);
  await press(PICTURE.keys);
  await shown(PICTURE.until);
  return screen("-e");
}

const folder = mkdtempSync(join(tmpdir(), "bough-frames-"));
try {
  const env = { ...process.env, BOUGH_STORE: join(folder, "sessions.db"), HOME: folder };
  execFileSync(process.execPath, [bough, "import", join(root, "packages/cli/demo/sample.jsonl")], { env });
  const [before, rest] = readFileSync(PAGE, "utf8").split(START);
  const [, after] = (rest ?? "").split(END);
  writeFileSync(PAGE, `${before}${START}\n\n${await takeScreens(folder)}\n\n${END}${after}`);
  const picture = await takePicture(folder);
  for (const theme of ["light", "dark"]) {
    writeFileSync(join(root, `docs/tree-${theme}.svg`), drawScreen(picture, theme, { columns: COLUMNS, title: PICTURE.title }));
  }
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It ended by itself, or never began.
  }
  rmSync(folder, { recursive: true, force: true });
}
