import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assistantMessage, openStore, userMessage } from "@bough/session-core";

const BOUGH = fileURLToPath(new URL("../../../packages/cli/dist/bough.js", import.meta.url));
const AGENTS = ["pi", "claude", "codex", "opencode"];
/** Parts of a name of a folder: what a shell expands, ends a word at or runs, and what a terminal obeys. */
const PARTS = [
  "'",
  '"',
  "`touch CANARY`",
  "$(touch CANARY)",
  ";touch CANARY;",
  "&touch CANARY&",
  "|touch CANARY",
  "$HOME",
  "\\",
  "\\'",
  "!!",
].concat([
  "*",
  "?",
  "[a]",
  "{a,b}",
  "~",
  "#",
  " ",
  "  ",
  "\t",
  "\n",
  "\r",
  "\u001b[31m",
  "\u0007",
  "\u007f",
  "\u202e",
  "\u200b",
  "é",
  "木",
  "-n",
  "=",
  "a",
]);

const SHELLS = ["sh", "bash"];

/**
 * `bough resume --print` and `--write` for folders of any name: the line that is printed, run by bash, starts the agent in that folder, and no
 * shell runs a part of the name.
 */
export async function commands(attack) {
  const bin = join(attack.folder, "bin");
  mkdirSync(bin);
  for (const agent of AGENTS) {
    writeFileSync(join(bin, agent), `#!/bin/sh\nprintf '%s\\0' "$PWD" "$@" > "$STARTED"\n`);
    chmodSync(join(bin, agent), 0o755);
  }
  for (let round = 0; attack.hasTime(); round += 1) {
    const home = join(realpathSync(attack.folder), String(round));
    const name = Array.from({ length: 1 + attack.random.below(5) }, () => attack.random.pick(PARTS)).join("");
    const cwd = join(home, `x${name}`);
    mkdirSync(cwd, { recursive: true });
    const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: home, STARTED: join(home, "started"), BOUGH_STORE: join(home, "store.db") };
    const id = await sessionIn(cwd, env.BOUGH_STORE);
    for (const agent of AGENTS) {
      for (const how of ["--print", "--write"]) {
        const given = ["resume", id, "--in", agent, how, "--yes"];
        const { status, stdout, stderr } = spawnSync(process.execPath, [BOUGH, ...given], { env, cwd: home, encoding: "utf8" });
        if (status !== 0) attack.finding(`round ${round}: bough ${given.join(" ")} for ${JSON.stringify(name)}: ${status}, ${stderr}`);
        for (const shell of SHELLS) runPrinted(attack, { round, shell, line: stdout, home, cwd, env });
      }
    }
    rmSync(home, { recursive: true, force: true });
  }
}

async function sessionIn(cwd, path) {
  const store = await openStore({ path });
  const session = await store.createSession({ cwd });
  await session.append(userMessage("Read a.ts"));
  await session.append(assistantMessage("It is empty."));
  await store.close();
  return session.id;
}

function runPrinted(attack, { round, shell, line, home, cwd, env }) {
  const where = `round ${round}: ${shell}, ${JSON.stringify(line)}`;
  rmSync(env.STARTED, { force: true });
  spawnSync(shell, ["-c", line], { env, cwd: home });
  const [folder, ...words] = existsSync(env.STARTED) ? readFileSync(env.STARTED, "utf8").split("\0") : [];
  // A shell that does not know $'…' does not find a folder whose name has control characters, and starts nothing.
  if (folder !== cwd && (shell === "bash" || folder !== undefined)) attack.finding(`${where} started in ${JSON.stringify(folder)}`);
  // An option and its value, each ended by a NUL: the name can be a part of the path of pi's file, and splits no word.
  if (folder !== undefined && words.length !== 3) attack.finding(`${where} passed on ${JSON.stringify(words)}`);
  if ([home, cwd].some((place) => existsSync(join(place, "CANARY")))) attack.finding(`${where} ran a part of the name`);
  attack.count("printed commands");
}
