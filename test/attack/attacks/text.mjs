import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "@bough/session-core";
import pty from "@lydell/node-pty";
import { fillWith, hostileText, sessionFiles } from "../hostile.mjs";

const BOUGH = fileURLToPath(new URL("../../../packages/cli/dist/bough.js", import.meta.url));
/** A program that has printed nothing for so long waits for a key. */
const QUIET_MS = 250;
/** What a terminal obeys, hides or reorders; in a pipe line feeds and tabs alone are left. */
const OBEYED =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;
/** On a clipboard no control characters; the marks of right-to-left texts belong to the text that is copied. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** What programs send on purpose: colours, and moves of the cursor. The hostile text has no sequence that passes for one. */
const SEQUENCE = /\u001b\[[0-9;?<>=]*[A-Za-z]/g;
/** What a screen puts on the clipboard: it is text too, for another program. */
const CLIPBOARD = /\u001b\]52;c;([A-Za-z0-9+/=]*)(?:\u0007|\u001b\\)/g;

/** Hostile text in every field: through each command, in a pipe and on a terminal with colours, no control sequence of it gets out. */
export async function text(attack) {
  for (let round = 0; attack.hasTime(); round += 1) {
    const folder = join(attack.folder, String(round));
    mkdirSync(folder);
    const world = { attack, round, folder, path: join(folder, "store.db"), hostile: hostileText(attack.random) };
    const store = await openStore({ path: world.path });
    await fillWith(store, world.hostile);
    await store.close();
    const imports = Object.entries(sessionFiles(world.hostile)).flatMap(([name, lines]) => {
      writeFileSync(join(folder, name), lines);
      return ["--verbose", "--json"].map((option) => ["import", join(folder, name), option]);
    });
    // First, so that a short run includes them.
    for (const [given, keys] of SCREENS) if (attack.hasTime()) await showScreen(world, given, keys);
    for (const given of [...COMMANDS, ...imports, ["sessions"]]) if (attack.hasTime()) await runCommand(world, given);
    if (attack.hasTime()) await runCommand(world, ["delete", "hostile", "--yes"]);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runCommand(world, given) {
  const { attack, round, folder } = world;
  const where = `round ${round}: bough ${given.map((part) => part.replace(folder, "")).join(" ")}`;
  const piped = await inPipe(world, given);
  // In a pipe an export as JSON is data, equal to what is stored; on a terminal it is escaped.
  if (given[0] === "export" && given[3] !== "markdown") piped.stdout = "";
  for (const [stream, printed] of Object.entries(piped)) inspect(attack, `${where}, ${stream}`, printed);
  if (given[0] !== "delete" && given[0] !== "import") inspectScreen(world, where, await onTerminal(world, given, []));
  attack.count("commands");
}

async function showScreen(world, given, keys) {
  inspectScreen(world, `round ${world.round}: bough ${given.join(" ")}`, await onTerminal(world, given, keys));
  world.attack.count("screens");
}

const SESSION = [
  ["tree"],
  ["tree", "--all", "--full", "--time"],
  ["show"],
  ["context"],
  ["context", "--brief"],
  ["context", "--window", "2000"],
  ["stats"],
  ["checkpoints"],
  ["checkpoints", "--all"],
  ["verify"],
  ["compact", "--dry-run", "--keep", "0"],
  ["search", "RED", "--session"],
].map(([command, ...options]) => [command, ...(command === "search" ? [...options, "hostile"] : ["hostile", ...options])]);
const JSON_TOO = SESSION.filter(([command]) => command !== "verify").map((given) => [...given, "--json"]);
const FORMATS = ["json", "openai", "anthropic", "responses", "ai-sdk"].map((format) => ["context", "hostile", "--format", format]);
const EXPORTS = [["markdown", "--tool-output", "full", "--thinking"], ["bough"], ["pi"]].map((options) => [
  "export",
  "hostile",
  "--format",
  ...options,
]);
const MISTAKES = ["no\u001b[35msuch\u202e", "a\u009b35m\u2066"].flatMap((name) => [
  ["show", name],
  ["tree", name],
  ["search", name],
  ["export", name],
]);
const COMMANDS = [["sessions"], ["sessions", "--json"], ["search", "RED"], ...SESSION, ...JSON_TOO, ...FORMATS, ...EXPORTS, ...MISTAKES];

const down = (times) => Array.from({ length: times }, () => "j");
const SCREENS = [
  [
    ["tree", "hostile", "-i"],
    ["v", ...down(14), "J", "J", "/", "R", "E", "D", "\r", "n", "\u001b", "m", "j", "d", "q", "l", "\u001b", "?", "\u001b", "y", "u"],
  ],
  [
    ["shell", "--session", "hostile"],
    ["/context\r", "/search RED\r", "/stats\r", "/tree\r", "v", ...down(4), "\u001b", "/nope\u009b35m\r", "/sessions\r"],
  ],
  [
    ["shell", "--resume"],
    ["j", "/", "R", "E", "D", "\u001b", "\t", "?", "\u001b"],
  ],
];

function environment({ folder, path }) {
  const { NO_COLOR: _, FORCE_COLOR: __, ...rest } = process.env;
  // A pager would wait for a key.
  return { ...rest, BOUGH_STORE: path, BOUGH_PAGER: "cat", HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), TERM: "xterm-256color" };
}

function inPipe(world, given) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [BOUGH, ...given], {
      cwd: world.folder,
      env: environment(world),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const printed = { stdout: "", stderr: "" };
    for (const stream of Object.keys(printed)) {
      child[stream].setEncoding("utf8").on("data", (data) => {
        printed[stream] += data;
      });
    }
    child.on("close", () => done(printed));
  });
}

/** Everything that a command prints on a terminal, with a key each time that it waits; without keys it is ended then. */
function onTerminal(world, given, keys) {
  return new Promise((done) => {
    const options = { name: "xterm-256color", cols: 110, rows: 40, cwd: world.folder, env: environment(world) };
    const program = pty.spawn(process.execPath, [BOUGH, ...given], options);
    const waiting = [...keys];
    let printed = "";
    let timer;
    const next = () => {
      if (waiting.length > 0) program.write(waiting.shift());
      else if (keys.length > 0) program.kill("SIGTERM");
      timer = setTimeout(next, QUIET_MS);
    };
    program.onData((data) => {
      printed += data;
      clearTimeout(timer);
      timer = setTimeout(next, QUIET_MS);
    });
    program.onExit(() => {
      clearTimeout(timer);
      done(printed);
    });
  });
}

function inspect(attack, where, printed, unwanted = OBEYED) {
  const found = unwanted.exec(printed);
  if (found !== null) attack.finding(`${where}: ${JSON.stringify(printed.slice(Math.max(0, found.index - 60), found.index + 40))}`);
}

function inspectScreen({ attack, hostile }, where, printed) {
  for (const own of hostile.sequences) if (printed.includes(own)) attack.finding(`${where}: prints ${JSON.stringify(own)}`);
  const clipboards = [];
  const shown = printed.replaceAll(CLIPBOARD, (_, base64) => {
    clipboards.push(Buffer.from(base64, "base64").toString());
    return "";
  });
  inspect(attack, `${where}, on a terminal`, shown.replaceAll(SEQUENCE, "").replaceAll("\r", ""));
  for (const copied of clipboards) inspect(attack, `${where}, on the clipboard`, copied, CONTROL);
}
