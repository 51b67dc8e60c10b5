import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Io } from "./io.js";

/** A program for `runProgram`, with its arguments and directory. */
export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  /** Default: that of this process. */
  readonly cwd?: string;
}

/**
 * Runs a program on the terminal of this process until it ends; Ctrl+C belongs to it meanwhile. Returns its exit code, or the signal or
 * error that ended it.
 */
export async function runProgram(io: Io, { command, args, cwd }: ProgramCall): Promise<number | string> {
  const heedInterrupts = io.pagerTerminal?.ignoreInterrupts();
  try {
    return await new Promise<number | string>((resolve) => {
      const place = cwd === undefined ? {} : { cwd };
      const env = cwd === undefined ? { ...io.env } : { ...io.env, PWD: cwd };
      const child = spawn(command, args, { stdio: "inherit", env, ...place });
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
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...io.env }, ...(cwd === undefined ? {} : { cwd }) });
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

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    if (error instanceof Error && "errno" in error) return false;
    throw error;
  }
}
