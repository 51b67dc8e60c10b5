import { CommanderError } from "commander";
import { OutputFailedError } from "./errors.js";
import { EXIT_CODES, EXIT_OK, EXIT_UNEXPECTED, exitCodeOf } from "./exit-codes.js";
import { createProgram, insertDefaultCommand, type ParserOutput } from "./program/program.js";
import { type Io, ReaderGoneError } from "./terminal/io.js";
import { styled } from "./terminal/line.js";
import { Printer } from "./terminal/printer.js";
import { safeLines } from "./terminal/safe.js";

/** Runs a command line (without `node` and the script) and gives back its exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const out = new Printer(io);
  const said: ParserOutput = { out: "", err: "" };
  try {
    const exit = await parseAndRun(args, io, out, said);
    out.document(said.out);
    await out.flush();
    if (said.err !== "") await io.stderr.write(said.err);
    return exit;
  } catch (error) {
    return reportError(error, io, out);
  }
}

async function parseAndRun(args: readonly string[], io: Io, out: Printer, said: ParserOutput): Promise<number> {
  try {
    await createProgram(io, out, said).parseAsync(insertDefaultCommand(args), { from: "user" });
    return EXIT_OK;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === "commander.help" ? printHelp(said) : usageExitCode(error, said);
  }
}

async function reportError(error: unknown, io: Io, out: Printer): Promise<number> {
  if (error instanceof ReaderGoneError) return EXIT_OK;
  const exit = exitCodeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const trace = exit === undefined && error instanceof Error && (io.env["BOUGH_DEBUG"] ?? "") !== "" ? safeLines(error.stack ?? "") : [];
  try {
    await out.note(styled("error", "bough: "), exit === undefined ? `unexpected failure: ${text}` : text);
    for (const line of trace) await out.note(line);
  } catch (silent) {
    // What cannot be said is told by the exit code alone.
    if (!(silent instanceof ReaderGoneError || silent instanceof OutputFailedError)) throw silent;
  }
  return exit ?? EXIT_UNEXPECTED;
}

/** `bough` alone explains itself. */
function printHelp(said: ParserOutput): number {
  said.out += said.err;
  said.err = "";
  return EXIT_OK;
}

function usageExitCode(error: CommanderError, said: ParserOutput): number {
  if (error.exitCode === 0) return EXIT_OK;
  if (!said.err.endsWith("\n")) said.err += "\n";
  return EXIT_CODES.USAGE.exit;
}
