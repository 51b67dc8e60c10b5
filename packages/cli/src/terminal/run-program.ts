import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isSystemError } from "@bough/session-core/engine";
import { withoutKeys } from "./child-environment.js";
import type { Io } from "./io.js";

/** A program for `runProgram`, with its arguments and directory. */
export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** Default: that of this process. */
  readonly cwd?: string;
  /** True for an agent, whose hook and server open the store. Others get no key of a store. */
  readonly needsKeys?: boolean;
}

/** The arguments of `spawn` that start a program. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  /** `args` are one command line, which Node must not quote again. */
  readonly windowsVerbatimArguments?: boolean;
}

// Characters that cmd.exe reads as its own, also between quotation marks.
const OF_CMD = /[()\][%!^"`<>&|;, *?]/g;

/**
 * The start of a program of PATH. On Windows a `.cmd` or `.bat`, as npm installs commands, is started by cmd.exe: Node refuses to start it
 * without a shell. Every character reaches the program as it is: cmd.exe reads the line once, and the batch file that passes it on once more.
 */
export function startOf({ env }: Pick<Io, "env">, program: string, args: readonly string[]): Start {
  const file = "SystemRoot" in env ? (findProgram({ env }, program) ?? program) : program;
  if (!("SystemRoot" in env) || !/\.(cmd|bat)$/i.test(file)) return { command: program, args };
  const line = [escaped(file), ...args.map((arg) => escaped(escaped(quotedArgument(arg))))].join(" ");
  return { command: env["ComSpec"] ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`], windowsVerbatimArguments: true };
}

/** As programs of Windows split their command lines: backslashes before a quotation mark are doubled. */
function quotedArgument(argument: string): string {
  return `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

function escaped(text: string): string {
  return text.replace(OF_CMD, "^$&");
}

/**
 * Runs a program on the terminal of this process until it ends; Ctrl+C belongs to it meanwhile. Returns its exit code, or the signal or
 * error that ended it.
 */
export async function runProgram(io: Io, { command, args, cwd, needsKeys = false }: ProgramCall): Promise<number | string> {
  const heedInterrupts = io.pagerTerminal?.ignoreInterrupts();
  try {
    return await new Promise<number | string>((resolve) => {
      const place = cwd === undefined ? {} : { cwd };
      const own = needsKeys ? io.env : withoutKeys(io.env);
      const env = cwd === undefined ? { ...own } : { ...own, PWD: cwd };
      const { args: given, command: started, ...how } = startOf(io, command, args);
      const child = spawn(started, given, { stdio: "inherit", env, ...how, ...place });
      child.once("error", (error) => resolve(error.message));
      child.once("close", (code, signal) => resolve(code ?? signal ?? 0));
    });
  } finally {
    heedInterrupts?.();
  }
}

/** The output of a program that ended; `exit` is its exit code, or the signal or error that ended it. */
interface ProgramOutput {
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without a terminal until it ends, and returns its output. */
export async function outputOf(io: Pick<Io, "env">, { command, args, cwd }: ProgramCall): Promise<ProgramOutput> {
  return new Promise((resolve) => {
    const text = { stdout: "", stderr: "" };
    const { args: given, command: started, ...how } = startOf(io, command, args);
    const child = spawn(started, given, {
      stdio: ["ignore", "pipe", "pipe"],
      env: withoutKeys(io.env),
      ...how,
      ...(cwd === undefined ? {} : { cwd }),
    });
    child.stdout.setEncoding("utf8").on("data", (piece: string) => (text.stdout += piece));
    child.stderr.setEncoding("utf8").on("data", (piece: string) => (text.stderr += piece));
    child.once("error", (error) => resolve({ exit: error.message, ...text }));
    child.once("close", (code, signal) => resolve({ exit: code ?? signal ?? 0, ...text }));
  });
}

/** The file of a command in PATH; undefined: there is none that can be run. */
export function findProgram({ env }: Pick<Io, "env">, command: string): string | undefined {
  const endings = "SystemRoot" in env ? (env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";") : [""];
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(isAbsolute);
  return folders.flatMap((folder) => endings.map((ending) => join(folder, `${command}${ending}`))).find(isProgram);
}

/** True for a file that can be run. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
