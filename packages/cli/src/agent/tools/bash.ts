import { type ChildProcessByStdio, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { kill } from "node:process";
import type { Readable } from "node:stream";
import { errorCode } from "@bough/session-core/engine";
import { BoundedText } from "./bounded-text.js";
import { readNumber, requireText, type Tool, ToolFailure, type ToolOutcome, toOutcome } from "./tool.js";

/** Default timeout, in seconds. */
const DEFAULT_SECONDS = 120;
/** Maximum timeout, in seconds. */
const MAX_SECONDS = 3_600;

/** Runs a command in a shell. */
export const BASH: Tool = {
  name: "bash",
  description: "Run a command with bash in the working directory. Returns its output and, if it failed, its exit code.",
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", description: "The command. It runs without input: it cannot ask questions." },
      timeout: { type: "integer", description: `Seconds after which it is stopped; default ${DEFAULT_SECONDS}.` },
    },
    required: ["command"],
  },
  run: async (input, { cwd, env, signal }): Promise<ToolOutcome> => {
    let ran: CommandResult | undefined;
    const outcome = await toOutcome(async () => {
      const seconds = Math.min(readNumber(input, "timeout") ?? DEFAULT_SECONDS, MAX_SECONDS);
      ran = await runCommand(requireText(input, "command"), { cwd, env, signal, seconds });
      return ran.output;
    });
    return ran === undefined ? outcome : formatResult(ran);
  },
};

function formatResult({ output, end }: CommandResult): ToolOutcome {
  const text = output.trimEnd();
  const under = (line: string): string => (text === "" ? line : `${text}\n${line}`);
  switch (end.kind) {
    case "exit":
      return end.code === 0
        ? { text: text === "" ? "[no output]" : text, isError: false }
        : { text: under(`[exit code ${end.code}]`), isError: true };
    case "signal":
      return { text: under(`[killed by ${end.signal}]`), isError: true };
    case "timeout":
      return { text: under(`[stopped after ${end.seconds} s]`), isError: true };
    case "stopped":
      return { text: under("[stopped by the user]"), isError: true };
  }
}

/** The end of a command. */
type CommandEnd =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "timeout"; readonly seconds: number }
  | { readonly kind: "stopped" };

/** The output of a command (stdout and stderr interleaved, bounded in length), and how it ended. */
interface CommandResult {
  readonly output: string;
  readonly end: CommandEnd;
}

/** The environment of a command. */
interface CommandContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly seconds: number;
}

type Shell = ChildProcessByStdio<null, Readable, Readable>;

/** Time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE = 1_000;
/** Time to read output after the shell exits, if a background process keeps the pipe open, in milliseconds. */
const LINGER = 250;

/**
 * Runs a command with bash (or sh, if there is no bash) in its own process group. Timeout and abort end the whole group, with
 * SIGTERM and then SIGKILL. Background processes are not waited for.
 *
 * @throws {ToolFailure} there is neither bash nor sh. An error of the file system: the working directory does not exist.
 */
async function runCommand(command: string, context: CommandContext): Promise<CommandResult> {
  if (context.signal.aborted) return { output: "", end: { kind: "stopped" } };
  // `spawn` reports a missing directory and a missing shell with the same error.
  await stat(context.cwd);
  return waitForEnd(await startShell(command, context), context);
}

async function startShell(command: string, { cwd, env }: CommandContext): Promise<Shell> {
  for (const shell of ["bash", "sh"]) {
    const child = spawn(shell, ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const failure = await new Promise<unknown>((resolve) => {
      child.once("spawn", () => resolve(undefined));
      child.once("error", resolve);
    });
    if (failure === undefined) return child;
    if (errorCode(failure) !== "ENOENT") throw failure;
  }
  throw new ToolFailure("There is neither bash nor sh on this machine.");
}

async function waitForEnd(child: Shell, { signal, seconds }: CommandContext): Promise<CommandResult> {
  const output = new BoundedText();
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (piece: string) => output.push(piece));
  const timeout = AbortSignal.timeout(seconds * 1_000);
  const stopping = AbortSignal.any([signal, timeout]);
  let killing: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(child, "SIGTERM");
    killing = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE);
  };
  // The signal may have been aborted while the shell started.
  if (stopping.aborted) stop();
  else stopping.addEventListener("abort", stop);
  const ended = await waitForExit(child);
  stopping.removeEventListener("abort", stop);
  clearTimeout(killing);
  if (!stopping.aborted) return { output: output.text(), end: ended };
  // The shell has exited; its children may ignore SIGTERM.
  signalGroup(child, "SIGKILL");
  return { output: output.text(), end: stopping.reason === timeout.reason ? { kind: "timeout", seconds } : { kind: "stopped" } };
}

/** Resolves when the shell has exited and its output is read, or after `LINGER` if a background process keeps the output open. */
function waitForExit(child: Shell): Promise<CommandEnd> {
  return new Promise((resolve) => {
    let lingering: NodeJS.Timeout | undefined;
    let end: CommandEnd = { kind: "exit", code: 0 };
    const done = (): void => {
      clearTimeout(lingering);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(end);
    };
    child.once("exit", (code, signal) => {
      end = signal === null ? { kind: "exit", code: code ?? 0 } : { kind: "signal", signal };
      lingering = setTimeout(done, LINGER);
    });
    child.once("close", done);
  });
}

/** The id of a process group is the pid of its leader. */
function signalGroup({ pid }: Shell, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    kill(-pid, signal);
  } catch (error) {
    // ESRCH: all processes have exited. EPERM: the others belong to another user; macOS also reports it for exiting processes.
    if (errorCode(error) !== "ESRCH" && errorCode(error) !== "EPERM") throw error;
  }
}
