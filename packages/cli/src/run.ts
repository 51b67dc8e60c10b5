import { urlWithoutPassword } from "@bough/postgres/address";
import { BoughError, CiphersMissingError, DriverUnusableError } from "@bough/session-core";
import { isLikeServerAddress, isServerUrl } from "@bough/session-core/engine";
import { CommanderError } from "commander";
import { OutputFailedError, UsageError } from "./errors.js";
import { EXIT_OK, exitReport } from "./exit-codes.js";
import { readPagerSetting } from "./program/define.js";
import { createProgram, insertDefaultCommand, NO_PAGER, type ParserOutput } from "./program/program.js";
import { type Io, OutputClosedError } from "./terminal/io.js";
import { type Line, styled } from "./terminal/line.js";
import { Printer } from "./terminal/printer.js";
import { safeJson, safeLines } from "./terminal/safe.js";

/** Runs a command line (without `node` and the script) and returns its exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const out = new Printer(io);
  const output: ParserOutput = { out: "", err: "" };
  try {
    const exit = await parseAndRun(args, io, out, output);
    if (output.out !== "" && !args.includes(NO_PAGER)) out.page(() => readPagerSetting(io));
    out.document(output.out);
    await out.end();
    if (output.err !== "") await io.stderr.write(withoutUrls(output.err, args));
    return exit;
  } catch (error) {
    return reportError(error, args, io, out);
  }
}

async function parseAndRun(args: readonly string[], io: Io, out: Printer, output: ParserOutput): Promise<number> {
  try {
    await createProgram(io, out, output).parseAsync(insertDefaultCommand(args), { from: "user" });
    return EXIT_OK;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") return moveHelpToStdout(output);
    if (error.exitCode === 0) return EXIT_OK;
    throw usageErrorOf(output);
  }
}

/** Prints an error to stderr and returns its exit code. `BOUGH_DEBUG` adds the stack of an unexpected one. */
async function reportError(error: unknown, args: readonly string[], io: Io, out: Printer): Promise<number> {
  if (error instanceof OutputClosedError) return EXIT_OK;
  const { exit, code } = exitReport(error);
  const stack = code === undefined && error instanceof Error && (io.env["BOUGH_DEBUG"] ?? "") !== "" ? safeLines(error.stack ?? "") : [];
  try {
    await out.note(...errorLine(error, args));
    for (const line of stack) await out.note(line);
    await out.end();
  } catch (outputError) {
    // stdout is closed or full, too: the exit code is all that can be reported.
    if (!(outputError instanceof OutputClosedError || outputError instanceof OutputFailedError)) throw outputError;
  }
  return exit;
}

/** An error in one line: its message, its hint and its code; for `--json` an object with these. */
function errorLine(error: unknown, args: readonly string[]): Line {
  const { exit, code, hint: usualHint } = exitReport(error);
  const message = withoutUrls(error instanceof Error ? error.message : String(error), args);
  const hint = ownHint(error) ?? usualHint;
  if (args.includes("--json")) return [safeJson(JSON.stringify({ error: { code: code ?? null, exit, message, hint: hint ?? null } }))];
  const text = `${code === undefined ? "unexpected error: " : ""}${message}${hint === undefined ? "" : ` ${hint}`}`;
  return [styled("error", "bough: "), text, styled("dim", code === undefined ? "" : ` (${code})`)];
}

/** The hint of an error where that of its exit code is about another cause: a damaged installation, or a store that is no file. */
function ownHint(error: unknown): string | undefined {
  if (error instanceof DriverUnusableError || error instanceof CiphersMissingError) return error.hint;
  const isOnServer = error instanceof BoughError && "path" in error && typeof error.path === "string" && isServerUrl(error.path);
  return isOnServer ? error.hint : undefined;
}

/** A text in which arguments are quoted, without the passwords in them. */
function withoutUrls(text: string, args: readonly string[]): string {
  const urls = args.map((arg) => arg.slice(Math.max(arg.search(/postgres(ql)?:/i), 0))).filter(isServerUrl);
  const shown = urls.reduce((before, url) => before.replaceAll(url, urlWithoutPassword(url)), text);
  return args.filter(isLikeServerAddress).reduce((rest, address) => rest.replaceAll(address, "[address]"), shown);
}

/** `bough help` without a command exits with 0, so its text goes to stdout; commander writes it to stderr. */
function moveHelpToStdout(output: ParserOutput): number {
  output.out += output.err;
  output.err = "";
  return EXIT_OK;
}

/** The parser's message about a wrong command line, with its suggestion, as an error like any other. */
function usageErrorOf(output: ParserOutput): UsageError {
  const lines = output.err.replace(/^bough: /, "").split("\n");
  output.err = "";
  return new UsageError(lines.filter((line) => line !== "").join(" "));
}
