// A home of its own for an agent: its settings, its sessions, a project folder, and processes that see nothing else.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BOUGH = join(dirname(fileURLToPath(import.meta.url)), "../../packages/cli/dist/bough.js");

/** The longest that a run of a program may take. */
export const LONGEST_MS = 180_000;

export class AgentHome {
  folder = mkdtempSync(join(tmpdir(), "bough-real-"));
  project = join(this.folder, "project");
  /** Variables that the agent needs beside HOME and PATH. */
  variables = {};

  constructor() {
    mkdirSync(this.project);
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
    const child = spawn(program, args, { cwd, env: this.env, stdio: "pipe" });
    // A program that cannot be started closes its streams; who waits for it hears of that.
    child.on("error", (error) => child.emit("close", null, error));
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
    const output = gathered(child);
    await new Promise((resolve, reject) => {
      child.stderr.on("data", () => output.stderr.includes("Watching") && resolve(undefined));
      child.on("close", () => reject(new Error(`bough sync --watch ended: ${output.stderr}`)));
    });
    return { stop: () => stopped(child, output) };
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
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  const code = await new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));
  clearTimeout(timer);
  if (code === 0) return output;
  const said = `${output.stdout}\n${output.stderr}`.trim().split("\n").slice(-6).join(" | ");
  throw new Error(`${command.slice(0, 4).join(" ")} ended with ${code ?? "no exit code"}: ${said.slice(-600)}`);
}

async function stopped(child, output) {
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.kill("SIGTERM");
  const code = await ended;
  return code === 0 ? [] : [`bough sync --watch ended with ${code}: ${output.stderr.slice(-600)}`];
}
