// A home of its own for an agent: its settings, its sessions, a project folder, and processes that see nothing else.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const BOUGH = join(dirname(fileURLToPath(import.meta.url)), "../../packages/cli/dist/bough.js");

/** The longest that a run of a program may take. */
export const LONGEST_MS = 180_000;

/** Between two questions to a program that does not tell when something has ended. */
const POLL_MS = 200;

/** The longest that a program may take to end after it was told to. */
const END_MS = 15_000;

/** What `notes.txt` of the project says, which the first prompt of each agent mentions as a person would: `@notes.txt`. */
export const FILE_TEXT = "A file that the prompt mentions.";

/** All programs that run: they are groups of their own, so they do not end with this one by themselves. */
const RUNNING = new Set();
process.on("exit", () => RUNNING.forEach(killGroup));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

export class AgentHome {
  folder = mkdtempSync(join(tmpdir(), "bough-real-"));
  project = join(this.folder, "project");
  /** Variables that the agent needs beside HOME and PATH. */
  variables = {};
  /** The programs that run. */
  #running = new Set();
  /** Those among them that watch for a store. */
  #watching = new Set();

  constructor() {
    mkdirSync(this.project);
    writeFileSync(join(this.project, "notes.txt"), `${FILE_TEXT}\n`);
  }

  get env() {
    const { PATH = "" } = process.env;
    // TMPDIR is left out: some agents refuse to work below the folder for temporary files, and all of them run there.
    return { PATH, HOME: this.folder, LANG: "C.UTF-8", NO_COLOR: "1", CI: "1", ...this.variables };
  }

  path(...names) {
    return join(this.folder, ...names);
  }

  /** The path of a store beside the agent's folders. */
  store(name) {
    return this.path(`${name}.db`);
  }

  /** Runs a program of the agent to its end in the project. Throws when it fails. */
  run(command, { cwd = this.project, input = "" } = {}) {
    return finished(this.start(command, { cwd }), command, input);
  }

  start([program, ...args], { cwd = this.project } = {}) {
    // A group of its own, so that what the program leaves behind can be ended with it.
    const child = spawn(program, args, { cwd, env: this.env, stdio: "pipe", detached: true });
    this.#running.add(child);
    RUNNING.add(child);
    child.on("close", () => {
      child.isClosed = true;
      this.#running.delete(child);
      RUNNING.delete(child);
    });
    // A program that cannot be started closes its streams; who waits for it hears of that.
    child.on("error", (error) => {
      child.failure = error.message;
      child.emit("close", null, null);
    });
    return child;
  }

  /** Runs the command `bough` on a store. */
  bough(store, ...args) {
    const command = [process.execPath, BOUGH, "--store", this.store(store), ...args];
    return finished(this.start(command, { cwd: this.folder }), ["bough", ...args], "");
  }

  async boughJson(store, ...args) {
    return JSON.parse((await this.bough(store, ...args, "--json")).stdout);
  }

  /** Starts `bough sync --watch` on a store, and resolves when it has looked at everything once. `stop` resolves with findings. */
  async watch(store) {
    const child = this.start([process.execPath, BOUGH, "--store", this.store(store), "sync", "--watch", "--json"], { cwd: this.folder });
    this.#watching.add(child);
    const output = gathered(child);
    const ready = new Promise((resolve, reject) => {
      child.stderr.on("data", () => output.stderr.includes("Watching") && resolve(undefined));
      child.on("close", () => reject(new Error(`bough sync --watch ended: ${output.stderr}`)));
    });
    await within(LONGEST_MS, "bough sync --watch did not begin", ready);
    return { stop: () => stopped(child, output) };
  }

  /** Ends the programs of a step that took too long; a store goes on watching. */
  endSteps() {
    for (const child of this.#running) if (!this.#watching.has(child)) killGroup(child);
  }

  /** Ends everything that still runs. */
  endAll() {
    for (const child of this.#running) killGroup(child);
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function gathered(child) {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  return output;
}

async function finished(child, command, input) {
  const output = gathered(child);
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const isLate = await endsLate(child, LONGEST_MS);
  const { exitCode: code } = child;
  if (code === 0 && !isLate) return output;
  const said = `${output.stdout}\n${output.stderr}`.trim().split("\n").slice(-6).join(" | ");
  throw new Error(
    `${command.slice(0, 4).join(" ")} ${isLate ? `did not end within ${LONGEST_MS / 1000} s` : `ended with ${code ?? child.failure ?? "no exit code"}`}: ${said.slice(-600)}`,
  );
}

async function stopped(child, output) {
  const found = await endOf(child, () => child.kill("SIGTERM"), "bough sync --watch");
  const { exitCode: code } = child;
  return code === 0 || found.length > 0 ? found : [`bough sync --watch ended with ${code}: ${output.stderr.slice(-600)}`];
}

/**
 * Tells a program to end and waits for it, then ends it by force. Resolves with findings.
 *
 * @param {() => void} tell
 * @param {string} name   for the finding
 */
export async function endOf(child, tell, name) {
  tell();
  return (await endsLate(child, END_MS)) ? [`${name} did not end within ${END_MS / 1000} s after it was told to`] : [];
}

/** Asks again and again until the answer is true. */
export async function until(isTrue) {
  while (!(await isTrue())) await pause(POLL_MS);
}

/** The value of a promise, or a failure after a time. */
export async function within(longestMs, failure, promise) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${failure} within ${longestMs / 1000} s`)), longestMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits for the end of a program and of its streams, which a process that it has started may keep open, and ends both by force when the time is over. Whether
 * they had to be.
 */
async function endsLate(child, longestMs) {
  if (child.isClosed === true) return false;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup(child);
  }, longestMs);
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return isLate;
}

function killGroup({ pid }) {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It has ended.
    if (error.code !== "ESRCH") throw error;
  }
}
