import { homedir } from "node:os";
import { EXIT_INTERRUPTED } from "./exit-codes.js";
import { run } from "./run.js";
import { type Io, ReaderGoneError, type Sink } from "./terminal/io.js";
import { wantsColour } from "./terminal/paint.js";

// The one file that touches `process`. Nobody listens for SIGINT unless a command has something to clean up: the
// default ends the process at once, also in the middle of a transaction, and SQLite takes that back.

function sinkOf(stream: NodeJS.WriteStream): Sink {
  let gone = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    gone = true;
  });
  return {
    isTerminal: stream.isTTY === true,
    colour: wantsColour(process.env, stream.isTTY === true),
    columns: stream.isTTY === true ? stream.columns : undefined,
    write: (text) =>
      new Promise((resolve, reject) => {
        if (gone) return reject(new ReaderGoneError());
        stream.write(text, (error) => {
          if (!error) resolve();
          else if ("code" in error && error.code === "EPIPE") reject(new ReaderGoneError());
          else reject(error);
        });
      }),
  };
}

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once("close", () => resolve(undefined));
    lines.once("SIGINT", () => {
      lines.close();
      process.exit(EXIT_INTERRUPTED);
    });
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

function onInterrupt(cleanUp: () => void): () => void {
  const interrupted = () => {
    cleanUp();
    process.exit(EXIT_INTERRUPTED);
  };
  process.once("SIGINT", interrupted);
  return () => {
    process.off("SIGINT", interrupted);
  };
}

const io: Io = {
  stdout: sinkOf(process.stdout),
  stderr: sinkOf(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  now: Date.now,
  ask: process.stdin.isTTY === true && process.stderr.isTTY === true ? ask : undefined,
  progressStream: process.stderr.isTTY === true ? process.stderr : undefined,
  onInterrupt,
};

process.exitCode = await run(process.argv.slice(2), io);
