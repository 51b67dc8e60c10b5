import { type ChildProcessByStdio, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { kill } from "node:process";
import type { Readable } from "node:stream";
import { BoundedText } from "./bounded-text.js";
import { readNumber, requireText, type Tool, ToolFailure, type ToolOutcome, toOutcome } from "./tool.js";

/** A command may take so long where the model names no other time, in seconds. */
const DEFAULT_SECONDS = 120;
/** However long the model would wait. */
const MAX_SECONDS = 3_600;

/** Runs a command in a shell. */
export const BASH: Tool = {
  name: "bash",
  description: "Run a command with bash in the working folder. Answers with its output and, if it failed, its exit code.",
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", description: "The command. Nobody is there to answer questions of it." },
      timeout: { type: "integer", description: `Seconds after which it is stopped; default ${DEFAULT_SECONDS}.` },
    },
    required: ["command"],
  },
  run: async (input, { cwd, env, signal }): Promise<ToolOutcome> => {
    let ran: CommandResult | undefined;
    const said = await toOutcome(async () => {
      const seconds = Math.min(readNumber(input, "timeout") ?? DEFAULT_SECONDS, MAX_SECONDS);
      ran = await runCommand(requireText(input, "command"), { cwd, env, signal, seconds });
      return ran.output;
    });
    return ran === undefined ? said : formatResult(ran);
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
      return { text: under(`[ended by ${end.signal}]`), isError: true };
    case "timeout":
      return { text: under(`[stopped after ${end.seconds} s]`), isError: true };
    case "stopped":
      return { text: under("[stopped by the person]"), isError: true };
  }
}

/** How a command ended. */
export type CommandEnd =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "timeout"; readonly seconds: number }
  | { readonly kind: "stopped" };

/** What a command said, bounded, both streams in the order in which they came, and how it ended. */
export interface CommandResult {
  readonly output: string;
  readonly end: CommandEnd;
}

/** What a command runs in. */
export interface CommandContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly seconds: number;
}

type Shell = ChildProcessByStdio<null, Readable, Readable>;

/** Between asking a process group to end and ending it, in milliseconds. */
const GRACE = 1_000;
/** What a command left running in the background may hold its output open for, in milliseconds. */
const LINGER = 250;

/**
 * Runs a command with bash (sh where there is none) as the leader of a process group of its own; time out and abort end the
 * whole group, politely at first. A process that the command left in the background is not waited for.
 *
 * @throws {ToolFailure} there is no such folder, or no shell.
 */
export async function runCommand(command: string, place: CommandContext): Promise<CommandResult> {
  if (place.signal.aborted) return { output: "", end: { kind: "stopped" } };
  // A shell that is missing and a folder that is missing look the same to spawn.
  await stat(place.cwd);
  return waitForEnd(await startShell(command, place), place);
}

async function startShell(command: string, { cwd, env }: CommandContext): Promise<Shell> {
  for (const shell of ["bash", "sh"]) {
    const child = spawn(shell, ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const failure = await new Promise<unknown>((resolve) => {
      child.once("spawn", () => resolve(undefined));
      child.once("error", resolve);
    });
    if (failure === undefined) return child;
    const isMissing = failure instanceof Error && "code" in failure && failure.code === "ENOENT";
    if (!isMissing) throw failure;
  }
  throw new ToolFailure("There is neither bash nor sh on this machine.");
}

async function waitForEnd(child: Shell, { signal, seconds }: CommandContext): Promise<CommandResult> {
  const output = new BoundedText();
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (piece: string) => output.push(piece));
  let forced: CommandEnd | undefined;
  let killing: NodeJS.Timeout | undefined;
  const end = (how: CommandEnd): void => {
    if (forced !== undefined) return;
    forced = how;
    signalGroup(child, "SIGTERM");
    killing = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE);
  };
  const timer = setTimeout(() => end({ kind: "timeout", seconds }), seconds * 1_000);
  const stop = (): void => end({ kind: "stopped" });
  signal.addEventListener("abort", stop, { once: true });
  // It may have been aborted while the shell was started.
  if (signal.aborted) stop();
  try {
    const ended = await waitForExit(child);
    // The shell has ended; what it started may ignore the polite request.
    if (forced !== undefined) signalGroup(child, "SIGKILL");
    return { output: output.text(), end: forced ?? ended };
  } finally {
    clearTimeout(timer);
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
  }
}

/** Resolves when the shell has ended and its output has come, or what is left of it is held open by somebody else. */
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

/** The group has its leader's number. */
function signalGroup({ pid }: Shell, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    kill(-pid, signal);
  } catch (error) {
    // ESRCH: all of them have ended. EPERM: what is left is not ours (macOS says so of processes that have just ended).
    if (!(error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM"))) throw error;
  }
}
