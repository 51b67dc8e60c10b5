import { CommandError, UsageError } from "../errors.js";
import { parseTime } from "../format/time.js";
import type { Io } from "../terminal/io.js";
import { styled } from "../terminal/line.js";
import type { Printer } from "../terminal/printer.js";
import { safe } from "../terminal/safe.js";

/** Options of every command. */
export interface CommonOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly fullIds?: boolean;
  /** false: `--no-pager`. */
  readonly pager?: boolean;
}

/** One call of a command. */
export interface Invocation<O extends object = object> {
  readonly io: Io;
  readonly out: Printer;
  /** The arguments after the name of the command, without options; undefined: the argument was not given. */
  readonly args: readonly (string | undefined)[];
  readonly options: CommonOptions & O;
}

/** Runs a command; `O`: its own options. Throws only errors that exit-codes.ts lists. */
export type Command<O extends object = object> = (invocation: Invocation<O>) => Promise<void>;

/** Checks a required argument. @throws {UsageError} it is empty. */
export function requireArgument(value: string | undefined): string {
  // An unset variable of a script becomes an empty argument, which would resolve to the current directory.
  if (value === undefined || value === "") throw new UsageError("A name or path is empty.");
  return value;
}

/**
 * Asks the user to confirm an action.
 *
 * @throws {CommandError} stdin is not a terminal.
 * @throws {CommandError} the answer is not yes.
 */
export async function confirm(io: Io, action: string, consequence: string): Promise<void> {
  if (io.ask === undefined) throw new CommandError("CONFIRMATION_NEEDED", `${action}: this needs a confirmation. Add --yes to confirm.`);
  const answer = await io.ask(`${safe(action)}?${consequence === "" ? "" : ` ${consequence}`} [y/N] `);
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new CommandError("DECLINED", "Nothing was changed.");
}

/** Runs work that goes on until SIGINT or SIGTERM, both of which end it with exit code 0. */
export async function untilInterrupted({ io, out }: Invocation, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { signal, end } = io.cancelOnInterrupt({ endsCleanly: true });
  try {
    await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    end();
  }
  await out.note(styled("dim", "Ended; every session is whole."));
}

/** Reads the time of an option, in milliseconds since 1970. @throws {UsageError} it is not a time. */
export function timeOption(option: string, given: string | undefined, now: number): number | undefined {
  if (given === undefined) return undefined;
  const at = parseTime(given, now);
  if (at === undefined) throw new UsageError(`${option} ${given} is not a time. Write 2025-11-21, 2025-11-21T14:05, or 3d, 12h, 2w ago.`);
  return at;
}
