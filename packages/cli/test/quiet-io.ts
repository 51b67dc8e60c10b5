import type { Io, Sink } from "../src/terminal/io.js";

/** An `Io` whose output goes nowhere, in a folder that is also the home; `different` says what is different. */
export function quietIo(folder: string, { columns, ...sink }: Partial<Sink> = {}, different: Partial<Io> = {}): Io {
  const quiet = { isTerminal: true, color: false, columns, write: async () => undefined, ...sink };
  return {
    stdout: quiet,
    stderr: quiet,
    env: {},
    cwd: folder,
    home: folder,
    now: () => 0,
    ask: undefined,
    progressStream: undefined,
    pipes: { input: process.stdin, output: process.stdout },
    program: ["node", "bough.js"],
    terminal: undefined,
    bough: async () => 0,
    endProcess: () => undefined,
    onEnd: () => () => undefined,
    cancelOnInterrupt: () => ({ signal: new AbortController().signal, end: () => undefined }),
    ...different,
  };
}
