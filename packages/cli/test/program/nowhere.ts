import { createProgram } from "../../src/program/program.js";
import type { Io } from "../../src/terminal/io.js";
import { Printer } from "../../src/terminal/printer.js";

/** An Io for whoever only looks at definitions: nothing is read or written. */
export function nowhere(): Io {
  const sink = { isTerminal: false, color: false, columns: undefined, write: async () => undefined };
  return {
    stdout: sink,
    stderr: sink,
    env: {},
    cwd: "/",
    home: "/",
    now: () => 0,
    ask: undefined,
    progressStream: undefined,
    pipes: { input: process.stdin, output: process.stdout },
    program: ["node", "bough.js"],
    terminal: undefined,
    bough: async () => 0,
    onInterrupt: () => () => undefined,
    cancelOnInterrupt: () => ({ signal: new AbortController().signal, end: () => undefined }),
  };
}

/** The names of all commands but `help`. */
export function commandNames(): readonly string[] {
  const io = nowhere();
  return createProgram(io, new Printer(io), { out: "", err: "" })
    .commands.map((command) => command.name())
    .filter((name) => name !== "help" && !name.startsWith("__"));
}
