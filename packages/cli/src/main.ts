import { homedir } from "node:os";
import { isSystemError } from "@bough/session-core/engine";
import { OutputFailedError } from "./errors.js";
import { EXIT_INTERRUPTED } from "./exit-codes.js";
import { run } from "./run.js";
import { type Cancellation, type Io, OutputClosedError, type PagerTerminal, type Reflow, type Sink, type Terminal } from "./terminal/io.js";
import { wantsColor } from "./terminal/line.js";
import { LineReader, startAnswerDelay } from "./terminal/line-reader.js";

// The only file besides start.ts that uses `process`. A command listens for SIGINT only while it has something to clean up. The default
// action ends the process at once; SQLite rolls back a transaction that was open.

/** A stream whose writes reject when they fail: for the output of a command. */
function createSink(stream: NodeJS.WriteStream): Sink {
  let failure: Error | undefined;
  // An error of a write is passed to its callback; this listener is for errors between two writes.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    failure = toOutputError(error);
  });
  return {
    ...shapeOf(stream),
    write: (text) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        stream.write(text, (error) => (error ? reject(toOutputError(error)) : resolve()));
      }),
  };
}

/** A stream whose failed writes are ignored: for messages, so that a command ends its work when nobody reads them (`2>&1 | head`). */
function createNotes(stream: NodeJS.WriteStream): Sink {
  stream.on("error", () => undefined);
  return { ...shapeOf(stream), write: (text) => new Promise((resolve) => stream.write(text, () => resolve())) };
}

function shapeOf(stream: NodeJS.WriteStream): Omit<Sink, "write"> {
  const isTerminal = stream.isTTY === true;
  return { isTerminal, color: wantsColor(process.env, isTerminal), columns: isTerminal ? stream.columns : undefined };
}

function toOutputError(error: NodeJS.ErrnoException): Error {
  if (error.code === "EPIPE") return new OutputClosedError();
  return new OutputFailedError(`Cannot write the output: ${error.code === "ENOSPC" ? "no space left" : error.message}.`, { cause: error });
}

const lines = new LineReader({
  input: process.stdin,
  output: process.stderr,
  onInterrupt: () => process.exit(EXIT_INTERRUPTED),
  startDelay: startAnswerDelay,
});

const ENDING_SIGNALS: readonly (readonly [signal: NodeJS.Signals, exit: number])[] = [
  ["SIGINT", EXIT_INTERRUPTED],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
];

/** Aborts on the first signal only; a second one has its default action and ends the process. */
function cancelOnInterrupt({ endsCleanly = false } = {}): Cancellation {
  const controller = new AbortController();
  let exitAtEnd: number | undefined;
  const stopListening = onSignals((exit) => {
    // SIGINT aborts the work. SIGTERM and SIGHUP also end the process, after the work has cleaned up.
    if (exit !== EXIT_INTERRUPTED && !endsCleanly) exitAtEnd = exit;
    controller.abort();
  });
  return {
    signal: controller.signal,
    end: () => {
      stopListening();
      if (exitAtEnd !== undefined) process.exit(exitAtEnd);
    },
  };
}

/** Calls `listener` with the exit code of the first SIGINT, SIGTERM or SIGHUP. Returns a function that removes the listener. */
function onSignals(listener: (exit: number) => void): () => void {
  const listeners = ENDING_SIGNALS.map(([signal, exit]) => [signal, () => listener(exit)] as const);
  for (const [signal, onSignal] of listeners) process.once(signal, onSignal);
  return () => {
    for (const [signal, onSignal] of listeners) process.off(signal, onSignal);
  };
}

/** Calls `cleanUp` when the process ends, also by a signal. Returns a function that removes the listeners. */
function onEnd(cleanUp: () => void): () => void {
  const stopListening = onSignals((exit) => process.exit(exit));
  process.on("exit", cleanUp);
  return () => {
    stopListening();
    process.off("exit", cleanUp);
  };
}

