import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { blameFile } from "@bough/compaction";
import { assistantMessage, openStore, toolResult, userMessage } from "@bough/session-core";
import { alternate, median } from "./measure.mjs";

export const title = "memory";

const BOUGH = fileURLToPath(new URL("../../packages/cli/dist/bough.js", import.meta.url));
const EDITS = 300;
const LINES = 1_000;
/** A person who waits for a prompt to be sent does not notice this; in milliseconds. */
const HOOK_LIMIT = 300;
const BLAME_LIMIT = 1_000;
const CWD = "/home/me/app";
const FILE = `${CWD}/src/lexer.ts`;

/** What a hook takes from its start to its end, and `blameFile` of a file with many edits. */
export async function run(bench) {
  const folder = mkdtempSync(join(tmpdir(), "bough-bench-"));
  try {
    const path = join(folder, "sessions.db");
    const text = await writeStore(path);
    await blame(bench, path, text);
    await hook(bench, path, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A session that writes a file and edits it many times, with a request before each edit. Returns the last text. */
async function writeStore(path) {
  const store = await openStore({ path, durability: "normal" });
  const session = await store.createSession({ cwd: CWD, title: "The lexer" });
  const lines = Array.from({ length: LINES }, (_, at) => `const line${at} = read(${at});`);
  const call = async (name, args) => {
    const id = `${name}${(await session.record()).entryCount}`;
    await session.append(assistantMessage([{ type: "toolCall", id, name, arguments: { path: "src/lexer.ts", ...args } }]));
    await session.append(toolResult(id, "done", { toolName: name }));
  };
  await call("write", { content: lines.join("\n") });
  for (let edit = 0; edit < EDITS; edit += 1) {
    const at = (edit * 37) % LINES;
    const before = lines[at];
    lines[at] = `const line${at} = readAgain(${edit}, ${at});`;
    await session.append(userMessage(`Please read line ${at} of the lexer again, for reason ${edit} of the parser`));
    await call("edit", { oldText: before, newText: lines[at] });
  }
  await store.catchUpSearch();
  await store.close();
  return lines.join("\n");
}

async function blame({ report, rounds }, path, text) {
  const store = await openStore({ path, mode: "read-only" });
  try {
    const { ours } = await alternate({ ours: { run: () => blameFile(store, { paths: [FILE], text }) } }, { rounds: rounds(7), warmUp: 1 });
    report.absolute(`blame of a file of ${LINES} lines with edits`, EDITS, median(ours), BLAME_LIMIT);
  } finally {
    await store.close();
  }
}

async function hook({ report, rounds }, path, home) {
  const work = "bough hook at a prompt, whole process";
  if (!existsSync(BOUGH)) return report.skipped(work, "command not built");
  const input = JSON.stringify({
    session_id: "now",
    cwd: CWD,
    hook_event_name: "UserPromptSubmit",
    prompt: "why is line 37 of the lexer read again by the parser?",
  });
  const env = { PATH: process.env.PATH, HOME: home };
  const ask = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [BOUGH, "--store", path, "hook", "run", "claude", "--debug"], {
      input,
      env,
      encoding: "utf8",
    });
    if (stdout === "") throw new Error(`The hook gave nothing: ${stderr}`);
  };
  const { ours } = await alternate({ ours: { run: ask } }, { rounds: rounds(10), warmUp: 2 });
  report.absolute(work, EDITS * 3, median(ours), HOOK_LIMIT);
}
