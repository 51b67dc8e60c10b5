import type { CommandOutput } from "../shell/world.js";
import type { Io, Sink } from "../terminal/io.js";
import type { Line } from "../terminal/line.js";

/** Runs `bough ARGS…` on a store and gives back what it printed, as lines: nothing of it reaches the terminal by itself. */
export async function captured(io: Io, storePath: string, args: readonly string[]): Promise<CommandOutput> {
  const [out, err]: [string[], string[]] = [[], []];
  const sink = (text: string[]): Sink => ({
    isTerminal: false,
    colour: false,
    columns: io.stdout.columns,
    write: async (piece) => {
      text.push(piece);
    },
  });
  const silent: Io = { ...io, stdout: sink(out), stderr: sink(err), terminal: undefined, ask: undefined, progressStream: undefined };
  const exit = await io.bough(["--store", storePath, ...args], silent);
  return { lines: linesOf(out.join("")), notes: linesOf(err.join("")), exit };
}

function linesOf(text: string): readonly Line[] {
  return text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line): Line => [line]);
}
