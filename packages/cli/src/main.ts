import { homedir } from "node:os";
import { OutputFailedError } from "./errors.js";
import { EXIT_INTERRUPTED } from "./exit-codes.js";
import { run } from "./run.js";
import { type Cancellation, type Io, ReaderGoneError, type Sink, type Terminal } from "./terminal/io.js";
import { wantsColor } from "./terminal/line.js";
import { afterMoment, LineReader } from "./terminal/line-reader.js";

// The one file that touches `process`. Nobody listens for SIGINT unless a command has something to clean up: the
// default ends the process at once, also in the middle of a transaction, and SQLite takes that back.

function createSink(stream: NodeJS.WriteStream): Sink {
  let failure: Error | undefined;
  // Each write hears of its own failure; this is for those that come between two writes.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    failure = toOutputError(error);
  });
  return {
    isTerminal: stream.isTTY === true,
    color: wantsColor(process.env, stream.isTTY === true),
    columns: stream.isTTY === true ? stream.columns : undefined,
    write: (text) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        stream.write(text, (error) => (error ? reject(toOutputError(error)) : resolve()));
      }),
  };
}

function toOutputError(error: NodeJS.ErrnoException): Error {
  if (error.code === "EPIPE") return new ReaderGoneError();
  return new OutputFailedError(`Cannot write the output: ${error.code === "ENOSPC" ? "no space left" : error.message}.`, { cause: error });
}

const lines = new LineReader({
  input: process.stdin,
  output: process.stderr,
  onInterrupt: () => process.exit(EXIT_INTERRUPTED),
  afterMoment,
});

const ENDING_SIGNALS: readonly (readonly [signal: NodeJS.Signals, exit: number])[] = [
  ["SIGINT", EXIT_INTERRUPTED],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
];

function onInterrupt(cleanUp: () => void): () => void {
  return onSignals((exit) => {
    cleanUp();
    process.exit(exit);
  });
}

/** Only the first one: whoever interrupts again does not want to wait, and the default ends the process. */
function cancelOnInterrupt(): Cancellation {
  const controller = new AbortController();
  let exitAtEnd: number | undefined;
  const stopListening = onSignals((exit) => {
    // Ctrl-C ends the work; a signal to the whole process ends that too, after the work has cleaned up.
    if (exit !== EXIT_INTERRUPTED) exitAtEnd = exit;
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

/** Calls `ended` with the exit code of the first signal that would end the process; gives back what takes that away again. */
function onSignals(ended: (exit: number) => void): () => void {
  const listeners = ENDING_SIGNALS.map(([signal, exit]) => [signal, () => ended(exit)] as const);
  for (const [signal, listener] of listeners) process.once(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

/** Signals end the process by `exit`, which comes by here on every other way out too. */
function onEnd(restore: () => void): () => void {
  const ends = ENDING_SIGNALS.map(([signal, exit]) => [signal, () => process.exit(exit)] as const);
  for (const [signal, end] of ends) process.on(signal, end);
  process.on("exit", restore);
  return () => {
    for (const [signal, end] of ends) process.off(signal, end);
    process.off("exit", restore);
  };
}

function suspend(resumed: () => void): void {
  process.once("SIGCONT", resumed);
  // The whole group, so that the shell sees its job stop.
  process.kill(0, "SIGTSTP");
}

/** Screens need keys and a terminal that can be drawn on. */
function drawableTerminal(): Terminal | undefined {
  const { stdin, stdout, env } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true || env["TERM"] === "dumb") return undefined;
  return { stdin, stdout, color: wantsColor(env, true), onEnd, suspend };
}

/** Where the person stands; the root where that folder has been taken away meanwhile. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    return "/";
  }
}

/** The person's own folder; empty where neither `HOME` nor the user database has one, as in some containers. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    return "";
  }
}

const io: Io = {
  stdout: createSink(process.stdout),
  stderr: createSink(process.stderr),
  // A copy: the shell erases keys from the memory of this process.
  env: { ...process.env },
  cwd: workingDirectory(),
  home: homeDirectory(),
  now: Date.now,
  ask: process.stdin.isTTY === true && process.stderr.isTTY === true ? (question, takeEarly) => lines.ask(question, takeEarly) : undefined,
  progressStream: process.stderr.isTTY === true ? process.stderr : undefined,
  terminal: drawableTerminal(),
  bough: run,
  onInterrupt,
  cancelOnInterrupt,
};

process.exitCode = await run(process.argv.slice(2), io);