/**
 * Stops the whole process group, so that the shell reports a stopped job. A group that no shell can continue (`docker run`, the command of a
 * tmux window) is not stopped: SIGTSTP has no effect there, and SIGCONT never comes. A timer notices that the process runs, again or still.
 * SIGWINCH, which only the shell got meanwhile, lets Node ask for the size of the terminal before it calls `resumed`.
 */
function suspend(resumed: () => void): void {
  process.kill(0, "SIGTSTP");
  // It also keeps the process alive: nothing is read while the screen is left, and a listener for signals does not.
  const running = setInterval(() => process.kill(process.pid, "SIGWINCH"), RUNNING_MS);
  process.once("SIGWINCH", () => {
    clearInterval(running);
    resumed();
  });
}

/** More than the time that a process runs on after it was told to stop. */
const RUNNING_MS = 50;

/** The terminal, if stdin and stdout are terminals that support cursor movement. */
function drawableTerminal(): Terminal | undefined {
  const { stdin, stdout, env } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true || env["TERM"] === "dumb") return undefined;
  return { stdin, stdout, color: wantsColor(env, true), reflow: reflowOf(env), onEnd, suspend };
}

/** Terminals that move the cursor with its text when they break lines anew; each sets one of these. */
const REFLOW_ALL = ["TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID"];
const REFLOW_ALL_PROGRAMS = ["Apple_Terminal", "ghostty", "iTerm.app", "WezTerm"];

/**
 * xterm, GNU screen and the Linux console do not break lines anew. Of an unknown terminal, as behind SSH, the least is assumed
 * that most do: counted too far up, a frame would erase lines above it; counted too little, rows of the old frame are left.
 */
function reflowOf(env: NodeJS.ProcessEnv): Reflow {
  const { XTERM_VERSION, STY, TERM, TERM_PROGRAM = "" } = env;
  if (env["TMUX"] === undefined && (XTERM_VERSION !== undefined || STY !== undefined || TERM === "linux")) return "none";
  return REFLOW_ALL.some((name) => env[name] !== undefined) || REFLOW_ALL_PROGRAMS.includes(TERM_PROGRAM) ? "all" : "aboveCursor";
}

/** The terminal of stdout, if a pager can draw on it. */
function pagerTerminal(): PagerTerminal | undefined {
  const { stdout, env } = process;
  if (stdout.isTTY !== true || env["TERM"] === "dumb") return undefined;
  const ignore = () => undefined;
  return {
    rows: () => stdout.rows,
    ignoreInterrupts: () => {
      process.on("SIGINT", ignore);
      return () => process.off("SIGINT", ignore);
    },
  };
}

/** The working directory; `/` if it was deleted. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return "/";
  }
}

/** The home directory; "" if neither `HOME` nor the user database has one, as in some containers. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return "";
  }
}

const io: Io = {
  stdout: createSink(process.stdout),
  stderr: createNotes(process.stderr),
  // A copy, because the shell erases keys from the environment in the memory of this process.
  env: { ...process.env },
  cwd: workingDirectory(),
  home: homeDirectory(),
  now: Date.now,
  ask: process.stdin.isTTY === true && process.stderr.isTTY === true ? (question, takeEarly) => lines.ask(question, takeEarly) : undefined,
  askSecret: process.stdin.isTTY === true && process.stderr.isTTY === true ? (question) => lines.askSecret(question) : undefined,
  progressStream: process.stderr.isTTY === true ? process.stderr : undefined,
  pagerTerminal: pagerTerminal(),
  pipes: { input: process.stdin, output: process.stdout },
  program: [process.execPath, ...process.argv.slice(1, 2)],
  terminal: drawableTerminal(),
  bough: run,
  endProcess: (exit) => process.exit(exit),
  onEnd,
  cancelOnInterrupt,
};

process.exitCode = await run(process.argv.slice(2), io);
