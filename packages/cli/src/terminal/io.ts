/** Where text goes: a terminal, a file or a pipe. */
export interface Sink {
  /** Resolves when there is room for more. @throws {ReaderGoneError} nobody reads any more (`| head`). */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
  /** Whether colors may be written. */
  readonly color: boolean;
  /** Width of the terminal; undefined where it is none. */
  readonly columns: number | undefined;
}

/** The terminal that screens are drawn on, and what happens to the process behind it. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly color: boolean;
  /**
   * Registers what leaves the terminal as it was found. It is called before the process ends by a signal or an error
   * that nobody caught, and must not throw; gives back what takes it away again.
   */
  readonly onEnd: (restore: () => void) => () => void;
  /** Stops the process as Ctrl-Z does elsewhere, and calls `resumed` once it runs again. */
  readonly suspend: (resumed: () => void) => void;
}

/** Everything of the world that a command may touch. Only `main` knows the process behind it. */
export interface Io {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The person's own folder; empty: there is none. */
  readonly home: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Asks the person for a line; undefined where no person is there to answer. Resolves to undefined at the end of input.
   * With `takeEarly` only a line counts that was typed when the question had stood for a moment; others are handed to it.
   */
  readonly ask: ((question: string, takeEarly?: (line: string) => void) => Promise<string | undefined>) | undefined;
  /** The terminal that a progress bar may draw on; undefined: say it in plain lines. */
  readonly progressStream: NodeJS.WriteStream | undefined;
  /** Where screens can be drawn; undefined: there is no terminal, or one that can only print. */
  readonly terminal: Terminal | undefined;
  /** Runs another command line in this process, with another world; gives its exit code. Never throws. */
  readonly bough: (args: readonly string[], io: Io) => Promise<number>;
  /** Calls `cleanUp` if the person interrupts, and ends at once; gives back what takes that away again. */
  readonly onInterrupt: (cleanUp: () => void) => () => void;
  /** For work that can be cancelled: the person's first interruption aborts the signal, and the command ends by itself. */
  readonly cancelOnInterrupt: () => Cancellation;
}

/** What cancels a piece of work while it runs. */
export interface Cancellation {
  readonly signal: AbortSignal;
  /** From here on an interruption ends the command at once again. */
  readonly end: () => void;
}

/** Nobody reads the output any more. Not a failure: the command ends quietly. */
export class ReaderGoneError extends Error {
  override readonly name = "ReaderGoneError";
}
