import { UsageError } from "../errors.js";
import type { Io } from "../terminal/io.js";
import type { Printer } from "../terminal/printer.js";

/** What every command may be told. */
export interface CommonOptions {
  readonly store?: string;
  readonly json?: boolean;
}

/** A command, asked for. */
export interface Invocation<O extends CommonOptions = CommonOptions> {
  readonly io: Io;
  readonly out: Printer;
  /** What was typed behind the command, options left out; an argument that was not given is undefined. */
  readonly args: readonly (string | undefined)[];
  readonly options: O;
}

/** What a command does. It ends well, or throws what `exit-codes.ts` knows. */
export type Command<O extends CommonOptions = CommonOptions> = (invocation: Invocation<O>) => Promise<void>;

/** An argument that the command line demands, so that it is there. */
export function requireArgument(value: string | undefined): string {
  // An unset variable of a script becomes an empty word, which must not come to mean the current directory.
  if (value === undefined || value === "") throw new UsageError("A name or path is empty.");
  return value;
}
