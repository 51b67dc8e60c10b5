import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { assistantMessage, type EntryInput, openStore, type Store, userMessage } from "@bough/session-core";
import { onTestFinished } from "vitest";
import { findOpenSsh } from "../../.ci/sshd.mjs";
import { BOUGH, removeFolder } from "../terminal/test-home.js";

/** How a command ended. */
export interface Ran {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/** A machine: a home, a store, and programs in it. */
class Machine {
  readonly home: string;
  readonly store: string;
  readonly bin: string;

  constructor(folder: string) {
    this.home = folder;
    this.store = join(folder, "sessions.db");
    this.bin = join(folder, "bin");
    mkdirSync(this.bin, { recursive: true });
    this.program("bough", `exec '${process.execPath}' '${BOUGH}' "$@"`);
  }

  /** A program of this machine, as a script of sh. */
  program(name: string, script: string): void {
    const path = join(this.bin, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  async withStore<T>(work: (store: Store) => Promise<T>, path = this.store): Promise<T> {
    const store = await openStore({ path, durability: "normal" });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** All that the store has of its sessions: `session entry parent payload`, leaves, titles and labels. */
  content(path = this.store): Promise<readonly string[]> {
    return this.withStore(async (store) => {
      const found: string[] = [];
      const { items } = await store.listSessions({ kind: "all", archived: "all", empty: true });
      for (const { id, title } of items) {
        const session = await store.openSession(id);
        found.push(JSON.stringify([id, title, session.leafId]));
        for await (const { seq: _seq, ...entry } of session.entries()) found.push(JSON.stringify([id, entry]));
      }
      return found.sort();
    }, path);
  }

  /** What `verify` finds. */
  async findings(path = this.store): Promise<readonly unknown[]> {
    return this.withStore(async (store) => {
      const found: unknown[] = [];
      for await (const violation of store.verify()) found.push(violation);
      return found;
    }, path);
  }
}

/** A command that runs on this machine. */
export class Running {
  readonly #child: ChildProcess;
  out = "";
  err = "";
  readonly ended: Promise<Ran>;
  #wake: () => void = () => undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.out += text;
      this.#wake();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.err += text;
      this.#wake();
    });
    this.ended = new Promise((resolve) =>
      child.on("close", (exit) => {
        resolve({ exit, out: this.out, err: this.err });
        this.#wake();
      }),
    );
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits until what it has printed holds. */
  async until(isSaid: (said: string) => boolean): Promise<void> {
    while (!isSaid(this.out + this.err)) {
      if (this.#child.exitCode !== null) throw new Error(`It ended before: ${this.out}${this.err}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** This machine, and another one that a real sshd on loopback stands for. Everything goes away with the test. */
export class TwoMachines {
  readonly folder = mkdtempSync(join(tmpdir(), "bough-ssh-"));
  readonly here: Machine;
  readonly there: Machine;
  /** The PATH of commands here. */
  searchPath: string;
  readonly #ssh = findOpenSsh();
  readonly #port: number;
  #sshd: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.here = new Machine(join(this.folder, "here"));
    this.there = new Machine(join(this.folder, "there"));
    this.searchPath = `${this.here.bin}:${process.env["PATH"] ?? ""}`;
  }

  static async start(): Promise<TwoMachines> {
    const made = new TwoMachines(await freePort());
    onTestFinished(() => made.#end());
    made.#configure();
    await made.startServer();
    return made;
  }

  #file(name: string): string {
    return join(this.folder, name);
  }

  #configure(): void {
    const { keygen, ssh } = this.#ssh;
    for (const name of ["host_key", "key"]) execFileSync(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", this.#file(name)]);
    writeFileSync(this.#file("authorized_keys"), readFileSync(this.#file("key.pub")));
    writeFileSync(this.#file("known_hosts"), `[127.0.0.1]:${this.#port} ${readFileSync(this.#file("host_key.pub"), "utf8")}`);
    const path = `${this.there.bin}:${process.env["PATH"] ?? ""}`;
    writeFileSync(
      this.#file("sshd_config"),
      [
        "ListenAddress 127.0.0.1",
        `Port ${this.#port}`,
        `HostKey ${this.#file("host_key")}`,
        `AuthorizedKeysFile ${this.#file("authorized_keys")}`,
        "PidFile none",
        "UsePAM no",
        "StrictModes no",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "PermitRootLogin yes",
        // One line: of several, sshd takes the first.
        `SetEnv HOME=${this.there.home} BOUGH_STORE=${this.there.store} PATH=${path}`,
      ].join("\n"),
    );
    writeFileSync(
      this.#file("ssh_config"),
      [
        "Host laptop",
        "  HostName 127.0.0.1",
        `  Port ${this.#port}`,
        `  User ${userInfo().username}`,
        `  IdentityFile ${this.#file("key")}`,
        "  IdentitiesOnly yes",
        `  UserKnownHostsFile ${this.#file("known_hosts")}`,
        "  GlobalKnownHostsFile /dev/null",
        "  StrictHostKeyChecking yes",
      ].join("\n"),
    );
    // OpenSSH reads the config in the home of the user, whatever HOME says.
    this.here.program("ssh", `exec '${ssh}' -F '${this.#file("ssh_config")}' "$@"`);
  }

  async startServer(): Promise<void> {
    // Where sshd runs as root it wants this folder.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    this.#sshd = spawn(this.#ssh.sshd, ["-D", "-e", "-f", this.#file("sshd_config")], { stdio: ["ignore", "ignore", "pipe"] });
    await this.#listens();
  }

  async #listens(): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      if (this.#sshd?.exitCode !== null) throw new Error("sshd did not start");
      if (await answers(this.#port)) return;
      await setTimeout(25);
    }
    throw new Error("sshd does not listen");
  }

  /** Ends the server, and with it every connection. */
  async stopServer(): Promise<void> {
    const sshd = this.#sshd;
    if (sshd === undefined) return;
    this.#sshd = undefined;
    const ended = new Promise((resolve) => sshd.on("close", resolve));
    for (const pid of this.#below(sshd.pid)) killed(pid);
    sshd.kill("SIGKILL");
    await ended;
  }

  /**
   * Kills processes of this test only. `sshd`: those that serve a connection; `ssh`: the client here; `there`: Bough on the other
   * machine. Returns how many there were.
   */
  kill(which: "sshd" | "ssh" | "there"): number {
    const pids = this.processes(which);
    for (const pid of pids) killed(pid);
    return pids.length;
  }

  processes(which: "sshd" | "ssh" | "there"): readonly number[] {
    if (which === "ssh") return processes().flatMap(({ pid, args }) => (args.includes(`-F ${this.#file("ssh_config")}`) ? [pid] : []));
    const below = this.#below(this.#sshd?.pid);
    return processes()
      .filter(({ pid, args }) => below.has(pid) && args.includes("--serve") === (which === "there"))
      .map(({ pid }) => pid);
  }

  /** The processes that a process has started, and those that these have started. */
  #below(parent: number | undefined): ReadonlySet<number> {
    const all = processes();
    const below = new Set<number>();
    for (let size = -1; size !== below.size; ) {
      size = below.size;
      for (const { pid, parent: of } of all) if (of === parent || below.has(of)) below.add(pid);
    }
    return below;
  }

  /** Waits until no process of this kind is left. */
  async gone(which: "sshd" | "ssh" | "there"): Promise<void> {
    for (let attempt = 0; this.processes(which).length > 0; attempt += 1) {
      if (attempt === 400) throw new Error(`${which} still runs`);
      await setTimeout(25);
    }
  }

  /** Starts `bough ARGS` on this machine. */
  start(...args: readonly string[]): Running {
    const child = spawn(process.execPath, [BOUGH, ...args], {
      cwd: this.here.home,
      env: {
        HOME: this.here.home,
        BOUGH_STORE: this.here.store,
        PATH: this.searchPath,
        LANG: "C.UTF-8",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return new Running(child);
  }

  /** Runs `bough ARGS` on this machine to its end. */
  run(...args: readonly string[]): Promise<Ran> {
    return this.start(...args).ended;
  }

  async #end(): Promise<void> {
    await this.stopServer();
    await removeFolder(this.folder);
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly args: string;
}

function processes(): readonly Process[] {
  return execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parent, args = ""]) => ({ pid: Number(pid), parent: Number(parent), args }));
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const settle = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on("data", () => settle(true));
    socket.on("error", () => settle(false));
  });
}

/** A session of so many entries of about this size, with two branches and a label. */
export async function fill(store: Store, id: string, entries: number, bytes = 40): Promise<void> {
  const session = await store.createSession({ id, title: `About ${id}`, cwd: "/work/project" });
  const inputs: EntryInput[] = Array.from({ length: entries }, (_, at) => {
    const text = `${id} ${at} ${"x".repeat(bytes)}`;
    return { ...(at % 2 === 0 ? userMessage(text) : assistantMessage(text, { provider: "p", model: "m" })), id: `${id}-${at}` };
  });
  for (let at = 0; at < entries; at += 500)
    await session.write(inputs.slice(at, at + 500).map((entry) => ({ kind: "entry" as const, entry })));
  await session.labels.set(`${id}-0`, "the start");
  await session.moveLeaf(`${id}-${Math.floor(entries / 2)}`);
  await session.append(userMessage(`another way in ${id}`));
}
