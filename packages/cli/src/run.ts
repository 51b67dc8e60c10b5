import { CommanderError } from "commander";
import { EXIT_CODES, EXIT_OK, EXIT_UNEXPECTED, exitCodeOf } from "./exit-codes.js";
import { boughProgram, type Said } from "./program/program.js";
import { type Io, ReaderGoneError } from "./terminal/io.js";
import { styled } from "./terminal/line.js";
import { Printer } from "./terminal/printer.js";

/** Runs a command line (without `node` and the script) and gives back its exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const out = new Printer(io);
  const said: Said = { out: "", err: "" };
  const exit = await exitOf(() => boughProgram(io, out, said).parseAsync(args, { from: "user" }), out, said, io);
  try {
    out.document(said.out);
    await out.flush();
    if (said.err !== "") await io.stderr.write(said.err);
  } catch (error) {
    if (!(error instanceof ReaderGoneError)) throw error;
  }
  return exit;
}

async function exitOf(work: () => Promise<unknown>, out: Printer, said: Said, io: Io): Promise<number> {
  try {
    await work();
    await out.flush();
    return EXIT_OK;
  } catch (error) {
    return await failed(error, out, said, io);
  }
}

async function failed(error: unknown, out: Printer, said: Said, io: Io): Promise<number> {
  if (error instanceof ReaderGoneError) return EXIT_OK;
  if (error instanceof CommanderError) return error.code === "commander.help" ? askedForNothing(said) : usage(error, said);
  const exit = exitCodeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  await out.note(styled("error", "bough: "), exit === undefined ? `unexpected failure: ${text}` : text);
  if (exit === undefined && error instanceof Error && (io.env["BOUGH_DEBUG"] ?? "") !== "") await io.stderr.write(`${error.stack ?? ""}\n`);
  return exit ?? EXIT_UNEXPECTED;
}

/** `bough` alone explains itself. */
function askedForNothing(said: Said): number {
  said.out += said.err;
  said.err = "";
  return EXIT_OK;
}

function usage(error: CommanderError, said: Said): number {
  if (error.exitCode === 0) return EXIT_OK;
  if (!said.err.endsWith("\n")) said.err += "\n";
  return EXIT_CODES.USAGE.exit;
}
