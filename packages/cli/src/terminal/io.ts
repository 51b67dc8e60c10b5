import type { Readable, Writable } from "node:stream";
import type { LineStream } from "./progress-line.js";

/** A destination for text: a terminal, a file or a pipe. */
export interface Sink {
  /** Resolves when more can be written. @throws {OutputClosedError} the reader has closed the pipe (`| head`). */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
  /** True if colors may be written. */
  readonly color: boolean;
  /** Width of the terminal; undefined: it is no terminal. */
  readonly columns: number | undefined;
}

/**
 * Which lines the terminal breaks anew when it gets narrower; it cuts the others. `aboveCursor`: all but the one that the cursor
 * is in, as xterm.js (VS Code) does, whose cursor stays in the row where that line begins.
 */
export type Reflow = "none" | "aboveCursor" | "all";

/** The terminal that screens are drawn on, with the signals of its process. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly color: boolean;
  readonly reflow: Reflow;
  /** As `Io.onEnd`, for a function that restores the terminal. */
  readonly onEnd: Io["onEnd"];
  /** Suspends the process (SIGTSTP), and calls `resumed` once it continues. */
  readonly suspend: (resumed: () => void) => void;
}

/** The terminal of stdout, for a pager that is started on it. */
export interface PagerTerminal {
  readonly rows: () => number;
  /** From now on SIGINT does not end this process; returns a function that ends that. */
  readonly ignoreInterrupts: () => () => void;
}

/** The standard streams, for a protocol that is spoken over them. */
interface Pipes {
  readonly input: Readable;
  readonly output: Writable;
}

/** All access of a command to its process. Only `main` uses `process`. */
export interface Io {
  readonly stdout: Sink;
  /** Its writes never fail: what is said beside the output does not stop the work. */
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home directory; empty: there is none. */
  readonly home: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Asks the user for a line; undefined: the process is not interactive. Resolves to undefined at the end of input. With
   * `takeEarly` only a line typed at least 0.8 s after the question is an answer; other lines go to `takeEarly`.
   */
  readonly ask: ((question: string, takeEarly?: (line: string) => void) => Promise<string | undefined>) | undefined;
  /** Asks the user for a line that is not shown, such as a password; undefined: the process is not interactive. */
  readonly askSecret?: ((question: string) => Promise<string | undefined>) | undefined;
  /** The terminal for a progress bar; undefined: progress is printed as plain lines. */
  readonly progressStream: LineStream | undefined;
  /** The terminal for screens; undefined: there is none, or it supports no cursor movement. */
  readonly terminal: Terminal | undefined;
  /** Where long output is paged; undefined: stdout is no terminal, or a dumb one. */
  readonly pagerTerminal?: PagerTerminal | undefined;
  /** The standard streams of the process, for a server. Nothing else may read or write them meanwhile. */
  readonly pipes: Pipes;
  /** The command line that starts this program: Node and the script. */
  readonly program: readonly string[];
  /** Runs another command line in this process, with another `Io`; resolves to its exit code. Never rejects. */
  readonly bough: (args: readonly string[], io: Io) => Promise<number>;
  /** Ends the process at once, whatever it waits for. */
  readonly endProcess: (exit: number) => void;
  /** Registers a function that is called before the process ends, also by a signal; returns one that removes it. It must not throw. */
  readonly onEnd: (cleanUp: () => void) => () => void;
  /**
   * For work that can be cancelled: the first SIGINT, SIGTERM or SIGHUP aborts the signal, and the command ends by itself. SIGTERM and
   * SIGHUP give the process their exit code; with `endsCleanly` they do not, for work that only a signal ends.
   */
  readonly cancelOnInterrupt: (options?: { readonly endsCleanly?: boolean }) => Cancellation;
}

/** Cancels work on SIGINT. */
export interface Cancellation {
  readonly signal: AbortSignal;
  /** Ends the handling: the next SIGINT ends the process. */
  readonly end: () => void;
}

/** The reader of the output has closed it (EPIPE). The command ends without a message. */
export class OutputClosedError extends Error {
  override readonly name = "OutputClosedError";
}
