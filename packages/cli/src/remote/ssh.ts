import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { CommandError, RemoteEndedError, UsageError } from "../errors.js";
import { withoutKeys } from "../terminal/child-environment.js";
import type { Io } from "../terminal/io.js";
import { safe } from "../terminal/safe.js";
import { FarStore } from "./far-store.js";
import { type Greeting, Lines, LineWriter, PROTOCOLS, readGreeting } from "./protocol.js";

/** A store on another machine: `ssh://[user@]host[:port][/path]`. */
export interface SshAddress {
  /** As ssh takes it: `ada@laptop`. */
  readonly destination: string;
  readonly port: string | undefined;
  /** The path there; null: the usual store of that user. It is sent to Bough there, and no shell reads it. */
  readonly path: string | null;
  /** The address for people. */
  readonly name: string;
}

export function isSshAddress(text: string): boolean {
  return /^ssh:/i.test(text);
}

// As OpenSSH refuses them: a shell of the config (ProxyCommand) may get the user and the host.
const UNSAFE = /[\s\p{C}`'"$\\;&<>|(){}*?!#]/u;

const FORM = "ssh://[USER@]HOST[:PORT][/PATH]";

/** @throws {UsageError} it is not of this form. */
export function parseSshAddress(text: string, option: string): SshAddress {
  const refuse = (reason: string): never => {
    throw new UsageError(`${option} ${safe(text.replace(/(\/\/[^:/@]*):[^/]*@/, "$1:…@"))}: ${reason}. The form is ${FORM}.`);
  };
  const [, user, host = "", port, path = ""] =
    /^ssh:\/\/(?:([^/@]*)@)?(\[[^\]/]*\]|[^:/]*)(?::([^/]*))?(\/.*)?$/isu.exec(text) ?? refuse("this is no address for ssh");
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare === "") refuse("there is no host");
  if (user?.includes(":") === true) refuse("a password in the address would stand in lists of processes; ssh asks for it");
  for (const part of [user ?? "x", bare]) {
    if (part === "" || part.startsWith("-")) refuse("a user or host is not empty and does not begin with a hyphen");
    if (UNSAFE.test(part)) refuse("a user or host has no spaces, quotation marks and characters of shells");
  }
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535))
    refuse("the port is a number up to 65535");
  return { destination: `${user === undefined ? "" : `${user}@`}${bare}`, port, path: pathIn(path, refuse), name: text };
}

/** `/~/notes.db` is `~/notes.db`, below the home of that user; `/` alone is no path. */
function pathIn(given: string, refuse: (reason: string) => never): string | null {
  if (given === "" || given === "/") return null;
  if (/^\/[a-z]:/i.test(given)) refuse("paths of Windows are not supported: leave the path out for the usual store there");
  if (given.includes("\0") || /[\r\n]/.test(given)) refuse("a path has no line breaks");
  return given.startsWith("/~/") ? given.slice(1) : given;
}

/** A connection to Bough on another machine. */
export interface SshConnection {
  readonly store: FarStore;
  /** The version of the protocol that both speak. */
  readonly protocol: number;
  /** Ends it, and resolves when ssh has ended. */
  readonly close: () => Promise<void>;
}

/** The longest part of a line of ssh or of the other machine that is printed. */
const MOST_LINE = 2000;

/**
 * Starts the person's `ssh`, with their config, and Bough there.
 *
 * `command` starts Bough there, read by the shell of that user. What ssh and the other side print to stderr goes to `io.stderr`.
 *
 * @throws {RemoteEndedError | CommandError}
 */
export async function connect(io: Io, address: SshAddress, command: string, signal: AbortSignal): Promise<SshConnection> {
  const port = address.port === undefined ? [] : ["-p", address.port];
  // -T: no terminal there, whose line discipline would change what is sent. Questions of ssh (a passphrase, a new host) go to the terminal itself.
  const child = spawn("ssh", ["-T", ...port, "--", address.destination, `${command} copy --serve`], {
    env: withoutKeys(io.env),
    cwd: io.cwd,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const forwarded = forwardErrors(io, child.stderr);
  const ended = endOf(child).then(async (end) => {
    await forwarded;
    return end;
  });
  const lines = new Lines(child.stdout);
  const close = async () => {
    endChild(child);
    await ended;
  };
  try {
    const onAbort = () => child.kill();
    signal.addEventListener("abort", onAbort, { once: true });
    const greeting = await readGreeting(lines);
    signal.removeEventListener("abort", onAbort);
    signal.throwIfAborted();
    if (greeting === "ended") throw noGreeting(await ended, address, command);
    if (greeting === "none") throw otherProgram(address, command);
    const protocol = commonProtocol(address, greeting);
    const describeEnd = async () => endError(address, await ended);
    return { store: new FarStore(lines, new LineWriter(child.stdin), signal, describeEnd), protocol, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Ends ssh. What it still has to say is not read, and would keep its streams open. */
function endChild(child: ChildProcessWithoutNullStreams): void {
  child.stdin.destroy();
  child.stdout.destroy();
  child.kill();
}

/** The end of ssh. */
interface End {
  readonly code: number | null;
  readonly failure: NodeJS.ErrnoException | undefined;
}

function endOf(child: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    child.on("error", (failure) => resolve({ code: null, failure }));
    child.on("close", (code) => resolve({ code, failure: undefined }));
  });
}

/** Prints what ssh and programs there say, line by line, without control characters. */
async function forwardErrors(io: Io, stderr: Readable): Promise<void> {
  const lines = new Lines(stderr);
  try {
    for (let line = await lines.next(); line !== undefined; line = await lines.next())
      await io.stderr.write(`${safe(line.replace(/\r$/, "").slice(0, MOST_LINE))}\n`);
  } catch {
    // A line without an end, or a reader of stderr that has gone: the copy goes on.
    stderr.resume();
  }
}

function noGreeting(end: End, address: SshAddress, command: string): Error {
  if (end.failure !== undefined || end.code === 255) return endError(address, end);
  if (end.code !== 127 && end.code !== 126) return otherProgram(address, command);
  return new CommandError(
    "REMOTE_VERSION",
    `There is no \`${safe(command)}\` on ${safe(address.destination)}, or not in the PATH of a command that ssh starts. Install it there (npm install --global @bough/cli), or name it: --remote-command /path/to/bough.`,
  );
}

function otherProgram({ destination }: SshAddress, command: string): Error {
  return new CommandError(
    "REMOTE_VERSION",
    `\`${safe(command)} copy --serve\` on ${safe(destination)} did not answer as Bough does: it is too old, or another program. Update it there: npm install --global @bough/cli.`,
  );
}

/** @throws {CommandError} there is none. */
function commonProtocol({ destination }: SshAddress, { oldest, newest, version }: Greeting): number {
  if (oldest <= PROTOCOLS.newest && newest >= PROTOCOLS.oldest) return Math.min(newest, PROTOCOLS.newest);
  const where = oldest > PROTOCOLS.newest ? "here" : "there";
  throw new CommandError(
    "REMOTE_VERSION",
    `Bough on ${safe(destination)} (${safe(version)}) and this one have no version of the protocol in common. Update it ${where}: npm install --global @bough/cli.`,
  );
}

function endError({ destination }: SshAddress, { code, failure }: End): Error {
  if (failure?.code === "ENOENT") return new RemoteEndedError("There is no `ssh` in PATH. Install OpenSSH's client.", { cause: failure });
  const how = code === null ? "was ended" : `ended with exit code ${code}`;
  return new RemoteEndedError(
    `The connection to ${safe(destination)} ended: ssh ${failure === undefined ? how : `could not start (${failure.code})`}.`,
  );
}
